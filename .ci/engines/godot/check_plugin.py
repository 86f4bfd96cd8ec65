"""Imports exports with the plugin "Upthrust import" in Godot, without and within the editor, and compares every vertex.

check_plugin.py PROGRAM PROJECT      (see check.py)
"""

import json
import math
import re
import shutil
import subprocess
import tempfile
import time
import zlib
from pathlib import Path

import numpy

from check import GODOT, PROJECT, ROOT, Case, build, finish, godot, in_godot, report, write_project
from common import set_at, write_scatter

# From the change of the manifest to the new heights in the running editor.
RELOAD_LIMIT_S = 2
# Other plugins have errors of their own where nothing is drawn: HTerrain bakes normals on the graphics card.
OUR_ERROR = re.compile(r"SCRIPT ERROR.*\n(.*\n)?.*res://(addons/upthrust|follow_steps|import_with)")
SIZES = {"godot-terrain3d": "1024", "godot-hterrain": "1025"}
# So many trees that they take several cells, rocks that lie on the slope, and a few that all face the same way.
LAYERS = [
    {"name": "Trees", "spacing_m": 20, "align": 0.3, "sink_m": 0.4, "scale": [0.6, 1.4], "radius_m": 2, "height_m": 12},
    {"name": "Rocks", "spacing_m": 150, "turn": "downhill", "align": 1, "shape": "box", "radius_m": 1, "height_m": 1.5},
    {"name": "Oaks", "spacing_m": 400, "turn": "bearing", "bearing_deg": 70, "shape": "ball", "radius_m": 3},
]
# The volumes of their shapes: a cone and a ball have eight sides.
VOLUMES = {"Trees": 8 * math.sqrt(2) * 12 / 3, "Rocks": 6.0, "Oaks": None}


class Import(Case):
    """An export, and the values that are expected from it and its scatter."""

    def compare(self, folder, layers=None, meshes=None):
        """Compares also the layers that are shown: all of them, or those with these names."""
        super().compare(folder)
        file = self.folder / "export" / "scatter.json"
        expected = json.loads(file.read_text())["layers"] if file.exists() else []
        found = {one["name"]: one for one in json.load(open(folder / "scatter.json")) if one["visible"]}
        expected = {one["name"]: one for one in expected if layers is None or one["name"] in layers}
        assert set(found) == set(expected), (set(found), set(expected))
        corner = json.load(open(folder / "terrain.json"))["origin_m"]
        off = 0
        for name, layer in expected.items():
            one = found[name]
            assert numpy.allclose(one["position"], [corner[0], 0, corner[1]], atol=1e-3), (one["position"], corner)
            instances = numpy.array(layer["instances"], "f8").reshape(-1, 7)
            matrices = numpy.fromfile(folder / f"scatter {name}.f32", "<f4").reshape(-1, 3, 4)
            assert len(matrices) == len(instances) == sum(one["counts"]), (name, one["counts"], len(instances))
            # By place: the cells have another order.
            matrices = matrices[numpy.lexsort(matrices[:, [0, 2], 3].T)]
            instances = instances[numpy.lexsort(instances[:, [0, 2]].astype("f4").T)]
            place_off = numpy.abs(matrices[:, :, 3] - instances[:, :3]).max(initial=0)
            # The columns of a matrix are where the axes go.
            axes = matrices[:, :, :3].transpose(0, 2, 1) / instances[:, 6, None, None]
            axes_off = numpy.abs(axes - axes_of(instances)).max(initial=0)
            assert place_off < 1e-3 and axes_off < 1e-5, (name, place_off, axes_off)
            off = max(off, place_off)
            assert one["saved"].startswith("res://upthrust/") or not one["saved"], one["saved"]
            assert one["mesh"] == (meshes or {}).get(name, "ArrayMesh"), one["mesh"]
            if one["mesh"] == "ArrayMesh":
                height, volume = layer["height_m"], VOLUMES[name]
                assert abs(one["bounds"][1]) < 1e-5 and abs(one["bounds"][4] - height) < 1e-4, one["bounds"]
                assert one["volume"] > 0 and (volume is None or abs(one["volume"] / volume - 1) < 1e-4), one["volume"]
        if expected:
            counts = {name: (len(one["counts"]), sum(one["counts"])) for name, one in found.items()}
            print(f"right  {self.target}: {self.name}: cells and instances {counts}, off by {off:.6f} m at most")


