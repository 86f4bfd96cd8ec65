"""Builds exports for Unity and runs the importer on them against the stubs.

check.py PROGRAM CHECK_EXE
"""

import json
import math
import shutil
import subprocess
import sys
import tempfile
import zlib
from pathlib import Path

from PIL import Image

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from common import build, finish, set_at, write_project, write_scatter, wrong  # noqa: E402

CHECK = str(Path(sys.argv[2]).resolve())
LAYERS = [
    {"name": "Trees", "spacing_m": 40, "sink_m": 0.4, "scale": [0.6, 1.4], "height_m": 12},
    {"name": "Rocks", "spacing_m": 200, "turn": "downhill", "align": 1, "shape": "box", "radius_m": 1, "height_m": 1.5},
    {"name": "Oaks", "spacing_m": 300, "turn": "bearing", "bearing_deg": 70, "shape": "ball"},
    {"name": "Posts", "spacing_m": 500, "shape": "pillar", "radius_m": 0.2},
]


def write_instances(folder, depth_m):
    """Writes the instances as Unity has them: from the south-western corner, north instead of south, radians."""
    path = folder / "scatter.json"
    layers = json.loads(path.read_text())["layers"] if path.exists() else []
    (folder / "instances.txt").write_text("".join(
        f"{layer['name']}\t{x}\t{y}\t{depth_m - z}\t{math.radians(yaw)}\t{scale}\n"
        for layer in layers for x, y, z, yaw, _, _, scale in layer["instances"]
    ))


def export(source, folder, size, *options):
    """Exports for Unity, and writes what is compared: the decoded weights, the colours of the layers, and the .r32.
    Returns the path of the .r32, and the sizes and the height range of the export."""
    build(source, "--for", "unity", "-o", folder, "--size", size, *options)
    manifest = json.load(open(folder / "upthrust.json"))
    for entry in manifest["weights"]:
        pixels = Image.open(folder / entry["file"]).convert("RGBA").tobytes()
        (folder / f"{entry['file']}.rgba").write_bytes(pixels)
    layers = dict.fromkeys(number for entry in manifest["weights"] for number in entry["types"])
    (folder / "layers.txt").write_text("\n".join(manifest["types"][number]["color"] for number in layers))
    write_instances(folder, manifest["depth_m"])
    heights = folder.parent / f"{folder.name}.r32"
    samples = manifest["samples"]
    world = [option for option in options if str(option).startswith(("--set", "--seed"))]
    build(source, "--size", "x".join(map(str, samples)), "--heightmap", heights, *world)
    file = manifest["heightmaps"][0]
    return heights, [*samples, manifest["width_m"], manifest["depth_m"], file["max_m"] - file["min_m"]]


def check(folder, *arguments):
    run = subprocess.run(["mono", CHECK, *map(str, arguments)], cwd=folder, capture_output=True, text=True)
    print(run.stdout, end="")
    if run.returncode:
        print(run.stderr, end="")
        wrong.append(arguments)


def imports():
    for source, size, options in [
        ((1, (4096, 4096)), 129, []), ((2, (20480, 20480)), 513, []), ((3, (3000, 2000)), 65, []),
        ((4, (1900, 700)), 257, ["--tiles", "2x2"]), ("preset:archipelago", 513, ["--tiles", "4x4"]),
        ("preset:alpine-range", 1025, []), ("preset:canyon", 257, ["--range", "-500,3000"]),
    ]:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            source = source if isinstance(source, str) else write_project(folder, *source, {"scatter": LAYERS})
            if "--range" in options:
                build(source, "--for", "unity", "-o", folder / "out", "--size", size)
                own = json.load(open(folder / "out" / "upthrust.json"))
                shutil.rmtree(folder / "out")
                options = ["--range", f"{own['min_m'] - 100},{own['max_m'] + 50}"]
            heights, sizes = export(source, folder / "out", size, *options)
            if "--range" in options:
                # The range of the file is wider than that of the heights, and so are its steps.
                manifest = json.load(open(folder / "out" / "upthrust.json"))["heightmaps"][0]
                assert manifest["max_m"] > own["max_m"], manifest
            check(folder, "import", folder / "out" / "upthrust.json", heights, *sizes)


