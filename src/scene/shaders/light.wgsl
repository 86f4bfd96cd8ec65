// Computed once per terrain: the slopes, and the share of the sun and of the sky that each place sees.

@group(1) @binding(0) var heights: texture_2d<f32>;

@vertex
fn vertex(@builtin(vertex_index) index: u32) -> @builtin(position) vec4f {
    return vec4f(f32(index & 1u) * 4.0 - 1.0, f32(index >> 1u) * 4.0 - 1.0, 0.0, 1.0);
}

fn height(at: vec2i) -> f32 {
    return textureLoad(heights, clamp(at, vec2i(0), vec2i(textureDimensions(heights)) - 1), 0).x;
}

// The height at a place in samples, interpolated bilinearly.
fn height_between(at: vec2f) -> f32 {
    let first = vec2i(floor(at));
    let f = at - floor(at);
    let top = mix(height(first), height(first + vec2i(1, 0)), f.x);
    let bottom = mix(height(first + vec2i(0, 1)), height(first + vec2i(1, 1)), f.x);
    return mix(top, bottom, f.y);
}

// Metres between samples.
fn spacing_m() -> vec2f {
    return 2.0 * scene.terrain.xy * scene.heights.z / (vec2f(textureDimensions(heights)) - 1.0);
}

// The gradient in metres per metre, eastward and southward: central differences, one-sided at the border.
@fragment
fn slopes(@builtin(position) pixel: vec4f) -> @location(0) vec4f {
    let at = vec2i(pixel.xy);
    let last = vec2i(textureDimensions(heights)) - 1;
    let west = max(at.x - 1, 0);
    let east = min(at.x + 1, last.x);
    let north = max(at.y - 1, 0);
    let south = min(at.y + 1, last.y);
    let eastward = height(vec2i(east, at.y)) - height(vec2i(west, at.y));
    let southward = height(vec2i(at.x, south)) - height(vec2i(at.x, north));
    let rise = vec2f(eastward, southward);
    let run = vec2f(vec2i(east - west, south - north)) * spacing_m();
    return vec4f(rise / run, 0.0, 0.0);
}

// Steps of the ray towards the sun, and of each ray towards the horizon.
override SUN_STEPS: i32 = 64;
override SKY_STEPS: i32 = 8;

@fragment
fn light(@builtin(position) pixel: vec4f) -> @location(0) vec4f {
    let size = vec2f(textureDimensions(heights));
    let spacing = spacing_m();
    // The corner texels of the target are on the corner samples.
    let target_size = scene.grid.xy;
    let at = (pixel.xy - 0.5) / (target_size - 1.0) * (size - 1.0);
    let exaggeration = scene.terrain.z * scene.heights.z;
    let height_m = height_between(at);

    // The horizon towards the sun, as a tangent.
    let level = max(length(scene.sun.xz), 1e-4);
    let towards = scene.sun.xz / level / spacing;
    let steep = scene.sun.y / level;
    let shortest = min(spacing.x, spacing.y);
    let highest = scene.heights.y / scene.terrain.z;
    let reach = min((highest - height_m) * exaggeration / max(steep, 0.01), length(size * spacing));
    let first = shortest * 0.8;
    let steps = f32(SUN_STEPS);
    let growth = max(reach - first * steps, 0.0) / (steps * steps);
    var horizon = -10.0;
    for (var i = 1; i <= SUN_STEPS; i++) {
        let distance_m = first * f32(i) + growth * f32(i * i);
        let place = at + towards * distance_m;
        if distance_m > reach + first || any(place < vec2f(0.0)) || any(place > size - 1.0) {
            break;
        }
        horizon = max(horizon, (height_between(place) - height_m) * exaggeration / distance_m);
    }
    let softness = max(scene.sun_colour.w, 0.012);
    let sun = 1.0 - smoothstep(-softness, softness, horizon - steep);

    // The share of the sky that is hidden within a tenth of the terrain, in eight directions.
    let radius = 0.10 * max(size.x * spacing.x, size.y * spacing.y);
    var hidden = 0.0;
    for (var k = 0; k < 8; k++) {
        let angle = (f32(k) + 0.5 * f32((i32(pixel.x) + i32(pixel.y)) & 1)) * (PI / 4.0);
        let direction = vec2f(cos(angle), sin(angle)) / spacing;
        var rise = 0.0;
        for (var i = 1; i <= SKY_STEPS; i++) {
            let share = f32(i) / f32(SKY_STEPS);
            let distance_m = max(radius * share * share, shortest * f32(i));
            let place = at + direction * distance_m;
            rise = max(rise, (height(vec2i(round(place))) - height_m) * exaggeration / distance_m);
        }
        // The sine of the horizon's angle.
        hidden += rise * inverseSqrt(1.0 + rise * rise);
    }
    let sky_seen = 1.0 - hidden / 8.0;
    return vec4f(sun, pow(sky_seen, 1.5), 0.0, 1.0);
}
