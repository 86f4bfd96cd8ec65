"""Imports exports of several targets with the add-on for Blender, lets it reload them, and compares what Blender then
holds, and renders, with the heights, textures and weights that the program writes by itself.

blender_addon.py PROGRAM, in a Python environment with bpy, numpy and Pillow
"""

import json
import shutil
import subprocess
import sys
import tempfile
import time
import zlib
from pathlib import Path
from typing import Any

import bpy
import bmesh  # of bpy, which has to be imported first
import numpy
from PIL import Image

import common
from common import PROGRAM, read_r32, report, silence_other_output

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "assets/helpers/blender"))
import upthrust_blender as addon  # noqa: E402

VERSIONS = f"Blender {bpy.app.version_string}, add-on {'.'.join(map(str, addon.bl_info['version']))}"
# Five types that cover the surface, so that weights take two packs, and one that only tints it.
BANDS = [
    ("Mud", "#3a2a10", 0, 15), ("Meadow", "#30a040", 15, 30), ("Wood", "#104020", 30, 45), ("Rock", "#808890", 45, 60),
    ("Snow", "#f0f4ff", 60, 100),
]
TYPES = [
    {"name": name, "colour": colour, "elevation": [low, high], "elevation_release": 8, "slope_deg": [0, 90]}
    for name, colour, low, high in BANDS
] + [{"name": "Moss", "colour": "#c0ff60", "elevation": [0, 50], "slope_deg": [0, 90], "blend": "multiply"}]
RELOAD_LIMIT_S = 2.0
# A tree for every hundred square metres, rocks that lie on the slope, and a few of a kind that all face the same way.
LAYERS = [
    {"name": "Trees", "spacing_m": 8, "align": 0.3, "sink_m": 0.4, "scale": [0.6, 1.4], "colour": "#2f5533"},
    {"name": "Rocks", "spacing_m": 70, "turn": "downhill", "align": 1, "shape": "box", "radius_m": 1, "height_m": 1.5},
    {"name": "Oaks", "spacing_m": 200, "turn": "bearing", "bearing_deg": 70, "shape": "ball", "amount": 0.5},
]

# Blender prints a line for every report and render.
silence_other_output()


def write_project(
    folder: Path, seed: int, world: tuple[float, float], water_m: float | None, types=TYPES, layers=()
) -> Path:
    view = {} if water_m is None else {"water_m": water_m}
    recipe = {"texture": {"unit": "percent", "types": types}, "scatter": list(layers)}
    return common.write_project(folder, seed, world, recipe, name="Test", view=view)


def build(project: Path, *options: str) -> None:
    common.build(project, *options, "--force")


def look() -> None:
    """Looks for changes as the timer does, without the pause that follows a failure."""
    addon.watcher.retries.clear()
    addon.watch_exports()


def expected_heights(project: Path, samples: list[int]) -> numpy.ndarray:
    path = project.parent / "expected.r32"
    build(project, "--size", f"{samples[0]}x{samples[1]}", "--heightmap", path)
    return read_r32(path)[0]


def vertices(terrain: bpy.types.Object) -> numpy.ndarray:
    """The vertices as the scene shows them, as x, y and z in metres."""
    bpy.context.view_layer.update()
    mesh = terrain.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
    places = numpy.empty(3 * len(mesh.vertices), numpy.float32)
    mesh.vertices.foreach_get("co", places)
    return places.reshape(-1, 3)


def dimensions(terrain: bpy.types.Object) -> tuple[float, float, float]:
    bpy.context.view_layer.update()
    return tuple(terrain.dimensions)


def has_fresh_normals(terrain: bpy.types.Object) -> bool:
    """Whether the normals are those of the vertices as they are now, not as they were before a reload."""

    def normals(mesh: bpy.types.Mesh) -> numpy.ndarray:
        values = numpy.empty(3 * len(mesh.vertices), numpy.float32)
        mesh.vertex_normals.foreach_get("vector", values)
        return values

    copy = terrain.data.copy()
    copy.vertices[0].co.z += 1
    copy.vertices[0].co.z -= 1
    is_fresh = numpy.allclose(normals(terrain.data), normals(copy), atol=1e-5)
    bpy.data.meshes.remove(copy)
    return is_fresh


def height_error(terrain: bpy.types.Object, heights: numpy.ndarray, world: tuple[float, float]) -> float:
    """The largest error of a height. Every vertex is found by where it lies, the first row being the northern one."""
    rows, columns = heights.shape
    places = vertices(terrain).astype("f8")
    assert len(places) == heights.size, f"{len(places)} vertices for {heights.size} samples"
    column = (places[:, 0] / world[0] + 0.5) * (columns - 1)
    row = (0.5 - places[:, 1] / world[1]) * (rows - 1)
    assert max(abs(column - numpy.rint(column)).max(), abs(row - numpy.rint(row)).max()) < 1e-2
    at = numpy.rint(row).astype(int), numpy.rint(column).astype(int)
    assert len(numpy.unique(at[0] * columns + at[1])) == heights.size
    return abs(places[:, 2] - heights[at]).max()


def linear(srgb: numpy.ndarray) -> numpy.ndarray:
    return numpy.where(srgb <= 0.04045, srgb / 12.92, ((srgb + 0.055) / 1.055) ** 2.4)


def pixels(path: Path) -> numpy.ndarray:
    image = numpy.asarray(Image.open(path)).astype("f8") / 255
    return image if image.ndim == 3 else image[..., None]


def joined(folder: Path, entries: list[dict[str, Any]]) -> numpy.ndarray:
    """The tiles of an image in one, the northern row first."""
    rows = []
    for row in range(1 + max(entry["tile"][1] for entry in entries)):
        tiles = sorted((entry for entry in entries if entry["tile"][1] == row), key=lambda entry: entry["tile"][0])
        rows.append(numpy.concatenate([pixels(folder / entry["file"]) for entry in tiles], axis=1))
    return numpy.concatenate(rows)


