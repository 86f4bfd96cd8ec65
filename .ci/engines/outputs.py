"""Reads the files that the program writes with GDAL, Pillow, tifffile, OpenEXR and numpy, and compares every height
with the .r32 of the same project; adds up the weights of every target; checks the manifests.

outputs.py PROGRAM
"""

import json
import struct
import subprocess
import tempfile
import zlib
from pathlib import Path

import numpy
import OpenEXR
import tifffile
from osgeo import gdal
from PIL import Image

from common import PROGRAM, build, check, confirm, finish, read_r32, report, write_project

gdal.UseExceptions()
# Krten's format and the raw ones have no limit on size; Pillow warns from 89 million pixels on.
Image.MAX_IMAGE_PIXELS = None
VERSIONS = f"GDAL {gdal.__version__}, Pillow {Image.__version__}, tifffile {tifffile.__version__}, " \
    f"OpenEXR {OpenEXR.__version__}, numpy {numpy.__version__}"


def read_heights(path):
    heights, sidecar = read_r32(path)
    return heights.astype("f8"), sidecar


# How each library reads a file: the numbers as they are stored, first row first.
def by_gdal(path, side):
    data = gdal.Open(str(path))
    return data.GetRasterBand(1).ReadAsArray()


def by_pillow(path, side):
    image = Image.open(path)
    return numpy.array(image.convert("L") if image.mode == "RGB" else image)


def by_tifffile(path, side):
    return tifffile.imread(path)


def by_openexr(path, side):
    with OpenEXR.File(str(path), separate_channels=True) as file:
        return next(iter(file.channels().values())).pixels


def by_numpy(path, side):
    if path.suffix == ".xy":
        columns, rows, *heights = numpy.fromfile(path, "<i4")
        return numpy.array(heights).reshape(columns, rows).T
    order = {"little-endian": "<", "big-endian": ">"}[side["byte_order"]]
    kind = {("m", 32): "f4", ("m", 16): "i2", ("i", 16): "u2", ("i", 8): "u1"}
    is_metres = "metres" in " ".join(side["import"]) and "The value 0" not in " ".join(side["import"])
    numbers = numpy.fromfile(path, order + kind["m" if is_metres else "i", side["bits"]])
    return numbers.reshape(side["height"], side["width"])


def by_text(path, side):
    skipped = sum(line[0] not in "-0123456789." for line in open(path))
    # The shortest text that gives the same 32-bit float.
    return numpy.loadtxt(path, "f4", skiprows=skipped)


# The weights that a target takes: a map for each type, packs of four types, or both. Maps that encode the types in
# their values are not compared here, and other targets have no weights.
WEIGHTS = {
    "unity": {"packs"}, "godot-hterrain": {"packs"}, "blender": {"packs"}, "unreal": {"maps"}, "o3de": {"maps"},
    "cryengine": {"maps"}, "generic": {"packs", "maps"},
}
READERS = {
    "png": [by_gdal, by_pillow], "tif": [by_gdal, by_pillow, by_tifffile], "asc": [by_gdal, by_text],
    "bmp": [by_pillow], "exr": [by_gdal, by_openexr], "pgm": [by_gdal, by_pillow], "tga": [by_gdal, by_pillow],
    "r16": [by_numpy], "raw": [by_numpy], "r32": [by_numpy], "xy": [by_numpy],
}
# GDAL is often built without OpenEXR.
if gdal.GetDriverByName("EXR") is None:
    READERS["exr"].remove(by_gdal)


def compare(what, path, side, heights):
    """Compares the heights of a file with those of the .r32, as each library reads it."""
    is_integer = any(step.startswith("The value 0 is a height") for step in side["import"])
    for read in READERS[path.suffix[1:]]:
        try:
            found = read(path, side).astype("f8")
        except (OSError, RuntimeError, ValueError) as error:
            confirm(f"{what} by {read.__name__[3:]}", False, error)
            continue
        # Heights are 32-bit floats, and so are the ends of their range.
        tolerance = 0.0
        if is_integer:
            largest = 2 ** side["bits"] - 1
            step = (side["max_m"] - side["min_m"]) / largest
            found = side["min_m"] + found * step
            tolerance = 0.5 * step + 1e-9 * largest * step
            # Some programs fix the range.
            heights = numpy.clip(heights, side["min_m"], side["max_m"])
        elif path.suffix == ".xy":
            tolerance = 0.5
        if side["row_order"].startswith("rows from south"):
            found = found[::-1]
        what_read = f"{what} by {read.__name__[3:]}"
        if found.shape != heights.shape:
            confirm(what_read, False, f"{found.shape} for {heights.shape}")
            continue
        check(what_read, float(numpy.abs(found - heights).max()), tolerance)


