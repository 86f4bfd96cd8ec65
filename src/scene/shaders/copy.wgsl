// Copies a texture to the entire target: the image to the window, or a texture to its next mip level.

@group(0) @binding(0) var image: texture_2d<f32>;
@group(0) @binding(1) var smooth_sampler: sampler;

struct Corner {
    @builtin(position) position: vec4f,
    @location(0) uv: vec2f,
}

@vertex
fn vertex(@builtin(vertex_index) index: u32) -> Corner {
    let at = vec2f(f32(index & 1u) * 2.0, f32(index >> 1u) * 2.0);
    var out: Corner;
    out.position = vec4f(at.x * 2.0 - 1.0, 1.0 - at.y * 2.0, 0.0, 1.0);
    out.uv = at;
    return out;
}

@fragment
fn fragment(in: Corner) -> @location(0) vec4f {
    let size = vec2f(textureDimensions(image));
    let texels = fwidth(in.uv.x) * size.x;
    if texels > 0.99 {
        return textureSampleLevel(image, smooth_sampler, in.uv, 0.0);
    }
    // The image is magnified: a cubic B-spline avoids visible pixels. Four bilinear samples are placed so that each
    // weighs two texels per axis as the spline does (C. Sigg and M. Hadwiger, "Fast Third-Order Texture Filtering",
    // GPU Gems 2, 2005).
    let at = in.uv * size - 0.5;
    let f = fract(at);
    let first = floor(at);
    let w0 = (1.0 - f) * (1.0 - f) * (1.0 - f) / 6.0;
    let w1 = (4.0 - 6.0 * f * f + 3.0 * f * f * f) / 6.0;
    let w3 = f * f * f / 6.0;
    let w2 = 1.0 - w0 - w1 - w3;
    let low = w0 + w1;
    let high = w2 + w3;
    let before = (first - 0.5 + w1 / low) / size;
    let after = (first + 1.5 + w3 / high) / size;
    let top = low.x * sampled(before) + high.x * sampled(vec2f(after.x, before.y));
    let bottom = low.x * sampled(vec2f(before.x, after.y)) + high.x * sampled(after);
    return low.y * top + high.y * bottom;
}

fn sampled(uv: vec2f) -> vec4f {
    return textureSampleLevel(image, smooth_sampler, uv, 0.0);
}
