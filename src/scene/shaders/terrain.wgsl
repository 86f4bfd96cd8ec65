// The surface of the terrain and the sides of the block.

const QUADS = 32;

struct Vertex {
    @builtin(position) position: vec4f,
    @location(0) point: vec3f,
    @location(1) samples: vec2f,
    // 0 on the surface, up to 1 down the sides of the block.
    @location(2) side: f32,
    // The place in the chunk's mesh, quads.
    @location(3) mesh: vec2f,
}

// The distance as in lod.rs: heights count only above and below the height range of the terrain.
fn distance_to(place: vec2f) -> f32 {
    let eye = scene.perspective_eye;
    let vertical = max(max(scene.terrain.w - eye.y, eye.y - scene.heights.y), 0.0);
    return length(vec3f(place.x - eye.x, vertical, place.y - eye.z)) * eye.w;
}

// A vertex of a chunk, which is given by its first column and row, samples between vertices, and the distance at which
// it ends.
@vertex
fn vertex(@builtin(vertex_index) index: u32, @location(0) chunk: vec4f) -> Vertex {
    let row = u32(QUADS + 3);
    let mesh = vec2i(i32(index % row), i32(index / row)) - 1;
    let inside = clamp(mesh, vec2i(0), vec2i(QUADS));
    let last = scene.grid.xy - 1.0;
    let raw = chunk.xy + vec2f(inside) * chunk.z;
    let spacing = max(scene.terrain.x / last.x, scene.terrain.y / last.y) * 2.0;
    let start = 0.5 * chunk.w + 46.0 * chunk.z * spacing;
    let morph = clamp((distance_to(place_of(min(raw, last))) - start) / (chunk.w - start), 0.0, 1.0);
    let samples = min(raw - vec2f(inside & vec2i(1)) * chunk.z * morph, last);
    let end = chunk.xy + f32(QUADS) * chunk.z;
    let at_border = (mesh.x < 0 && chunk.x == 0.0) || (mesh.y < 0 && chunk.y == 0.0)
        || (mesh.x > QUADS && end.x >= last.x) || (mesh.y > QUADS && end.y >= last.y);
    let place = place_of(samples);
    let y = select(height_m(samples) * scene.terrain.z, scene.terrain.w, at_border);
    var out: Vertex;
    out.point = vec3f(place.x, y, place.y);
    out.position = projected(out.point);
    out.samples = samples;
    out.side = select(0.0, 1.0, at_border);
    out.mesh = vec2f(inside);
    return out;
}

// The colour of a number on the ramp, as in ramp.rs.
fn ramp_at(number: f32) -> vec3f {
    var colour = scene.ramp[0].rgb;
    for (var i = 1; i < 8; i++) {
        let before = scene.ramp[i - 1];
        let next = scene.ramp[i];
        colour = mix(colour, next.rgb, clamp((number - before.w) / max(next.w - before.w, 1e-6), 0.0, 1.0));
    }
    return colour;
}

// Layers of rock that follow the surface above them, less so with depth.
fn strata(point: vec3f, samples: vec2f) -> vec3f {
    let top = height_m(samples) * scene.terrain.z;
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
    colour *= mix(0.62, 1.0, smoothstep(scene.terrain.w, scene.terrain.w + 0.10, point.y));
    let soil = smoothstep(0.0065, 0.004, depth);
    return mix(colour, vec3f(0.075, 0.055, 0.042), soil * 0.85);
}

// Procedural detail of rock and soil between the samples, for close-ups: its height, from -0.5 to 0.5, and its
// gradient. It is noise on lattices of 2^n metres that are finer than the samples and coarser than a pixel, so that
// terrain with more samples has fewer of them.
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

// How much of a pixel the edges of triangles cover: along columns, along rows, and across quads.
fn edges(mesh: vec2f) -> f32 {
    let along = vec3f(mesh, mesh.x + mesh.y);
    let width = max(vec3f(fwidth(along.x), fwidth(along.y), fwidth(along.z)), vec3f(1e-6));
    let near = abs(fract(along - 0.5) - 0.5) / width;
    let lines = clamp(vec3f(1.15) - near, vec3f(0.0), vec3f(1.0));
    // Where lines are closer than pixels, their average coverage.
    let close = smoothstep(vec3f(0.3), vec3f(0.8), width);
    let covered = mix(lines, vec3f(0.55), close);
    return max(max(covered.x, covered.y), covered.z * 0.75);
}

// The colour of a glowing fault, #ff7a3c.
const GLOW_COLOUR = vec3f(1.0, 0.195, 0.045);

