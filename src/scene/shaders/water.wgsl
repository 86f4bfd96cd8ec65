// The surface of the water, and its section at the sides of the block. Nothing is blended: the bottom is computed where
// the refracted ray meets it.

struct Vertex {
    @builtin(position) position: vec4f,
    @location(0) point: vec3f,
    // 0 on the surface, 1 at the sides.
    @location(1) @interpolate(flat) side: f32,
}

// The surface and four sides, six vertices each, slightly inside the block to avoid z-fighting.
@vertex
fn vertex(@builtin(vertex_index) index: u32) -> Vertex {
    let face = index / 6u;
    // Two triangles: corners 0, 1, 2 and 3, 2, 1.
    let number = index % 6u;
    let at = min(number, 6u - number);
    let corner = vec2f(f32(at & 1u), f32(at >> 1u));
    let half = scene.terrain.xy - 2e-4;
    let along = (corner.x * 2.0 - 1.0) * half;
    let y = mix(scene.water.x, scene.terrain.w, corner.y);
    var point = vec3f(along.x, scene.water.x, (corner.y * 2.0 - 1.0) * half.y);
    switch face {
        case 1u: { point = vec3f(along.x, y, -half.y); }
        case 2u: { point = vec3f(along.x, y, half.y); }
        case 3u: { point = vec3f(-half.x, y, along.y); }
        case 4u: { point = vec3f(half.x, y, along.y); }
        default: {}
    }
    var out: Vertex;
    out.point = point;
    out.position = projected(point);
    out.side = select(0.0, 1.0, face > 0u);
    return out;
}

// The absorption of red, green and blue light in clear coastal water, per metre, and the colour of the light that deep
// water scatters back.
const ABSORPTION = vec3f(0.16, 0.040, 0.034);
const SCATTERED = vec3f(0.012, 0.068, 0.100);

// The light from a stretch of water in front of a bottom of colour `bed`.
fn water_light(bed: vec3f, metres: f32, light: vec3f) -> vec3f {
    let passed = exp(-ABSORPTION * metres);
    return bed * passed + SCATTERED * light * (1.0 - passed);
}

// The slopes of waves a few metres long, longer across the wind than along it. They do not move, so an idle view needs
// no redraws.
fn waves(place_m: vec2f, pixel_m: f32) -> vec2f {
    let with_wind = mat2x2f(0.83, -0.56, 0.56, 0.83) * place_m * vec2f(1.0, 1.7);
    let long = noise_and_slope(with_wind / 9.0).yz * smoothstep(5.0, 1.2, pixel_m);
    let short = noise_and_slope(with_wind / 2.6 + 7.0).yz * smoothstep(1.4, 0.35, pixel_m);
    return 0.06 * long + 0.05 * short;
}

@fragment
fn fragment(in: Vertex) -> @location(0) vec4f {
    let direction = normalize(view_vector(in.point));
    let pixel_m = max(length(dpdx(in.point)), length(dpdy(in.point))) * scene.heights.z;
    let place_m = in.point.xz * scene.heights.z;
    let wave = waves(place_m, pixel_m);
    let normal = normalize(vec3f(-wave.x, 1.0, -wave.y));
    let level_m = scene.water.x / scene.terrain.z;
    let depth_m = level_m - height_m(samples_of(in.point.xz));
    // The refracted ray, with a refractive index of 1.33.
    let refracted = refract(direction, normal, 1.0 / 1.33);
    let slant = max(-refracted.y, 0.35);
    let drift = refracted.xz / slant * max(depth_m, 0.0) / scene.heights.z;
    let below = clamp(samples_of(in.point.xz + drift), vec2f(0.0), scene.grid.xy - 1.0);
    let bottom = surface_at(below);
    let bottom_m = max(mix(level_m - height_m(below), depth_m, 0.5), 0.0);
    if in.side < 0.5 && depth_m <= 0.0 {
        discard;
    }
    let sunlight = scene.sun_colour.rgb * scene.sun.w;
    // Over deep water shadows fall on the bottom, not on the surface.
    let sun_seen = mix(1.0, bottom.sun, exp(-bottom_m / 20.0));
    let shadow = mix(1.0 - scene.ambient.w, 1.0, sun_seen);
    let light = sunlight * max(scene.sun.y, 0.0) * shadow + scene.ambient.rgb;
    if in.side > 0.5 {
        // The section of the water: darker with depth.
        let down_m = (scene.water.x - in.point.y) / scene.terrain.z;
        let lit_m = exp(-ABSORPTION * down_m * 0.6);
        let section = SCATTERED * (0.6 + 1.6 * lit_m) * (sunlight * 0.6 + scene.ambient.rgb * 1.2);
        return display_colour(with_haze(section, in.point), in.position.xy);
    }
    // Wet material is darker than dry material.
    var bed = select(bottom.colour, vec3f(0.5, 0.48, 0.45), scene.grid.w > 0.5) * 0.55;
    if scene.water.w < 0.5 || scene.grid.w > 0.5 {
        bed = lit(bed, bottom.normal, sun_seen, bottom.sky);
    }
    // The light passes down and up again.
    var colour = water_light(bed, bottom_m * (1.0 + 1.0 / slant), light);
    // A thin, broken line of foam in the shallows.
    let broken = smoothstep(0.15, 0.6, noise(place_m / 14.0));
    let foam = shore(max(depth_m, 0.0), bottom.slope, 4.0, pixel_m) * broken;
    colour = mix(colour, light * 0.7, foam * 0.6);
    // R. Schlick, "An Inexpensive BRDF Model for Physically-based Rendering", 1994, equation 15, for 1.33.
    let facing = max(dot(-direction, normal), 0.0);
    let grazing = 1.0 - facing;
    let fresnel = 0.02 + 0.98 * grazing * grazing * grazing * grazing * grazing;
    var reflected = reflect(direction, normal);
    reflected.y = abs(reflected.y);
    // Gusts roughen the surface, which then shows more of the sky.
    let gusts = noise(place_m / 900.0 * vec2f(1.0, 1.8)) * 0.6 + noise(place_m / 260.0 * vec2f(1.0, 1.8) + 5.0) * 0.4;
    let rough = smoothstep(0.35, 0.75, gusts);
    colour = mix(colour, sky(reflected), min(fresnel + 0.03 * rough, 0.85));
    // Sun glitter on waves too small to be visible: the density of facets that reflect the sun towards the eye (C. Cox
    // and W. Munk, "Measurement of the Roughness of the Sea Surface from Photographs of the Sun's Glitter", 1954), for
    // a light breeze. The visible waves shift it.
    let half_vector = normalize(scene.sun.xyz - direction);
    let facet_slope = -half_vector.xz / max(half_vector.y, 0.05) - wave;
    let spread = mix(0.014, 0.021, rough);
    let density = exp(-dot(facet_slope, facet_slope) / spread) / (PI * spread);
    let steep = half_vector.y * half_vector.y;
    let glint = 0.02 * PI * density / (4.0 * max(facing, 0.12) * max(steep * steep, 0.05));
    colour += sunlight * sun_seen * min(glint, 2.5) * smoothstep(0.0, 0.04, scene.sun.y);
    return display_colour(with_haze(colour, in.point), in.position.xy);
}