def rendered(terrain: bpy.types.Object, world: tuple[float, float], size: tuple[int, int], folder: Path):
    """The colours of the materials seen from above, linear, the northern row first."""
    for material in terrain.data.materials:
        tree = material.node_tree
        shader = next(node for node in tree.nodes if node.type == "BSDF_PRINCIPLED")
        output = next(node for node in tree.nodes if node.type == "OUTPUT_MATERIAL")
        emission = tree.nodes.new("ShaderNodeEmission")
        base = shader.inputs["Base Color"]
        if base.links:
            tree.links.new(base.links[0].from_socket, emission.inputs["Color"])
        tree.links.new(emission.outputs[0], output.inputs["Surface"])
    scene = bpy.context.scene
    camera = bpy.data.objects.new("top", bpy.data.cameras.new("top"))
    scene.collection.objects.link(camera)
    camera.data.type, camera.data.ortho_scale = "ORTHO", max(world)
    camera.location = (0, 0, 50_000)
    camera.data.clip_end = 100_000
    scene.camera = camera
    scene.render.engine, scene.cycles.device, scene.cycles.samples = "CYCLES", "CPU", 1
    scene.cycles.use_denoising = False
    # One ray through the middle of each pixel.
    scene.cycles.pixel_filter_type = "BOX"
    scene.cycles.filter_width = 0.01
    scene.render.resolution_x, scene.render.resolution_y, scene.render.resolution_percentage = *size, 100
    # The camera's scale is that of the longer side; the shorter one follows from the aspect of the pixels.
    wide, high = world[0] / size[0], world[1] / size[1]
    scene.render.pixel_aspect_x, scene.render.pixel_aspect_y = wide / min(wide, high), high / min(wide, high)
    scene.render.image_settings.file_format, scene.render.image_settings.color_depth = "OPEN_EXR", "32"
    scene.render.filepath = str(folder / "top.exr")
    bpy.ops.render.render(write_still=True)
    image = bpy.data.images.load(scene.render.filepath)
    image.colorspace_settings.name = "Non-Color"
    values = numpy.empty(len(image.pixels), numpy.float32)
    image.pixels.foreach_get(values)
    return values.reshape(size[1], size[0], -1)[::-1, :, :3]


def type_colors(folder: Path, manifest: dict[str, Any]) -> numpy.ndarray:
    """The mean of the types' colours by the weights of the packs, linear."""
    total, color = 0.0, 0.0
    packs = [entry for entry in manifest["weights"] if entry["file"].startswith("weights_RGBA")]
    entries = packs or [
        entry for entry in manifest["weights"] if manifest["types"][entry["types"][0]].get("covers", True)
    ]
    for types in {tuple(entry["types"]) for entry in entries}:
        image = joined(folder, [entry for entry in entries if tuple(entry["types"]) == types])
        for channel, index in enumerate(types):
            text = manifest["types"][index]["color"]
            rgb = linear(numpy.array([int(text[at : at + 2], 16) / 255 for at in (1, 3, 5)]))
            weight = image[..., channel, None]
            total, color = total + weight, color + weight * rgb
    return color / numpy.maximum(total, 1e-3)


def empty_scene() -> None:
    bpy.ops.wm.read_factory_settings(use_empty=True)


def check_import(
    target: str, world: tuple[float, float], seed: int, size: str, *options: str, water_m: float | None = None
) -> None:
    case = f"{VERSIONS}: {target} {' '.join(options)}, {world[0]} × {world[1]} m, seed {seed}"
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        project = write_project(folder, seed, world, water_m)
        out = folder / "out"
        build(project, "--for", target, "-o", str(out), "--size", size, *options)
        manifest = json.loads((out / addon.MANIFEST_NAME).read_text())
        heights = expected_heights(project, manifest["samples"])
        for source in ["TEXTURE", "TYPES"]:
            # Maps that encode the types in their values have no list of them; the add-on does not read those.
            files = manifest["texture"] if source == "TEXTURE" else [e for e in manifest["weights"] if e["types"]]
            if not files and source == "TYPES":
                continue
            empty_scene()
            started = time.perf_counter()
            bpy.ops.import_scene.upthrust(filepath=str(out / addon.MANIFEST_NAME), source=source)
            took_s = time.perf_counter() - started
            terrain = bpy.context.object
            is_exact = any(entry["values"] == "metres" for entry in manifest["heightmaps"])
            error, step = height_error(terrain, heights, world), numpy.ptp(heights.astype("f8")) / 65535 / 2
            # The rounding of 32-bit metres comes on top of that of the integers.
            limit = 0.0 if is_exact else step + numpy.spacing(abs(heights).max())
            lowest = vertices(terrain)[:, 2].argmin()
            x, y = vertices(terrain)[lowest, :2]
            is_right = error <= limit and x < 0 < y and all(terrain.location[axis] == 0 for axis in range(3))
            is_right &= abs(dimensions(terrain)[2] - numpy.ptp(heights)) < 0.01 and not terrain.data.validate()
            smooth = "sharp_face" not in terrain.data.attributes
            found = f"{source}: {heights.shape[1]} × {heights.shape[0]} samples in {took_s:.2f} s, "
            found += f"heights off by {error:.6f} m at most (half a 16-bit step is {step:.6f} m)"
            water = terrain.upthrust.water
            level = water.matrix_world.translation.z if water is not None else None
            is_right &= smooth and (level is None) == (water_m is None)
            if level is not None:
                is_right &= abs(level - water_m) < 1e-4 and numpy.allclose(water.dimensions[:2], world)
                found += f", water at {level:.3f} m"
            if files:
                size = [files[0]["size"][axis] * (1 + max(e["tile"][axis] for e in files)) for axis in (0, 1)]
                is_texture = source == "TEXTURE"
                shown = linear(joined(out, files)[..., :3]) if is_texture else type_colors(out, manifest)
                if water is not None:
                    water.hide_render = True
                colors = rendered(terrain, world, tuple(size), folder)
                # Beyond the outermost samples a ray can miss the terrain by rounding.
                inner = (slice(1, -1), slice(1, -1))
                all_off = abs(colors - shown)[inner]
                corners = all_off[[0, 0, -1, -1], [0, -1, 0, -1]].max()
                # Pixels at the samples are off by up to half a pixel at the borders, and so are those of tiles.
                is_at_samples = files[0]["size"] == manifest["heightmaps"][0]["size"]
                limit = 0.03 if is_at_samples or "--tiles" in options else 0.006
                is_right &= corners <= limit and numpy.quantile(all_off, 0.99) <= limit
                found += f"; colours off by {corners:.4f} at the corners, {numpy.quantile(all_off, 0.99):.4f} at 99 %, "
                found += f"allowed {limit}"
            report(case, found, bool(is_right))


