"""Imports exports with the plugin "Upthrust import" in Godot, without and within the editor, and compares every vertex.

check_plugin.py PROGRAM PROJECT      (see check.py)
"""

import json
import re
import shutil
import subprocess
import sys
import tempfile
import time
import zlib
from pathlib import Path

from check import GODOT, PROJECT, ROOT, Case, godot, in_godot, program, write_project

# The mark: from the change of the manifest to the new heights in the running editor.
RELOAD_LIMIT_S = 2
# Other plugins have errors of their own where nothing is drawn: HTerrain bakes normals on the graphics card.
OUR_ERROR = re.compile(r"SCRIPT ERROR.*\n(.*\n)?.*res://(addons/upthrust|follow_steps|import_with)")
SIZES = {"godot-terrain3d": "1024", "godot-hterrain": "1025"}


def import_all(folder, orders):
    """Runs import_with_plugin.gd. Every order is a manifest, a folder for the results, the number of a node, and
    whether the terrain can be saved."""
    keys = ["manifest", "out", "node", "can_save"]
    (folder / "orders.json").write_text(json.dumps([
        dict(zip(keys, [in_godot(manifest), in_godot(out), *rest])) for manifest, out, *rest in orders
    ]))
    code, output = godot("--script", "res://import_with_plugin.gd", "--", in_godot(folder / "orders.json"))
    assert code == 0 and not OUR_ERROR.search(output), output
    assert all((out / "result.json").exists() for _, out, *_ in orders), output
    return [json.load(open(out / "result.json")) for _, out, *_ in orders], output


def clean():
    shutil.rmtree(PROJECT / "upthrust", ignore_errors=True)


def case(folder, target, seed, size, *options, world=(4096, 4096)):
    folder.mkdir(parents=True)
    project = write_project(folder / "p.upthrust.json", seed, world)
    return Case(folder, target, f"plugin, seed {seed}", project, size, *options)


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
    water = Case(folder / "5", target, "plugin, preset archipelago", "preset:archipelago", size)
    # Tiles of the same size: a reload with fewer of them, and with all of them again.
    sizes = ["768", "512"] if target == "godot-terrain3d" else ["1537", "1025"]
    many_tiles = case(folder / "6", target, 6, sizes[0], "--tiles", "3x3", world=(4608, 4608))
    few_tiles = case(folder / "7", target, 7, sizes[1], "--tiles", "2x2", world=(3072, 3072))
    exports = [first, second, tiled, other_size, water, many_tiles, few_tiles]
    manifests = [of.folder / "export" / "upthrust.json" for of in exports]
    # What a reload must refuse without touching the terrain.
    broken = {}
    for kind in ["missing", "newer", "foreign", "swapped", "no image", "outside", "drive", "damaged", "cut"]:
        shutil.copytree(first.folder / "export", folder / kind)
        path = folder / kind / "upthrust.json"
        manifest = json.loads(path.read_text())
        if kind == "newer":
            manifest["format"] = 2
        elif kind == "foreign":
            manifest["target"] = "blender"
        elif kind == "missing":
            (folder / kind / manifest["texture"][0]["file"]).unlink()
        elif kind == "swapped":
            # A valid image of the same size from another export.
            texture = manifest["texture"][0]
            assert second.manifest["texture"][0]["size"] == texture["size"]
            shutil.copy(second.folder / "export" / texture["file"], folder / kind)
        elif kind == "no image":
            texture = manifest["texture"][0]
            (folder / kind / texture["file"]).write_text(kind)
            texture["crc32"] = f"{zlib.crc32(kind.encode()):08x}"
        elif kind == "outside":
            manifest["texture"][0]["file"] = "../1/export/" + manifest["texture"][0]["file"]
        elif kind == "drive":
            manifest["heightmaps"][0]["file"] = "C:" + manifest["heightmaps"][0]["file"]
        elif kind == "damaged":
            del manifest["samples"]
        path.write_text(json.dumps(manifest)[:200] if kind == "cut" else json.dumps(manifest))
        broken[kind] = path
    orders = [
        (manifests[0], folder / "out0", -1, True), (manifests[1], folder / "out1", 0, True),
        (manifests[1], folder / "out2", 0, True), (manifests[3], folder / "out3", 0, True),
        (manifests[2], folder / "out4", -1, True), (manifests[4], folder / "out5", -1, True),
        (manifests[5], folder / "out6", -1, True), (manifests[6], folder / "out7", 6, True),
        (manifests[5], folder / "out8", 6, True),
        # Terrain that cannot be saved, and the next attempt.
        (manifests[1], folder / "out9", 0, False), (manifests[1], folder / "out10", 0, True),
        *((path, folder / f"out {kind}", 5, True) for kind, path in broken.items()),
    ]
    results, output = import_all(folder, orders)
    truths = [first, second, second, other_size, tiled, water, many_tiles, few_tiles, many_tiles]
    for result, truth, (_, out, node, _) in zip(results, truths, orders):
        assert result["error"] == "" and result["is_same_node"] == (node >= 0), (result, output[-3000:])
        truth.compare(out)
    assert results[1]["is_changed"] and not results[2]["is_changed"], results[2]
    if target == "godot-hterrain":
        hidden = [[f"Tile_x{x}_y{y}", False] for x in range(3) for y in range(3) if max(x, y) == 2]
        assert sorted(results[7]["hidden"]) == hidden, results[7]["hidden"]
        assert not results[8]["hidden"], results[8]["hidden"]
    assert "cannot be" in results[9]["error"], results[9]
    # The failed attempt is not taken for an import: everything is read again.
    assert results[10]["error"] == "" and results[10]["is_changed"], results[10]
    assert re.search(r"\b(\d+) of \1 files", results[10]["message"]), results[10]["message"]
    second.compare(folder / "out10")
    assert results[0]["water"] is None
    wet = water.manifest
    assert abs(results[5]["water"][1] - wet["water_m"]) < 1e-3, results[5]["water"]
    assert [round(of, 3) for of in results[5]["water"][3:]] == [wet["width_m"], wet["depth_m"]], results[5]["water"]
    if target == "godot-terrain3d":
        slots = [[kind["name"], kind["color"].lstrip("#")] for kind in first.manifest["types"] if kind["covers"]]
        assert results[0]["textures"] == slots, (results[0]["textures"], slots)
        assert len([name for name in results[0]["saved"] if name.startswith("terrain3d")]) == 4, results[0]["saved"]
    else:
        files = {"data.hterrain", "height.res", "splat.png", "color.png"}
        assert files <= set(results[0]["saved"]), results[0]["saved"]
    words = {
        "missing": "is missing", "newer": "newer version of this plugin", "foreign": "blender", "cut": "no manifest",
        "swapped": "not the file that the manifest lists", "no image": "cannot be read as an image",
        "outside": "no file of its folder", "drive": "no file of its folder", "damaged": "is damaged",
    }
    assert set(words) == set(broken)
    for kind, result in zip(broken, results[-len(broken):]):
        word = words[kind]
        assert word in result["error"], (kind, result["error"])
        water.compare(folder / f"out {kind}")
    print(f"{target}: all imports and {len(words)} refusals right; {results[1]['message']}")


