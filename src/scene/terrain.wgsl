// The land and the sides of the block.

const QUADS = 32;

struct Vertex {
    @builtin(position) position: vec4f,
    @location(0) point: vec3f,
    @location(1) samples: vec2f,
    // 0 on the land, up to 1 down the sides of the block.
    @location(2) side: f32,
    // The place in the chunk's net, quads.
    @location(3) net: vec2f,
}

// As far as lod.rs measures it: heights count only above and below all land.
fn distance_to(place: vec2f) -> f32 {
    let beside = max(max(scene.land.w - scene.eye.y, scene.eye.y - scene.heights.y), 0.0);
    return length(vec3f(place.x - scene.eye.x, beside, place.y - scene.eye.z));
}

// The vertex of a chunk: its first column and row, samples from vertex to vertex, and the distance at which it ends.
@vertex
fn vertex(@builtin(vertex_index) index: u32, @location(0) chunk: vec4f) -> Vertex {
    let row = u32(QUADS + 3);
    let net = vec2i(i32(index % row), i32(index / row)) - 1;
    let inside = clamp(net, vec2i(0), vec2i(QUADS));
    let last = scene.grid.xy - 1.0;
    let raw = chunk.xy + vec2f(inside) * chunk.z;
    let spacing = max(scene.land.x / last.x, scene.land.y / last.y) * 2.0;
    let start = 0.5 * chunk.w + 46.0 * chunk.z * spacing;
    let gone = clamp((distance_to(place_of(min(raw, last))) - start) / (chunk.w - start), 0.0, 1.0);
    let samples = min(raw - vec2f(inside & vec2i(1)) * chunk.z * gone, last);
    let end = chunk.xy + f32(QUADS) * chunk.z;
    let at_border = (net.x < 0 && chunk.x == 0.0) || (net.y < 0 && chunk.y == 0.0)
        || (net.x > QUADS && end.x >= last.x) || (net.y > QUADS && end.y >= last.y);
    let place = place_of(samples);
    let y = select(height_m(samples) * scene.land.z, scene.land.w, at_border);
    var out: Vertex;
    out.point = vec3f(place.x, y, place.y);
    out.position = projected(out.point);
    out.samples = samples;
    out.side = select(0.0, 1.0, at_border);
    out.net = vec2f(inside);
    return out;
}

// Heights from lowlands to summits, for the coat of elevations.
fn tint(share: f32) -> vec3f {
    let low = mix(vec3f(0.09, 0.19, 0.13), vec3f(0.36, 0.40, 0.20), smoothstep(0.0, 0.35, share));
    let high = mix(vec3f(0.42, 0.30, 0.18), vec3f(0.86, 0.85, 0.83), smoothstep(0.55, 1.0, share));
    return mix(low, high, smoothstep(0.2, 0.7, share));
}

// Layers that follow the land above them, less and less the deeper they lie.
fn strata(point: vec3f, samples: vec2f) -> vec3f {
    let top = height_m(samples) * scene.land.z;
    let depth = top - point.y;
    let along = point.x + point.z;
    let fold = top * 0.55 * exp(-depth * 7.0) + 0.012 * (noise(vec2f(along * 5.0, 3.0)) - 0.5);
    let raw = (point.y - fold) * 58.0 + 0.25 * noise(vec2f(along * 34.0, point.y * 60.0));
    // Beds of unequal thickness.
    let level = raw + 0.42 * sin(raw * 1.7) * cos(raw * 0.6);
    let layer = floor(level);
    let kind = hash(vec2i(i32(layer), 7));
    let clay = mix(vec3f(0.190, 0.112, 0.066), vec3f(0.36, 0.235, 0.140), kind);
    let lime = mix(vec3f(0.160, 0.130, 0.105), vec3f(0.44, 0.365, 0.275), kind);
    var colour = mix(clay, lime, step(0.62, hash(vec2i(i32(layer), 11))));
    // A fine dark line between two layers, and grain within them.
    let within = fract(level);
    let line = smoothstep(0.0, 0.10, within) * smoothstep(0.0, 0.06, 1.0 - within);
    colour *= mix(0.72, 1.0, line) * (0.94 + 0.12 * noise(vec2f(along * 420.0, point.y * 1600.0)));
    // Darker towards the bottom, and soil on top.
    colour *= mix(0.62, 1.0, smoothstep(scene.land.w, scene.land.w + 0.10, point.y));
    let soil = smoothstep(0.0065, 0.004, depth);
    return mix(colour, vec3f(0.075, 0.055, 0.042), soil * 0.85);
}

// What lies between the samples, where one looks from so near that it would be seen: the height of the grain from -0.5
// to 0.5, and its gradient.
fn grain(at: vec2f) -> vec3f {
    let turn = mat2x2f(0.8, 0.6, -0.6, 0.8);
    return 0.5 * noise_and_slope(at * 1.3) + 0.3 * noise_and_slope(turn * at * 3.1 + 13.0)
        + 0.2 * noise_and_slope(at * 7.3 + 41.0);
}

