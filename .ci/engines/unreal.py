"""Runs the script for Unreal on real exports against a stand-in for Unreal's Python module, and compares the heights
that its numbers give with those of the .r32. Needs Pillow and numpy.

unreal.py PROGRAM
"""

import importlib.util
import json
import py_compile
import shutil
import subprocess
import sys
import tempfile
import types
from pathlib import Path

import numpy
import PIL
from PIL import Image

PROGRAM = str(Path(sys.argv[1]).resolve())
SCRIPT = Path(__file__).resolve().parents[2] / "assets/helpers/unreal/upthrust_unreal.py"
# The north-western corner lies far below the other three: unmistakable if it is turned or mirrored.
FAULTS = [
    {"from_m": [0, 200], "to_m": [300, 0], "displacement_m": 800},
    {"from_m": [0, 600], "to_m": [900, 500], "displacement_m": 150},
]
failures = []


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
    unreal.Paths = types.SimpleNamespace(project_saved_dir=lambda: str(saved))
    return unreal


def load(saved):
    unreal = sys.modules["unreal"] = stand_in(saved)
    spec = importlib.util.spec_from_file_location("upthrust_unreal", SCRIPT)
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    return unreal, script


def confirm(what, is_right, found):
    if not is_right:
        print(f"WRONG  {what}: {found}")
        failures.append(what)


def build(source, *arguments):
    run = subprocess.run([PROGRAM, "build", str(source), *map(str, arguments)], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr


def heights_of(source, samples, path, options):
    build(source, "--size", "x".join(map(str, samples)), "--heightmap", path, *options)
    return numpy.fromfile(path, "<f4").reshape(samples[1], samples[0]).astype("f8")


def project(folder, seed, world):
    stack = [{"operation": "faults", "count": 200}, {"operation": "drawn_faults", "faults": FAULTS}]
    recipe = {"seed": seed, "world": dict(zip(["width_m", "depth_m"], world)), "stack": stack}
    path = folder / "p.upthrust.json"
    path.write_text(json.dumps({"format": 1, "recipe": recipe}))
    return path


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
    is_right = worst <= allowed and off < 1e-6
    print(f"{'right' if is_right else 'WRONG'}  {what}: heights off by {worst:.5f} m at most, allowed {allowed:.5f} m; "
          f"size off by {off:.1e} m")
    if not is_right:
        failures.append(what)


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
            source = source if isinstance(source, str) else project(folder, *source)
            build(source, "--for", "unreal", "-o", out, "--size", size, *options)
            manifest = json.load(open(out / "upthrust.json"))
            heights = heights_of(source, manifest["samples"], folder / "h.r32", [])
            what = source if isinstance(source, str) else "faults"
            what = f"{what} {manifest['samples']} {' '.join(options)}".rstrip()

            unreal, script = load(folder)
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
        print("right  changes: marked, every step listed at every run, two exports of one name kept apart")


def refusals():
    def newer(manifest, out):
        manifest["format"] = 2

    def other_target(manifest, out):
        manifest["target"] = "unity"

    def damaged(manifest, out):
        (out / "height.png").write_bytes(b"short")

    def missing(manifest, out):
        (out / manifest["weights"][0]["file"]).unlink()

    def no_manifest(manifest, out):
        manifest.clear()

    def without_samples(manifest, out):
        del manifest["samples"]

    def without_range(manifest, out):
        del manifest["heightmaps"][0]["min_m"]

    def without_checksum(manifest, out):
        del manifest["texture"][0]["crc32"]

    def unknown_type(manifest, out):
        manifest["weights"][0]["types"] = [99]

    def no_list(manifest, out):
        manifest["weights"] = {"file": "a.png"}

    def above(manifest, out):
        manifest["weights"][0]["file"] = "../secret.png"

    def below(manifest, out):
        manifest["weights"][0]["file"] = "folder\\secret.png"

    def other_drive(manifest, out):
        manifest["heightmaps"][0]["file"] = "C:secret.png"

    def other_landscape(manifest, out):
        manifest["samples"] = [253, 253]

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        build("preset:alpine-range", "--for", "unreal", "-o", folder / "out", "--size", "127")
        for change in [
            newer, other_target, damaged, missing, no_manifest, without_samples, without_range, without_checksum,
            unknown_type, no_list, above, below, other_drive, other_landscape,
        ]:
            out = folder / change.__name__
            shutil.copytree(folder / "out", out)
            manifest = json.load(open(out / "upthrust.json"))
            change(manifest, out)
            (out / "upthrust.json").write_text(json.dumps(manifest))
            unreal, script = load(folder / "saved")
            landscape = Landscape([127, 127])
            unreal.selected.append(landscape)
            script.main([str(out / "upthrust.json")])
            is_refused = len(unreal.errors) == 1 and not landscape.changes and not unreal.imported
            confirm(change.__name__, is_refused, (unreal.errors, landscape.changes))
            if change in (above, below, other_drive):
                is_named = "not the name of a file" in unreal.errors[0]
                confirm(f"{change.__name__} is not looked for", is_named, unreal.errors)
            print(f"right  refused: {unreal.errors[0].replace(str(folder), 'FOLDER')}")
        unreal, script = load(folder / "saved")
        script.main([str(folder / "nowhere.json")])
        print(f"right  refused: {unreal.errors[0].replace(str(folder), 'FOLDER')}")
        # A landscape of World Partition has no vertices of its own.
        landscape = Landscape([1, 1])
        unreal.selected.append(landscape)
        script.main([str(folder / "out" / "upthrust.json")])
        is_left_alone = not landscape.changes and len(unreal.errors) == 1
        confirm("a landscape of proxies is left alone", is_left_alone, unreal.errors)


print(f"Python {sys.version.split()[0]}, Pillow {PIL.__version__}, numpy {numpy.__version__}; Unreal itself is not run")
with tempfile.TemporaryDirectory() as compiled:
    py_compile.compile(str(SCRIPT), cfile=str(Path(compiled) / "script.pyc"), doraise=True)
sys.dont_write_bytecode = True
for case in [exports, changes, refusals]:
    case()
print(f"{len(failures)} wrong")
sys.exit(bool(failures))
