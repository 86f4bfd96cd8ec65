"""Follows the import steps of the target "blender" in Blender itself and compares every vertex with the heights.

blender.py PROGRAM
"""

import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import bpy
import numpy

PROGRAM = str(Path(sys.argv[1]).resolve())
# A ridge that descends to the east, with a peak in the north-west: unmistakable if it is turned or mirrored.
FAULTS = [
    {"from_m": [0, 200], "to_m": [300, 0], "displacement_m": 800},
    {"from_m": [0, 600], "to_m": [900, 500], "displacement_m": 150},
]


def displaced(folder):
    """The vertices after the steps of the sidecar, as x, y and z in metres."""
    steps = " ".join(json.load(open(folder / "height.exr.json"))["import"])

    def number(words):
        return float(re.search(words + r" ([-0-9.]+)", steps).group(1).rstrip("."))

    for words in ["Coordinates UV", "Strength 1", "Midlevel 0", "Color Space Non-Color", "Extension to Extend"]:
        assert words in steps, words
    bpy.ops.wm.read_factory_settings(use_empty=True)
    subdivisions = int(number("X Subdivisions")), int(number("Y Subdivisions"))
    bpy.ops.mesh.primitive_grid_add(x_subdivisions=subdivisions[0], y_subdivisions=subdivisions[1], size=1)
    grid = bpy.context.object
    grid.dimensions = (number("dimensions to X"), number("dimensions to X [0-9.]+ m, Y"), 0)
    bpy.context.view_layer.update()
    image = bpy.data.images.load(str(folder / "height.exr"))
    image.colorspace_settings.name = "Non-Color"
    texture = bpy.data.textures.new("height", "IMAGE")
    texture.image, texture.extension, texture.use_interpolation = image, "EXTEND", False
    modifier = grid.modifiers.new("height", "DISPLACE")
    modifier.texture, modifier.texture_coords, modifier.strength, modifier.mid_level = texture, "UV", 1, 0
    mesh = grid.evaluated_get(bpy.context.evaluated_depsgraph_get()).to_mesh()
    places = numpy.empty(3 * len(mesh.vertices))
    mesh.vertices.foreach_get("co", places)
    return places.reshape(-1, 3) * numpy.array([*grid.scale[:2], 1]), subdivisions


def check(seed, world, size):
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        step = {"operation": "faults", "count": 200}
        tilt = {"operation": "drawn_faults", "faults": FAULTS}
        recipe = {"seed": seed, "world": dict(zip(["width_m", "depth_m"], world)), "stack": [step, tilt]}
        (folder / "p.upthrust.json").write_text(json.dumps({"format": 1, "recipe": recipe}))
        build = [PROGRAM, "build", str(folder / "p.upthrust.json"), "--size", size]
        run = subprocess.run([*build, "--heightmap", str(folder / "h.r32")], capture_output=True, text=True)
        assert run.returncode == 0, run.stderr
        run = subprocess.run([*build, "--for", "blender", "-o", str(folder / "out")], capture_output=True, text=True)
        assert run.returncode == 0, run.stderr
        side = json.load(open(folder / "h.r32.json"))
        heights = numpy.fromfile(folder / "h.r32", "<f4").reshape(side["height"], side["width"])
        places, subdivisions = displaced(folder / "out")
        assert heights.shape == (subdivisions[1] + 1, subdivisions[0] + 1), (heights.shape, subdivisions)
        assert numpy.allclose(numpy.ptp(places[:, :2], axis=0), world, rtol=1e-5), numpy.ptp(places[:, :2], axis=0)
        columns, rows = (
            numpy.rint((places[:, axis] / world[axis] + 0.5) * subdivisions[axis]).astype(int) for axis in (0, 1)
        )
        # The first row is the northern one, at the greatest y.
        error = numpy.abs(places[:, 2] - heights[subdivisions[1] - rows, columns]).max()
        print(f"Blender {bpy.app.version_string}: {size} samples of {world[0]} × {world[1]} m, off by {error:.6f} m at most")
        assert error <= 0.01, error


for seed, world, size in [
    (1, (4096, 4096), "129"), (2, (20480, 20480), "513"), (3, (3000, 2000), "301"), (4, (700, 1900), "257"),
    (5, (1000, 1000), "100"), (6, (5000, 1000), "333"),
]:
    check(seed, world, size)
