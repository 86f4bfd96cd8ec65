// The placeholder shapes of scattered instances.

struct Vertex {
    @builtin(position) position: vec4f,
    @location(0) point: vec3f,
    @location(1) normal: vec3f,
    @location(2) colour: vec3f,
    // The place on the terrain, samples.
    @location(3) @interpolate(flat) samples: vec2f,
}

// Turns a vector, as the quaternion q does.
fn turned(q: vec4f, v: vec3f) -> vec3f {
    return v + 2.0 * cross(q.xyz, cross(q.xyz, v) + q.w * v);
}

// A corner of a shape, metres from its place, of an instance at a place in metres with a scale and a rotation.
@vertex
fn vertex(
    @location(0) corner: vec3f,
    @location(1) normal: vec3f,
    @location(2) place: vec4f,
    @location(3) rotation: vec4f,
    @location(4) colour: vec4f,
) -> Vertex {
    let unit_m = scene.heights.z;
    let flat_place = place.xz / unit_m - scene.terrain.xy;
    let base = vec3f(flat_place.x, place.y * scene.terrain.z, flat_place.y);
    var out: Vertex;
    // The ground is exaggerated, the shapes are not.
    out.point = base + turned(rotation, corner) * place.w / unit_m;
    out.position = projected(out.point);
    out.normal = turned(rotation, normal);
    out.colour = colour.rgb;
    out.samples = samples_of(flat_place);
    return out;
}

@fragment
fn fragment(in: Vertex) -> @location(0) vec4f {
    let light_uv = texture_place(in.samples, vec2f(textureDimensions(newer_light)));
    let light = textureSampleLevel(newer_light, smooth_sampler, light_uv, 0.0).xy;
    let shading = i32(scene.grid.w);
    var albedo = in.colour;
    if shading == 1 || shading == 4 {
        albedo = vec3f(0.45, 0.44, 0.42);
    }
    return display_colour(with_haze(lit(albedo, normalize(in.normal), light.x, light.y), in.point), in.position.xy);
}