def georeference(what, path, size, world):
    """Checks the extent that GDAL derives from the file: the samples are the centres of its cells."""
    left, dx, turn_x, top, turn_y, dy = gdal.Open(str(path)).GetGeoTransform()
    spacing = [world[axis] / (size[axis] - 1) for axis in (0, 1)]
    found = numpy.array([left + dx / 2, top + dy / 2, dx, dy, turn_x, turn_y])
    expected = numpy.array([0, world[1], spacing[0], -spacing[1], 0, 0])
    check(f"{what} georeference", float(numpy.abs(found - expected).max()), 1e-6 * max(world))


def all_formats():
    for seed, world, size in [
        (1, (4096, 4096), "129"), (3, (3000, 2000), "301"), (4, (700, 1900), "257"), (5, (1000, 1000), "100"),
        (6, (5000, 1000), "333"), (7, (2500, 2500), "129x101"), (8, (20480, 20480), "1025"),
    ]:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            source = write_project(folder, seed, world)
            build(source, "--size", size, "--heightmap", folder / "h.r32")
            heights, own = read_heights(folder / "h.r32")
            corners = [heights[-5:, :5], heights[:5, -5:], heights[-5:, -5:]]
            confirm("orientation", heights[0, 0] < min(corner.min() for corner in corners) - 500, heights[0, 0])
            spacing = [own["spacing_x_m"], own["spacing_z_m"]]
            samples = heights.shape[::-1]
            expected = [world[axis] / (samples[axis] - 1) for axis in (0, 1)]
            confirm("spacing in the sidecar", numpy.allclose(spacing, expected, rtol=1e-12), spacing)
            for extension in READERS:
                for options in [[], ["--depth", "16"]] if extension == "tif" else [[]]:
                    path = folder / f"h{''.join(options)[2:]}.{extension}"
                    build(source, "--size", size, "--heightmap", path, "--force", *options)
                    what = f"{extension}{' 16 bits' if options else ''} {samples[0]} × {samples[1]} of {world} m"
                    compare(what, path, json.load(open(f"{path}.json")), heights)
                    if extension in ("tif", "asc"):
                        georeference(what, path, samples, world)


