// The textures of the older and of the newer terrain, and the functions that read them.

@group(1) @binding(0) var older_heights: texture_2d<f32>;
@group(1) @binding(1) var newer_heights: texture_2d<f32>;
@group(1) @binding(2) var older_slopes: texture_2d<f32>;
@group(1) @binding(3) var newer_slopes: texture_2d<f32>;
@group(1) @binding(4) var older_light: texture_2d<f32>;
@group(1) @binding(5) var newer_light: texture_2d<f32>;
@group(1) @binding(6) var older_colours: texture_2d<f32>;
@group(1) @binding(7) var newer_colours: texture_2d<f32>;
@group(1) @binding(8) var smooth_sampler: sampler;

fn bilinear(heights: texture_2d<f32>, at: vec2f) -> f32 {
    let last = vec2i(textureDimensions(heights)) - 1;
    let first = clamp(vec2i(floor(at)), vec2i(0), last);
    let next = min(first + 1, last);
    let f = at - vec2f(first);
    let top = mix(textureLoad(heights, first, 0).x, textureLoad(heights, vec2i(next.x, first.y), 0).x, f.x);
    let bottom = mix(textureLoad(heights, vec2i(first.x, next.y), 0).x, textureLoad(heights, next, 0).x, f.x);
    return mix(top, bottom, f.y);
}

// The height at a place in samples, metres.
fn height_m(at: vec2f) -> f32 {
    let newer = bilinear(newer_heights, at);
    if scene.grid.z >= 1.0 {
        return newer;
    }
    return mix(bilinear(older_heights, at), newer, scene.grid.z);
}

fn samples_of(point: vec2f) -> vec2f {
    return (point / scene.terrain.xy * 0.5 + 0.5) * (scene.grid.xy - 1.0);
}

fn place_of(samples: vec2f) -> vec2f {
    return (samples / (scene.grid.xy - 1.0) * 2.0 - 1.0) * scene.terrain.xy;
}

// The texture coordinates of a place in samples, in a texture whose corner texels are on the corners of the terrain.
fn texture_place(samples: vec2f, size: vec2f) -> vec2f {
    return (samples / (scene.grid.xy - 1.0) * (size - 1.0) + 0.5) / size;
}

struct Surface {
    normal: vec3f,
    // The shares of the sun's and of the sky's light that arrive.
    sun: f32,
    sky: f32,
    colour: vec3f,
    // The steepness without exaggeration, as a tangent, and how much it differs from its surroundings.
    slope: f32,
    rough: f32,
}

fn surface_at(samples: vec2f) -> Surface {
    let uv = (samples + 0.5) / scene.grid.xy;
    let light_uv = texture_place(samples, vec2f(textureDimensions(newer_light)));
    // Texels of the colours are areas, not samples.
    let colour_uv = samples / (scene.grid.xy - 1.0);
    var slope = textureSample(newer_slopes, smooth_sampler, uv).xy;
    var light = textureSample(newer_light, smooth_sampler, light_uv).xy;
    var colour = textureSample(newer_colours, smooth_sampler, colour_uv).rgb;
    if scene.grid.z < 1.0 {
        slope = mix(textureSampleLevel(older_slopes, smooth_sampler, uv, 0.0).xy, slope, scene.grid.z);
        light = mix(textureSampleLevel(older_light, smooth_sampler, light_uv, 0.0).xy, light, scene.grid.z);
        let older = textureSampleLevel(older_colours, smooth_sampler, colour_uv, 0.0).rgb;
        colour = mix(older, colour, scene.grid.z);
    }
    let exaggeration = scene.terrain.z * scene.heights.z;
    var surface: Surface;
    // Slopes are exaggerated relative to their surroundings, which makes small forms legible.
    let around = textureSampleBias(newer_slopes, smooth_sampler, uv, 3.0).xy;
    let carved_slope = (slope + 0.35 * (slope - around)) * exaggeration;
    surface.normal = normalize(vec3f(-carved_slope.x, 1.0, -carved_slope.y));
    surface.sun = light.x;
    surface.sky = light.y;
    surface.colour = colour;
    surface.slope = length(slope);
    surface.rough = length(slope - around);
    return surface;
}

// The albedo of the surroundings for bounced light: dry soil.
const BOUNCE_ALBEDO = vec3f(0.30, 0.24, 0.17);

// The tint of the sky around the sun, and away from it. Their average is the light of the sky.
const SKY_NEAR_SUN = vec3f(1.22, 1.10, 0.92);
const SKY_AWAY_FROM_SUN = vec3f(0.80, 0.93, 1.12);

// Light from the sun, from the sky and bounced off the surroundings. The sky differs with the direction, so that forms
// are visible in the shade too.
fn lit(colour: vec3f, normal: vec3f, sun: f32, sky_seen: f32) -> vec3f {
    let shadow = mix(1.0 - scene.ambient.w, 1.0, sun);
    let sunlight = scene.sun_colour.rgb * scene.sun.w;
    let direct = sunlight * max(dot(normal, scene.sun.xyz), 0.0) * shadow;
    let towards = 0.5 + 0.5 * dot(normal.xz, scene.sun.xz) / max(length(scene.sun.xz), 1e-4);
    let upward = 0.5 + 0.5 * normal.y;
    let above = scene.ambient.rgb * mix(SKY_AWAY_FROM_SUN, SKY_NEAR_SUN, towards) * mix(0.35, 1.0, upward) * sky_seen;
    // Slopes receive bounced light from the terrain below them, hollows from the terrain around them.
    let reflected = BOUNCE_ALBEDO * (sunlight * max(scene.sun.y, 0.0) + scene.ambient.rgb);
    let bounced = reflected * (1.3 * (1.0 - upward) + 0.7 * (1.0 - sky_seen));
    return colour * (direct + above + bounced);
}

// Soft shading for colour ramps: without shadows, and with exactly the ramp's colour on level terrain.
fn ramp_lit(colour: vec3f, normal: vec3f, sky_seen: f32) -> vec3f {
    let turned = (1.0 + dot(normal, scene.sun.xyz)) / (1.0 + scene.sun.y);
    return colour * mix(1.0, turned, 0.6) * mix(1.0, sky_seen, 0.4);
}

// The proximity of the shore for a place at a height above or below the water on a slope: 1 at the shore, 0 from
// `width_m` on. Where a pixel is wider than that, the share of the pixel.
fn shore(height_m: f32, slope: f32, width_m: f32, pixel_m: f32) -> f32 {
    let distance_m = height_m / max(slope, 0.01);
    let wider_m = max(width_m, pixel_m);
    return (1.0 - smoothstep(0.0, wider_m, distance_m)) * (width_m / wider_m) * smoothstep(2.5, 0.8, height_m);
}
