// A picture over the whole target: the finished view onto the window, or a texture onto its next smaller level.

@group(0) @binding(0) var picture: texture_2d<f32>;
@group(0) @binding(1) var smooth_sampler: sampler;

struct Corner {
    @builtin(position) position: vec4f,
    @location(0) place: vec2f,
}

@vertex
fn vertex(@builtin(vertex_index) index: u32) -> Corner {
    let at = vec2f(f32(index & 1u) * 2.0, f32(index >> 1u) * 2.0);
    var out: Corner;
    out.position = vec4f(at.x * 2.0 - 1.0, 1.0 - at.y * 2.0, 0.0, 1.0);
    out.place = at;
    return out;
}

@fragment
fn fragment(in: Corner) -> @location(0) vec4f {
    let size = vec2f(textureDimensions(picture));
    let texels = fwidth(in.place.x) * size.x;
    if texels > 0.99 {
        return textureSampleLevel(picture, smooth_sampler, in.place, 0.0);
    }
    // A picture of fewer pixels than are shown: cubic splines in place of steps. Each of four looks lies between two
    // texels where both count as they should (C. Sigg and M. Hadwiger, "Fast Third-Order Texture Filtering", GPU Gems 2,
    // 2005).
    let at = in.place * size - 0.5;
    let f = fract(at);
    let first = floor(at);
    let w0 = (1.0 - f) * (1.0 - f) * (1.0 - f) / 6.0;
    let w1 = (4.0 - 6.0 * f * f + 3.0 * f * f * f) / 6.0;
    let w3 = f * f * f / 6.0;
    let w2 = 1.0 - w0 - w1 - w3;
    let low = w0 + w1;
    let high = w2 + w3;
    let before = (first - 0.5 + w1 / low) / size;
    let behind = (first + 1.5 + w3 / high) / size;
    let top = low.x * look(before) + high.x * look(vec2f(behind.x, before.y));
    let bottom = low.x * look(vec2f(before.x, behind.y)) + high.x * look(behind);
    return low.y * top + high.y * bottom;
}

fn look(place: vec2f) -> vec4f {
    return textureSampleLevel(picture, smooth_sampler, place, 0.0);
}