def axes_of(instances):
    """Where the right side, the top and the back of instances point, by x east, y up and z south."""
    yaw, pitch, roll = numpy.radians(instances[:, 3:6].T)

    def turned(vectors, first, second, angle):
        """Turns vectors from one axis towards another one."""
        result, cos, sin = vectors.copy(), numpy.cos(angle)[:, None], numpy.sin(angle)[:, None]
        result[:, :, first] = cos * vectors[:, :, first] - sin * vectors[:, :, second]
        result[:, :, second] = sin * vectors[:, :, first] + cos * vectors[:, :, second]
        return result

    axes = numpy.broadcast_to(numpy.eye(3), (len(instances), 3, 3))
    # The roll lifts the right side, the pitch the front, which is -z, and the yaw turns the right side to the back.
    return turned(turned(turned(axes, 0, 1, roll), 1, 2, pitch), 0, 2, yaw)


def import_all(folder, orders):
    """Runs import_with_plugin.gd. Every order is a manifest, a folder for the results, the number of a node, whether
    the terrain can be saved, and a change that is made first as by the user."""
    keys = ["manifest", "out", "node", "can_save", "edit"]
    (folder / "orders.json").write_text(json.dumps([
        {"edit": "", **dict(zip(keys, [in_godot(manifest), in_godot(out), *rest]))} for manifest, out, *rest in orders
    ]))
    code, output = godot("--script", "res://import_with_plugin.gd", "--", in_godot(folder / "orders.json"))
    assert code == 0 and not OUR_ERROR.search(output), output
    assert all((out / "result.json").exists() for _, out, *_ in orders), output
    return [json.load(open(out / "result.json")) for _, out, *_ in orders], output


def clean():
    shutil.rmtree(PROJECT / "upthrust", ignore_errors=True)


def case(folder, target, seed, size, *options, world=(4096, 4096), layers=LAYERS):
    folder.mkdir(parents=True)
    project = write_project(folder, seed, world, {"scatter": layers})
    return Import(folder, target, f"plugin, seed {seed}", project, size, *options)


def changed(*path, to):
    """Changes a value of the manifest."""
    def change(manifest, folder, first, second):
        set_at(manifest, path, to)
    return change


def missing(manifest, folder, first, second):
    (folder / manifest["texture"][0]["file"]).unlink()


def swapped(manifest, folder, first, second):
    # A valid image of the same size from another export.
    texture = manifest["texture"][0]
    assert second.manifest["texture"][0]["size"] == texture["size"]
    shutil.copy(second.folder / "export" / texture["file"], folder)


def no_image(manifest, folder, first, second):
    texture = manifest["texture"][0]
    (folder / texture["file"]).write_text("no image")
    texture["crc32"] = f"{zlib.crc32(b'no image'):08x}"


def without_samples(manifest, folder, first, second):
    del manifest["samples"]


def without_first_sample(manifest, folder, first, second):
    del manifest["heightmaps"][0]["first_sample"]


def scattered(*path, to):
    """Changes a value of the file of scattered instances, which still belongs to the manifest."""
    def change(manifest, folder, first, second):
        content = json.loads((folder / "scatter.json").read_text())
        # Few instances, so that the check is fast.
        for layer in content["layers"]:
            del layer["instances"][5:]
        set_at(content, path, to)
        write_scatter(manifest, folder, json.dumps(content).encode())
    return change


def scatter_of_another_export(manifest, folder, first, second):
    shutil.copy(second.folder / "export" / "scatter.json", folder)


def no_scatter_file(manifest, folder, first, second):
    (folder / "scatter.json").unlink()


def half_a_scatter_file(manifest, folder, first, second):
    write_scatter(manifest, folder, (folder / "scatter.json").read_bytes()[:5000])


