"""Runs the script for Unreal on real exports against a stand-in for Unreal's Python module, and compares the heights
that its numbers give with those of the .r32. Needs Pillow and numpy.

unreal.py PROGRAM
"""

import importlib.util
import json
import os
import py_compile
import shutil
import sys
import tempfile
import types
import zlib
from pathlib import Path

import numpy
import PIL
from PIL import Image

from common import build, confirm, finish, read_r32, report, write_project

SCRIPT = Path(__file__).resolve().parents[2] / "assets/helpers/unreal/upthrust_unreal.py"


class Vector:
    def __init__(self, x=0.0, y=0.0, z=0.0):
        self.x, self.y, self.z = x, y, z


class Landscape:
    """A landscape of so many vertices, as a new one is: its actor in a corner, at the scale 100."""

    def __init__(self, vertices):
        self.vertices = vertices
        self.scale, self.location = Vector(100, 100, 100), Vector(-5000, 7000, 0)
        self.changes = 0

    def get_actor_scale3d(self):
        return self.scale

    def get_actor_location(self):
        return self.location

    def get_actor_bounds(self, only_colliding_components, include_from_child_actors=False):
        x, y = ((count - 1) * along / 2 for count, along in zip(self.vertices, (self.scale.x, self.scale.y)))
        return Vector(self.location.x + x, self.location.y + y, self.location.z), Vector(x, y, 1000)

    def set_actor_scale3d(self, new_scale3d):
        self.scale = new_scale3d
        self.changes += 1

    def set_actor_location(self, new_location, sweep, teleport):
        self.location = new_location
        self.changes += 1


class AssetImportTask:
    PROPERTIES = {
        "async_", "automated", "destination_name", "destination_path", "factory", "filename", "imported_object_paths",
        "options", "replace_existing", "replace_existing_settings", "result", "save",
    }

    def __init__(self):
        self.values = {}

    def set_editor_property(self, name, value):
        assert name in self.PROPERTIES, name
        self.values[name] = value


class ScopedEditorTransaction:
    def __init__(self, desc):
        self.desc = desc

    def __enter__(self):
        return self

    def __exit__(self, *error):
        return False


def stand_in(saved):
    """The names of Unreal's public Python API that the script uses, and nothing else."""
    unreal = types.ModuleType("unreal")
    unreal.Vector, unreal.Landscape, unreal.AssetImportTask = Vector, Landscape, AssetImportTask
    unreal.ScopedEditorTransaction = ScopedEditorTransaction
    unreal.logged, unreal.errors, unreal.imported, unreal.selected = [], [], [], []
    unreal.log, unreal.log_error = unreal.logged.append, unreal.errors.append
    unreal.EditorActorSubsystem = type("EditorActorSubsystem", (), {})
    subsystem = types.SimpleNamespace(get_selected_level_actors=lambda: list(unreal.selected))
    unreal.get_editor_subsystem = {unreal.EditorActorSubsystem: subsystem}.__getitem__
    tools = types.SimpleNamespace(import_asset_tasks=unreal.imported.extend)
    unreal.AssetToolsHelpers = types.SimpleNamespace(get_asset_tools=lambda: tools)
    # Unreal gives paths relative to the folder of its own program.
    binaries = saved.parent / "Engine/Binaries/Linux"
    unreal.Paths = types.SimpleNamespace(
        project_saved_dir=lambda: os.path.relpath(saved, binaries),
        convert_relative_path_to_full=lambda path: os.path.normpath(binaries / path),
    )
    return unreal


def load(saved):
    unreal = sys.modules["unreal"] = stand_in(saved)
    spec = importlib.util.spec_from_file_location("upthrust_unreal", SCRIPT)
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    return unreal, script


