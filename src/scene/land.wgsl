// The land's textures, of the older and of the newer land, and what is read from them.

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
    return (point / scene.land.xy * 0.5 + 0.5) * (scene.grid.xy - 1.0);
}

fn place_of(samples: vec2f) -> vec2f {
    return (samples / (scene.grid.xy - 1.0) * 2.0 - 1.0) * scene.land.xy;
}

// Where a place in samples lies in a texture whose corner texels lie on the corners of the land.
fn texture_place(samples: vec2f, size: vec2f) -> vec2f {
    return (samples / (scene.grid.xy - 1.0) * (size - 1.0) + 0.5) / size;
}

struct Ground {
    normal: vec3f,
    // How much of the sun's light arrives, and of the sky's.
    sun: f32,
    sky: f32,
    colour: vec3f,
    // How steep it is without exaggeration, as a tangent, and how much it differs in that from what lies around.
    slope: f32,
    rough: f32,
}

fn ground_at(samples: vec2f) -> Ground {
    let uv = (samples + 0.5) / scene.grid.xy;
    let light_uv = texture_place(samples, vec2f(textureDimensions(newer_light)));
    // Its texels are areas, not samples.
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
    let exaggeration = scene.land.z * scene.heights.z;
    var ground: Ground;
    // Folds stand out a little more against the slope around them than they are steep, as an engraver would have it.
    let around = textureSampleBias(newer_slopes, smooth_sampler, uv, 3.0).xy;
    let carved = (slope + 0.35 * (slope - around)) * exaggeration;
    ground.normal = normalize(vec3f(-carved.x, 1.0, -carved.y));
    ground.sun = light.x;
    ground.sky = light.y;
    ground.colour = colour;
    ground.slope = length(slope);
    ground.rough = length(slope - around);
    return ground;
}

// What the land throws back of light, where it is not known better: dry ground.
const EARTH = vec3f(0.30, 0.24, 0.17);

// How pale the sky is around the sun, and how blue away from it. Both together are the light of the sky.
const PALE = vec3f(1.22, 1.10, 0.92);
const BLUE = vec3f(0.80, 0.93, 1.12);

// Sun and sky, and what the land around throws back. The sky is not the same on all sides, so that forms can be read in
// the shade too.
fn lit(colour: vec3f, normal: vec3f, sun: f32, sky_seen: f32) -> vec3f {
    let shadow = mix(1.0 - scene.ambient.w, 1.0, sun);
    let sunlight = scene.sun_colour.rgb * scene.sun.w;
    let direct = sunlight * max(dot(normal, scene.sun.xyz), 0.0) * shadow;
    let towards = 0.5 + 0.5 * dot(normal.xz, scene.sun.xz) / max(length(scene.sun.xz), 1e-4);
    let upward = 0.5 + 0.5 * normal.y;
    let above = scene.ambient.rgb * mix(BLUE, PALE, towards) * mix(0.35, 1.0, upward) * sky_seen;
    // Slopes see lit ground below them, hollows see it around them.
    let thrown = EARTH * (sunlight * max(scene.sun.y, 0.0) + scene.ambient.rgb);
    let bounced = thrown * (1.3 * (1.0 - upward) + 0.7 * (1.0 - sky_seen));
    return colour * (direct + above + bounced);
}

// The colours of a number: the sun brings out the forms softly and throws no shadows, and level ground has the very
// colour.
fn charted(colour: vec3f, normal: vec3f, sky_seen: f32) -> vec3f {
    let turned = (1.0 + dot(normal, scene.sun.xyz)) / (1.0 + scene.sun.y);
    return colour * mix(1.0, turned, 0.6) * mix(1.0, sky_seen, 0.4);
}

// The light that water and wet ground share: how near the shore is for a place so much above or below the level, metres,
// on ground so steep: 1 at the shore, 0 from `width` on. Where a pixel has more metres than that, as much of it.
fn shore(height_m: f32, slope: f32, width_m: f32, pixel_m: f32) -> f32 {
    let away = height_m / max(slope, 0.01);
    let wide = max(width_m, pixel_m);
    return (1.0 - smoothstep(0.0, wide, away)) * (width_m / wide) * smoothstep(2.5, 0.8, height_m);
}