LAYER, BAD_LAYER = ("layers", 0), "a layer is not valid"
# What the scatter of an export can have wrong.
BROKEN_SCATTER = {
    "scatter of another export": (scatter_of_another_export, "not the file that the manifest lists"),
    "no scatter file": (no_scatter_file, "is missing"),
    "half a scatter file": (half_a_scatter_file, "is not valid JSON"),
    "scatter outside": (changed("scatter", 0, "file", to="../1/scatter.json"), "points outside its folder"),
    "scatter without a checksum": (changed("scatter", 0, to={"file": "scatter.json"}), 'entry of "scatter"'),
    "a list of words": (changed("scatter", to="scatter.json"), '"scatter" is not valid'),
    "other fields": (scattered("fields", to=["x_m", "z_m", "y_m", "yaw_deg"]), '"fields" is not valid'),
    "no layers": (scattered("layers", to=5), '"layers" is not valid'),
    "a layer that is a number": (scattered(*LAYER, to=5), BAD_LAYER),
    "a layer twice": (scattered(*LAYER, "name", to="Oaks"), "two layers have the same name"),
    "a name that is a number": (scattered(*LAYER, "name", to=5), BAD_LAYER),
    "no shape": (scattered(*LAYER, "shape", to=None), BAD_LAYER),
    "an unknown shape": (scattered(*LAYER, "shape", to="torus"), BAD_LAYER),
    "a shape of nothing": (scattered(*LAYER, "radius_m", to=0), BAD_LAYER),
    "a colour that is a word": (scattered(*LAYER, "color", to="nothing"), BAD_LAYER),
    "instances that are a number": (scattered(*LAYER, "instances", to=5), BAD_LAYER),
    "a text in an instance": (scattered(*LAYER, "instances", 1, 6, to="1"), BAD_LAYER),
    "null in an instance": (scattered(*LAYER, "instances", 1, 6, to=None), BAD_LAYER),
    "an instance with too little": (scattered(*LAYER, "instances", 1, to=[1, 2, 3]), BAD_LAYER),
    "an endless instance": (scattered(*LAYER, "instances", 1, 0, to=1e30), BAD_LAYER),
}

IS_DAMAGED, OUTSIDE = "is damaged", "points outside its folder"
HEIGHTMAP, TEXTURE = ("heightmaps", 0), ("texture", 0)
# What a reload must refuse without touching the terrain, and what the message has to say.
BROKEN = {
    "missing": (missing, "is missing"),
    "newer": (changed("format", to=2), "newer version of this plugin"),
    "foreign": (changed("target", to="blender"), "is an export for \"blender\""),
    "swapped": (swapped, "not the file that the manifest lists"),
    "no image": (no_image, "cannot be read as an image"),
    "outside": (changed(*TEXTURE, "file", to="../1/export/color.png"), OUTSIDE),
    "drive": (changed(*HEIGHTMAP, "file", to="C:height.exr"), OUTSIDE),
    "no samples": (without_samples, '"samples" is not valid'),
    "no first sample": (without_first_sample, 'entry of "heightmaps" is not valid'),
    "words for samples": (changed("samples", to=["many", "more"]), '"samples" is not valid'),
    "no list of files": (changed("texture", to={"file": "color.png"}), '"texture" is not valid'),
    "a file that is a number": (changed(*HEIGHTMAP, "file", to=5), 'entry of "heightmaps" is not valid'),
    "a type without a colour": (changed("types", to=[{"name": "Rock"}]), '"types" is not valid'),
    "an endless width": (changed("width_m", to=1e30), '"width_m" is not valid'),
    "a spacing of nothing": (changed("spacing_m", to=[0, 0]), '"spacing_m" is not valid'),
    "a heightmap beyond the terrain": (changed(*HEIGHTMAP, "first_sample", to=[9, 0]), "is larger than the terrain"),
    "a texture of another size": (changed(*TEXTURE, "size", to=[64, 64]), "but the heightmap of its tile has"),
    "only integers": (changed(*HEIGHTMAP, "values", to="integers"), "lists no heightmaps in metres"),
    "uneven cells": (changed("spacing_m", to=[4, 4.1]), "one spacing for both directions"),
    "cut": (None, "is not an Upthrust manifest"),
}


def broken_export(folder, first, second, change):
    """A copy of an export with something wrong; returns its manifest. Without a change, the manifest is cut off."""
    shutil.copytree(first.folder / "export", folder)
    path = folder / "upthrust.json"
    manifest = json.loads(path.read_text())
    if change is not None:
        change(manifest, folder, first, second)
    text = json.dumps(manifest)
    path.write_text(text if change is not None else text[:200])
    return path


def changed_export(folder, export, change):
    """A copy of an export with another manifest, whose path is returned."""
    shutil.copytree(export.folder / "export", folder)
    path = folder / "upthrust.json"
    path.write_text(json.dumps(change(json.loads(path.read_text()))))
    return path


