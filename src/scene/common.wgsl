// What all parts of the picture share. Scene units: see camera.rs. Colours are linear light until `shown`.

struct Scene {
    // Where the eye stands, and how much a depth counts in what places are divided by.
    eye: vec4f,
    // To the right, and whether there is time for what is fine.
    right: vec4f,
    // Up, and what else counts: all of it in a parallel projection.
    up: vec4f,
    // Into the picture, and the first row of the band of the picture that is drawn.
    forward: vec4f,
    // What is added to depths, and what they are multiplied by before, to be those of the card; how many bands are as high
    // as the picture, and where the middle of this one lies.
    band: vec4f,
    // Where an eye would stand that has this very sight as its perspective, and what distances from there are worth.
    stand: vec4f,
    // Towards the sun, and how bright it shines.
    sun: vec4f,
    // Its colour, and how wide it is as a tangent.
    sun_colour: vec4f,
    // The light of the sky, and how dark cast shadows are.
    ambient: vec4f,
    // The sky above, and how thick the haze is.
    zenith: vec4f,
    // The sky at the horizon, and its glow around the sun.
    horizon: vec4f,
    // The table, and the width of its squares.
    table: vec4f,
    // Half the sides, scene units in a metre of height, the bottom of the block.
    land: vec4f,
    // The lowest and the highest point, metres in a scene unit, how many faults glow.
    heights: vec4f,
    // Samples, how far the newer land has come, how the land is coloured.
    grid: vec4f,
    // The level of the water, whether there is any, nothing, whether the colours are lit already.
    water: vec4f,
    // The colours of a coat that shows a number, and the numbers at which they are met: as many as in ramp.rs.
    stops: array<vec4f, 8>,
    // Lines that glow, from place to place, and four by four how strongly each does: as many as in glow.rs.
    glowing: array<vec4f, 64>,
    glow: array<vec4f, 16>,
}

@group(0) @binding(0) var<uniform> scene: Scene;

const PI = 3.14159265;

fn projected(point: vec3f) -> vec4f {
    let d = point - scene.eye.xyz;
    let depth = dot(d, scene.forward.xyz);
    let divisor = scene.eye.w * depth + scene.up.w;
    let y = (dot(d, scene.up.xyz) - scene.band.w * divisor) * scene.band.z;
    return vec4f(dot(d, scene.right.xyz), y, scene.band.x + scene.band.y * depth, divisor);
}

// The way on which a point is seen, as long as it is far away.
fn seen(point: vec3f) -> vec3f {
    return scene.eye.w * (point - scene.eye.xyz) + scene.up.w * scene.forward.xyz;
}

// A number from 0 to 1 for a point of a lattice.
fn hash(at: vec2i) -> f32 {
    var n = bitcast<u32>(at.x) * 0x9e3779b1u ^ bitcast<u32>(at.y) * 0x85ebca77u;
    n = (n ^ (n >> 15u)) * 0x2c1b3c6du;
    n = (n ^ (n >> 12u)) * 0x297a2d39u;
    return f32((n ^ (n >> 15u)) >> 8u) / 16777216.0;
}

// Smooth noise from -0.5 to 0.5, and its gradient.
fn noise_and_slope(at: vec2f) -> vec3f {
    let cell = vec2i(floor(at));
    let f = fract(at);
    let u = f * f * (3.0 - 2.0 * f);
    let du = 6.0 * f * (1.0 - f);
    let a = hash(cell);
    let b = hash(cell + vec2i(1, 0));
    let c = hash(cell + vec2i(0, 1));
    let d = hash(cell + vec2i(1, 1));
    let bend = a - b - c + d;
    let value = a + (b - a) * u.x + (c - a) * u.y + bend * u.x * u.y;
    return vec3f(value - 0.5, du * (vec2f(b - a, c - a) + bend * u.yx));
}

// A number from 0 to 1 for a point of a lattice in space.
fn hash_in_space(at: vec3i) -> f32 {
    return hash(vec2i(at.x + at.z * 7919, at.y - at.z * 104729));
}

// The same noise in space, and its gradient.
fn noise_in_space(at: vec3f) -> vec4f {
    let cell = vec3i(floor(at));
    let f = fract(at);
    let u = f * f * (3.0 - 2.0 * f);
    let du = 6.0 * f * (1.0 - f);
    var near: array<vec3f, 2>;
    for (var k = 0; k < 2; k++) {
        let a = hash_in_space(cell + vec3i(0, 0, k));
        let b = hash_in_space(cell + vec3i(1, 0, k));
        let c = hash_in_space(cell + vec3i(0, 1, k));
        let d = hash_in_space(cell + vec3i(1, 1, k));
        let bend = a - b - c + d;
        let value = a + (b - a) * u.x + (c - a) * u.y + bend * u.x * u.y;
        near[k] = vec3f(value - 0.5, du.xy * (vec2f(b - a, c - a) + bend * u.yx));
    }
    let both = mix(near[0], near[1], u.z);
    return vec4f(both, du.z * (near[1].x - near[0].x));
}

fn noise(at: vec2f) -> f32 {
    return noise_and_slope(at).x + 0.5;
}

fn luminance(colour: vec3f) -> f32 {
    return dot(colour, vec3f(0.2126, 0.7152, 0.0722));
}

// The sky in a direction of length 1.
fn sky(way: vec3f) -> vec3f {
    let rise = clamp(way.y, 0.0, 1.0);
    var colour = mix(scene.horizon.rgb, scene.zenith.rgb, 1.0 - exp(-rise * 3.2));
    let towards = max(dot(way, scene.sun.xyz), 0.0);
    let low = 1.0 - 0.6 * clamp(scene.sun.y, 0.0, 1.0);
    let glow = 0.34 * pow(towards, 6.0) * low + 0.5 * pow(towards, 48.0);
    colour += scene.sun_colour.rgb * glow * scene.horizon.w;
    return colour;
}

// What is between the eye and a thing makes it like the horizon.
fn hazed(colour: vec3f, point: vec3f) -> vec3f {
    let d = seen(point);
    let far = length(d);
    let way = d / max(far, 1e-6);
    let share = 1.0 - exp(-pow(far * scene.zenith.w, 4.0));
    return mix(colour, sky(normalize(vec3f(way.x, max(way.y, 0.0), way.z))), share);
}

// From linear light to what the screen gets, with a breath of noise against bands.
fn encoded(colour: vec3f, pixel: vec2f) -> vec4f {
    let gamma = select(
        1.055 * pow(max(colour, vec3f(0.0031308)), vec3f(1.0 / 2.4)) - 0.055,
        colour * 12.92,
        colour <= vec3f(0.0031308),
    );
    let grain = (hash(vec2i(pixel + vec2f(0.0, scene.forward.w))) - 0.5) / 255.0;
    return vec4f(clamp(gamma + grain, vec3f(0.0), vec3f(1.0)), 1.0);
}

// What is as bright as the maps have it stays so; highlights roll off, on the brightness alone, so that hues stay and
// snow in the sun keeps its folds.
fn shown(colour: vec3f, pixel: vec2f) -> vec4f {
    const KNEE = 0.5;
    let x = max(colour, vec3f(0.0));
    let bright = luminance(x);
    let over = max(bright - KNEE, 0.0) / (1.0 - KNEE);
    let toned = x * (min(bright, KNEE) + (1.0 - KNEE) * (1.0 - exp(-over))) / max(bright, 1e-5);
    let excess = max(max(toned.r, max(toned.g, toned.b)) - 1.0, 0.0);
    return encoded(mix(toned, vec3f(luminance(toned)), clamp(excess, 0.0, 1.0) * 0.5), pixel);
}