// How much a place lies under the triangles' edges: along the net's columns, its rows, and across its quads.
fn edges(net: vec2f) -> f32 {
    let along = vec3f(net, net.x + net.y);
    let width = max(vec3f(fwidth(along.x), fwidth(along.y), fwidth(along.z)), vec3f(1e-6));
    let near = abs(fract(along - 0.5) - 0.5) / width;
    let lines = clamp(vec3f(1.15) - near, vec3f(0.0), vec3f(1.0));
    // Where lines lie closer than pixels, what they cover as a whole.
    let close = smoothstep(vec3f(0.3), vec3f(0.8), width);
    let covered = mix(lines, vec3f(0.55), close);
    return max(max(covered.x, covered.y), covered.z * 0.75);
}

// The ember of a fault, #ff7a3c.
const EMBER = vec3f(1.0, 0.195, 0.045);

// The lines of the youngest faults on a colour, as thin as a pen's however far away they are; `across` and `down` are
// how the place changes from pixel to pixel.
fn embers(colour: vec3f, place: vec2f, across: vec2f, down: vec2f) -> vec3f {
    var glowing = colour;
    for (var i = 0; i < i32(scene.heights.w); i++) {
        let line = scene.glowing[i];
        let along = line.zw - line.xy;
        let share = clamp(dot(place - line.xy, along) / max(dot(along, along), 1e-12), 0.0, 1.0);
        let away = place - line.xy - along * share;
        let far = length(away);
        let way = away / max(far, 1e-9);
        // Scene units in a pixel, straight away from the line.
        let pixel = max(length(vec2f(dot(across, way), dot(down, way))), 1e-7);
        // A picture of few pixels is shown larger.
        let pixels = far / (pixel * mix(0.55, 1.0, scene.right.w));
        let strength = scene.glow[i >> 2][i & 3];
        let core = strength * (1.0 - smoothstep(0.7, 1.9, pixels));
        let halo = strength * exp(-pixels * pixels / 30.0);
        glowing = mix(glowing, EMBER * 1.5, core) + EMBER * halo * 0.32 * (1.0 - core);
    }
    return glowing;
}

@fragment
fn fragment(in: Vertex) -> @location(0) vec4f {
    let beside = dpdx(in.point);
    let below = dpdy(in.point);
    let across = cross(beside, below);
    let edge = edges(in.net);
    // Samples in a pixel.
    let coarse = max(length(dpdx(in.samples)), length(dpdy(in.samples)));
    let near = smoothstep(0.55, 0.12, coarse) * (1.0 - step(1e-5, in.side));
    var fine = vec3f(0.0);
    if near * scene.right.w > 0.0 {
        fine = grain(in.samples) * near;
    }
    // Edges of colours run as the grain does, not along the texels.
    var ground = ground_at(in.samples + fine.yz * 0.35);
    let rocky = mix(0.25, 1.0, smoothstep(0.3, 0.9, ground.slope));
    ground.normal = normalize(ground.normal - vec3f(fine.y, 0.0, fine.z) * 0.42 * rocky);
    ground.colour *= 1.0 + fine.x * 0.55;
    ground.sky *= 1.0 + min(fine.x, 0.0) * 0.6;
    var colour: vec3f;
    if in.side > 1e-5 {
        let facing = select(across, -across, dot(across, in.point - scene.eye.xyz) > 0.0);
        let normal = normalize(facing + vec3f(0.0, 1e-12, 0.0));
        let cut = strata(in.point, in.samples);
        // Lit from all around a little, so that the side in the shade can be read too.
        let direct = scene.sun_colour.rgb * scene.sun.w * max(dot(normal, scene.sun.xyz), 0.0) * 0.6;
        colour = cut * (direct + scene.ambient.rgb * 0.6 + vec3f(0.31, 0.29, 0.27));
    } else {
        switch i32(scene.grid.w) {
            case 1: {
                colour = lit(vec3f(0.56, 0.545, 0.52), ground.normal, ground.sun, ground.sky);
            }
            case 2: {
                let y = in.point.y;
                let share = (y - scene.heights.x) / max(scene.heights.y - scene.heights.x, 1e-6);
                colour = lit(tint(clamp(share, 0.0, 1.0)), ground.normal, ground.sun, ground.sky);
            }
            case 3: {
                // From green, where one walks, over amber to red at 45°.
                let steep = atan(ground.slope) * (180.0 / PI);
                var slope = mix(vec3f(0.12, 0.26, 0.15), vec3f(0.62, 0.44, 0.10), smoothstep(12.0, 28.0, steep));
                slope = mix(slope, vec3f(0.50, 0.08, 0.05), smoothstep(28.0, 45.0, steep));
                colour = lit(slope, ground.normal, mix(1.0, ground.sun, 0.5), ground.sky);
            }
            case 4: {
                let clay = lit(vec3f(0.115, 0.12, 0.13), ground.normal, mix(1.0, ground.sun, 0.5), ground.sky);
                colour = mix(clay, clay * 2.0 + vec3f(0.16, 0.17, 0.18), edge);
            }
            default: {
                if scene.water.w > 0.5 {
                    colour = ground.colour;
                } else {
                    colour = lit(ground.colour, ground.normal, ground.sun, ground.sky);
                }
            }
        }
        colour = embers(colour, in.point.xz, beside.xz, below.xz);
    }
    return shown(hazed(colour, in.point), in.position.xy);
}
