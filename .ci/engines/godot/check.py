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

PROGRAM = str(Path(sys.argv[1]).resolve())
PROJECT = Path(sys.argv[2]).resolve()
GODOT = os.environ.get("GODOT", "godot").split()
ROOT = os.environ.get("GODOT_ROOT", "").rstrip("/")
# A ridge that descends to the east, with a peak in the north-west: unmistakable if it is turned or mirrored.
FAULTS = [
    {"from_m": [0, 200], "to_m": [300, 0], "displacement_m": 800},
    {"from_m": [0, 600], "to_m": [900, 500], "displacement_m": 150},
]
# Weights of 8 bits are rounded, and the program rounds the blend once more.
UNCERTAIN = 3


def in_godot(path):
    """A path as Godot sees it."""
    path = str(path)
    return path[len(ROOT) :] if ROOT else path


def program(*arguments):
    run = subprocess.run([PROGRAM, "build", *map(str, arguments)], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    return run


def godot(*arguments, limit_s=900):
    run = subprocess.run(
        [*GODOT, "--headless", "--path", in_godot(PROJECT), *map(str, arguments)],
        capture_output=True, text=True, timeout=limit_s, errors="replace",
    )
    return run.returncode, run.stdout + run.stderr


def write_project(path, seed, world):
    step = {"operation": "faults", "count": 200}
    tilt = {"operation": "drawn_faults", "faults": FAULTS}
    recipe = {"seed": seed, "world": dict(zip(["width_m", "depth_m"], world)), "stack": [step, tilt]}
    path.write_text(json.dumps({"format": 1, "recipe": recipe}))
    return path


class Case:
    """An export, and the truth about it."""

    def __init__(self, folder, target, label, source, size, *options):
        self.folder, self.target, self.source = folder, target, source
        self.name = f"{label} {' '.join(options)}".strip()
        program(source, "--for", target, "-o", folder / "export", *(["--size", size] if size else []), *options)
        manifest = json.load(open(folder / "export" / "upthrust.json"))
        size = "{}x{}".format(*manifest["samples"])
        program(source, "--size", size, "--heightmap", folder / "h.r32", "--weights", folder / "weights",
                "--weights-at", "samples")
        side = json.load(open(folder / "h.r32.json"))
        self.heights = numpy.fromfile(folder / "h.r32", "<f4").reshape(side["height"], side["width"])
        self.spacing = [side["spacing_x_m"], side["spacing_z_m"]]
        self.types = [kind["name"] for kind in manifest["types"] if kind.get("covers", True)]
        self.manifest = manifest

    def order(self):
        return {
            "target": self.target, "folder": in_godot(self.folder / "export"), "out": in_godot(self.folder / "godot"),
        }

    def compare(self, folder):
        """Compares what Godot wrote into a folder with the truth."""
        found = json.load(open(folder / "terrain.json"))
        depth, width = self.heights.shape
        assert found["size"] == [width, depth], (found["size"], self.heights.shape)
        assert numpy.allclose(found["spacing_m"], self.spacing, rtol=1e-6), (found["spacing_m"], self.spacing)
        assert numpy.allclose(found["origin_m"], found["asked_origin_m"], atol=1e-3), found
        half_step = numpy.ptp(self.heights) / 65535 / 2
        errors = [
            float(numpy.abs(numpy.fromfile(folder / file, "<f4").reshape(depth, width) - self.heights).max())
            for file in ["heights.f32", "queried.f32"]
        ]
        assert max(errors) <= half_step, (errors, half_step)
        assert found.get("seam_m", 0) <= half_step, found["seam_m"]
        self.check_asymmetry(half_step)
        if self.target == "godot-terrain3d":
            weights = self.compare_control(numpy.fromfile(folder / "control.f32", "<u4").reshape(depth, width))
        else:
            weights = self.compare_splat(numpy.fromfile(folder / "splat.rgba", "u1").reshape(depth, width, 4))
        color = numpy.fromfile(folder / "color.rgba", "u1").reshape(depth, width, 4)
        assert (color == self.tiles("texture", png)).all(), "colours differ"
        print(f"Godot {found['godot']}, {found['engine']}: {self.name}: {width} × {depth} samples, "
              f"off by {max(errors):.6f} m at most (half a step is {half_step:.6f} m); {weights}")

    def check_asymmetry(self, half_step):
        """Every other orientation of the truth has to be wrong by far."""
        turned = [self.heights[::-1], self.heights[:, ::-1], self.heights[::-1, ::-1]]
        turned += [self.heights.T] if self.heights.shape[0] == self.heights.shape[1] else []
        assert all(numpy.abs(other - self.heights).max() > 100 * half_step for other in turned)

    def tiles(self, key, read):
        """The files of a kind, joined."""
        depth, width = self.heights.shape
        first = {tuple(of["tile"]): of["first_sample"] for of in self.manifest["heightmaps"]}
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
        assert abs(sums - 255).max() <= 2, (sums.min(), sums.max())
        channels = self.manifest["weights"][0]["types"]
        if len(self.types) <= 4:
            maps = self.weights()
            off = max(numpy.abs(splat[:, :, at] - maps[of]).max() for at, of in enumerate(channels))
            assert off <= UNCERTAIN, f"the weights are off by {off}"
        return f"{len(channels)} of {len(self.types)} types, weights add up to {sums.min()} to {sums.max()}"


def png(path):
    return numpy.asarray(Image.open(path).convert("RGBA"))


def exr(path):
    """The bits of the first channel of an EXR file."""
    channels = OpenEXR.File(str(path)).channels()
    pixels = next(iter(channels.values())).pixels
    return numpy.ascontiguousarray(pixels if pixels.ndim == 2 else pixels[:, :, 0]).view("<u4")


CASES = [
    # The target, the seed, the world in metres, the size of the export and further options.
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
PRESETS = [("godot-terrain3d", "alpine-range"), ("godot-terrain3d", "archipelago"), ("godot-hterrain", "arctic")]


def main():
    failed = 0
    installed = {
        "godot-terrain3d": (PROJECT / "addons/terrain_3d").exists(),
        "godot-hterrain": (PROJECT / "addons/zylann.hterrain").exists(),
    }
    with tempfile.TemporaryDirectory(dir=ROOT + "/var/tmp" if ROOT else None) as name:
        folder = Path(name)
        cases = []
        for target, seed, world, size, *options in CASES:
            if installed[target]:
                path = folder / f"{len(cases)}"
                path.mkdir()
                project = write_project(path / "p.upthrust.json", seed, world)
                label = f"seed {seed}, {world[0]:g} × {world[1]:g} m"
                cases.append(Case(path, target, label, project, size, *options))
        for target, preset in PRESETS:
            if installed[target]:
                path = folder / f"{len(cases)}"
                path.mkdir()
                cases.append(Case(path, target, f"preset {preset}", f"preset:{preset}", None))
        for case in cases:
            (folder / "cases.json").write_text(json.dumps([case.order()]))
            code, output = godot("--script", "res://follow_steps.gd", "--", in_godot(folder / "cases.json"))
            try:
                assert code == 0 and (case.folder / "godot" / "terrain.json").exists(), f"Godot ended with {code}"
                case.compare(case.folder / "godot")
            except AssertionError as error:
                failed += 1
                print(f"FAILED {case.target} {case.name}: {error}\n" + "\n".join(output.splitlines()[-12:]))
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
