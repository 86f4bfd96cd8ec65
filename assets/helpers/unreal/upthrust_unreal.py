"""Helps to import an export of Upthrust into Unreal: checks its files, imports the texture, and sets the scale and the
height of a landscape. Unreal's Python cannot make landscapes; what is left to do by hand is written to the Output Log.

Run it with Tools > Execute Python Script, or as: py "PATH/upthrust_unreal.py" "PATH/upthrust.json"
Without a path it takes the upthrust.json beside this file.
"""

import json
import os
import sys
import zlib

import unreal

MANIFEST = "upthrust.json"
FORMAT = 1
FILE_LISTS = ["heightmaps", "texture", "maps", "mesh", "weights"]
# A height is (value - 32768) / 128 · Z scale above the actor (Landscape Technical Guide), in centimetres.
MIDDLE_VALUE = 32768
MAX_VALUE = 65535
STEPS_PER_SCALE = 128
CENTIMETRES = 100
# How far the scale of a landscape may be from the right one before it is set: a millimetre in ten kilometres.
TOLERANCE = 1e-7
# The largest number that a manifest may have, in metres. NaN and infinity are not below it.
MAX_NUMBER = 1e9


class ExportError(Exception):
    """A problem with an export, in words for the user."""


def read_manifest(path):
    """The manifest of an export for Unreal."""
    try:
        with open(path, encoding="utf-8") as file:
            manifest = json.load(file)
    except OSError as error:
        raise ExportError(f"{path} cannot be read: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise ExportError(f"{path} is not valid JSON: {error}") from error
    if not isinstance(manifest, dict) or "format" not in manifest or "heightmaps" not in manifest:
        raise ExportError(f"{path} is not the manifest of an export; choose {MANIFEST} in its folder")
    require(is_integer(manifest["format"]), "format")
    if manifest["format"] > FORMAT:
        raise ExportError("this export needs a newer script; use the one that Upthrust writes beside the export")
    if manifest.get("target") != "unreal":
        raise ExportError(f"this export is for \"{manifest.get('target')}\"; export it for Unreal")
    check_values(manifest)
    # An export can have further heightmaps, such as one in metres. Unreal takes 16-bit integers.
    manifest["heightmaps"] = [entry for entry in manifest["heightmaps"] if is_used(entry)]
    if not manifest["heightmaps"]:
        raise ExportError("the export has no heightmap of 16-bit integers; export it for Unreal")
    return manifest


def is_used(heightmap):
    return heightmap.get("values") == "integers" and heightmap.get("max_value") == MAX_VALUE


def require(is_right, key):
    if not is_right:
        raise ExportError(f"{MANIFEST} has no valid \"{key}\"; export again")


def is_integer(value):
    # `isinstance` would accept true and false.
    return type(value) is int


def is_number(value):
    return type(value) in (int, float) and abs(value) <= MAX_NUMBER


def is_list(value, is_valid):
    return isinstance(value, list) and all(map(is_valid, value))


def is_file_name(name):
    """Whether a name is that of a file in the folder of the manifest; a path could lead elsewhere."""
    return bool(name) and name not in (".", "..") and not set(name) & set('/\\:\0')


def check_values(manifest):
    """Checks everything in a manifest that is used here."""
    require(isinstance(manifest.get("name"), str), "name")
    samples, spacing_m = manifest.get("samples"), manifest.get("spacing_m")
    require(is_list(samples, is_integer) and len(samples) == 2 and min(samples) >= 2, "samples")
    require(is_list(spacing_m, is_number) and len(spacing_m) == 2 and min(spacing_m) > 0, "spacing_m")
    require(manifest.get("water_m") is None or is_number(manifest["water_m"]), "water_m")
    for key in FILE_LISTS + ["types"]:
        require(is_list(manifest.setdefault(key, []), lambda entry: isinstance(entry, dict)), key)
    for entry in (entry for key in FILE_LISTS for entry in manifest[key]):
        require(isinstance(entry.get("file"), str) and isinstance(entry.get("crc32"), str), "file")
        if not is_file_name(entry["file"]):
            raise ExportError(f"{entry['file']!r} is not the name of a file; export again")
    require(manifest["heightmaps"], "heightmaps")
    for heightmap in filter(is_used, manifest["heightmaps"]):
        for key in ["min_m", "max_m"]:
            require(is_number(heightmap.get(key)), key)
        require(heightmap["min_m"] <= heightmap["max_m"], "max_m")
    for kind in manifest["types"]:
        require(isinstance(kind.get("name"), str), "types")
    for entry in manifest["weights"]:
        numbers = entry.get("types")
        require(is_list(numbers, is_integer) and numbers, "weights")
        require(all(0 <= number < len(manifest["types"]) for number in numbers), "weights")


def check_files(folder, manifest):
    """Checks that every file is complete; returns the checksums by file name."""
    checksums = {}
    for entry in (entry for key in FILE_LISTS for entry in manifest[key]):
        checksum = 0
        try:
            with open(os.path.join(folder, entry["file"]), "rb") as file:
                while part := file.read(1 << 20):
                    checksum = zlib.crc32(part, checksum)
        except OSError as error:
            raise ExportError(f"{entry['file']} cannot be read: {error.strerror}") from error
        if f"{checksum:08x}" != entry["crc32"]:
            problem = f"{entry['file']} is not the file that {MANIFEST} lists"
            raise ExportError(f"{problem}; wait until the export has ended, or export again")
        checksums[entry["file"]] = entry["crc32"]
    return checksums


def placement(manifest):
    """The scale of the landscape and the height of its actor, in Unreal's units."""
    heightmap = manifest["heightmaps"][0]
    low_cm, high_cm = CENTIMETRES * heightmap["min_m"], CENTIMETRES * heightmap["max_m"]
    # A flat landscape may have any scale but 0.
    scale_z = (high_cm - low_cm) * STEPS_PER_SCALE / MAX_VALUE or 100.0
    east_m, south_m = manifest["spacing_m"]
    scale = (CENTIMETRES * east_m, CENTIMETRES * south_m, scale_z)
    return scale, low_cm + MIDDLE_VALUE / STEPS_PER_SCALE * scale_z


def import_texture(folder, manifest, assets):
    """Imports the texture of the whole terrain as an asset."""
    tasks = []
    for texture in manifest["texture"]:
        task = unreal.AssetImportTask()
        task.set_editor_property("filename", os.path.join(folder, texture["file"]))
        task.set_editor_property("destination_path", "/Game/Upthrust/" + assets)
        task.set_editor_property("automated", True)
        task.set_editor_property("replace_existing", True)
        task.set_editor_property("save", True)
        tasks.append(task)
    if tasks:
        unreal.AssetToolsHelpers.get_asset_tools().import_asset_tasks(tasks)


def asset_name(name):
    """A name that Unreal accepts for a folder of assets."""
    letters = (letter if letter.isascii() and letter.isalnum() else "_" for letter in name)
    return "".join(letters).strip("_") or "Terrain"


def selected_landscape():
    """The landscape that is selected in the level, or None."""
    selected = unreal.get_editor_subsystem(unreal.EditorActorSubsystem).get_selected_level_actors()
    landscapes = [actor for actor in selected if isinstance(actor, unreal.Landscape)]
    return landscapes[0] if len(landscapes) == 1 else None


def place_landscape(landscape, manifest):
    """Sets the scale and the height of a landscape, and keeps its place on the map; returns what was done in words."""
    scale, height_cm = placement(manifest)
    now, location = landscape.get_actor_scale3d(), landscape.get_actor_location()
    _, extent = landscape.get_actor_bounds(False)
    if extent.x == 0:
        return "The selected landscape consists of proxies (World Partition): compare the numbers in its Details."
    samples = [round(2 * size / along) + 1 for size, along in [(extent.x, now.x), (extent.y, now.y)]]
    if samples != manifest["samples"]:
        found, expected = (" × ".join(map(str, size)) for size in (samples, manifest["samples"]))
        raise ExportError(f"the selected landscape has {found} vertices, but the export has {expected} samples")
    errors = [abs(is_now / to_be - 1) for is_now, to_be in zip((now.x, now.y, now.z), scale)]
    if max(errors) <= TOLERANCE and abs(location.z - height_cm) <= TOLERANCE * abs(height_cm):
        return "The selected landscape has the right scale and height."
    with unreal.ScopedEditorTransaction("Scale of the Upthrust landscape"):
        landscape.set_actor_scale3d(unreal.Vector(*scale))
        landscape.set_actor_location(unreal.Vector(location.x, location.y, height_cm), False, True)
    return "The scale and the height of the selected landscape were set."


def record_path(assets):
    # Unreal gives the folder relative to its own programs, not to the working directory.
    saved = unreal.Paths.convert_relative_path_to_full(unreal.Paths.project_saved_dir())
    return os.path.join(saved, "Upthrust", assets + ".json")


def read_record(assets):
    """What the last run of an export remembered in the project's Saved folder: its manifest, and checksums by file."""
    try:
        with open(record_path(assets), encoding="utf-8") as file:
            record = json.load(file)
    except (OSError, ValueError):
        return None
    return record if isinstance(record, dict) else {}


def folder_of_assets(name, manifest_path):
    """The name of the folder of assets of an export: the one it had, or one that no other export has."""
    wanted = asset_name(name)
    names = [wanted]
    while read_record(names[-1]) is not None:
        names.append(f"{wanted}_{len(names) + 1}")
    owners = {assets: (read_record(assets) or {}).get("manifest") for assets in names}
    own = [assets for assets, owner in owners.items() if owner == manifest_path]
    free = [assets for assets, owner in owners.items() if not isinstance(owner, str) or not os.path.exists(owner)]
    return (own + free)[0]


def changed_files(assets, manifest_path, checksums):
    """The files that differ from those of the last run; none if there was no last run. Remembers this run."""
    before = (read_record(assets) or {}).get("files")
    os.makedirs(os.path.dirname(record_path(assets)), exist_ok=True)
    with open(record_path(assets), "w", encoding="utf-8") as file:
        json.dump({"manifest": manifest_path, "files": checksums}, file)
    if not isinstance(before, dict):
        return []
    return [name for name, checksum in checksums.items() if before.get(name) != checksum]


def steps_by_hand(manifest, changed):
    """What Unreal's Python cannot do, in order. All of it is listed every time, because the script cannot tell which
    steps were done."""
    heightmaps = [entry["file"] for entry in manifest["heightmaps"]]
    tiles = "" if len(heightmaps) == 1 else " (one of the tiles; Unreal finds the others)"
    note = " (changed)" if set(heightmaps) & set(changed) else ""
    steps = [
        f"In Landscape mode choose Manage > Import from File (for a landscape that exists: Manage > Import) and "
        f"{heightmaps[0]}{note}{tiles}, with this scale and location and without a flip."
    ]
    weights = [(manifest["types"][entry["types"][0]]["name"], entry["file"]) for entry in manifest["weights"]]
    weights = [f"{name}: {file}" + (" (changed)" if file in changed else "") for name, file in weights]
    if weights:
        steps.append(
            "Give the landscape a material with a layer of each of these names, make a Layer Info for each "
            "(Manage > New or Paint > Layers), and import the weights into them: " + ", ".join(weights) + "."
        )
    if manifest.get("water_m") is not None:
        steps.append(f"The water level is Z = {CENTIMETRES * manifest['water_m']:.4f}.")
    return steps


def import_export(path):
    """Does what can be done and returns the report. Everything is checked before anything is changed."""
    manifest = read_manifest(path)
    folder = os.path.dirname(os.path.abspath(path))
    checksums = check_files(folder, manifest)
    landscape = selected_landscape()
    (scale_x, scale_y, scale_z), height_cm = placement(manifest)
    report = [
        f"{manifest['name'] or 'The export'}: all {len(checksums)} files are complete.",
        f"Scale X {scale_x:.6f}, Y {scale_y:.6f}, Z {scale_z:.6f}; Location Z {height_cm:.4f}.",
    ]
    if landscape is not None:
        report.append(place_landscape(landscape, manifest))
    manifest_path = os.path.abspath(path)
    assets = folder_of_assets(manifest["name"], manifest_path)
    import_texture(folder, manifest, assets)
    changed = changed_files(assets, manifest_path, checksums)
    if changed:
        report.append("Files that have changed since the last run are marked as changed.")
    report.extend(steps_by_hand(manifest, changed))
    if landscape is None:
        report.append("Select the landscape and run this again: its scale and height will be checked.")
    return report


def main(arguments):
    path = arguments[0] if arguments else os.path.join(os.path.dirname(os.path.abspath(__file__)), MANIFEST)
    try:
        for line in import_export(path):
            unreal.log(f"Upthrust: {line}")
    except ExportError as error:
        unreal.log_error(f"Upthrust: {error}.")


if __name__ == "__main__":
    main(sys.argv[1:])
