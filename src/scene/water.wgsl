// The surface of the water, and its cut at the sides of the block. Nothing is blended: what lies below is worked out
// where the refracted ray meets it.

struct Vertex {
    @builtin(position) position: vec4f,
    @location(0) point: vec3f,
    // 0 on the surface, 1 at the sides.
    @location(1) @interpolate(flat) side: f32,
}

// The surface and four sides, six vertices each, hardly within the block, so that land and water never flicker.
@vertex
fn vertex(@builtin(vertex_index) index: u32) -> Vertex {
    let face = index / 6u;
    // Two triangles: corners 0, 1, 2 and 3, 2, 1.
    let number = index % 6u;
    let at = min(number, 6u - number);
    let corner = vec2f(f32(at & 1u), f32(at >> 1u));
    let half = scene.land.xy - 2e-4;
    let wide = (corner.x * 2.0 - 1.0) * half;
    let y = mix(scene.water.x, scene.land.w, corner.y);
    var point = vec3f(wide.x, scene.water.x, (corner.y * 2.0 - 1.0) * half.y);
    switch face {
        case 1u: { point = vec3f(wide.x, y, -half.y); }
        case 2u: { point = vec3f(wide.x, y, half.y); }
        case 3u: { point = vec3f(-half.x, y, wide.y); }
        case 4u: { point = vec3f(half.x, y, wide.y); }
        default: {}
    }
    var out: Vertex;
    out.point = point;
    out.position = projected(point);
    out.side = select(0.0, 1.0, face > 0u);
    return out;
}

// What clear water near a coast swallows of red, green and blue, per metre, and what it throws back of light by itself
// where it is so deep that no more comes from the ground.
const SWALLOWED = vec3f(0.16, 0.040, 0.034);
const DEEP = vec3f(0.012, 0.068, 0.100);

// The light of a stretch of water, and of the ground behind it that throws back `bed`.
fn through(bed: vec3f, metres: f32, light: vec3f) -> vec3f {
    let passed = exp(-SWALLOWED * metres);
    return bed * passed + DEEP * light * (1.0 - passed);
}

// How waves of a few metres rise, longer across the wind than along it. They stand still: nothing moves at rest.
fn waves(place_m: vec2f, pixel_m: f32) -> vec2f {
    let with_wind = mat2x2f(0.83, -0.56, 0.56, 0.83) * place_m * vec2f(1.0, 1.7);
    let long = noise_and_slope(with_wind / 9.0).yz * smoothstep(5.0, 1.2, pixel_m);
    let short = noise_and_slope(with_wind / 2.6 + 7.0).yz * smoothstep(1.4, 0.35, pixel_m);
    return 0.06 * long + 0.05 * short;
}

@fragment
fn fragment(in: Vertex) -> @location(0) vec4f {
    let way = normalize(seen(in.point));
    let pixel_m = max(length(dpdx(in.point)), length(dpdy(in.point))) * scene.heights.z;
    let place_m = in.point.xz * scene.heights.z;
    let wave = waves(place_m, pixel_m);
    let normal = normalize(vec3f(-wave.x, 1.0, -wave.y));
    let level_m = scene.water.x / scene.land.z;
    let depth_m = level_m - height_m(samples_of(in.point.xz));
    // The refracted ray, 1.33 times as dense as air.
    let bent = refract(way, normal, 1.0 / 1.33);
    let slant = max(-bent.y, 0.35);
    let drift = bent.xz / slant * max(depth_m, 0.0) / scene.heights.z;
    let below = clamp(samples_of(in.point.xz + drift), vec2f(0.0), scene.grid.xy - 1.0);
    let ground = ground_at(below);
    let bottom_m = max(mix(level_m - height_m(below), depth_m, 0.5), 0.0);
    if in.side < 0.5 && depth_m <= 0.0 {
        discard;
    }
    let sunlight = scene.sun_colour.rgb * scene.sun.w;
    // What lies deep throws its shadows on the ground below, not on the water.
    let sun_seen = mix(1.0, ground.sun, exp(-bottom_m / 20.0));
    let shadow = mix(1.0 - scene.ambient.w, 1.0, sun_seen);
    let light = sunlight * max(scene.sun.y, 0.0) * shadow + scene.ambient.rgb;
    if in.side > 0.5 {
        // A cut through the water: the deeper, the darker.
        let down_m = (scene.water.x - in.point.y) / scene.land.z;
        let lit_m = exp(-SWALLOWED * down_m * 0.6);
        let cut = DEEP * (0.6 + 1.6 * lit_m) * (sunlight * 0.6 + scene.ambient.rgb * 1.2);
        return shown(hazed(cut, in.point), in.position.xy);
    }
    // Wet ground is darker than dry one.
    var bed = select(ground.colour, vec3f(0.5, 0.48, 0.45), scene.grid.w > 0.5) * 0.55;
    if scene.water.w < 0.5 || scene.grid.w > 0.5 {
        bed = lit(bed, ground.normal, sun_seen, ground.sky);
    }
    // Light has come down and goes up again.
    var colour = through(bed, bottom_m * (1.0 + 1.0 / slant), light);
    // A thin line of foam where it is shallow, broken here and there.
    let broken = smoothstep(0.15, 0.6, noise(place_m / 14.0));
    let foam = shore(max(depth_m, 0.0), ground.slope, 4.0, pixel_m) * broken;
    colour = mix(colour, light * 0.7, foam * 0.6);
    // R. Schlick, "An Inexpensive BRDF Model for Physically-based Rendering", 1994, equation 15, for 1.33.
    let facing = max(dot(-way, normal), 0.0);
    let grazing = 1.0 - facing;
    let mirrored = 0.02 + 0.98 * grazing * grazing * grazing * grazing * grazing;
    var back = reflect(way, normal);
    back.y = abs(back.y);
    // Where the wind lies on it, it is rough and shows more of the sky; elsewhere it is dark.
    let gusts = noise(place_m / 900.0 * vec2f(1.0, 1.8)) * 0.6 + noise(place_m / 260.0 * vec2f(1.0, 1.8) + 5.0) * 0.4;
    let rough = smoothstep(0.35, 0.75, gusts);
    colour = mix(colour, sky(back), min(mirrored + 0.03 * rough, 0.85));
    // The sun in the waves that are too small to be seen: how many of them are turned so that they throw it here (C. Cox
    // and W. Munk, "Measurement of the Roughness of the Sea Surface from Photographs of the Sun's Glitter", 1954). A light
    // breeze; the slopes of the waves that are seen move the place of it.
    let between = normalize(scene.sun.xyz - way);
    let turned = -between.xz / max(between.y, 0.05) - wave;
    let spread = mix(0.014, 0.021, rough);
    let density = exp(-dot(turned, turned) / spread) / (PI * spread);
    let steep = between.y * between.y;
    let glint = 0.02 * PI * density / (4.0 * max(facing, 0.12) * max(steep * steep, 0.05));
    colour += sunlight * sun_seen * min(glint, 2.5) * smoothstep(0.0, 0.04, scene.sun.y);
    return shown(hazed(colour, in.point), in.position.xy);
}