def compare(what, out, manifest, heights, landscape):
    """Where Unreal puts every vertex: columns along X, rows along Y, 128 steps per unit of scale."""
    worst, step = 0.0, 0.0
    seen = numpy.zeros(heights.shape, bool)
    for entry in manifest["heightmaps"]:
        values = numpy.array(Image.open(out / entry["file"])).astype("f8")
        column, row = entry["first_sample"]
        place = numpy.s_[row:row + values.shape[0], column:column + values.shape[1]]
        z_cm = landscape.location.z + (values - 32768) / 128 * landscape.scale.z
        worst = max(worst, float(numpy.abs(z_cm / 100 - heights[place]).max()))
        step = max(step, (entry["max_m"] - entry["min_m"]) / 65535)
        seen[place] = True
    confirm(f"{what} covers the terrain", seen.all(), seen.mean())
    scale = [landscape.scale.x, landscape.scale.y]
    size = [(count - 1) * along / 100 for count, along in zip(manifest["samples"], scale)]
    off = max(abs(size[0] - manifest["width_m"]), abs(size[1] - manifest["depth_m"]))
    allowed = 0.5 * step * (1 + 1e-6)
    found = f"heights off by {worst:.5f} m at most, allowed {allowed:.5f} m; size off by {off:.1e} m"
    report(what, found, worst <= allowed and off < 1e-6)


def numbers_of_steps(what, manifest, landscape):
    """The numbers that the program prints are the same, rounded."""
    words = " ".join(manifest["steps"]).replace(",", " ").split()
    printed = {name: float(words[words.index(name) + 1]) for name in ["X", "Y"]}
    printed["Z"] = float(words[words.index("Y") + 3])
    printed["Location"] = float(words[words.index("Location") + 2])
    found = {"X": landscape.scale.x, "Y": landscape.scale.y, "Z": landscape.scale.z, "Location": landscape.location.z}
    for name, number in printed.items():
        tolerance = 0.006 if name == "Location" else 1e-6 * abs(number) + 5e-5
        confirm(f"{what} printed {name}", abs(number - found[name]) <= tolerance, (number, found[name]))


def exports():
    for source, size, options in [
        ((1, (4096, 4096)), "127", []), ((2, (20480, 20480)), "505", []), ((3, (3000, 2000)), "253", []),
        ("preset:archipelago", "1009", []), ("preset:alpine-range", "505", []),
        ("preset:archipelago", "256", ["--tiles", "2x2"]), ("preset:canyon", "127", ["--range", "-500,3000"]),
    ]:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            out = folder / "out"
            source = source if isinstance(source, str) else write_project(folder, *source)
            build(source, "--for", "unreal", "-o", out, "--size", size, *options)
            manifest = json.load(open(out / "upthrust.json"))
            build(source, "--size", "x".join(map(str, manifest["samples"])), "--heightmap", folder / "h.r32")
            heights = read_r32(folder / "h.r32")[0].astype("f8")
            what = source if isinstance(source, str) else "faults"
            what = f"{what} {manifest['samples']} {' '.join(options)}".rstrip()

            unreal, script = load(folder / "saved")
            script.main([str(out / "upthrust.json")])
            confirm(f"{what} has no errors", not unreal.errors, unreal.errors)
            said = " ".join(unreal.logged)
            files = [entry["file"] for entry in manifest["weights"]] + [manifest["heightmaps"][0]["file"]]
            confirm(f"{what} names every file", all(file in said for file in files), said)
            paths = [task.values["filename"] for task in unreal.imported]
            textures = [str(out / entry["file"]) for entry in manifest["texture"]]
            confirm(f"{what} imports the texture", paths == textures, paths)
            water_m = manifest["water_m"]
            is_told = "water" not in said if water_m is None else f"Z = {100 * water_m:.4f}" in said
            confirm(f"{what} water", is_told, said)

            landscape = Landscape(manifest["samples"])
            unreal.selected.append(landscape)
            script.main([str(out / "upthrust.json")])
            place = (landscape.location.x, landscape.location.y)
            confirm(f"{what} moves nothing sideways", place == (-5000, 7000), place)
            compare(what, out, manifest, heights, landscape)
            numbers_of_steps(what, manifest, landscape)
            before = landscape.changes
            unreal.logged.clear()
            script.main([str(out / "upthrust.json")])
            confirm(f"{what} sets the scale once", landscape.changes == before == 2, landscape.changes)
            said = " ".join(unreal.logged)
            is_listed = all(file in said for file in files) and "(changed)" not in said
            confirm(f"{what} lists every step again and marks nothing", is_listed, said)