def layouts():
    """Headerless files in every layout that can be asked for."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        build(write_project(folder, 9, (3000, 2000)), "--size", "301", "--heightmap", folder / "h.r32")
        heights, _ = read_heights(folder / "h.r32")
        for layout in ["u16le", "u16be", "f32le", "f32be", "u8"]:
            path = folder / f"{layout}.{'r32' if layout.startswith('f') else 'raw'}"
            run = [PROGRAM, "convert", folder / "h.r32", path, "--out-raw", layout]
            run = subprocess.run(run, capture_output=True, text=True)
            assert run.returncode == 0, run.stderr
            side = json.load(open(f"{path}.json"))
            side["byte_order"] = side["byte_order"] or "little-endian"
            compare(f"layout {layout}", path, side, heights)


def tiles():
    """Every tile of a GeoTIFF lies where its georeference says."""
    world, size = (3000, 2000), (301, 201)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        source = write_project(folder, 10, world)
        build(source, "--size", "301", "--heightmap", folder / "h.r32")
        heights, _ = read_heights(folder / "h.r32")
        for extension in ["tif", "asc"]:
            build(source, "--size", "301", "--heightmap", folder / f"t.{extension}", "--tiles", "4x2")
            paths = sorted(folder.glob(f"t_*.{extension}"))
            confirm(f"tiles {extension}", len(paths) == 8, paths)
            largest, seen = 0.0, numpy.zeros(heights.shape, bool)
            for path in paths:
                data = gdal.Open(str(path))
                left, dx, _, top, _, dy = data.GetGeoTransform()
                part = data.GetRasterBand(1).ReadAsArray()
                column, row = (left + dx / 2) / dx, (top + dy / 2 - world[1]) / dy
                is_whole = max(abs(column - round(column)), abs(row - round(row))) < 1e-6
                confirm(f"place of {path.name}", is_whole and row >= -0.5 and column >= -0.5, (column, row))
                place = numpy.s_[round(row):round(row) + part.shape[0], round(column):round(column) + part.shape[1]]
                if heights[place].shape != part.shape:
                    confirm(f"place of {path.name}", False, (column, row, part.shape))
                    continue
                seen[place] = True
                largest = max(largest, float(numpy.abs(heights[place] - part).max()))
            confirm(f"tiles {extension} cover the terrain", seen.all(), seen.mean())
            check(f"tiles {extension} by their georeference, {size[0]} × {size[1]}", largest, 0.0)


def chunks(path):
    """The names of the chunks of a PNG."""
    data, at, names = path.read_bytes(), 8, []
    while at < len(data):
        length, name = struct.unpack(">I4s", data[at:at + 8])
        names.append(name.decode())
        at += 12 + length
    return names


def check_chunks(what, folder, manifest):
    # Maps without types are images whose colours encode the types.
    colours = {entry["file"] for entry in manifest["texture"]}
    colours |= {entry["file"] for entry in manifest["weights"] if entry["types"] is None}
    for path in sorted(folder.glob("*.png")):
        found = [name for name in chunks(path) if name in ("gAMA", "sRGB", "iCCP", "cHRM", "cICP")]
        expected = ["sRGB"] if path.name in colours else []
        confirm(f"{what} {path.name} colour chunks", found == expected, f"{found} for {expected}")


def check_weights(what, folder, manifest):
    """The weights of the types that cover the terrain add up to 255 everywhere: those of the packs, and those of the
    single maps."""
    kinds = {"packs": [], "maps": []}
    for entry in manifest["weights"]:
        if entry["types"] is not None:
            kinds["packs" if "RGBA" in entry["file"] else "maps"].append(entry)
    found = {kind for kind, entries in kinds.items() if entries}
    confirm(f"{what} has the weights of its target", found == WEIGHTS.get(manifest["target"], set()), found)
    of_type = {}
    for kind, entries in kinds.items():
        for tile in sorted({tuple(entry["tile"]) for entry in entries}):
            total = numpy.zeros(1, int)
            for entry in entries:
                if tuple(entry["tile"]) != tile:
                    continue
                image = numpy.array(Image.open(folder / entry["file"])).astype(int)
                image = image[:, :, None] if image.ndim == 2 else image
                confirm(f"{what} {entry['file']} size", [*image.shape[1::-1]] == entry["size"], image.shape)
                channels = image.shape[2]
                confirm(f"{what} {entry['file']} channels", len(entry["types"]) <= channels, entry["types"])
                spare = image[:, :, len(entry["types"]):]
                confirm(f"{what} {entry['file']} channels without a type", not spare.any(), "not empty")
                for at, number in enumerate(entry["types"]):
                    if not manifest["types"][number]["covers"]:
                        continue
                    total = total + image[:, :, at]
                    single = of_type.setdefault((number, tile), image[:, :, at])
                    is_same = (single == image[:, :, at]).all()
                    confirm(f"{what} {entry['file']} agrees with the single map", is_same, "no")
            check(f"{what} {kind} tile {tile}, sums of weights", float(numpy.abs(total - 255).max()), 0, "of 255")


def check_manifest(what, folder, manifest, heights, world):
    """Whether every file is listed, exists and has the checksum and size that are said."""
    lists = ["heightmaps", "texture", "maps", "mesh", "weights"]
    entries = [entry for key in lists for entry in manifest[key]]
    for entry in entries:
        path = folder / entry["file"]
        found = f"{zlib.crc32(path.read_bytes()):08x}"
        confirm(f"{what} {entry['file']} crc32", found == entry["crc32"], found)
        if path.suffix == ".png":
            with Image.open(path) as image:
                confirm(f"{what} {entry['file']} size", list(image.size) == entry["size"], image.size)
    data = {path.name for path in folder.iterdir() if path.suffix in (".png", ".exr", ".raw", ".r16", ".r32", ".glb")}
    listed = {entry["file"] for entry in entries}
    confirm(f"{what} lists its files", data == listed, data ^ listed)
    samples = [*heights.shape[::-1]]
    confirm(f"{what} samples", manifest["samples"] == samples, manifest["samples"])
    confirm(f"{what} extent", [manifest["width_m"], manifest["depth_m"]] == list(world), manifest["width_m"])
    spacing = [world[axis] / (samples[axis] - 1) for axis in (0, 1)]
    confirm(f"{what} spacing", numpy.allclose(manifest["spacing_m"], spacing, rtol=1e-12), manifest["spacing_m"])
    own = [float(heights.min()), float(heights.max())]
    confirm(f"{what} range", [manifest["min_m"], manifest["max_m"]] == own, (manifest["min_m"], manifest["max_m"]))


def by_manifest(what, folder, manifest, heights):
    """The heights of every tile, from nothing but the manifest."""
    seen = {}
    for entry in manifest["heightmaps"]:
        path = folder / entry["file"]
        side = json.load(open(f"{path}.json"))
        found = READERS[path.suffix[1:]][0](path, side).astype("f8")
        if entry["row_order"] == "south first":
            found = found[::-1]
        tolerance = 0.0
        if entry["values"] == "integers":
            step = (entry["max_m"] - entry["min_m"]) / entry["max_value"]
            found, tolerance = entry["min_m"] + found * step, 0.5 * step + 1e-9 * (entry["max_m"] - entry["min_m"])
        column, row = entry["first_sample"]
        part = heights[row:row + entry["size"][1], column:column + entry["size"][0]]
        # Some programs fix the range.
        part = numpy.clip(part, entry["min_m"], entry["max_m"])
        if part.shape != found.shape:
            confirm(f"{what} {entry['file']}", False, f"{found.shape} for {part.shape}")
            continue
        seen.setdefault(path.suffix, numpy.zeros(heights.shape, bool))[
            row:row + entry["size"][1], column:column + entry["size"][0]] = True
        check(f"{what} {entry['file']} by the manifest", float(numpy.abs(found - part).max()), tolerance)
    for suffix, covered in seen.items():
        confirm(f"{what} {suffix} covers the terrain", covered.all(), covered.mean())


def targets():
    for target, preset, size, world, options in [
        ("unity", "alpine-range", "257", None, []), ("unity", "archipelago", "513", None, ["--tiles", "2x2"]),
        ("unity", "archipelago", "65", (3000, 2000), []),
        ("unreal", "alpine-range", "253", None, []), ("unreal", "archipelago", "256", None, ["--tiles", "2x2"]),
        ("unreal", "canyon", "505", (3000, 2000), []),
        ("godot-terrain3d", "alpine-range", "256", None, []), ("godot-hterrain", "alpine-range", "513", None, []),
        ("godot-hterrain", "volcanic-island", "1025", None, ["--tiles", "2x2"]),
        ("blender", "arctic", "300", (4096, 1000), []), ("o3de", "desert-mesa", "257", None, []),
        ("o3de", "alpine-range", "257", None, ["--tiles", "2x2"]), ("cryengine", "alpine-range", "256", (255, 255), []),
        ("cities-skylines", "alpine-range", "1081", (18000, 18000), []),
        ("cities-skylines-2", "archipelago", "4096", (14336, 14336), []),
        ("worldpainter", "rolling-hills", "257", None, []), ("roblox", "volcanic-island", "257", None, []),
        ("generic", "alpine-range", "257", (3000, 2000), []), ("generic", "archipelago", "257", None, []),
        ("generic", "canyon", "301", (3000, 2000), ["--tiles", "4x2"]),
    ]:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            sizes = [] if world is None else [f"--set=world.width_m={world[0]}", f"--set=world.depth_m={world[1]}"]
            source = f"preset:{preset}"
            build(source, "--for", target, "-o", folder / "out", "--size", size, *sizes, *options)
            manifest = json.load(open(folder / "out" / "upthrust.json"))
            samples = "x".join(map(str, manifest["samples"]))
            build(source, "--size", samples, "--heightmap", folder / "h.r32", *sizes)
            heights, _ = read_heights(folder / "h.r32")
            what = f"{target} {preset} {samples} {' '.join(options)}".rstrip()
            world = world or [manifest["width_m"], manifest["depth_m"]]
            check_manifest(what, folder / "out", manifest, heights, world)
            by_manifest(what, folder / "out", manifest, heights)
            check_weights(what, folder / "out", manifest)
            check_chunks(what, folder / "out", manifest)
            for path in sorted((folder / "out").glob("*.json")):
                side = json.load(open(path))
                if path.name != "upthrust.json" and not options:
                    compare(f"{what} {path.stem}", path.with_suffix(""), side, heights)


def orientation_of_weights():
    """Snow lies high: the weights of the highest type follow the heights only if they lie the same way."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for target in ["unity", "unreal", "generic", "o3de"]:
            size = "253" if target == "unreal" else "257"
            build("preset:alpine-range", "--for", target, "-o", folder / target, "--size", size)
            build("preset:alpine-range", "--size", size, "--heightmap", folder / "h.r32", "--force")
            heights, _ = read_heights(folder / "h.r32")
            manifest = json.load(open(folder / target / "upthrust.json"))
            snow = [entry["name"] for entry in manifest["types"]].index("Snow")
            entry = next(entry for entry in manifest["weights"] if snow in entry["types"])
            weights = numpy.array(Image.open(folder / target / entry["file"]))
            weights = weights if weights.ndim == 2 else weights[:, :, entry["types"].index(snow)]
            if weights.shape != heights.shape:
                heights = (heights[1:, 1:] + heights[:-1, :-1]) / 2
            agreement = {
                name: float(numpy.corrcoef(turned.ravel(), heights.ravel())[0, 1])
                for name, turned in {
                    "as it is": weights, "upside down": weights[::-1], "mirrored": weights[:, ::-1],
                    "turned": weights[::-1, ::-1], "transposed": weights.T,
                }.items()
            }
            best = max(agreement, key=agreement.get)
            report(f"{target} weights lie as the heights do", f"agreement {agreement['as it is']:.2f}, "
                   f"next best {sorted(agreement.values())[-2]:.2f}", best == "as it is")