def with_other_heightmaps(manifest):
    own = manifest["heightmaps"][0]
    other = {**own, "file": "height.png", "values": "integers", "bits": 16, "max_value": 65535}
    return {**manifest, "heightmaps": [other, *manifest["heightmaps"]]}


def with_higher_water(manifest):
    return {**manifest, "water_m": manifest["water_m"] + 1}


def check_water(found, manifest):
    assert abs(found[1] - manifest["water_m"]) < 1e-3, found
    assert [round(size, 3) for size in found[3:]] == [manifest["width_m"], manifest["depth_m"]], found


def check_imports(folder, target):
    """A terrain, the next version of it, a part of a version, tiles, water, and every failure."""
    size = "512" if target == "godot-terrain3d" else "513"
    first, second = case(folder / "1", target, 1, size), case(folder / "2", target, 2, size)
    tiled = case(folder / "3", target, 3, "512" if size == "512" else "1025", "--tiles", "2x2")
    if target == "godot-terrain3d":
        # Seventeen regions of 64 samples, which only fit around the origin.
        other_size = case(folder / "4", target, 4, "1088x512", world=(1087 * 3, 511 * 3))
    else:
        other_size = case(folder / "4", target, 4, "1025", world=(3000, 3000))
    (folder / "5").mkdir()
    water = Import(folder / "5", target, "plugin, preset archipelago", "preset:archipelago", size)
    # Tiles of the same size: a reload with fewer of them, and with all of them again.
    sizes = ["768", "512"] if target == "godot-terrain3d" else ["1537", "1025"]
    many_tiles = case(folder / "6", target, 6, sizes[0], "--tiles", "3x3", world=(4608, 4608))
    few_tiles = case(folder / "7", target, 7, sizes[1], "--tiles", "2x2", world=(3072, 3072))
    one_layer = case(folder / "8", target, 1, size, layers=LAYERS[:1])
    exports = [first, second, tiled, other_size, water, many_tiles, few_tiles, one_layer]
    manifests = [export.folder / "export" / "upthrust.json" for export in exports]
    broken = {kind: broken_export(folder / kind, first, second, change) for kind, (change, _) in BROKEN.items()}
    if target == "godot-hterrain":
        # HTerrain has a spacing for each direction.
        broken.pop("uneven cells")
    broken_scatter = {
        kind: broken_export(folder / kind, first, second, change) for kind, (change, _) in BROKEN_SCATTER.items()
    }
    others = changed_export(folder / "others", second, with_other_heightmaps)
    higher = changed_export(folder / "higher", water, with_higher_water)
    orders = [
        (manifests[0], folder / "out0", -1, True), (manifests[1], folder / "out1", 0, True),
        (manifests[1], folder / "out2", 0, True), (manifests[3], folder / "out3", 0, True),
        (manifests[2], folder / "out4", -1, True), (manifests[4], folder / "out5", -1, True),
        (manifests[5], folder / "out6", -1, True), (manifests[6], folder / "out7", 6, True),
        (manifests[5], folder / "out8", 6, True),
        # Terrain that cannot be saved, and the next attempt.
        (manifests[1], folder / "out9", 0, False), (manifests[1], folder / "out10", 0, True),
        # Heightmaps that the plugin does not use.
        (others, folder / "out11", 0, True),
        # A node of the user that is named Water, water that the user deletes, and water after an export without any.
        (manifests[4], folder / "out12", 0, True, "add a node named Water"),
        (higher, folder / "out13", 0, True, "delete the water"),
        (manifests[1], folder / "out14", 0, True), (higher, folder / "out15", 0, True),
        # A mesh of the user, layers that come and go, and one that the user deletes.
        (manifests[0], folder / "out16", 0, True, "choose another mesh"),
        (manifests[7], folder / "out17", 0, True), (manifests[1], folder / "out18", 0, True),
        (manifests[0], folder / "out19", 0, True, "delete a layer"), (manifests[1], folder / "out20", 0, True),
        *((path, folder / f"out {kind}", 0, True) for kind, path in broken_scatter.items()),
        *((path, folder / f"out {kind}", 5, True) for kind, path in broken.items()),
    ]
    results, output = import_all(folder, orders)
    shown = [first, second, second, other_size, tiled, water, many_tiles, few_tiles, many_tiles]
    for result, expected, (_, out, node, *_) in zip(results, shown, orders):
        assert result["error"] == "" and result["is_same_node"] == (node >= 0), (result, output[-3000:])
        expected.compare(out)
    assert results[1]["is_changed"] and not results[2]["is_changed"], results[2]
    if target == "godot-hterrain":
        hidden = [[f"Tile_x{x}_y{y}", False] for x in range(3) for y in range(3) if max(x, y) == 2]
        assert sorted(results[7]["hidden"]) == hidden, results[7]["hidden"]
        assert not results[8]["hidden"], results[8]["hidden"]
    assert "cannot be" in results[9]["error"], results[9]
    # Only the saving is tried again.
    assert results[10]["error"] == "" and results[10]["is_changed"], results[10]
    assert re.search(r"\b0 of [1-9]\d* files", results[10]["message"]), results[10]["message"]
    assert results[10]["new_files"], "nothing was saved"
    second.compare(folder / "out10")
    assert results[11]["error"] == "" and not results[11]["is_changed"], results[11]
    assert results[0]["water"] is None
    check_water(results[5]["water"], water.manifest)
    check_water(results[12]["water"], water.manifest)
    assert results[13]["water"] is None and results[14]["water"] is None, (results[13], results[14])
    assert abs(results[15]["water"][1] - water.manifest["water_m"] - 1) < 1e-3, results[15]["water"]
    assert all(result["other_water"] == ["Node3D", 7] for result in results[12:16]), results[12:16]
    meshes, kept = {"Trees": "SphereMesh"}, ["Trees", "Oaks"]
    assert all(result["error"] == "" for result in results[:9] + results[10:21]), results
    second.compare(folder / "out14")
    first.compare(folder / "out16", meshes=meshes)
    one_layer.compare(folder / "out17", meshes=meshes)
    second.compare(folder / "out18", meshes=meshes)
    first.compare(folder / "out19", kept, meshes)
    second.compare(folder / "out20", kept, meshes)
    for kind, result in zip(broken_scatter, results[21:]):
        assert BROKEN_SCATTER[kind][1] in result["error"], (kind, result["error"])
        assert not result["is_changed"], kind
        second.compare(folder / f"out {kind}", kept, meshes)
    if target == "godot-terrain3d":
        slots = [[kind["name"], kind["color"].lstrip("#")] for kind in first.manifest["types"] if kind["covers"]]
        assert results[0]["textures"] == slots, (results[0]["textures"], slots)
        assert len([name for name in results[0]["saved"] if name.startswith("terrain3d")]) == 4, results[0]["saved"]
    else:
        files = {"data.hterrain", "height.res", "splat.png", "color.png"}
        assert files <= set(results[0]["saved"]), results[0]["saved"]
    for kind, result in zip(broken, results[-len(broken):]):
        assert BROKEN[kind][1] in result["error"], (kind, result["error"])
        assert not result["is_changed"], kind
        water.compare(folder / f"out {kind}")
    count = len(broken) + len(broken_scatter)
    print(f"right  {target}: all imports and {count} refusals; {results[1]['message']}")


