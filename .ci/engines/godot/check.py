"""Follows the import steps of the targets "godot-terrain3d" and "godot-hterrain" in Godot itself and compares every
vertex, weight and colour.

check.py PROGRAM PROJECT

PROJECT is a Godot project with the plugins in addons/. GODOT is the command that starts Godot (default "godot"); if it
runs in a chroot, GODOT_ROOT is the path of the chroot, and PROJECT lies in it.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy
import OpenEXR
from PIL import Image

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from common import build, finish, read_r32, report, write_project  # noqa: E402

PROJECT = Path(sys.argv[2]).resolve()
GODOT = os.environ.get("GODOT", "godot").split()
ROOT = os.environ.get("GODOT_ROOT", "").rstrip("/")
# HTerrain has a splat map of four types.
SPLATS = 4
FEW_TYPES = [
    {"name": name, "colour": colour, "elevation": [low, high], "elevation_release": 8, "slope_deg": [0, 90]}
    for name, colour, low, high in [
        ("Mud", "#3a2a10", 0, 35), ("Meadow", "#30a040", 35, 65), ("Snow", "#f0f4ff", 65, 100),
    ]
]
# Weights of 8 bits are rounded, and the program rounds the blend once more.
UNCERTAIN = 3


def in_godot(path):
    """A path as Godot sees it."""
    path = str(path)
    return path[len(ROOT) :] if ROOT else path


def godot(*arguments, limit_s=900):
    run = subprocess.run(
        [*GODOT, "--headless", "--path", in_godot(PROJECT), *map(str, arguments)],
        capture_output=True, text=True, timeout=limit_s, errors="replace",
    )
    return run.returncode, run.stdout + run.stderr


class Case:
    """An export, and the values that are expected from it."""

    def __init__(self, folder, target, label, source, size, *options):
        self.folder, self.target, self.source = folder, target, source
        self.name = f"{label} {' '.join(options)}".strip()
        build(source, "--for", target, "-o", folder / "export", *(["--size", size] if size else []), *options)
        manifest = json.load(open(folder / "export" / "upthrust.json"))
        size = "{}x{}".format(*manifest["samples"])
        build(source, "--size", size, "--heightmap", folder / "h.r32", "--weights", folder / "weights",
              "--weights-at", "samples")
        self.heights, side = read_r32(folder / "h.r32")
        self.spacing = [side["spacing_x_m"], side["spacing_z_m"]]
        covering = [kind for kind in manifest["types"] if kind.get("covers", True)]
        self.types = [kind["name"] for kind in covering]
        self.colors = [kind["color"] for kind in covering]
        self.manifest = manifest

    def order(self):
        return {
            "target": self.target, "folder": in_godot(self.folder / "export"), "out": in_godot(self.folder / "godot"),
        }

    def compare(self, folder):
        """Compares what Godot wrote into a folder with the expected values."""
        found = json.load(open(folder / "terrain.json"))
        depth, width = self.heights.shape
        assert found["size"] == [width, depth], (found["size"], self.heights.shape)
        assert numpy.allclose(found["spacing_m"], self.spacing, rtol=1e-6), (found["spacing_m"], self.spacing)
        assert numpy.allclose(found["origin_m"], found["asked_origin_m"], atol=1e-3), found
        half_step = numpy.ptp(self.heights) / 65535 / 2
        assert all(entry["values"] == "metres" for entry in self.manifest["heightmaps"])
        stored, queried = (
            float(numpy.abs(numpy.fromfile(folder / file, "<f4").reshape(depth, width) - self.heights).max())
            for file in ["heights.f32", "queried.f32"]
        )
        # The files have the heights as 32-bit floats, and so do the maps in Godot.
        assert stored == 0, f"stored heights are off by {stored} m"
        assert queried <= half_step, f"queried heights are off by {queried} m"
        assert found.get("seam_m", 0) <= half_step, found["seam_m"]
        self.check_asymmetry(half_step)
        if self.target == "godot-terrain3d":
            weights = self.compare_control(numpy.fromfile(folder / "control.f32", "<u4").reshape(depth, width))
        else:
            weights = self.compare_splat(numpy.fromfile(folder / "splat.rgba", "u1").reshape(depth, width, 4))
        color = numpy.fromfile(folder / "color.rgba", "u1").reshape(depth, width, 4)
        assert (color == self.tiles("texture", png)).all(), "colours differ"
        print(f"right  Godot {found['godot']}, {found['engine']}: {self.name}: {width} × {depth} samples, "
              f"stored heights equal, queried ones off by {queried:.6f} m at most; {weights}")

    def check_asymmetry(self, half_step):
        """Every other orientation of the expected heights has to be wrong by far."""
        turned = [self.heights[::-1], self.heights[:, ::-1], self.heights[::-1, ::-1]]
        turned += [self.heights.T] if self.heights.shape[0] == self.heights.shape[1] else []
        assert all(numpy.abs(other - self.heights).max() > 100 * half_step for other in turned)

    def tiles(self, key, read):
        """The files of a kind, joined."""
        depth, width = self.heights.shape
        first = {tuple(entry["tile"]): entry["first_sample"] for entry in self.manifest["heightmaps"]}
        joined = None
        for entry in self.manifest[key]:
            part = read(self.folder / "export" / entry["file"])
            if joined is None:
                joined = numpy.zeros((depth, width, *part.shape[2:]), part.dtype)
            x, y = first[tuple(entry["tile"])]
            joined[y : y + part.shape[0], x : x + part.shape[1]] = part
        return joined

    def weights(self):
        files = sorted((self.folder / "weights").glob("weight_*.png"))
        maps = numpy.stack([numpy.asarray(Image.open(file)) for file in files]).astype(int)
        names = [file.stem.split("_", 2)[2].replace("_", " ") for file in files]
        return maps[[names.index(name.replace("_", " ")) for name in self.types]]

    def compare_control(self, bits):
        own = self.tiles("weights", exr)
        assert (bits == own).all(), f"{(bits != own).sum()} control values differ"
        base, overlay, blend = bits >> 27, bits >> 22 & 31, bits >> 14 & 255
        strongest = numpy.where(blend > 127, overlay, base)
        maps = self.weights()
        ordered = numpy.sort(maps, axis=0)
        certain = ordered[-1] - (ordered[-2] if len(maps) > 1 else 0) > UNCERTAIN
        wrong = (strongest != maps.argmax(axis=0)) & certain
        assert not wrong.any(), f"{wrong.sum()} strongest types differ"
        # The share of the second type, by the weights themselves.
        second = numpy.take_along_axis(maps, overlay[None].astype(int), 0)[0]
        first = numpy.take_along_axis(maps, base[None].astype(int), 0)[0]
        share = 255 * second / numpy.maximum(first + second, 1)
        off = numpy.abs(blend - share)[(base != overlay)].max(initial=0)
        assert off <= 2 * UNCERTAIN, f"the blend is off by {off}"
        return f"{len(self.types)} types, strongest right in {certain.mean():.1%}, blend off by {off:.1f}/255"

    def compare_splat(self, splat):
        own = self.tiles("weights", png)
        assert (splat == own).all(), f"{(splat != own).sum()} weights differ"
        sums = splat.astype(int).sum(axis=2)
        assert (sums == 255).all(), (sums.min(), sums.max())
        expected = self.merged_weights()
        channels = self.manifest["weights"][0]["types"]
        assert channels == list(range(len(expected))), channels
        off = max(numpy.abs(splat[:, :, at].astype(int) - weights).max() for at, weights in enumerate(expected))
        assert off == 0, f"the weights are off by {off}"
        return f"{len(channels)} of {len(self.types)} types, weights equal"

    def merged_weights(self):
        """The weights of the first four types. Those of each other type are added to the one of the nearest colour."""
        maps = self.weights()
        colors = [numpy.array([int(color[at : at + 2], 16) for at in (1, 3, 5)]) for color in self.colors]
        merged = maps[:SPLATS].copy()
        for number in range(SPLATS, len(maps)):
            distances = [((colors[number] - color) ** 2).sum() for color in colors[:SPLATS]]
            merged[int(numpy.argmin(distances))] += maps[number]
        return merged


def png(path):
    return numpy.asarray(Image.open(path).convert("RGBA"))


def exr(path):
    """The bits of the first channel of an EXR file."""
    channels = OpenEXR.File(str(path)).channels()
    pixels = next(iter(channels.values())).pixels
    return numpy.ascontiguousarray(pixels if pixels.ndim == 2 else pixels[:, :, 0]).view("<u4")


# The target, the seed, the world in metres, the size of the export and further options.
CASES = [
    ("godot-terrain3d", 1, (4096, 4096), "256"),
    ("godot-terrain3d", 2, (20480, 20480), "512"),
    # Cells are square where the numbers of cells have the proportions of the world.
    ("godot-terrain3d", 3, (767 * 4, 511 * 4), "768x512"),
    ("godot-terrain3d", 4, (191 * 3.7, 511 * 3.7), "192x512"),
    ("godot-terrain3d", 5, (1000, 1000), "1024"),
    ("godot-terrain3d", 6, (8192, 8192), "2048"),
    ("godot-terrain3d", 7, (5000, 5000), "1088"),
    ("godot-terrain3d", 8, (4096, 4096), "512", "--tiles", "2x2"),
    ("godot-terrain3d", 9, (767 * 7.5, 511 * 7.5), "768x512", "--tiles", "3x2"),
    ("godot-hterrain", 1, (4096, 4096), "513"),
    ("godot-hterrain", 2, (20480, 20480), "1025"),
    ("godot-hterrain", 3, (900, 900), "513"),
    ("godot-hterrain", 4, (4096, 4096), "1025", "--tiles", "2x2"),
]
# As above, with three terrain types, which all have a channel of their own.
FEW_TYPES_CASES = [("godot-hterrain", 5, (2048, 2048), "513"), ("godot-terrain3d", 10, (2048, 2048), "512")]
PRESETS = [("godot-terrain3d", "alpine-range"), ("godot-terrain3d", "archipelago"), ("godot-hterrain", "arctic")]


def cases(folder, installed):
    """All exports for the programs that are installed."""
    numbered = [(*case[:4], None, *case[4:]) for case in CASES]
    numbered += [(*case, {"texture": {"unit": "percent", "types": FEW_TYPES}}) for case in FEW_TYPES_CASES]
    for number, (target, seed, world, size, recipe, *options) in enumerate(numbered):
        if installed[target]:
            path = folder / f"{number}"
            path.mkdir()
            label = f"seed {seed}, {world[0]:g} × {world[1]:g} m" + (", few types" if recipe else "")
            yield Case(path, target, label, write_project(path, seed, world, recipe), size, *options)
    for target, preset in PRESETS:
        if installed[target]:
            path = folder / preset
            path.mkdir()
            yield Case(path, target, f"preset {preset}", f"preset:{preset}", None)


def main():
    installed = {
        "godot-terrain3d": (PROJECT / "addons/terrain_3d").exists(),
        "godot-hterrain": (PROJECT / "addons/zylann.hterrain").exists(),
    }
    with tempfile.TemporaryDirectory(dir=ROOT + "/var/tmp" if ROOT else None) as name:
        folder = Path(name)
        for case in cases(folder, installed):
            (folder / "cases.json").write_text(json.dumps([case.order()]))
            code, output = godot("--script", "res://follow_steps.gd", "--", in_godot(folder / "cases.json"))
            try:
                assert code == 0 and (case.folder / "godot" / "terrain.json").exists(), f"Godot ended with {code}"
                case.compare(case.folder / "godot")
            except AssertionError as error:
                report(f"{case.target} {case.name}", f"{error}\n" + "\n".join(output.splitlines()[-12:]), False)
    finish()


if __name__ == "__main__":
    main()
