// The sky, and the ground plane under the block.

struct Corner {
    @builtin(position) position: vec4f,
    @location(0) screen: vec2f,
}

@vertex
fn vertex(@builtin(vertex_index) index: u32) -> Corner {
    // A triangle that covers the screen, at the far plane.
    let at = vec2f(f32(index & 1u) * 4.0 - 1.0, f32(index >> 1u) * 4.0 - 1.0);
    var out: Corner;
    out.position = vec4f(at, 0.0, 1.0);
    out.screen = at;
    return out;
}

// The distance of a place from the block, negative inside.
fn distance_to_block(place: vec2f) -> f32 {
    let d = abs(place) - scene.terrain.xy;
    return length(max(d, vec2f(0.0))) + min(max(d.x, d.y), 0.0);
}

fn lines(place: vec2f, width: f32) -> f32 {
    let cell = place / width;
    let near = abs(fract(cell - 0.5) - 0.5);
    let blur = max(fwidth(cell), vec2f(1e-6));
    let line = 1.0 - clamp(near / blur - 0.2, vec2f(0.0), vec2f(1.0));
    let fine = clamp(0.5 / max(blur.x, blur.y) - 1.0, 0.0, 1.0);
    return max(line.x, line.y) * fine;
}

@fragment
fn fragment(in: Corner) -> @location(0) vec4f {
    let right = scene.right.xyz / dot(scene.right.xyz, scene.right.xyz);
    let up = scene.up.xyz / dot(scene.up.xyz, scene.up.xyz);
    let across = right * in.screen.x + up * (in.screen.y / scene.clip.z + scene.clip.w);
    // All rays of an orthographic projection are parallel; its sky is the backdrop of a perspective.
    let direction = normalize(scene.forward.xyz + across * scene.eye.w);
    let backdrop = sky(normalize(scene.forward.xyz + across));
    let start = scene.eye.xyz + across * scene.up.w;
    // Where the ray meets the ground plane; above the horizon far away, so that derivatives across pixels stay finite.
    let down = min(direction.y, -1e-4);
    let depth = (scene.terrain.w - start.y) / down;
    let point = start + direction * depth;
    let place = point.xz;
    let squares = lines(place, scene.ground.w);
    let edge = smoothstep(-0.5, 0.5, (start.y - scene.terrain.w) / max(fwidth(start.y), 1e-7));
    if direction.y >= -1e-4 {
        // Seen from its own height, the ground plane is a line.
        return display_colour(mix(scene.ground.rgb, backdrop, max(edge, scene.eye.w)), in.position.xy);
    }
    var colour = scene.ground.rgb;
    let from_centre = length(place);
    colour = mix(colour, colour * 1.55 + 0.01, squares * 0.55 * smoothstep(3.0, 0.6, from_centre));
    // The block shades the ground plane: from the sky nearby, and from the sun as far as its shadow reaches.
    let gap = max(distance_to_block(place), 0.0);
    let middle = 0.5 * (max(scene.heights.x, scene.terrain.w) + scene.heights.y) - scene.terrain.w;
    let close = exp(-gap / max(middle * 0.9, 0.02));
    var light = 1.0 - 0.42 * close;
    let reach = min(middle / max(scene.sun.y, 0.12), 1.5) * scene.sun.xz;
    var nearest = 1e9;
    for (var i = 0; i < 6; i++) {
        let along = (f32(i) + 0.5) / 6.0;
        // Softer where it is cast farther.
        nearest = min(nearest, distance_to_block(place + reach * along) - 0.004 - 0.02 * along);
    }
    light *= 1.0 - 0.45 * scene.ambient.w * smoothstep(0.035, -0.035, nearest);
    colour *= light;
    // The ground plane fades out even without haze.
    colour = mix(colour, backdrop, smoothstep(2.0, 7.0, from_centre) * (1.0 - scene.eye.w));
    return display_colour(with_haze(colour, point), in.position.xy);
}