def check_editor(folder, target):
    """The running editor imports a terrain again when it is exported again."""
    folder.mkdir()
    expected = case(folder / "a", target, 11, SIZES[target])
    next_expected = case(folder / "b", target, 12, SIZES[target])
    export, out = folder / "export", folder / "out"
    shutil.copytree(expected.folder / "export", export)
    manifest = export / "upthrust.json"
    out.mkdir()
    # The editor saves the scene.
    shutil.copy(Path(__file__).parent / "project" / "main.tscn", PROJECT)
    rebuild = [next_expected.source, "--for", target, "-o", export, "--size", SIZES[target], "--force"]
    with Editor(folder / "log", manifest, out) as editor:
        editor.wait_for(out / "ready")
        time.sleep(4)
        build(*rebuild)
        # The manifest is renamed into place, which changes the time of its inode.
        renamed_s = manifest.stat().st_ctime_ns / 1e9
        editor.wait_for(out / "changed.json")
    changed = json.load(open(out / "changed.json"))
    assert changed["is_same_node"] and changed["children"] == 1, changed
    expected.compare(out / "first")
    next_expected.compare(out / "second")
    reload_s = changed["unix_s"] - renamed_s
    message = [line for line in editor.output().splitlines() if "Upthrust:" in line][-1]
    print(f"right  {target}: {reload_s:.2f} s from the changed manifest to the new heights in the editor. {message}")
    assert reload_s <= RELOAD_LIMIT_S, reload_s
    # An export that changed while the editor was closed.
    build(expected.source, *rebuild[1:])
    out = folder / "reopened"
    out.mkdir()
    with Editor(folder / "log", manifest, out) as editor:
        editor.wait_for(out / "changed.json")
    next_expected.compare(out / "first")
    expected.compare(out / "second")
    print(f"right  {target}: the saved scene has its terrain, and takes what changed while the editor was closed.")
    check_missed(folder, expected, next_expected)