def reload():
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        first = export("preset:archipelago", folder / "first", 257, "--tiles", "2x2")
        second = export("preset:archipelago", folder / "second", 257, "--tiles", "2x2", "--seed=3")
        check(folder, "reload", folder / "first", folder / "second", first[0], second[0], *first[1][:-1],
              max(first[1][-1], second[1][-1]))


def scatter():
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        exports = []
        for seed, layers in [(1, LAYERS), (2, LAYERS[:2]), (1, [])]:
            (folder / f"{len(exports)}").mkdir()
            source = write_project(folder / f"{len(exports)}", seed, (3000, 2000), {"scatter": layers})
            exports.append(export(source, folder / f"{len(exports)}" / "out", 129, "--tiles", "2x2"))
        folders = [folder / f"{number}" / "out" for number in range(3)]
        (first, sizes), (second, other_sizes), _ = exports
        check(folder, "scatter", *folders, first, second, *sizes[:-1], max(sizes[-1], other_sizes[-1]))


def retile():
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        first = export("preset:archipelago", folder / "first", 257, "--tiles", "2x2")
        second = export("preset:archipelago", folder / "second", 257)
        check(folder, "retile", folder / "first", folder / "second", first[0], second[0], *first[1])


def twins():
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        exports = []
        for number in [1, 2]:
            (folder / f"{number}").mkdir()
            source = write_project(folder / f"{number}", number, (4096, 4096))
            exports.append(export(source, folder / f"{number}" / "out", 129))
        (first, sizes), (second, other_sizes) = exports
        largest = max(sizes[-1], other_sizes[-1])
        check(folder, "twins", folder / "1" / "out", folder / "2" / "out", first, second, *sizes[:-1], largest)


def changed(*path, to):
    """Changes a value of the manifest."""
    def change(manifest, folder):
        set_at(manifest, path, to)
    return change


def broken_pixels(manifest, folder):
    # The file belongs to the manifest, and only its pixels cannot be unpacked.
    entry = manifest["weights"][-1]
    path = folder / entry["file"]
    content = bytearray(path.read_bytes())
    data = content.index(b"IDAT") + 4
    content[data + 2 : data + 40] = b"\xff" * 38
    path.write_bytes(content)
    entry["crc32"] = f"{zlib.crc32(content):08x}"


def without_tiles(manifest, folder):
    del manifest["tiles"]


def damaged(manifest, folder):
    (folder / "height.raw").write_bytes(b"short")


def missing(manifest, folder):
    (folder / manifest["weights"][-1]["file"]).unlink()


def scattered(*path, to):
    """Changes a value of the file of scattered instances, which still belongs to the manifest."""
    def change(manifest, folder):
        content = json.loads((folder / "scatter.json").read_text())
        set_at(content, path, to)
        write_scatter(manifest, folder, json.dumps(content).encode())
    return change


def half_a_scatter_file(manifest, folder):
    write_scatter(manifest, folder, (folder / "scatter.json").read_bytes()[:3000])