def state(terrain: bpy.types.Object) -> dict[str, Any]:
    """Everything that a failed reload must not change."""
    settings = terrain.upthrust
    images = []
    for entry in settings.images:
        values = numpy.empty(len(entry.image.pixels), numpy.float32)
        entry.image.pixels.foreach_get(values)
        images.append((entry.image.name, entry.crc32, zlib.crc32(values.tobytes())))
    return {
        "instances": zlib.crc32(b"".join(matrices.tobytes() for matrices, _ in placed(terrain).values())),
        "collections": sorted(collection.name for collection in bpy.data.collections),
        "heights": zlib.crc32(vertices(terrain).tobytes()),
        "mesh": terrain.data.name,
        "objects": sorted((item.name, *item.location) for item in bpy.data.objects),
        "images": images,
        "all images": sorted(image.name for image in bpy.data.images),
        "meshes": sorted(mesh.name for mesh in bpy.data.meshes),
        "materials": sorted(material.name for material in bpy.data.materials),
        "loaded": (settings.digest, settings.heights_key, settings.materials_key, settings.scatter_key),
    }


def differences(before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    return [key for key in before if before[key] != after[key]]


def placed(terrain: bpy.types.Object) -> dict[str, tuple[numpy.ndarray, list[str]]]:
    """By layer: the matrices of what the scene shows on its points, and the names of the objects."""
    bpy.context.view_layer.update()
    found: dict[str, tuple[list[Any], list[str]]] = {
        entry.points.name: ([], []) for entry in terrain.upthrust.scatter if entry.points is not None
    }
    for instance in bpy.context.evaluated_depsgraph_get().object_instances:
        if instance.is_instance:
            matrices, names = found[instance.parent.name]
            matrices.append([value for row in instance.matrix_world for value in row])
            names.append(instance.object.name)
    return {name: (numpy.array(each).reshape(-1, 4, 4), names) for name, (each, names) in found.items()}


def axes_of(instances: numpy.ndarray) -> numpy.ndarray:
    """Where the right side, the front and the top of instances point, by x east, y north and z up."""
    yaw, pitch, roll = numpy.radians(instances[:, 3:6].T)

    def turned(vectors: numpy.ndarray, onto: tuple[int, int], angle: numpy.ndarray) -> numpy.ndarray:
        """Turns vectors from one axis towards another one."""
        result = vectors.copy()
        first, second = vectors[:, :, onto[0]], vectors[:, :, onto[1]]
        result[:, :, onto[0]] = numpy.cos(angle)[:, None] * first - numpy.sin(angle)[:, None] * second
        result[:, :, onto[1]] = numpy.sin(angle)[:, None] * first + numpy.cos(angle)[:, None] * second
        return result

    axes = numpy.broadcast_to(numpy.eye(3), (len(instances), 3, 3))
    # The roll lifts the right side, the pitch the front, and the yaw turns the north to the east.
    return turned(turned(turned(axes, (0, 2), roll), (1, 2), pitch), (1, 0), yaw)


def check_placed(case: str, terrain: bpy.types.Object, out: Path, world: tuple[float, float]) -> dict[str, Any]:
    """Compares what the scene shows with the file."""
    content = json.loads((out / "scatter.json").read_text())
    found = placed(terrain)
    is_right = len(found) == len(content["layers"])
    text = []
    for layer in content["layers"]:
        instances = numpy.array(layer["instances"], "f8").reshape(-1, 7)
        matrices, _ = found[layer["name"]]
        is_right &= len(instances) == len(matrices)
        x, y, z = instances[:, :3].T
        places = numpy.stack([x - world[0] / 2, world[1] / 2 - z, y], axis=-1)
        # Columns of a matrix are where the axes go.
        axes = matrices[:, :3, :3].transpose(0, 2, 1)
        place_off = abs(matrices[:, :3, 3] - places).max(initial=0)
        axes_off = abs(axes / instances[:, 6, None, None] - axes_of(instances)).max(initial=0)
        is_right &= place_off < 1e-3 and axes_off < 1e-5
        text.append(f"{len(instances)} {layer['name']} off by {place_off:.6f} m, axes by {axes_off:.1e}")
    report(case, f"{terrain.upthrust.result}: {'; '.join(text)}", bool(is_right))
    return {layer["name"]: numpy.array(layer["instances"]) for layer in content["layers"]}


def height_at(heights: numpy.ndarray, world: tuple[float, float], x: numpy.ndarray, z: numpy.ndarray) -> numpy.ndarray:
    rows, columns = heights.shape
    column, row = x / world[0] * (columns - 1), z / world[1] * (rows - 1)
    c, r = numpy.minimum(column.astype(int), columns - 2), numpy.minimum(row.astype(int), rows - 2)
    u, v = column - c, row - r
    north = heights[r, c] * (1 - u) + heights[r, c + 1] * u
    return north * (1 - v) + (heights[r + 1, c] * (1 - u) + heights[r + 1, c + 1] * u) * v


def check_scatter() -> None:
    world = (4096, 2048)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        out = folder / "out"
        export = ["--for", "blender", "-o", str(out), "--size", "257x129", "--texture-size", "256x128"]

        def export_again(seed: int, layers: list[dict[str, Any]]) -> Path:
            build(project := write_project(folder, seed, world, None, TYPES, layers), *export)
            look()
            return project

        project = export_again(1, LAYERS)
        empty_scene()
        bpy.ops.import_scene.upthrust(filepath=str(out / addon.MANIFEST_NAME))
        terrain = bpy.context.object
        settings = terrain.upthrust
        instances = check_placed(f"{VERSIONS}: scatter", terrain, out, world)
        # On the ground: by the heights of the terrain, and by its slope for those that lie on it.
        rocks = instances["Rocks"]
        heights = expected_heights(project, [257, 129])
        ground = [height_at(heights, world, rocks[:, 0] + x, rocks[:, 2] + z) for x, z in [(0, 0), (0.5, 0), (0, 0.5)]]
        common.check("rocks on the ground", abs(rocks[:, 1] - ground[0]).max(), 2e-3)
        tops = axes_of(rocks)[:, 2]
        is_steep = tops[:, 2] < 0.99
        normals = numpy.stack([2 * (ground[0] - ground[1]), 2 * (ground[2] - ground[0]), numpy.ones(len(rocks))], -1)
        normals /= numpy.linalg.norm(normals, axis=1)[:, None]
        fronts = axes_of(rocks)[is_steep, 1]
        lean = (tops * normals).sum(axis=1)[is_steep]
        report("rocks lie on the slope and face down it", f"{is_steep.sum()} on slopes, the median of the cosines is "
               f"{numpy.median(lean):.4f}", numpy.median(lean) > 0.99 and (fronts[:, 2] < 0).all())

        shapes = {entry.name: entry.stand_in for entry in settings.scatter}
        sizes = {name: tuple(round(side, 3) for side in item.dimensions) for name, item in shapes.items()}
        volumes = {}
        for name, item in shapes.items():
            volume = bmesh.new()
            volume.from_mesh(item.data)
            volumes[name] = volume.calc_volume(signed=True)
            is_closed = all(edge.is_manifold for edge in volume.edges)
            volume.free()
            report(f"the shape of {name}", f"{sizes[name]} m, {volumes[name]:.2f} m³",
                   is_closed and volumes[name] > 0 and not item.data.validate())
        report("sizes of shapes", str(sizes), sizes == {"Trees": (4, 4, 8), "Rocks": (2, 2, 1.5), "Oaks": (4, 3.804, 8)}
               or sizes == {"Trees": (4, 4, 8), "Rocks": (2, 2, 1.5), "Oaks": (3.804, 3.804, 8)})
        colour = settings.scatter["Trees"].stand_in.data.materials[0].diffuse_color[:3]
        is_green = numpy.allclose(colour, linear(numpy.array([0x2F, 0x55, 0x33]) / 255), atol=1e-4)
        hidden = [view.exclude for view in bpy.context.view_layer.layer_collection.children]
        report("colour, and collections that are not shown by themselves", f"{colour}, {hidden}",
               is_green and hidden == [True] * 3)

        # The user puts two objects, one of them turned and moved, in the place of a shape, and moves the terrain.
        trees = settings.scatter["Trees"].collection
        trees.objects.unlink(settings.scatter["Trees"].stand_in)
        for own_name in ["fir", "pine"]:
            trees.objects.link(bpy.data.objects.new(own_name, bpy.data.meshes.new(own_name)))
        trees.objects["pine"].location, trees.objects["pine"].scale = (50, 60, 70), (2, 2, 2)
        for item in trees.objects:
            item.data.from_pydata([(0, 0, 0), (1, 0, 0), (0, 0, 1)], [], [(0, 1, 2)])
        matrices, names = placed(terrain)["Trees"]
        scales = numpy.linalg.norm(matrices[:, :3, 0], axis=1) / instances["Trees"][:, 6]
        is_pine = numpy.array([own_name == "pine" for own_name in names])
        x, y, z = instances["Trees"][:, :3].T
        off = abs(matrices[:, :3, 3] - numpy.stack([x - world[0] / 2, world[1] / 2 - z, y], axis=-1)).max()
        report("objects of the user", f"{is_pine.mean():.3f} are of the second, off by {off:.6f} m",
               0.45 < is_pine.mean() < 0.55 and off < 1e-3 and abs(scales - numpy.where(is_pine, 2, 1)).max() < 1e-4)
        trees.objects["pine"].scale = (1, 1, 1)
        before = {(one[0], one[2]): own for one, own in zip(instances["Trees"].tolist(), names)}
        points = settings.scatter["Trees"].points

        # Another terrain below the same places, without the rocks around which nothing else changes.
        export_again(2, LAYERS)
        check_placed("scatter on another terrain", terrain, out, world)
        report("what the user has put there", settings.result,
               settings.scatter["Trees"].points == points and set(placed(terrain)["Trees"][1]) == {"fir", "pine"})
        # A layer with less room: those that stay keep their object.
        fewer = [{**LAYERS[0], "amount": 0.5}, *LAYERS[1:]]
        export_again(1, fewer)
        kept = check_placed("fewer trees", terrain, out, world)["Trees"]
        same = [before.get((one[0], one[2])) == own for one, own in zip(kept.tolist(), placed(terrain)["Trees"][1])]
        report("trees that stay keep their object", f"{sum(same)} of {len(same)}", all(same) and len(same) > 1000)
        # Shapes follow the export, and so do layers.
        export_again(1, [LAYERS[0], {**LAYERS[1], "height_m": 5}, LAYERS[2]])
        bpy.context.view_layer.update()
        heights = {
            shown.object.name: max(corner[2] for corner in shown.object.bound_box)
            for shown in bpy.context.evaluated_depsgraph_get().object_instances if shown.is_instance
        }
        height_m = heights.get("Rocks stand-in", 0)
        report("a shape of another size", f"{height_m} m high in the scene", abs(height_m - 5) < 1e-4)
        check_broken_scatter(terrain, out)
        export_again(1, [LAYERS[2]])
        check_placed("two layers less", terrain, out, world)
        shapes.clear()
        left = sorted(collection.name for collection in bpy.data.collections)
        stale = [mesh.name for mesh in bpy.data.meshes if mesh.name.startswith(("Rocks", "Trees"))]
        report("the collection with objects of the user stays", f"{left}, {stale}",
               left == ["Upthrust Oaks", "Upthrust Trees"] and not stale)
        export_again(1, LAYERS)
        check_placed("the layers are back", terrain, out, world)
        report("and with them the objects of the user", f"{set(placed(terrain)['Trees'][1])}",
               set(placed(terrain)["Trees"][1]) == {"fir", "pine"})
        bpy.data.objects.remove(settings.scatter["Oaks"].points)
        export_again(3, LAYERS)
        report("points that the user has deleted", settings.result, "Oaks" not in settings.result
               and "Oaks" not in bpy.data.objects and "Rocks" in bpy.data.objects)
        bpy.ops.wm.save_as_mainfile(filepath=str(folder / "scene.blend"))
        terrain_name = terrain.name
        build(write_project(folder, 4, world, None, TYPES, LAYERS[:2]), *export)
        bpy.ops.wm.open_mainfile(filepath=str(folder / "scene.blend"))
        look()
        terrain = bpy.data.objects[terrain_name]
        check_placed("a saved .blend with scatter", terrain, out, world)
        export_again(4, [])
        report("nothing is scattered any more", terrain.upthrust.result, not placed(terrain))
        # A million, and the other target that writes this file.
        many = [{**LAYERS[0], "spacing_m": 2.18}]
        build(write_project(folder, 1, world, None, TYPES, many), "--for", "generic", "-o", folder / "many", "--size",
              "257x129", "--texture-size", "256x128")
        empty_scene()
        started = time.perf_counter()
        terrain = addon.import_terrain(str(folder / "many"))
        took_s = time.perf_counter() - started
        counts = [len(each) for each, _ in placed(terrain).values()]
        report("a million instances", f"{terrain.upthrust.result}", counts[0] > 1_000_000 and took_s < 10)


def check_broken_scatter(terrain: bpy.types.Object, out: Path) -> None:
    """Files of scattered instances that cannot be loaded: a plain message, and nothing else changes."""
    settings, path, manifest = terrain.upthrust, out / "scatter.json", out / addon.MANIFEST_NAME
    whole, listed = path.read_bytes(), json.loads(manifest.read_bytes())
    content = json.loads(whole)
    first, *others = content["layers"]
    row = first["instances"][0]

    def layer(**keys: Any) -> bytes:
        return json.dumps({**content, "layers": [{**first, "instances": [row], **keys}, *others]}).encode()

    def instance(*values: Any) -> bytes:
        return layer(instances=[row, list(values)])

    no_fields = json.dumps({key: content[key] for key in content if key != "fields"}).encode()
    no_rows = "its instances are not rows of numbers"
    broken = {
        "half a file": (whole[: len(whole) // 2], "scatter.json is damaged"),
        "nothing": (b"", "scatter.json is damaged"),
        "a list": (b"[]", "scatter.json is damaged"),
        "a deep file": (b"[" * 100_000, "scatter.json is damaged"),
        "bytes": (bytes(range(256)), "scatter.json is damaged"),
        "no fields": (no_fields, "'fields' is missing"),
        "a column less": (json.dumps({**content, "fields": content["fields"][:6]}).encode(), "a column is missing"),
        "a layer twice": (json.dumps({**content, "layers": [first, first]}).encode(), "the same name"),
        "a shape of nothing": (layer(radius_m=0), "is not a length"),
        "an unknown shape": (layer(shape="torus"), "is not a known shape"),
        "a colour that is a word": (layer(color="green"), "is not a colour"),
        "a name that is a number": (layer(name=5), "is not a string"),
        "instances that are a number": (layer(instances=5), no_rows),
        "a text in an instance": (instance(*row[:6], "1"), no_rows),
        "null in an instance": (instance(*row[:6], None), no_rows),
        "an instance with too little": (instance(*row[:6]), "scatter.json is damaged"),
        "NaN": (instance(*row[:6], float("nan")), "a number that is too large"),
        "infinity": (instance(float("inf"), *row[1:]), "a number that is too large"),
    }
    before = state(terrain)

    def check_refused(what: str, words: str) -> None:
        look()
        changes, message = differences(before, state(terrain)), settings.result
        report(f"scatter: {what}", f"{message} {changes or ''}",
               settings.failed and not changes and words in message and len(message) < 250)

    for what, (data, words) in broken.items():
        path.write_bytes(data)
        entry = {"file": "scatter.json", "crc32": addon.crc32_of(data)}
        manifest.write_text(json.dumps({**listed, "scatter": [entry]}))
        check_refused(what, words)
    entry = {"file": "scatter.json", "crc32": "00000000"}
    for what, scatter, words in [
        ("a file of another export", [entry], "does not belong"),
        ("a file of another folder", [{**entry, "file": "../scatter.json"}], "is not a file name"),
        ("a file that is missing", [{**entry, "file": "other.json"}], "other.json cannot be read"),
        ("a list of words", ["scatter.json"], "is damaged"),
        ("an entry without a checksum", [{"file": "scatter.json"}], "'crc32' is missing"),
    ]:
        manifest.write_text(json.dumps({**listed, "scatter": scatter}))
        check_refused(what, words)
    path.write_bytes(whole)
    manifest.write_text(json.dumps({**listed, "seed": 55}))
    look()
    report("the scatter is back", settings.result, not settings.failed)
    # Edit Mode holds its own copy of the points.
    bpy.context.view_layer.objects.active = settings.scatter["Trees"].points
    bpy.ops.object.mode_set(mode="EDIT")
    manifest.write_text(json.dumps({**listed, "seed": 56}))
    look()
    waits = settings.failed
    bpy.ops.object.mode_set(mode="OBJECT")
    look()
    report("a change while points are edited", settings.result, waits and not settings.failed)


def check_reload() -> None:
    world, size = (4096, 4096), "1025"
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        out = folder / "out"
        manifest = out / addon.MANIFEST_NAME
        export = ["--for", "blender", "-o", str(out), "--texture-size", "256"]
        project = write_project(folder, 1, world, 60.0)
        build(project, *export, "--size", size)
        empty_scene()
        bpy.ops.import_scene.upthrust(filepath=str(manifest))
        terrain = bpy.context.object
        settings = terrain.upthrust
        # What the user does to the object has to survive.
        terrain.location = (100, 200, 300)
        modifier = terrain.modifiers.new("user", "TRIANGULATE")
        modifier.show_viewport = False
        material = terrain.data.materials[0]
        shader = next(node for node in material.node_tree.nodes if node.type == "BSDF_PRINCIPLED")
        shader.inputs["Roughness"].default_value = 0.125
        image = settings.images[0].image.name
        mesh = terrain.data.as_pointer()
        look()
        report("an unchanged export", settings.result, not settings.failed and settings.result.startswith("Loaded"))

        def is_kept() -> bool:
            """Whether the user's work is still there."""
            same = tuple(terrain.location) == (100, 200, 300) and terrain.modifiers.get("user") is not None
            same &= terrain.data.materials[0] == material and shader.inputs["Roughness"].default_value == 0.125
            nodes = [node.image for node in material.node_tree.nodes if node.type == "TEX_IMAGE"]
            return same and nodes == [settings.images[0].image] and nodes[0].name == image

        # Upthrust exports again while Blender runs: every state seen is the old or the new one. First with the timer's
        # interval, then looking as often as possible.
        for seed, interval_s in [(2, addon.WATCH_INTERVAL_S), (3, 0.01)]:
            old = vertices(terrain)[:, 2].copy()
            project = write_project(folder, seed, world, 90.0)
            new = expected_heights(project, [1025, 1025])
            before, digest, mixed, looks = state(terrain), settings.digest, 0, 0
            process = subprocess.Popen(
                [PROGRAM, "build", str(project), *export, "--size", size, "--force"],
                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            )
            deadline = time.time() + 120
            while settings.digest == digest and time.time() < deadline:
                mixed += bool(differences(before, state(terrain)))
                looks += 1
                time.sleep(interval_s)
                started = time.time()
                look()
            load_s, seen_s = time.time() - started, time.time() - manifest.stat().st_mtime
            assert process.wait() == 0
            error = height_error(terrain, new, world)
            water_m = settings.water.location.z
            report(
                f"{VERSIONS}: reload at 1025², looking every {interval_s} s",
                f"{seen_s:.2f} s after the manifest changed, of which loading took {load_s:.2f} s; heights off by "
                f"{error:.6f} m, {mixed} mixed states in {looks} looks, water at {water_m:.1f} m",
                error == 0 and abs(old - new.ravel()).max() > 1 and seen_s <= RELOAD_LIMIT_S and mixed == 0
                and is_kept() and terrain.data.as_pointer() == mesh and water_m == 90 and len(bpy.data.images) == 1
                and abs(dimensions(terrain)[2] - numpy.ptp(new)) < 0.01 and has_fresh_normals(terrain),
            )

        # Only colours change: the heights are not read again.
        types = [{**terrain_type, "colour": "#ff0000"} for terrain_type in TYPES]
        build(write_project(folder, 3, world, 90.0, types), *export, "--size", size)
        read, reads = addon.read_heights, []
        addon.read_heights = lambda export: reads.append(export) or read(export)
        look()
        addon.read_heights = read
        shown = settings.images[0].image.pixels[:3]
        report("other colours", f"{settings.result}, {len(reads)} reads of heights, first pixel {shown[:]}",
               not reads and is_kept() and shown[0] > 0.9 > 0.1 > shown[1])

        # Another number of samples: another mesh in the same object.
        build(project := write_project(folder, 3, (4096, 2048), None), *export, "--size", "257x129")
        look()
        error = height_error(terrain, expected_heights(project, [257, 129]), (4096, 2048))
        report("another number of samples", f"{settings.result}, off by {error:.6f} m, water {settings.water}",
               error == 0 and is_kept() and settings.water is None and len(terrain.data.vertices) == 257 * 129)

        # Water comes back; once the user has deleted it, it stays away.
        build(project := write_project(folder, 3, (4096, 2048), 5.0), *export, "--size", "257x129")
        look()
        came = settings.water is not None and settings.water.location.z == 5
        bpy.data.objects.remove(settings.water)
        build(project := write_project(folder, 3, (4096, 2048), 6.0), *export, "--size", "257x129")
        look()
        report("water added, then deleted in Blender", str(settings.water), came and settings.water is None)

        check_broken(terrain, manifest)
        check_saved(terrain, folder, manifest, export)


def check_broken(terrain: bpy.types.Object, manifest: Path) -> None:
    """Exports that cannot be loaded: a plain message, and nothing else changes."""
    settings = terrain.upthrust
    folder = manifest.parent
    whole = manifest.read_bytes()
    content = json.loads(whole)
    (height,), (texture,) = content["heightmaps"], content["texture"]

    def changed(**keys: Any) -> bytes:
        return json.dumps({**content, **keys}).encode()

    def heightmap(**keys: Any) -> bytes:
        return changed(heightmaps=[{**height, **keys}])

    is_damaged, is_no_name = "upthrust.json is damaged", "is not a file name"
    # What is changed, and what the message has to say about it.
    broken = {
        "an empty manifest": (b"", "damaged or incomplete"),
        "half a manifest": (whole[: len(whole) // 2], "damaged or incomplete"),
        "a deep manifest": (b"[" * 100_000, "damaged or incomplete"),
        "bytes": (bytes(range(256)), "damaged or incomplete"),
        "a list": (b"[]", "is not the upthrust.json of an export"),
        "the sidecar of a heightmap": (
            (folder / "height.exr.json").read_bytes(), "is not the upthrust.json of an export"
        ),
        "a newer format": (changed(format=2, seed=99), "needs a newer version of this add-on"),
        "no samples": (
            json.dumps({key: content[key] for key in content if key != "samples"}).encode(), "'samples' is missing"
        ),
        "samples that are words": (changed(samples=["many", "more"]), is_damaged),
        "samples of true": (changed(samples=[True, True]), is_damaged),
        "too many samples": (changed(samples=[60000, 60000]), "too many for a mesh"),
        "a width of nothing": (changed(width_m=0), "is not a length"),
        "a width of 400 digits": (changed(width_m=10**400), "is not a number"),
        "an infinite water level": (changed(water_m=float("inf")), "is not a number"),
        "no heightmaps": (changed(heightmaps=[]), "has no heightmap that this add-on reads"),
        "heightmaps that are words": (changed(heightmaps=["height.exr"]), is_damaged),
        "a heightmap of another program": (heightmap(file="height.bt"), "has no heightmap that this add-on reads"),
        "a heightmap of fathoms": (heightmap(values="fathoms"), "has no heightmap that this add-on reads"),
        "a largest value of 0": (heightmap(values="integers", max_value=0), is_damaged),
        "a range of NaN": (heightmap(min_m=float("nan")), "is not a number"),
        "a range upside down": (heightmap(min_m=5, max_m=4), is_damaged),
        "a file of another folder": (heightmap(file="../out/height.exr"), is_no_name),
        "a file of another folder in Windows": (heightmap(file="..\\out\\height.exr"), is_no_name),
        "a file of another drive": (heightmap(file="C:height.exr"), is_no_name),
        "a file name with NUL": (heightmap(file="a\0.exr"), is_no_name),
        "a file name that cannot be encoded": (heightmap(file="\ud800.exr"), is_damaged),
        "a checksum that is a number": (heightmap(crc32=5), is_damaged),
        "a missing heightmap": (heightmap(file="none.exr"), "none.exr cannot be read"),
        "a heightmap of another export": (heightmap(crc32="00000000"), "does not belong to this upthrust.json"),
        "a missing tile": (
            changed(heightmaps=[{**height, "first_sample": [0, 0]}], samples=[300, 129]),
            "tiles of the heights are missing",
        ),
        "a heightmap that is too large": (changed(samples=[200, 100]), "is larger than the terrain"),
        "a heightmap of another size": (
            changed(heightmaps=[{**height, "size": [129, 129]}], samples=[129, 129]), "does not have the size"
        ),
        "a missing texture": (changed(texture=[{**texture, "file": "none.png", "crc32": "1"}]), "cannot be read"),
        "a texture of another export": (changed(texture=[{**texture, "crc32": "ffffffff"}]), "does not belong"),
        "a texture of another size": (changed(texture=[{**texture, "size": [7, 7], "crc32": "0"}]), "does not belong"),
        "an unknown type": (changed(weights=[{**texture, "types": [99]}]), "unknown terrain type"),
        "a type below zero": (changed(weights=[{**texture, "types": [-1]}]), is_damaged),
    }
    before = state(terrain)
    for what, (data, words) in broken.items():
        manifest.write_bytes(data)
        look()
        changes = differences(before, state(terrain))
        message = settings.result
        is_right = settings.failed and not changes and words in message and len(message) < 250
        # The same from the operators, which must not leave anything behind either.
        for operator in [
            lambda: bpy.ops.object.upthrust_reload(),
            lambda: bpy.ops.import_scene.upthrust(filepath=str(manifest)),
        ]:
            try:
                operator()
                is_right = False
            except RuntimeError as error:
                is_right &= words in str(error)
        changes += differences(before, state(terrain))
        report(what, f"{message} {changes or ''}", bool(is_right) and not changes)
    manifest.unlink()
    look()
    report("no manifest", settings.result, settings.failed and not differences(before, state(terrain)))
    manifest.write_bytes(whole)
    look()
    report("the manifest is back", settings.result, not settings.failed and not differences(before, state(terrain)))

    # A file that comes after the manifest, as through a shared folder: loaded as soon as it is there.
    moved = folder / "moved.exr"
    (folder / "height.exr").rename(moved)
    manifest.write_bytes(changed(seed=77, width_m=5000))
    look()
    waited = settings.failed and not differences(before, state(terrain))
    moved.rename(folder / "height.exr")
    look()
    report("a heightmap that comes late", settings.result, waited and not settings.failed
           and abs(dimensions(terrain)[0] - 5000) < 0.01)
    manifest.write_bytes(whole)
    look()

    available = addon.available_memory
    addon.available_memory = lambda: 1_000_000
    manifest.write_bytes(changed(width_m=6000))
    look()
    report("too little memory", settings.result, settings.failed and not differences(before, state(terrain)))
    addon.available_memory = available
    read = addon.read_heights

    def exhausted(_export):
        raise MemoryError

    addon.read_heights = exhausted
    manifest.write_bytes(changed(width_m=6001))
    look()
    addon.read_heights = read
    report("memory that ends while reading", settings.result,
           settings.failed and not differences(before, state(terrain)))
    manifest.write_bytes(whole)
    look()

    # Edit Mode holds its own copy of the mesh.
    bpy.context.view_layer.objects.active = terrain
    bpy.ops.object.mode_set(mode="EDIT")
    manifest.write_bytes(changed(width_m=7000))
    look()
    waits = settings.failed and abs(dimensions(terrain)[0] - 4096) < 0.01
    bpy.ops.object.mode_set(mode="OBJECT")
    look()
    report("a change during Edit Mode", settings.result, waits and abs(dimensions(terrain)[0] - 7000) < 0.01)
    manifest.write_bytes(whole)
    look()
    report("everything as before", settings.result, not differences(before, state(terrain)))


def check_saved(terrain: bpy.types.Object, folder: Path, manifest: Path, export: list[str]) -> None:
    """A saved .blend reloads when it is opened again; one whose files are packed or relative stays so."""
    name = terrain.name
    bpy.ops.wm.save_as_mainfile(filepath=str(folder / "scene.blend"))
    bpy.ops.file.make_paths_relative()
    terrain.upthrust.manifest = bpy.path.relpath(terrain.upthrust.manifest)
    assert terrain.upthrust.manifest.startswith("//")
    bpy.ops.wm.save_mainfile()
    project = write_project(folder, 8, (4096, 2048), None)
    build(project, *export, "--size", "257x129")
    bpy.ops.wm.open_mainfile(filepath=str(folder / "scene.blend"))
    terrain = bpy.data.objects[name]
    look()
    error = height_error(terrain, expected_heights(project, [257, 129]), (4096, 2048))
    path = terrain.upthrust.images[0].image.filepath
    report("a saved .blend", f"{terrain.upthrust.result}, off by {error:.6f} m, texture {path}",
           error == 0 and path.startswith("//") and bpy.data.images[0].size[0] == 256)
    terrain.upthrust.images[0].image.pack()
    project = write_project(folder, 9, (4096, 2048), None)
    build(project, *export, "--size", "257x129")
    look()
    is_packed = terrain.upthrust.images[0].image.packed_file is not None
    report("a packed texture", f"{terrain.upthrust.result}, packed: {is_packed}", is_packed)

    # A removed folder of an old export, given as the folder itself, is written again.
    shutil.rmtree(manifest.parent)
    look()
    failed = terrain.upthrust.failed
    build(project := write_project(folder, 10, (4096, 2048), None), *export, "--size", "257x129")
    look()
    error = height_error(terrain, expected_heights(project, [257, 129]), (4096, 2048))
    report("a folder that is made anew", terrain.upthrust.result, failed and error == 0)


def check_types_reload() -> None:
    """Weights: another colour keeps the user's nodes, another type makes the material again."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        out = folder / "out"
        export = ["--for", "generic", "-o", str(out), "--size", "129", "--texture-size", "128"]
        build(write_project(folder, 1, (1000, 1000), None), *export)
        empty_scene()
        terrain = addon.import_terrain(str(out), "TYPES")
        material = terrain.data.materials[0]
        types = [{**TYPES[0], "colour": "#ffffff"}, *TYPES[1:]]
        build(write_project(folder, 1, (1000, 1000), None, types), *export)
        look()
        color = material.node_tree.nodes[addon.type_node_name(0)].outputs[0].default_value
        report("another colour of a type", terrain.upthrust.result,
               terrain.data.materials[0] == material and min(color) > 0.999)
        # A colour of the user stays until the export has another one for this type.
        red = (1, 0, 0, 1)
        material.node_tree.nodes[addon.type_node_name(0)].outputs[0].default_value = red
        types[1] = {**types[1], "colour": "#000000"}
        build(write_project(folder, 1, (1000, 1000), None, types), *export)
        look()
        kept, other = (
            tuple(material.node_tree.nodes[addon.type_node_name(index)].outputs[0].default_value) for index in (0, 1)
        )
        report("a colour of the user", f"{terrain.upthrust.result}, {kept}, {other}",
               kept == red and other == (0, 0, 0, 1))
        types[0] = {**types[0], "colour": "#000000"}
        build(write_project(folder, 1, (1000, 1000), None, types), *export)
        look()
        replaced = tuple(material.node_tree.nodes[addon.type_node_name(0)].outputs[0].default_value)
        report("another colour of the export", f"{terrain.upthrust.result}, {replaced}", replaced == (0, 0, 0, 1))
        check_material_indices(terrain, folder, types, export)

        shutil.rmtree(out)
        build(write_project(folder, 1, (1000, 1000), None, TYPES[:3]), *export)
        look()
        nodes = [node.label for node in terrain.data.materials[0].node_tree.nodes if node.type == "RGB"]
        report("fewer types", f"{terrain.upthrust.result}, {nodes}, {len(bpy.data.materials)} materials",
               nodes == ["Mud", "Meadow", "Wood"] and len(bpy.data.materials) == len(terrain.data.materials) == 1)
        images = sorted(image.name for image in bpy.data.images)
        report("images that are no longer used are removed", f"{images}", len(images) == len(terrain.upthrust.images))
        # The user's own material stays.
        own = bpy.data.materials.new("own")
        terrain.data.materials[0] = own
        shutil.rmtree(out)
        build(write_project(folder, 1, (1000, 1000), None, TYPES[:2]), *export)
        look()
        report("a material of the user", terrain.upthrust.result, list(terrain.data.materials) == [own])


def check_material_indices(terrain: bpy.types.Object, folder: Path, types, export: list[str]) -> None:
    """A reload keeps the materials of the faces, unless the tiling changes."""
    mesh = terrain.data
    own = bpy.data.materials.new("own")
    mesh.materials.append(own)
    faces = numpy.zeros(len(mesh.polygons), numpy.int32)
    faces[:100] = 1
    mesh.polygons.foreach_set("material_index", faces)

    def indices() -> numpy.ndarray:
        values = numpy.empty(len(mesh.polygons), numpy.int32)
        mesh.polygons.foreach_get("material_index", values)
        return values

    build(write_project(folder, 2, (1000, 1000), None, types), *export)
    look()
    report("a reload keeps the materials of faces", terrain.upthrust.result, bool((indices() == faces).all()))
    shutil.rmtree(folder / "out")
    build(write_project(folder, 2, (1000, 1000), None, types), *export, "--tiles", "2x2")
    look()
    names = [material.name for material in mesh.materials]
    expected = (numpy.arange(128) * 2 // 128)
    expected = (2 * expected[:, None] + expected).ravel()
    report("a reload in tiles gives each tile its material", f"{terrain.upthrust.result}, {names}",
           terrain.data == mesh and bool((indices() == expected).all()) and names[4:] == ["own"])
    images = sorted(image.name for image in bpy.data.images)
    report("images of another tiling are removed", f"{len(images)} images", len(images) == len(terrain.upthrust.images))
    shutil.rmtree(folder / "out")
    build(write_project(folder, 2, (1000, 1000), None, types), *export)
    look()
    report("a reload in one piece", terrain.upthrust.result, not indices().any() and len(mesh.materials) == 2)
    mesh.materials.pop()
    bpy.data.materials.remove(own)


def check_watching() -> None:
    """After a failure the export is looked at less often; terrains that are new, renamed or not watched are noticed."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        out = folder / "out"
        manifest = out / addon.MANIFEST_NAME
        project = write_project(folder, 1, (1000, 1000), 5.0)
        build(project, "--for", "blender", "-o", out, "--size", "33", "--texture-size", "32")
        empty_scene()
        now_s = 1000.0
        addon.watcher = addon.Watcher(lambda: now_s)
        terrain = addon.import_terrain(str(out))
        whole = manifest.read_bytes()
        manifest.unlink()
        reads, read = [], addon.file_state
        addon.file_state = lambda path: reads.append(now_s) or read(path)
        while now_s < 1060:
            addon.watch_exports()
            now_s += addon.WATCH_INTERVAL_S
        addon.file_state = read
        looks = sorted(set(reads))
        gaps = numpy.diff(looks)
        report("looks after failures", f"at {[look_s - 1000 for look_s in looks]} s",
               looks[0] == 1000 and list(gaps[:4]) == [1, 2, 4, 8] and bool((gaps[4:] == addon.MAX_RETRY_S).all()))
        manifest.write_bytes(whole)
        now_s += addon.MAX_RETRY_S
        addon.watch_exports()
        report("the next look after failures", terrain.upthrust.result, not terrain.upthrust.failed)
        # Only objects that are known to be terrains are looked at between searches.
        watched, searches = addon.is_watched, []
        addon.is_watched = lambda item: searches.append(item.name) or watched(item)
        for number in range(50):
            bpy.context.collection.objects.link(bpy.data.objects.new(f"other {number}", None))
        addon.watch_exports()
        first, searches[:] = len(searches), []
        addon.watch_exports()
        addon.is_watched = watched
        report("objects that are looked at", f"{first} in a search, {len(searches)} between searches",
               first > 50 and searches == [terrain.name])
        terrain.name = "renamed"
        manifest.write_bytes(json.dumps({**json.loads(whole), "width_m": 2000}).encode())
        now_s += addon.SEARCH_INTERVAL_S
        addon.watch_exports()
        report("a renamed terrain", terrain.upthrust.result, abs(dimensions(terrain)[0] - 2000) < 0.01)
        terrain.upthrust.watch = False
        manifest.write_bytes(whole)
        addon.watch_exports()
        is_still = abs(dimensions(terrain)[0] - 2000) < 0.01
        terrain.upthrust.watch = True
        addon.watch_exports()
        report("watching switched off and on", terrain.upthrust.result,
               is_still and abs(dimensions(terrain)[0] - 1000) < 0.01)
        # Water that the export no longer has goes with its mesh and its material.
        manifest.write_bytes(json.dumps({**json.loads(whole), "water_m": None}).encode())
        addon.watch_exports()
        left = [item.name for items in (bpy.data.objects, bpy.data.meshes, bpy.data.materials) for item in items
                if item.name.startswith(addon.WATER_NAME)]
        report("water that the export no longer has", f"{terrain.upthrust.result}, left: {left}", not left)


addon.register()
tiled = ["--tiles", "2x2"]
small = ["--texture-size", "128"]
oblong = ["--texture-size", "256x128"]
for arguments, water in [
    (("blender", (4096, 4096), 1, "129", *small), None),
    (("blender", (20480, 20480), 2, "513", *small), 120.0),
    (("blender", (3000, 2000), 3, "301", "--texture-size", "192x128"), -3.5),
    (("blender", (700, 1900), 4, "257", "--texture-size", "70x190"), None),
    (("blender", (5000, 1000), 6, "333", "--texture-size", "250x50"), None),
    (("blender", (4096, 4096), 7, "1025", *small), None),
    (("blender", (4096, 2048), 8, "1025x513", *oblong), 10.0),
    (("blender", (4096, 4096), 9, "257", *tiled, *small), None),
    (("blender", (4096, 2048), 10, "1025x513", *tiled, *oblong), 40.0),
    (("generic", (2000, 1000), 11, "257x129", *oblong), None),
    (("generic", (2000, 1000), 12, "257x129", *tiled, *oblong), None),
    (("unity", (2000, 2000), 13, "129", *small), None),
    (("unity", (2000, 2000), 14, "513", *tiled, *small), None),
    (("unreal", (4032, 4032), 15, "505", *small), 1.0),
    (("unreal", (4032, 4032), 16, "962", *tiled, *small), None),
    (("o3de", (4096, 2048), 17, "257x129", *oblong), None),
    (("cryengine", (1023, 1023), 18, "1024", *small), None),
    (("godot-hterrain", (4096, 4096), 19, "513"), None),
    (("godot-terrain3d", (1023, 1023), 20, "1024"), None),
    (("worldpainter", (4096, 2048), 21, "1025x513"), None),
]:
    check_import(*arguments, water_m=water)
check_reload()
check_types_reload()
check_scatter()
check_watching()
addon.unregister()
addon.register()
addon.unregister()
common.finish()