def places():
    """A georeferenced project: GDAL finds the corners of every map, the tiles and the coordinate system where they are,
    and a map of it opens in the same place."""
    for seed, (east, north, epsg), samples, texture, counts, world in [
        (1, (500000, 4649776.25, 32632), 129, "128", None, (4096, 4096)),
        (2, (-120.5, 12, None), 101, "60x30", "5x2", (2000, 1000)),
        (3, (2600000, 1200000, 2056), 97, "96", "2x3", (960, 960)),
    ]:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            source = write_project(folder, seed, world)
            origin = [f"--set=origin.easting_m={east}", f"--set=origin.northing_m={north}"]
            origin += [f"--set=origin.epsg={epsg}"] if epsg else []
            tiles = ["--tiles", counts] if counts else []
            for ending in ["png", "tif", "asc", "exr", "pgm"]:
                build(source, "--size", samples, "--heightmap", folder / f"h.{ending}", "--texture",
                      folder / f"t_{ending}.png", "--texture-size", texture, *origin, *tiles)
            for path in sorted(path for path in folder.iterdir() if path.suffix in [".png", ".tif", ".asc", ".pgm"]):
                data = gdal.Open(str(path))
                x, dx, _, y, _, dy = data.GetGeoTransform()
                tile = path.stem.split("_x")[1].split("_y") if counts else ["0", "0"]
                columns, rows = map(int, counts.split("x")) if counts else (1, 1)
                left = east + int(tile[0]) * world[0] / columns
                top = north + world[1] - int(tile[1]) * world[1] / rows
                # A sample is a point in the middle of GDAL's cell.
                half = 0 if path.stem.startswith("t") else 0.5
                errors = [abs(x + half * dx - left), abs(y + half * dy - top),
                          abs(dx * (data.RasterXSize - 2 * half) - world[0] / columns),
                          abs(-dy * (data.RasterYSize - 2 * half) - world[1] / rows)]
                check(f"place of {path.name}, seed {seed}", max(errors), 1e-6)
                found = data.GetSpatialRef()
                code = found.GetAuthorityCode(None) if found else None
                is_unnamed = code is None or path.suffix == ".tif"
                # An Esri grid does not name its system.
                is_named = code == str(epsg) or (path.suffix == ".asc" and code is None)
                confirm(f"system of {path.name}", is_named if epsg else is_unnamed, code)
            if not counts:
                for ending in ["png", "tif", "asc", "pgm"]:
                    path = folder / f"h.{ending}"
                    (folder / f"h.{ending}.json").unlink()
                    build(str(path), "--heightmap", folder / f"again_{ending}.tif", "--size", samples)
                    paths = [folder / "h.tif", folder / f"again_{ending}.tif"]
                    first, second = (gdal.Open(str(opened)) for opened in paths)
                    difference = max(abs(a - b) for a, b in zip(first.GetGeoTransform(), second.GetGeoTransform()))
                    check(f"place of {path.name} opened and built again", difference, 1e-6)
                    systems = [data.GetSpatialRef() for data in [first, second]]
                    systems = [found.GetAuthorityCode(None) if found else None for found in systems]
                    expected = [str(epsg), None if ending == "asc" else str(epsg)]
                    confirm(f"system of {path.name} opened and built again", systems == expected, systems)


print(VERSIONS)
for case in [all_formats, layouts, tiles, targets, orientation_of_weights, places]:
    case()
finish()
