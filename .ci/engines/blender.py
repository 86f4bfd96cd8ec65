"""Follows the import steps of the target "blender" in Blender itself and compares every vertex with the heights.

blender.py PROGRAM, in a Python environment with bpy and numpy
"""

import json
import re
import tempfile
from pathlib import Path

import bpy
import numpy

from common import build, check, confirm, finish, read_r32, silence_other_output, write_project

TOLERANCE_M = 0.01

# Blender prints a line for every report.
silence_other_output()


class Steps:
    """The import steps of a sidecar, from which all settings are read."""

    def __init__(self, path):
        self.text = " ".join(json.loads(path.read_text())["import"])

    def word(self, setting, *words):
        """The word that the steps give a setting, which has to be one of `words`."""
        found = re.search(re.escape(setting) + r" (?:to )?(" + "|".join(words) + r")\b", self.text)
        if found is None:
            raise SystemExit(f"the steps do not set {setting} to one of {words}: {self.text}")
        return found.group(1)

    def number(self, pattern):
        found = re.search(pattern + r" ([-0-9.]+)", self.text)
        if found is None:
            raise SystemExit(f"the steps have no number for {pattern}: {self.text}")
        return float(found.group(1).rstrip("."))


def displaced(folder):
    """The vertices after the steps of the sidecar, as x, y and z in metres."""
    steps = Steps(folder / "height.exr.json")
    bpy.ops.wm.read_factory_settings(use_empty=True)
    subdivisions = int(steps.number("X Subdivisions")), int(steps.number("Y Subdivisions"))
    bpy.ops.mesh.primitive_grid_add(x_subdivisions=subdivisions[0], y_subdivisions=subdivisions[1], size=1)
    grid = bpy.context.object
    grid.dimensions = (steps.number("dimensions to X"), steps.number("dimensions to X [0-9.]+ m, Y"), 0)
    bpy.context.view_layer.update()
    image = bpy.data.images.load(str(folder / "height.exr"))
    image.colorspace_settings.name = steps.word("Color Space", "Non-Color", "sRGB")
    texture = bpy.data.textures.new("height", "IMAGE")
    texture.image = image
    texture.extension = steps.word("Extension", "Extend", "Repeat", "Clip").upper()
    texture.use_interpolation = steps.word("Interpolation", "off", "on") == "on"
    modifier = grid.modifiers.new("height", "DISPLACE")
    modifier.texture = texture
    modifier.texture_coords = steps.word("Coordinates", "UV", "Local", "Global", "Object").upper()
    modifier.strength, modifier.mid_level = steps.number("Strength"), steps.number("Midlevel")
    mesh = grid.evaluated_get(bpy.context.evaluated_depsgraph_get()).to_mesh()
    places = numpy.empty(3 * len(mesh.vertices))
    mesh.vertices.foreach_get("co", places)
    return places.reshape(-1, 3) * numpy.array([*grid.scale[:2], 1]), subdivisions


def compare(seed, world, size):
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        project = write_project(folder, seed, world)
        build(project, "--size", size, "--heightmap", folder / "h.r32")
        build(project, "--size", size, "--for", "blender", "-o", folder / "out")
        heights, _ = read_r32(folder / "h.r32")
        places, subdivisions = displaced(folder / "out")
        case = f"Blender {bpy.app.version_string}: {size} samples of {world[0]} × {world[1]} m"
        shape = (subdivisions[1] + 1, subdivisions[0] + 1)
        if not confirm(f"{case}, subdivisions", heights.shape == shape, f"{shape} for {heights.shape}"):
            return
        extent = numpy.ptp(places[:, :2], axis=0)
        confirm(f"{case}, extent", numpy.allclose(extent, world, rtol=1e-5), extent)
        columns, rows = (
            numpy.rint((places[:, axis] / world[axis] + 0.5) * subdivisions[axis]).astype(int) for axis in (0, 1)
        )
        # The first row is the northern one, at the greatest y.
        errors = numpy.abs(places[:, 2] - heights[subdivisions[1] - rows, columns])
        check(case, float(errors.max()), TOLERANCE_M)


for seed, world, size in [
    (1, (4096, 4096), "129"), (2, (20480, 20480), "513"), (3, (3000, 2000), "301"), (4, (700, 1900), "257"),
    (5, (1000, 1000), "100"), (6, (5000, 1000), "333"),
]:
    compare(seed, world, size)
finish()
