// Shared by all shaders of the scene. For scene units see scale.rs. Colours are linear until `display_colour`.

struct Scene {
    // The position of the eye; w₀ of the projection (see projection.rs).
    eye: vec4f,
    // The direction to the right; 1 where there is time for detail, else 0.
    right: vec4f,
    // The direction up; w₁ of the projection.
    up: vec4f,
    // The direction into the image; the first row of the band that is drawn.
    forward: vec4f,
    // Offset and factor from depth to clip-space z; the height of the image in bands, and the centre of this one.
    clip: vec4f,
    // The eye of the pure perspective that shows the same image, and the factor of distances from it.
    perspective_eye: vec4f,
    // The direction towards the sun; its brightness.
    sun: vec4f,
    // The sun's colour; its size as a tangent.
    sun_colour: vec4f,
    // The light of the sky; the darkness of cast shadows.
    ambient: vec4f,
    // The sky at the zenith; the density of the haze.
    zenith: vec4f,
    // The sky at the horizon; the strength of its glow around the sun.
    horizon: vec4f,
    // The colour of the ground plane; the width of its grid squares.
    ground: vec4f,
    // Half the width and half the depth, scene units per metre of height, the bottom of the block.
    terrain: vec4f,
    // The lowest and the highest point, metres per scene unit, the number of glowing faults.
    heights: vec4f,
    // Columns and rows of the heights, the share of the newer terrain in a transition, the shading mode.
    grid: vec4f,
    // The water level, 1 where there is water, unused, 1 where the colours are already lit.
    water: vec4f,
    // The colour ramp of the shading, and the numbers of its stops. The length is that in ramp.rs.
    ramp: array<vec4f, 8>,
    // The ends of the glowing lines, and their strengths four by four. The lengths are those in glow.rs.
    glow_lines: array<vec4f, 64>,
    glow_strengths: array<vec4f, 16>,
}

@group(0) @binding(0) var<uniform> scene: Scene;

const PI = 3.14159265;

fn projected(point: vec3f) -> vec4f {
    let d = point - scene.eye.xyz;
    let depth = dot(d, scene.forward.xyz);
    let divisor = scene.eye.w * depth + scene.up.w;
    let y = (dot(d, scene.up.xyz) - scene.clip.w * divisor) * scene.clip.z;
    return vec4f(dot(d, scene.right.xyz), y, scene.clip.x + scene.clip.y * depth, divisor);
}

// The direction in which a point is seen, as long as its distance.
fn view_vector(point: vec3f) -> vec3f {
    return scene.eye.w * (point - scene.eye.xyz) + scene.up.w * scene.forward.xyz;
}

// A pseudo-random number from 0 to 1 for a point of a lattice.
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

// The same for a lattice in space.
fn hash_in_space(at: vec3i) -> f32 {
    return hash(vec2i(at.x + at.z * 7919, at.y - at.z * 104729));
}

// Smooth noise in space, and its gradient.
fn noise_in_space(at: vec3f) -> vec4f {
    let cell = vec3i(floor(at));
    let f = fract(at);
    let u = f * f * (3.0 - 2.0 * f);
    let du = 6.0 * f * (1.0 - f);
    var layers: array<vec3f, 2>;
    for (var k = 0; k < 2; k++) {
        let a = hash_in_space(cell + vec3i(0, 0, k));
        let b = hash_in_space(cell + vec3i(1, 0, k));
        let c = hash_in_space(cell + vec3i(0, 1, k));
        let d = hash_in_space(cell + vec3i(1, 1, k));
        let bend = a - b - c + d;
        let value = a + (b - a) * u.x + (c - a) * u.y + bend * u.x * u.y;
        layers[k] = vec3f(value - 0.5, du.xy * (vec2f(b - a, c - a) + bend * u.yx));
    }
    let both = mix(layers[0], layers[1], u.z);
    return vec4f(both, du.z * (layers[1].x - layers[0].x));
}

fn noise(at: vec2f) -> f32 {
    return noise_and_slope(at).x + 0.5;
}

fn luminance(colour: vec3f) -> f32 {
    return dot(colour, vec3f(0.2126, 0.7152, 0.0722));
}

// The sky in a direction of length 1.
fn sky(direction: vec3f) -> vec3f {
    let rise = clamp(direction.y, 0.0, 1.0);
    var colour = mix(scene.horizon.rgb, scene.zenith.rgb, 1.0 - exp(-rise * 3.2));
    let towards = max(dot(direction, scene.sun.xyz), 0.0);
    let low = 1.0 - 0.6 * clamp(scene.sun.y, 0.0, 1.0);
    let glow = 0.34 * pow(towards, 6.0) * low + 0.5 * pow(towards, 48.0);
    colour += scene.sun_colour.rgb * glow * scene.horizon.w;
    return colour;
}

// Blends a colour with the sky behind it, by the haze between the eye and a point.
fn with_haze(colour: vec3f, point: vec3f) -> vec3f {
    let d = view_vector(point);
    let far = length(d);
    let direction = d / max(far, 1e-6);
    let share = 1.0 - exp(-pow(far * scene.zenith.w, 4.0));
    return mix(colour, sky(normalize(vec3f(direction.x, max(direction.y, 0.0), direction.z))), share);
}

// From linear to sRGB, with dithering against banding.
fn encoded(colour: vec3f, pixel: vec2f) -> vec4f {
    let gamma = select(
        1.055 * pow(max(colour, vec3f(0.0031308)), vec3f(1.0 / 2.4)) - 0.055,
        colour * 12.92,
        colour <= vec3f(0.0031308),
    );
    let grain = (hash(vec2i(pixel + vec2f(0.0, scene.forward.w))) - 0.5) / 255.0;
    return vec4f(clamp(gamma + grain, vec3f(0.0), vec3f(1.0)), 1.0);
}

// Tone mapping. The brightness of the maps stays unchanged. Highlights roll off by luminance alone, so that hues stay
// and sunlit snow keeps its shape.
fn display_colour(colour: vec3f, pixel: vec2f) -> vec4f {
    const KNEE = 0.5;
    let x = max(colour, vec3f(0.0));
    let bright = luminance(x);
    let over = max(bright - KNEE, 0.0) / (1.0 - KNEE);
    let toned = x * (min(bright, KNEE) + (1.0 - KNEE) * (1.0 - exp(-over))) / max(bright, 1e-5);
    let excess = max(max(toned.r, max(toned.g, toned.b)) - 1.0, 0.0);
    return encoded(mix(toned, vec3f(luminance(toned)), clamp(excess, 0.0, 1.0) * 0.5), pixel);
}