def check_editor(folder, target):
    """The running editor imports a terrain again when it is exported again."""
    folder.mkdir()
    truth = case(folder / "a", target, 11, SIZES[target])
    next_truth = case(folder / "b", target, 12, SIZES[target])
    export, out = folder / "export", folder / "out"
    shutil.copytree(truth.folder / "export", export)
    manifest = export / "upthrust.json"
    out.mkdir()
    # The editor saves the scene.
    shutil.copy(Path(__file__).parent / "project" / "main.tscn", PROJECT)
    rebuild = [next_truth.source, "--for", target, "-o", export, "--size", SIZES[target], "--force"]
    with Editor(folder / "log", manifest, out) as editor:
        editor.wait_for(out / "ready")
        time.sleep(4)
        program(*rebuild)
        # The manifest is renamed into place, which changes the time of its inode.
        renamed_s = manifest.stat().st_ctime_ns / 1e9
        editor.wait_for(out / "changed.json")
    changed = json.load(open(out / "changed.json"))
    assert changed["is_same_node"] and changed["children"] == 1, changed
    truth.compare(out / "first")
    next_truth.compare(out / "second")
    reload_s = changed["unix_s"] - renamed_s
    message = [line for line in editor.output().splitlines() if "Upthrust:" in line][-1]
    print(f"{target}: {reload_s:.2f} s from the changed manifest to the new heights in the editor. {message}")
    assert reload_s <= RELOAD_LIMIT_S, reload_s
    # An export that changed while the editor was closed.
    program(truth.source, *rebuild[1:])
    out = folder / "reopened"
    out.mkdir()
    with Editor(folder / "log", manifest, out) as editor:
        editor.wait_for(out / "changed.json")
    next_truth.compare(out / "first")
    truth.compare(out / "second")
    print(f"{target}: the saved scene has its terrain, and takes what changed while the editor was closed.")
    check_missed(folder, truth, next_truth)


def check_missed(folder, truth, next_truth):
    """Exports while the plugin cannot look, while a file is missing, and before the scene is closed unsaved. The saved
    scene and the export have the first terrain."""
    export, out = folder / "export", folder / "missed"
    manifest = export / "upthrust.json"
    out.mkdir()

    def rebuild(of):
        program(of.source, "--for", of.target, "-o", export, "--size", SIZES[of.target], "--force")

    def rebuild_with_lost_file(of):
        height = of.manifest["heightmaps"][0]["file"]
        for path in (of.folder / "export").glob("*.*"):
            if path.name not in (height, manifest.name):
                shutil.copy(path, export)
        (export / height).unlink()
        shutil.copy(of.folder / "export" / manifest.name, manifest)
        # The manifest is no longer new when the file appears.
        time.sleep(5)
        shutil.copy(of.folder / "export" / height, export / height)

    steps = [("away", rebuild, next_truth), ("blocked", rebuild, truth), ("lost", rebuild_with_lost_file, next_truth)]
    with Editor(folder / "log", manifest, out, "missed") as editor:
        for name, change, of in steps:
            editor.wait_for(out / f"{name}.ready")
            change(of)
            (out / f"{name}.done").touch()
        editor.wait_for(out / "reopened" / "terrain.json")
    for (name, _, of) in [*steps, ("reopened", None, next_truth)]:
        of.compare(out / name)
    errors = [line for line in editor.output().splitlines() if re.search("ERROR: Upthrust: .* is missing", line)]
    assert len(errors) == 1, errors
    print(f"{truth.target}: no export is missed while another scene is open, the editor is blocked or a file is "
          "missing, nor by a scene that is closed unsaved and opened again.")


class Editor:
    """The running editor with the test plugin."""

    def __init__(self, log, *arguments):
        self.log = log
        self.process = subprocess.Popen(
            [*GODOT, "--headless", "--editor", "--path", in_godot(PROJECT), "--",
             *(in_godot(of) if isinstance(of, Path) else of for of in arguments)],
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
    failed = 0
    with tempfile.TemporaryDirectory(dir=ROOT + "/var/tmp" if ROOT else None) as name:
        for target in installed:
            for check in [check_imports, check_editor]:
                try:
                    check(Path(name) / f"{check.__name__} {target}", target)
                except AssertionError as error:
                    failed += 1
                    print(f"FAILED {check.__name__} {target}: {error}")
                clean()
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