// Adds the lines of the most recent faults to a colour, with a constant width in pixels; `across` and `down` are the
// derivatives of the place from pixel to pixel.
fn with_glow(colour: vec3f, place: vec2f, across: vec2f, down: vec2f) -> vec3f {
    var glowing = colour;
    for (var i = 0; i < i32(scene.heights.w); i++) {
        let line = scene.glow_lines[i];
        let along = line.zw - line.xy;
        let share = clamp(dot(place - line.xy, along) / max(dot(along, along), 1e-12), 0.0, 1.0);
        let offset = place - line.xy - along * share;
        let distance = length(offset);
        let normal = offset / max(distance, 1e-9);
        // Scene units per pixel, perpendicular to the line.
        let pixel = max(length(vec2f(dot(across, normal), dot(down, normal))), 1e-7);
        // A reduced image is magnified later.
        let pixels = distance / (pixel * mix(0.55, 1.0, scene.right.w));
        let strength = scene.glow_strengths[i >> 2][i & 3];
        let core = strength * (1.0 - smoothstep(0.7, 1.9, pixels));
        let halo = strength * exp(-pixels * pixels / 30.0);
        glowing = mix(glowing, GLOW_COLOUR * 1.5, core) + GLOW_COLOUR * halo * 0.32 * (1.0 - core);
    }
    return glowing;
}

@fragment
fn fragment(in: Vertex) -> @location(0) vec4f {
    let dx = dpdx(in.point);
    let dy = dpdy(in.point);
    let face_normal = cross(dx, dy);
    let edge = edges(in.mesh);
    let shading = i32(scene.grid.w);
    // Metres per pixel, along the surface.
    let pixel_m = max(length(dx), length(dy)) * scene.heights.z;
    let spacing = scene.terrain.xy / (scene.grid.xy - 1.0);
    let sample_m = 2.0 * max(spacing.x, spacing.y) * scene.heights.z;
    var fine = vec4f(0.0);
    if pixel_m < sample_m && shading < 2 && in.side < 1e-5 && scene.right.w > 0.0 {
        let true_height = in.point.y / scene.terrain.z;
        let point_m = vec3f(in.point.x * scene.heights.z, true_height, in.point.z * scene.heights.z);
        fine = detail(point_m, sample_m, pixel_m);
    }
    // The detail displaces the colours too, so that their edges do not follow the texels.
    var surface = surface_at(in.samples + fine.yw * 0.3);
    // Rock and broken terrain are rougher than meadows.
    let rocky = clamp(0.16 + 0.6 * smoothstep(0.25, 0.9, surface.slope) + 0.9 * surface.rough, 0.0, 1.0);
    let rise = fine.yzw - surface.normal * dot(fine.yzw, surface.normal);
    surface.normal = normalize(surface.normal - rise * rocky);
    surface.colour *= 1.0 + fine.x * 0.5;
    surface.sky *= 1.0 + min(fine.x, 0.0) * 0.7;
    if scene.water.y > 0.5 && shading < 2 {
        // A wet strip above the water line is darker.
        let dry_m = (in.point.y - scene.water.x) / scene.terrain.z;
        surface.colour *= 1.0 - 0.5 * shore(max(dry_m, 0.0), surface.slope, 5.0, pixel_m);
    }
    var colour: vec3f;
    if in.side > 1e-5 {
        let facing = select(face_normal, -face_normal, dot(face_normal, view_vector(in.point)) > 0.0);
        let normal = normalize(facing + vec3f(0.0, 1e-12, 0.0));
        let cut = strata(in.point, in.samples);
        // Some ambient light, so that the side in the shade is visible too.
        let direct = scene.sun_colour.rgb * scene.sun.w * max(dot(normal, scene.sun.xyz), 0.0) * 0.95;
        colour = cut * (direct + scene.ambient.rgb + vec3f(0.40, 0.38, 0.35));
    } else {
        switch shading {
            case 1: {
                let clay = vec3f(0.56, 0.545, 0.52) * (1.0 + fine.x * 0.25);
                colour = lit(clay, surface.normal, surface.sun, surface.sky);
            }
            case 2: {
                let y = in.point.y;
                let share = (y - scene.heights.x) / max(scene.heights.y - scene.heights.x, 1e-6);
                colour = ramp_lit(ramp_at(share), surface.normal, surface.sky);
            }
            case 3: {
                colour = ramp_lit(ramp_at(atan(surface.slope) * (180.0 / PI)), surface.normal, surface.sky);
            }
            case 4: {
                let clay = lit(vec3f(0.14, 0.146, 0.158), surface.normal, mix(1.0, surface.sun, 0.5), surface.sky);
                colour = mix(clay, clay * 2.0 + vec3f(0.20, 0.21, 0.22), edge);
            }
            default: {
                if scene.water.w > 0.5 {
                    colour = surface.colour;
                } else {
                    colour = lit(surface.colour, surface.normal, surface.sun, surface.sky);
                }
            }
        }
        colour = with_glow(colour, in.point.xz, dx.xz, dy.xz);
        if shading == 2 || shading == 3 {
            // Exactly the colours of the legend.
            return encoded(colour, in.position.xy);
        }
    }
    return display_colour(with_haze(colour, in.point), in.position.xy);
}