def changes():
    """A second export is marked where it differs, and another export with the same name gets its own assets."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        out = folder / "out"
        build("preset:alpine-range", "--for", "unreal", "-o", out, "--size", "127")
        manifest = json.load(open(out / "upthrust.json"))
        weights = [entry["file"] for entry in manifest["weights"]]
        unreal, script = load(folder / "saved")
        script.main([str(out / "upthrust.json")])
        said = " ".join(unreal.logged)
        confirm("the first run marks nothing", "changed" not in said, said)
        (out / weights[0]).write_bytes((out / weights[1]).read_bytes())
        manifest["weights"][0]["crc32"] = manifest["weights"][1]["crc32"]
        (out / "upthrust.json").write_text(json.dumps(manifest))
        unreal.logged.clear()
        script.main([str(out / "upthrust.json")])
        said = " ".join(unreal.logged)
        is_marked = said.count("(changed)") == 1 and f"{weights[0]} (changed)" in said
        confirm("a changed file is marked", is_marked and all(file in said for file in weights), said)
        shutil.copytree(out, folder / "other")
        for path in ["other", "out", "other"]:
            script.main([str(folder / path / "upthrust.json")])
        destinations = [task.values["destination_path"] for task in unreal.imported[-3:]]
        first = "/Game/Upthrust/Alpine_range"
        confirm("exports of one name", destinations == [first + "_2", first, first + "_2"], destinations)
        confirm("changes have no errors", not unreal.errors, unreal.errors)
        records = sorted(path.name for path in (folder / "saved/Upthrust").iterdir())
        confirm("records of the last runs", records == ["Alpine_range.json", "Alpine_range_2.json"], records)


def without(*path):
    """Removes a value of the manifest."""
    return changed(path, None, is_removed=True)


def changed(path, value, is_removed=False):
    """Changes a value of the manifest."""
    def change(manifest, out):
        *parents, key = path
        for parent in parents:
            manifest = manifest[parent]
        if is_removed:
            del manifest[key]
        else:
            manifest[key] = value
    return change


def damaged(manifest, out):
    (out / "height.png").write_bytes(b"short")


def missing(manifest, out):
    (out / manifest["weights"][0]["file"]).unlink()


NOT_A_NAME = "is not the name of a file"
FIRST_HEIGHTMAP = ["heightmaps", 0]
FIRST_WEIGHTS = ["weights", 0]
# What is changed, and what the message has to say about it.
REFUSALS = {
    "a newer format": (changed(["format"], 2), "needs a newer script"),
    "a format of true": (changed(["format"], True), 'no valid "format"'),
    "another target": (changed(["target"], "unity"), 'is for "unity"'),
    "a damaged file": (damaged, "height.png is not the file that"),
    "a missing file": (missing, "cannot be read"),
    "an empty object": (lambda manifest, out: manifest.clear(), "is not the manifest of an export"),
    "no samples": (without("samples"), 'no valid "samples"'),
    "samples of true": (changed(["samples"], [True, True]), 'no valid "samples"'),
    "no lowest height": (without(*FIRST_HEIGHTMAP, "min_m"), 'no valid "min_m"'),
    "a lowest height of NaN": (changed([*FIRST_HEIGHTMAP, "min_m"], float("nan")), 'no valid "min_m"'),
    "an infinite highest height": (changed([*FIRST_HEIGHTMAP, "max_m"], float("inf")), 'no valid "max_m"'),
    "an upside-down range": (changed([*FIRST_HEIGHTMAP, "max_m"], -1e6), 'no valid "max_m"'),
    "a spacing of nothing": (changed(["spacing_m"], [0, 0]), 'no valid "spacing_m"'),
    "a negative spacing": (changed(["spacing_m"], [-1, 1]), 'no valid "spacing_m"'),
    "a spacing of 400 digits": (changed(["spacing_m"], [10**400, 1]), 'no valid "spacing_m"'),
    "an infinite water level": (changed(["water_m"], float("inf")), 'no valid "water_m"'),
    "no checksum": (without("texture", 0, "crc32"), 'no valid "file"'),
    "an unknown type": (changed([*FIRST_WEIGHTS, "types"], [99]), 'no valid "weights"'),
    "a type of true": (changed([*FIRST_WEIGHTS, "types"], [True]), 'no valid "weights"'),
    "weights that are not a list": (changed(["weights"], {"file": "a.png"}), 'no valid "weights"'),
    "a file above": (changed([*FIRST_WEIGHTS, "file"], "../secret.png"), NOT_A_NAME),
    "a file below": (changed([*FIRST_WEIGHTS, "file"], "folder\\secret.png"), NOT_A_NAME),
    "a file of another drive": (changed([*FIRST_HEIGHTMAP, "file"], "C:secret.png"), NOT_A_NAME),
    "a file name with NUL": (changed([*FIRST_WEIGHTS, "file"], "a\0.png"), NOT_A_NAME),
    "a heightmap in metres": (changed([*FIRST_HEIGHTMAP, "values"], "metres"), "has no heightmap of 16-bit integers"),
    "another landscape": (changed(["samples"], [253, 253]), "has 127 × 127 vertices, but the export has 253 × 253"),
}
BROKEN_TEXTS = {
    "half a manifest": ('{"format": 1, "tar', "is not valid JSON"),
    "a deep manifest": ("[" * 100_000, "is not valid JSON"),
    "a list": ("[]", "is not the manifest of an export"),
}


def refuse(case, folder, path, words):
    """Runs the script with a landscape selected; the script has to log one error and change nothing."""
    unreal, script = load(folder / "saved")
    landscape = Landscape([127, 127])
    unreal.selected.append(landscape)
    script.main([str(path)])
    is_untouched = not landscape.changes and not unreal.imported and not (folder / "saved").exists()
    is_refused = len(unreal.errors) == 1 and words in unreal.errors[0]
    found = " ".join(unreal.errors).replace(str(folder), "FOLDER") or "no error"
    report(f"refused {case}", found if is_untouched else f"changes; {found}", is_refused and is_untouched)


def refusals():
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        build("preset:alpine-range", "--for", "unreal", "-o", folder / "out", "--size", "127")
        for number, (case, (change, words)) in enumerate(REFUSALS.items()):
            out = folder / str(number)
            shutil.copytree(folder / "out", out)
            manifest = json.loads((out / "upthrust.json").read_text())
            change(manifest, out)
            (out / "upthrust.json").write_text(json.dumps(manifest))
            refuse(case, folder, out / "upthrust.json", words)
        for case, (text, words) in BROKEN_TEXTS.items():
            (folder / "upthrust.json").write_text(text)
            refuse(case, folder, folder / "upthrust.json", words)
        refuse("no manifest", folder, folder / "nowhere.json", "cannot be read")


def accepted():
    """What is unusual, and imported nevertheless."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        build("preset:alpine-range", "--for", "unreal", "-o", folder / "out", "--size", "127")
        path = folder / "out/upthrust.json"
        # A landscape of World Partition has no vertices of its own.
        unreal, script = load(folder / "saved")
        landscape = Landscape([1, 1])
        unreal.selected.append(landscape)
        script.main([str(path)])
        said = " ".join(unreal.logged)
        is_left_alone = not landscape.changes and not unreal.errors and "World Partition" in said
        report("a landscape of proxies is left alone", f"{landscape.changes} changes", is_left_alone)
        # A heightmap of another kind is not used.
        manifest = json.loads(path.read_text())
        (folder / "out/height.exr").write_bytes(b"metres")
        other = {"file": "height.exr", "crc32": f"{zlib.crc32(b'metres'):08x}", "values": "metres", "tile": [0, 0]}
        path.write_text(json.dumps({**manifest, "heightmaps": [other, *manifest["heightmaps"]]}))
        unreal, script = load(folder / "saved")
        script.main([str(path)])
        said = " ".join(unreal.logged)
        is_right = not unreal.errors and "height.png" in said and "height.exr" not in said
        report("a heightmap in metres beside the one of integers", " ".join(unreal.errors) or "not used", is_right)


print(f"Python {sys.version.split()[0]}, Pillow {PIL.__version__}, numpy {numpy.__version__}; Unreal itself is not run")
with tempfile.TemporaryDirectory() as compiled:
    py_compile.compile(str(SCRIPT), cfile=str(Path(compiled) / "script.pyc"), doraise=True)
sys.dont_write_bytecode = True
for case in [exports, changes, refusals, accepted]:
    case()
finish()