LAYER, NO_THINGS, NO_SHAPE = ("layers", 0), 'scatter.json has no valid "instances"', "without a valid shape"
NOT_A_NAME = "is not the name of a file"
HEIGHTMAP, WEIGHTS = ("heightmaps", 0), ("weights", 0)
# What is changed, and what the message has to say about it.
REFUSALS = [
    (changed("format", to=2), "this export has format 2"),
    (changed("target", to="unreal"), 'this export is for "unreal"'),
    (changed(*HEIGHTMAP, "size", to=[100, 100]), "Unity needs a square of 33"),
    (changed(*HEIGHTMAP, "tile", to=[1, 0]), "is not one of the 1 × 1 tiles"),
    (changed(*HEIGHTMAP, "max_value", to=0), "height range"),
    (changed(*HEIGHTMAP, "values", to="metres"), "has no .raw heightmap of 16-bit integers"),
    (changed("spacing_m", to=[0, 0]), "has no size"),
    (changed("width_m", to=10**400), "is not valid JSON"),
    (changed("heightmaps", to=[True]), 'no valid "heightmaps"'),
    (changed(*WEIGHTS, "file", to="../secret.png"), NOT_A_NAME),
    (changed(*WEIGHTS, "file", to="folder\\secret.png"), NOT_A_NAME),
    (changed(*WEIGHTS, "file", to="a\0.png"), NOT_A_NAME),
    (changed(*HEIGHTMAP, "file", to="C:secret.raw"), NOT_A_NAME),
    (changed(*WEIGHTS, "types", to=[99]), "weights of type 99, which is not listed"),
    (changed("scatter", 0, "file", to="../scatter.json"), NOT_A_NAME),
    (changed("scatter", 0, "crc32", to="00000000"), "scatter.json is not the file that upthrust.json lists"),
    (changed("scatter", 0, to={"file": "scatter.json"}), 'upthrust.json has no valid "crc32"'),
    (changed("scatter", to=5), 'upthrust.json has no valid "scatter"'),
    (half_a_scatter_file, "scatter.json is not valid JSON"),
    (scattered("fields", to=["x_m", "z_m", "y_m"]), 'scatter.json has no valid "fields"'),
    (scattered("layers", to=[5]), 'scatter.json has no valid "layers"'),
    (scattered(*LAYER, "name", to="Rocks"), "two layers of the same name"),
    (scattered(*LAYER, "name", to=5), 'scatter.json has no valid "name"'),
    (scattered(*LAYER, "shape", to="torus"), NO_SHAPE),
    (scattered(*LAYER, "radius_m", to=0), NO_SHAPE),
    (scattered(*LAYER, "height_m", to=float("nan")), "scatter.json is not valid JSON"),
    (scattered(*LAYER, "color", to="green"), "is not a colour"),
    (scattered(*LAYER, "instances", to=5), NO_THINGS),
    (scattered(*LAYER, "instances", 1, 6, to="1"), NO_THINGS),
    (scattered(*LAYER, "instances", 1, 6, to=None), NO_THINGS),
    (scattered(*LAYER, "instances", 1, 6, to=1e30), NO_THINGS),
    (scattered(*LAYER, "instances", 1, to=[1, 2, 3]), NO_THINGS),
    (broken_pixels, "weights_RGBA_1.png ends too early"),
    (without_tiles, 'no valid "tiles"'),
    (damaged, "height.raw is not the file that upthrust.json lists"),
    (missing, "cannot be read"),
]


def refusals():
    for change, words in REFUSALS:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            export(write_project(folder, 1, (2000, 2000), {"scatter": LAYERS}), folder / "out", 65)
            path = folder / "out" / "upthrust.json"
            manifest = json.loads(path.read_text())
            change(manifest, folder / "out")
            path.write_text(json.dumps(manifest))
            check(folder, "refuse", path, words)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for text in ['{"format": 1, "tar', "[" * 100_000, "[]"]:
            (folder / "upthrust.json").write_text(text)
            check(folder, "refuse", folder / "upthrust.json", "is not valid JSON")
        check(folder, "refuse", folder / "height.raw.json", "choose upthrust.json")


def other_heightmaps():
    """A heightmap of another kind is not used."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        heights, sizes = export("preset:alpine-range", folder / "out", 65)
        path = folder / "out" / "upthrust.json"
        manifest = json.loads(path.read_text())
        other = {**manifest["heightmaps"][0], "file": "height.r32", "values": "metres", "bits": 32, "max_value": None}
        path.write_text(json.dumps({**manifest, "heightmaps": [other, *manifest["heightmaps"]]}))
        check(folder, "import", path, heights, *sizes)


with tempfile.TemporaryDirectory() as empty:
    check(empty, "names")
for case in [imports, reload, scatter, retile, twins, refusals, other_heightmaps]:
    case()
finish()
