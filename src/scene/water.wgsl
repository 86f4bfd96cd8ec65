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

const SHALLOW = vec3f(0.048, 0.190, 0.188);
const DEEP = vec3f(0.010, 0.036, 0.056);

// The slope of waves that come with the wind, longer across it than along it.
fn ripples(place: vec2f) -> vec2f {
    let with_wind = mat2x2f(0.83, -0.56, 0.56, 0.83) * place * vec2f(1.0, 1.9);
    return 0.55 * noise_and_slope(with_wind * 420.0).yz + 0.45 * noise_and_slope(with_wind * 150.0 + 7.0).yz;
}

@fragment
fn fragment(in: Vertex) -> @location(0) vec4f {
    let away = in.point - scene.eye.xyz;
    let far = length(away);
    let way = away / far;
    // Waves that are smaller than a pixel are none.
    let coarse = max(length(dpdx(in.point)), length(dpdy(in.point)));
    let wave = ripples(in.point.xz) * 0.035 * smoothstep(0.004, 0.0006, coarse);
    let normal = normalize(vec3f(wave.x, 1.0, wave.y));
    let surface = samples_of(in.point.xz);
    let depth = scene.water.x - height_m(surface) * scene.land.z;
    // The refracted ray, 1.33 times as dense as air.
    let bent = refract(way, normal, 1.0 / 1.33);
    let drift = bent.xz / max(-bent.y, 0.35) * max(depth, 0.0);
    let below = clamp(samples_of(in.point.xz + drift), vec2f(0.0), scene.grid.xy - 1.0);
    let ground = ground_at(below);
    let bottom = scene.water.x - height_m(below) * scene.land.z;
    if in.side < 0.5 && depth <= 0.0 {
        discard;
    }
    let deep = max(mix(bottom, depth, 0.5), 0.0) / scene.water.z;
    // Red is gone first: the three channels are swallowed at different rates.
    let passed = exp(-deep * vec3f(3.4, 1.35, 1.0));
    let sunlit = scene.sun_colour.rgb * scene.sun.w * max(scene.sun.y, 0.0);
    let light = sunlit * mix(1.0 - scene.ambient.w, 1.0, ground.sun) * 0.75 + scene.ambient.rgb;
    let body = mix(SHALLOW, DEEP, 1.0 - exp(-deep * 1.1)) * light;
    var bed = ground.colour;
    if scene.grid.w > 0.5 {
        bed = vec3f(0.5, 0.48, 0.45);
    }
    if scene.water.w < 0.5 || scene.grid.w > 0.5 {
        bed = lit(bed, ground.normal, ground.sun, ground.sky);
    }
    var colour = bed * passed + body * (1.0 - passed.b * 0.85);
    if in.side > 0.5 {
        // A cut through the water: the deeper, the darker.
        let down = (scene.water.x - in.point.y) / scene.water.z;
        let cut = mix(SHALLOW * 0.95, DEEP * 1.5, 1.0 - exp(-down * 1.4)) * (sunlit * 0.35 + scene.ambient.rgb * 1.3);
        colour = cut + vec3f(0.06, 0.085, 0.09) * smoothstep(0.05, 0.0, down);
    } else {
        // R. Schlick, "An Inexpensive BRDF Model for Physically-based Rendering", 1994, equation 15, for 1.33.
        let grazing = 1.0 - max(dot(-way, normal), 0.0);
        let mirrored = 0.02 + 0.98 * grazing * grazing * grazing * grazing * grazing;
        var back = reflect(way, normal);
        back.y = abs(back.y);
        let half_way = normalize(scene.sun.xyz - way);
        let glint = pow(max(dot(half_way, normal), 0.0), 220.0) * 0.9 * ground.sun;
        // Where the wind lies on it, it is rough and shows more of the sky; elsewhere it is dark.
        let gusts = noise(in.point.xz * vec2f(5.0, 9.0)) * 0.6 + noise(in.point.xz * vec2f(17.0, 31.0) + 5.0) * 0.4;
        let rough = mirrored + 0.05 * smoothstep(0.35, 0.75, gusts);
        colour = mix(colour, sky(back), rough * 0.9) + scene.sun_colour.rgb * scene.sun.w * glint;
        // Where it is hardly deep, it breaks: here and there, not as a line around the land.
        let shore = smoothstep(0.035, 0.0, depth / scene.water.z);
        let foam = shore * shore * smoothstep(0.25, 0.85, noise(in.point.xz * 260.0));
        colour = mix(colour, light * 0.6, foam * 0.4);
    }
    return shown(hazed(colour, in.point), in.position.xy);
}
