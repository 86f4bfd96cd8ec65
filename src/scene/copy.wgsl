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
    return textureSample(picture, smooth_sampler, in.place);
}
