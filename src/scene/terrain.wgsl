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
    let beside = max(max(scene.land.w - scene.stand.y, scene.stand.y - scene.heights.y), 0.0);
    return length(vec3f(place.x - scene.stand.x, beside, place.y - scene.stand.z)) * scene.stand.w;
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

// The colour of a number, as in ramp.rs.
fn ramp_at(number: f32) -> vec3f {
    var colour = scene.stops[0].rgb;
    for (var i = 1; i < 8; i++) {
        let before = scene.stops[i - 1];
        let next = scene.stops[i];
        colour = mix(colour, next.rgb, clamp((number - before.w) / max(next.w - before.w, 1e-6), 0.0, 1.0));
    }
    return colour;
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

// What lies between the samples, where one looks from so near that it would be seen: how high it stands out, from -0.5
// to 0.5, and which way it rises, much as rock and soil do. It is noise on lattices of 2^n metres, those that are finer
// than the samples and coarser than a pixel, so that land of more samples only has fewer of them.
fn detail(point_m: vec3f, sample_m: f32, pixel_m: f32) -> vec4f {
    var sum = vec4f(0.0);
    let coarsest = floor(log2(sample_m * 1.4));
    for (var i = 0; i < 6; i++) {
        let power = coarsest - f32(i);
        let cell_m = exp2(power);
        if cell_m < 1.5 * pixel_m {
            break;
        }
        let fine = smoothstep(1.4, 0.7, cell_m / sample_m) * smoothstep(1.5, 4.0, cell_m / pixel_m);
        sum += noise_in_space(point_m / cell_m + power * 17.3) * fine * 0.38;
    }
    return sum;
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
    let coat = i32(scene.grid.w);
    // Metres in a pixel, along the ground as it lies.
    let pixel_m = max(length(beside), length(below)) * scene.heights.z;
    let sample_m = 2.0 * max(scene.land.x / (scene.grid.x - 1.0), scene.land.y / (scene.grid.y - 1.0)) * scene.heights.z;
    var fine = vec4f(0.0);
    if pixel_m < sample_m && coat < 2 && in.side < 1e-5 && scene.right.w > 0.0 {
        let true_height = in.point.y / scene.land.z;
        fine = detail(vec3f(in.point.x * scene.heights.z, true_height, in.point.z * scene.heights.z), sample_m, pixel_m);
    }
    // Edges of colours run as the detail does, not along the texels.
    var ground = ground_at(in.samples + fine.yw * 0.3);
    // Rock and broken ground are rougher than meadows.
    let rocky = clamp(0.16 + 0.6 * smoothstep(0.25, 0.9, ground.slope) + 0.9 * ground.rough, 0.0, 1.0);
    let rise = fine.yzw - ground.normal * dot(fine.yzw, ground.normal);
    ground.normal = normalize(ground.normal - rise * rocky);
    ground.colour *= 1.0 + fine.x * 0.5;
    ground.sky *= 1.0 + min(fine.x, 0.0) * 0.7;
    if scene.water.y > 0.5 && coat < 2 {
        // What the water has just left is dark.
        let dry_m = (in.point.y - scene.water.x) / scene.land.z;
        ground.colour *= 1.0 - 0.5 * shore(max(dry_m, 0.0), ground.slope, 5.0, pixel_m);
    }
    var colour: vec3f;
    if in.side > 1e-5 {
        let facing = select(across, -across, dot(across, seen(in.point)) > 0.0);
        let normal = normalize(facing + vec3f(0.0, 1e-12, 0.0));
        let cut = strata(in.point, in.samples);
        // Lit from all around a little, so that the side in the shade can be read too.
        let direct = scene.sun_colour.rgb * scene.sun.w * max(dot(normal, scene.sun.xyz), 0.0) * 0.95;
        colour = cut * (direct + scene.ambient.rgb + vec3f(0.40, 0.38, 0.35));
    } else {
        switch coat {
            case 1: {
                colour = lit(vec3f(0.56, 0.545, 0.52) * (1.0 + fine.x * 0.25), ground.normal, ground.sun, ground.sky);
            }
            case 2: {
                let y = in.point.y;
                let share = (y - scene.heights.x) / max(scene.heights.y - scene.heights.x, 1e-6);
                colour = charted(ramp_at(share), ground.normal, ground.sky);
            }
            case 3: {
                colour = charted(ramp_at(atan(ground.slope) * (180.0 / PI)), ground.normal, ground.sky);
            }
            case 4: {
                let clay = lit(vec3f(0.14, 0.146, 0.158), ground.normal, mix(1.0, ground.sun, 0.5), ground.sky);
                colour = mix(clay, clay * 2.0 + vec3f(0.20, 0.21, 0.22), edge);
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
        if coat == 2 || coat == 3 {
            // As the legend has it.
            return encoded(colour, in.position.xy);
        }
    }
    return shown(hazed(colour, in.point), in.position.xy);
}