def check_missed(folder, expected, next_expected):
    """Exports while the plugin cannot look, while a file is missing, and before the scene is closed unsaved. The saved
    scene and the export have the first terrain."""
    export, out = folder / "export", folder / "missed"
    manifest = export / "upthrust.json"
    out.mkdir()

    def rebuild(case):
        build(case.source, "--for", case.target, "-o", export, "--size", SIZES[case.target], "--force")

    def rebuild_with_lost_file(case):
        height = case.manifest["heightmaps"][0]["file"]
        for path in (case.folder / "export").glob("*.*"):
            if path.name not in (height, manifest.name):
                shutil.copy(path, export)
        (export / height).unlink()
        shutil.copy(case.folder / "export" / manifest.name, manifest)
        # The manifest is no longer new when the file appears.
        time.sleep(5)
        shutil.copy(case.folder / "export" / height, export / height)

    steps = [
        ("away", rebuild, next_expected), ("blocked", rebuild, expected),
        ("lost", rebuild_with_lost_file, next_expected),
    ]
    with Editor(folder / "log", manifest, out, "missed") as editor:
        for name, change, case in steps:
            editor.wait_for(out / f"{name}.ready")
            change(case)
            (out / f"{name}.done").touch()
        editor.wait_for(out / "reopened" / "terrain.json")
    for (name, _, case) in [*steps, ("reopened", None, next_expected)]:
        case.compare(out / name)
    errors = [line for line in editor.output().splitlines() if re.search("ERROR: Upthrust: .* is missing", line)]
    assert len(errors) == 1, errors
    print(f"right  {expected.target}: no export is missed while another scene is open, the editor is blocked or a file "
          "is missing, nor by a scene that is closed unsaved and opened again.")


class Editor:
    """The running editor with the test plugin."""

    def __init__(self, log, *arguments):
        self.log = log
        self.process = subprocess.Popen(
            [*GODOT, "--headless", "--editor", "--path", in_godot(PROJECT), "--",
             *(in_godot(argument) if isinstance(argument, Path) else argument for argument in arguments)],
            stdout=open(log, "w"), stderr=subprocess.STDOUT,
        )

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            self.process.wait(timeout=300)
        except subprocess.TimeoutExpired:
            self.process.kill()
        assert not OUR_ERROR.search(self.output()), self.output()[-4000:]

    def output(self):
        return self.log.read_text(errors="replace")

    def wait_for(self, path, limit_s=300):
        end = time.monotonic() + limit_s
        while not path.exists():
            if self.process.poll() is not None or time.monotonic() > end:
                self.process.kill()
                raise AssertionError(self.output()[-4000:])
            time.sleep(0.02)


def main():
    plugins = {"godot-terrain3d": "terrain_3d", "godot-hterrain": "zylann.hterrain"}
    installed = {target: name for target, name in plugins.items() if (PROJECT / "addons" / name).exists()}
    enabled = [f'"res://addons/{name}/plugin.cfg"' for name in [*installed.values(), "upthrust", "upthrust_test"]]
    settings = PROJECT / "project.godot"
    if "[editor_plugins]" not in settings.read_text():
        with open(settings, "a") as file:
            file.write(f"\n[editor_plugins]\n\nenabled=PackedStringArray({', '.join(enabled)})\n")
    with tempfile.TemporaryDirectory(dir=ROOT + "/var/tmp" if ROOT else None) as name:
        for target in installed:
            for check in [check_imports, check_editor]:
                try:
                    check(Path(name) / f"{check.__name__} {target}", target)
                except AssertionError as error:
                    report(f"{check.__name__} {target}", error, False)
                clean()
    finish()


if __name__ == "__main__":
    main()
