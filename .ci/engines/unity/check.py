"""Builds exports for Unity and runs the importer on them against the stubs.

check.py PROGRAM CHECK_EXE
"""

import json
import shutil
import subprocess
import sys
import tempfile
import zlib
from pathlib import Path

from PIL import Image

PROGRAM, CHECK = (str(Path(argument).resolve()) for argument in sys.argv[1:3])
# The north-western corner lies far below the other three: unmistakable if it is turned or mirrored.
FAULTS = [
    {"from_m": [0, 200], "to_m": [300, 0], "displacement_m": 800},
    {"from_m": [0, 600], "to_m": [900, 500], "displacement_m": 150},
]
failures = 0


def build(source, *arguments):
    run = subprocess.run([PROGRAM, "build", str(source), *map(str, arguments)], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr


def project(folder, seed, world):
    stack = [{"operation": "faults", "count": 200}, {"operation": "drawn_faults", "faults": FAULTS}]
    recipe = {"seed": seed, "world": dict(zip(["width_m", "depth_m"], world)), "stack": stack}
    path = folder / "p.upthrust.json"
    path.write_text(json.dumps({"format": 1, "recipe": recipe}))
    return path


def export(source, folder, size, *options):
    """Exports for Unity, decodes the weights, and writes the .r32; returns its path, and the sizes and the height range
    of the export."""
    build(source, "--for", "unity", "-o", folder, "--size", size, *options)
    manifest = json.load(open(folder / "upthrust.json"))
    for entry in manifest["weights"]:
        pixels = Image.open(folder / entry["file"]).convert("RGBA").tobytes()
        (folder / f"{entry['file']}.rgba").write_bytes(pixels)
    heights = folder.parent / f"{folder.name}.r32"
    samples = manifest["samples"]
    world = [option for option in options if str(option).startswith(("--set", "--seed"))]
    build(source, "--size", "x".join(map(str, samples)), "--heightmap", heights, *world)
    file = manifest["heightmaps"][0]
    return heights, [*samples, manifest["width_m"], manifest["depth_m"], file["max_m"] - file["min_m"]]


def check(folder, *arguments):
    global failures
    run = subprocess.run(["mono", CHECK, *map(str, arguments)], cwd=folder, capture_output=True, text=True)
    print(run.stdout, end="")
    if run.returncode:
        print(run.stderr, end="")
        failures += 1


def imports():
    for source, size, options in [
        ((1, (4096, 4096)), 129, []), ((2, (20480, 20480)), 513, []), ((3, (3000, 2000)), 65, []),
        ((4, (1900, 700)), 257, ["--tiles", "2x2"]), ("preset:archipelago", 513, ["--tiles", "4x4"]),
        ("preset:alpine-range", 1025, []), ("preset:canyon", 257, ["--range", "-500,3000"]),
    ]:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            source = source if isinstance(source, str) else project(folder, *source)
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
            source = project(folder / f"{number}", number, (4096, 4096))
            exports.append(export(source, folder / f"{number}" / "out", 129))
        (first, sizes), (second, other_sizes) = exports
        largest = max(sizes[-1], other_sizes[-1])
        check(folder, "twins", folder / "1" / "out", folder / "2" / "out", first, second, *sizes[:-1], largest)


def refusals():
    def newer(manifest, folder):
        manifest["format"] = 2

    def other_target(manifest, folder):
        manifest["target"] = "unreal"

    def wrong_size(manifest, folder):
        manifest["heightmaps"][0]["size"] = [100, 100]

    def outside(manifest, folder):
        manifest["weights"][0]["file"] = "../secret.png"

    def below(manifest, folder):
        manifest["weights"][0]["file"] = "folder\\secret.png"

    def other_drive(manifest, folder):
        manifest["heightmaps"][0]["file"] = "C:secret.raw"

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

    changes = [newer, other_target, wrong_size, outside, below, other_drive, broken_pixels, without_tiles, damaged]
    for change in [*changes, missing]:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            export("preset:alpine-range", folder / "out", 65)
            path = folder / "out" / "upthrust.json"
            manifest = json.load(open(path))
            change(manifest, folder / "out")
            path.write_text(json.dumps(manifest))
            is_elsewhere = change in (outside, below, other_drive)
            check(folder, "refuse", path, *["is not the name of a file"] * is_elsewhere)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "upthrust.json").write_text('{"format": 1, "tar')
        check(folder, "refuse", folder / "upthrust.json")
        check(folder, "refuse", folder / "height.raw.json")


for case in [imports, reload, retile, twins, refusals]:
    case()
print(f"{failures} wrong")
sys.exit(failures > 0)
