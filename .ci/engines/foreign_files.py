"""Reads heightmaps that other programs' libraries write (GDAL, Pillow, tifffile, OpenEXR, numpy), and compares the
result of each with the expected one: right, right with notes about what was assumed, or refused with what to do about
it.

foreign_files.py PROGRAM
"""

import os
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy
import OpenEXR
import tifffile
from osgeo import gdal, osr
from PIL import Image

from common import PROGRAM, finish, read_r32, report

gdal.UseExceptions()
WIDTH, DEPTH = 41, 31
COLUMNS, ROWS = numpy.meshgrid(numpy.arange(WIDTH), numpy.arange(DEPTH))
# A slope that rises to the south-east, with a block in the north-west corner, so that a terrain that is turned or
# mirrored is noticed.
TERRAIN = (60 + COLUMNS + 3 * ROWS).astype("f8")
TERRAIN[:4, :4] = 250
HOLES = numpy.zeros(TERRAIN.shape, bool)
HOLES[10:14, 20:25] = True
UTM = (500000, 30, 0, 4000000, 0, -30)
SECOND = 1 / 3600
TYPES = {
    "u8": gdal.GDT_Byte, "u16": gdal.GDT_UInt16, "i16": gdal.GDT_Int16, "u32": gdal.GDT_UInt32, "i32": gdal.GDT_Int32,
    "f32": gdal.GDT_Float32, "f64": gdal.GDT_Float64,
}

# How far the height of a filled hole may be from the slope that surrounds it. A constant would be off by half of the
# 13 m by which the terrain rises across the hole.
HOLE_TOLERANCE_M = 1.5

# What the program notes about a file.
NO_SPACING = "the spacing of its samples is unknown; one metre is assumed"
NO_RANGE = "its height range is unknown; values are taken as metres"
EIGHT_BITS = "it has 8 bits, only 256 heights, so slopes will show steps"
FILLED = "20 samples without a height were filled from the heights around them"
BRIGHTNESS = "it is in colour; the brightness of its colours is used as the height"
CONVERTED = "its heights are converted to metres"
PLAIN_IMAGE = [EIGHT_BITS, NO_RANGE, NO_SPACING]
COLOUR_IMAGE = [EIGHT_BITS, BRIGHTNESS, NO_RANGE, NO_SPACING]


def degrees(latitude):
    return f"its coordinates are degrees, converted to metres at its latitude of {latitude:.2f}°"


def range_of(kind):
    """What is noted about the heights of a type of numbers: unsigned integers can mean any heights."""
    return {"u8": [EIGHT_BITS, NO_RANGE], "u16": [NO_RANGE], "u32": [NO_RANGE]}.get(kind, [])


@dataclass
class Case:
    name: str
    # Metres between samples, if the file says them.
    spacing: tuple[float, float] | None = None
    # What the program has to note, and nothing else.
    notes: Sequence[str] = ()
    # What the message has to say if the file has to be refused.
    refusal: str | None = None
    # The samples that are holes.
    holes: numpy.ndarray | None = None
    tolerance_m: float = 1e-3
    terrain: numpy.ndarray = field(default_factory=lambda: TERRAIN)
    options: Sequence[str] = ()


cases = []


def case(name, *arguments, **keys):
    cases.append(Case(name, *arguments, **keys))


def write(
    name, terrain, kind, epsg=32632, transform=UTM, driver="GTiff", options=(), no_data=None, scale=None, unit=None
):
    memory = gdal.GetDriverByName("MEM").Create("", terrain.shape[1], terrain.shape[0], 1, TYPES[kind])
    if epsg:
        system = osr.SpatialReference()
        system.ImportFromEPSG(epsg)
        memory.SetProjection(system.ExportToWkt())
    if transform:
        memory.SetGeoTransform(transform)
    band = memory.GetRasterBand(1)
    band.WriteArray(terrain)
    if no_data is not None:
        band.SetNoDataValue(no_data)
    if scale:
        band.SetScale(scale[0])
        band.SetOffset(scale[1])
    if unit:
        band.SetUnitType(unit)
    gdal.GetDriverByName(driver).CreateCopy(name, memory, options=list(options))


def geotiffs():
    for kind in TYPES:
        for compression in ["NONE", "DEFLATE", "LZW", "PACKBITS"]:
            name = f"{kind}_{compression.lower()}.tif"
            write(name, TERRAIN, kind, options=[f"COMPRESS={compression}"])
            case(name, (30, 30), range_of(kind))
        name = f"{kind}_tiled.tif"
        write(name, TERRAIN, kind, options=["TILED=YES", "BLOCKXSIZE=16", "BLOCKYSIZE=16", "COMPRESS=DEFLATE"])
        case(name, (30, 30), range_of(kind))
    for compression in ["ZSTD", "LERC"]:
        name = f"{compression.lower()}.tif"
        write(name, TERRAIN, "f32", options=[f"COMPRESS={compression}"])
        case(name, refusal="is not supported")
    for kind, predictor in [("u16", 2), ("i16", 2), ("i32", 2), ("f32", 3), ("f64", 3)]:
        name = f"{kind}_predictor.tif"
        write(name, TERRAIN, kind, options=["COMPRESS=DEFLATE", f"PREDICTOR={predictor}"])
        case(name, (30, 30), range_of(kind))
    for name, options in [
        ("big_tiff.tif", ["BIGTIFF=YES"]), ("big_endian.tif", ["ENDIANNESS=BIG"]),
        ("rows_in_strips.tif", ["BLOCKYSIZE=1"]),
    ]:
        write(name, TERRAIN, "f32", options=options)
        case(name, (30, 30))
    for epsg, transform, spacing, notes in [
        (4326, (10, SECOND, 0, 60, 0, -SECOND), (15.502, 30.948), [degrees(60)]),
        (4326, (-70, SECOND, 0, -33, 0, -SECOND), (25.964, 30.811), [degrees(-33)]),
        (4258, (5, 3 * SECOND, 0, 45, 0, -3 * SECOND), (65.712, 92.610), [degrees(44.99)]),
        (3857, (1e6, 25, 0, 6e6, 0, -25), (25, 25), []),
        (2263, (9e5, 100, 0, 2e5, 0, -100), (30.48006, 30.48006), []),
        (32632, (5e5, 30, 0, 4e6, 0, -20), (30, 20), []),
        (2056, (2.6e6, 2, 0, 1.2e6, 0, -2), (2, 2), []),
    ]:
        name = f"epsg_{epsg}_{int(transform[3])}_{int(transform[0])}.tif"
        write(name, TERRAIN, "f32", epsg, transform)
        case(name, spacing, notes)
    for value in [-9999, -32768, -3.4028234663852886e38, 0, float("nan")]:
        for declared in [True, False]:
            if value == 0 and not declared:
                continue
            name = f"void_{value}_{'declared' if declared else 'bare'}.tif".replace("+", "")
            write(name, numpy.where(HOLES, value, TERRAIN), "f32", no_data=value if declared else None)
            # Two numbers mark holes by custom; no height is below the third, and the fourth is not a number.
            is_custom = not declared and value in (-9999, -32768)
            notes = [f'the value {value} is taken as "no data"'] * is_custom + [FILLED]
            case(name, (30, 30), notes, holes=HOLES)
    write("void_i16.tif", numpy.where(HOLES, -32768, TERRAIN), "i16")
    case("void_i16.tif", (30, 30), ['the value -32768 is taken as "no data"', FILLED], holes=HOLES)
    for unit in ["ft", "US survey foot", "m", "metre"]:
        name = f"unit_{unit.replace(' ', '_')}.tif"
        factor = {"ft": 0.3048, "US survey foot": 1200 / 3937}.get(unit, 1)
        write(name, TERRAIN / factor, "f32", unit=unit)
        case(name, (30, 30), [CONVERTED] if factor != 1 else [], tolerance_m=2e-3)
    write("scaled.tif", (TERRAIN + 100) * 10, "i16", scale=(0.1, -100))
    case("scaled.tif", (30, 30))
    write("scaled_u16.tif", (TERRAIN + 100) * 100, "u16", scale=(0.01, -100))
    case("scaled_u16.tif", (30, 30))
    write("south_up.tif", TERRAIN[::-1], "f32", transform=(500000, 30, 0, 4000000 - 30 * DEPTH, 0, 30))
    case("south_up.tif", (30, 30))
    for orientation in range(1, 9):
        name = f"orientation_{orientation}.tif"
        stored = TERRAIN.T if orientation >= 5 else TERRAIN
        if orientation in (2, 3, 6, 7):
            stored = stored[:, ::-1] if orientation < 5 else stored[::-1]
        if orientation in (3, 4, 7, 8):
            stored = stored[::-1] if orientation < 5 else stored[:, ::-1]
        extra = [(274, "H", 1, orientation, True)]
        tifffile.imwrite(name, numpy.ascontiguousarray(stored).astype("f4"), extratags=extra)
        case(name, notes=[NO_SPACING])
    for kind in ["f2", "f4", "f8", "u2", "i2"]:
        tifffile.imwrite(f"tifffile_{kind}.tif", TERRAIN.astype(kind))
        case(f"tifffile_{kind}.tif", notes=[NO_RANGE] * (kind == "u2") + [NO_SPACING])
    bands = numpy.stack([TERRAIN, TERRAIN + 1, TERRAIN + 2]).astype("f4")
    tifffile.imwrite("planar_bands.tif", bands, planarconfig="separate")
    case("planar_bands.tif", notes=["it has 3 channels; the first is read as height", NO_SPACING])


def grids():
    for name, epsg, transform, spacing, notes in [
        ("utm.asc", 32632, UTM, (30, 30), []),
        ("degrees.asc", 4326, (10, SECOND, 0, 60, 0, -SECOND), (15.502, 30.948), [degrees(60)]),
        ("oblong.asc", 32632, (5e5, 30, 0, 4e6, 0, -20), (30, 20), []),
    ]:
        options = ["FORCE_CELLSIZE=NO"]
        write(name, TERRAIN, "f32", epsg, transform, "AAIGrid", options)
        case(name, spacing, notes)
    header = f"ncols {WIDTH}\nnrows {DEPTH}\nxllcorner 0\nyllcorner 0\ncellsize 30\n"
    rows = "\n".join(" ".join(f"{height:.2f}" for height in row) for row in TERRAIN)
    holes = numpy.where(HOLES, numpy.nan, TERRAIN)
    texts = {
        "plain.asc": header + rows, "crlf.asc": (header + rows).replace("\n", "\r\n"),
        "mark.asc": "\ufeff" + header + rows, "comma.asc": (header + rows).replace(".", ","),
        "upper.asc": header.upper() + rows,
    }
    for name, text in texts.items():
        Path(name).write_text(text, encoding="utf-8", newline="")
        case(name, (30, 30), tolerance_m=0.01)
    text = header + "NODATA_value nan\n" + "\n".join(" ".join(f"{height:.2f}" for height in row) for row in holes)
    Path("nan.asc").write_text(text)
    case("nan.asc", (30, 30), [FILLED], holes=HOLES, tolerance_m=0.01)


def images():
    write("world_file.png", TERRAIN, "u16", driver="PNG", options=["WORLDFILE=YES"])
    case("world_file.png", (30, 30), [NO_RANGE])
    Image.fromarray(TERRAIN.astype("u2")).save("pillow_16.png")
    case("pillow_16.png", notes=[NO_RANGE, NO_SPACING])
    for name in ["pillow.png", "pillow.tga", "pillow.tif"]:
        Image.fromarray(TERRAIN.astype("u1")).save(name)
        case(name, notes=PLAIN_IMAGE)
    Image.fromarray(TERRAIN.astype("u1")).save("pillow.bmp")
    blue = "it is in colour; its blue channel is used as the height"
    case("pillow.bmp", notes=[EIGHT_BITS, blue, NO_RANGE, NO_SPACING])
    Image.fromarray(TERRAIN.astype("u1")).save("pillow.jpg", quality=100, subsampling=0)
    case("pillow.jpg", notes=PLAIN_IMAGE, tolerance_m=4)
    grey = TERRAIN.astype("u1")
    Image.fromarray(numpy.stack([grey] * 3, axis=2)).save("rgb_grey.png")
    case("rgb_grey.png", notes=COLOUR_IMAGE, tolerance_m=1)
    Image.fromarray(numpy.stack([grey, grey, grey, 255 - grey // 9], axis=2)).save("rgba_grey.png")
    case("rgba_grey.png", notes=COLOUR_IMAGE, tolerance_m=1)
    text = " ".join(str(int(value)) for value in TERRAIN.ravel())
    Path("ascii.pgm").write_text(f"P2\n{WIDTH} {DEPTH}\n65535\n{text}")
    case("ascii.pgm", notes=[NO_RANGE, NO_SPACING])
    Path("binary.pgm").write_bytes(f"P5\n{WIDTH} {DEPTH}\n65535\n".encode() + TERRAIN.astype(">u2").tobytes())
    case("binary.pgm", notes=[NO_RANGE, NO_SPACING])
    for name, options in [("pillow.webp", {"lossless": True}), ("pillow.ppm", {}), ("pillow.gif", {})]:
        Image.fromarray(grey).convert("RGB").save(name, **options)
    case("pillow.webp", notes=COLOUR_IMAGE)
    case("pillow.ppm", notes=COLOUR_IMAGE)
    case("pillow.gif", refusal="unknown file extension; supported: .png")
    Image.fromarray(grey).convert("RGB").save("lossy.webp", quality=95)
    case("lossy.webp", notes=COLOUR_IMAGE, tolerance_m=8)


def floats():
    terrain = TERRAIN.astype("f4")
    other = (terrain * 0 + 0.5).astype("f4")

    def chosen(count, channel):
        return [f'it has {count} channels; "{channel}" is read as height', NO_SPACING]

    for name, channels, notes in [
        ("y.exr", {"Y": terrain}, [NO_SPACING]),
        ("r.exr", {"R": terrain}, [NO_SPACING]),
        ("z.exr", {"Z": terrain}, [NO_SPACING]),
        ("height.exr", {"height": terrain}, [NO_SPACING]),
        ("displacement.exr", {"displacement.Y": terrain, "albedo.R": other, "albedo.G": other, "albedo.B": other},
         chosen(4, "displacement.Y")),
        ("rgb.exr", {"R": terrain, "G": other, "B": other}, chosen(3, "R")),
        ("rgba.exr", {"R": terrain, "G": other, "B": other, "A": other}, chosen(4, "R")),
        ("colour_depth.exr", {"R": terrain, "G": other, "B": other, "Z": other}, chosen(4, "R")),
        ("alpha_height.exr", {"A": other, "height": terrain}, chosen(2, "height")),
    ]:
        for compression in [OpenEXR.NO_COMPRESSION, OpenEXR.ZIP_COMPRESSION, OpenEXR.PIZ_COMPRESSION]:
            header = {"compression": compression, "type": OpenEXR.scanlineimage}
            stored = f"{compression.name.split('_')[0].lower()}_{name}"
            OpenEXR.File(header, channels).write(stored)
            case(stored, notes=notes)
    OpenEXR.File({"type": OpenEXR.scanlineimage}, {"albedo.R": other, "A": other}).write("only_colour.exr")
    case("only_colour.exr", refusal='none of its channels (A, albedo.R) can be a height; name one "height"')
    half = OpenEXR.File({"type": OpenEXR.scanlineimage}, {"Y": TERRAIN.astype("f2")})
    half.write("half.exr")
    rounded = "it has 16-bit floats: heights above 1024 m are rounded to whole metres, and above 2048 m to 2 m or more"
    case("half.exr", notes=[rounded, NO_SPACING], tolerance_m=0.13)


def headerless():
    side = 64
    columns, rows = numpy.meshgrid(numpy.arange(side), numpy.arange(side))
    square = 3000 + 61.0 * columns + 37 * rows
    square[:4, :4] = 9000
    big_endian = "its samples are read as big-endian, because neighbours are much more alike that way"
    for name, kind, layout in [
        ("le.raw", "<u2", "u16le"), ("be.raw", ">u2", "u16be"), ("le.r16", "<u2", "u16le"), ("be.r16", ">u2", "u16be"),
        ("le.r32", "<f4", "f32le"),
    ]:
        Path(name).write_bytes(square.astype(kind).tobytes())
        notes = [big_endian] * layout.endswith("be")
        bits = 8 * numpy.dtype(kind).itemsize
        notes += [f"its layout was guessed from its length: {side} × {side} samples of {bits} bits"]
        notes += [NO_RANGE] * layout.startswith("u") + [NO_SPACING]
        case(name, notes=notes, terrain=square)
    Path("oblong.raw").write_bytes(TERRAIN.astype("<u2").tobytes())
    case("oblong.raw", refusal="specify its sample type, size and header with --raw, as in --raw u16le,41x31")
    Path("header.raw").write_bytes(bytes(512) + TERRAIN.astype(">u2").tobytes())
    case("header.raw", refusal="its 1527 samples are not a square; specify its sample type, size and header with --raw")
    Path("skipped.raw").write_bytes(bytes(512) + TERRAIN.astype(">u2").tobytes())
    case("skipped.raw", notes=[NO_RANGE, NO_SPACING], options=["--raw", f"u16be,{WIDTH}x{DEPTH}+512"])
    # Metres per degree in the middle of the tile, from published tables for 45° and 46°.
    east, north = 78147, 111142
    for name, latitude in [("N45E006.hgt", 45.5), ("S46W072.hgt", -45.5)]:
        Path(name).write_bytes(square.astype(">i2").tobytes())
        case(name, (east / (side - 1), north / (side - 1)), [degrees(latitude)], terrain=square)


def other_programs():
    for kind in ["u8", "u16", "i16", "f32"]:
        write(f"{kind}.bil", TERRAIN, kind, driver="EHdr")
        case(f"{kind}.bil", (30, 30))
    write("void.bil", numpy.where(HOLES, -9999, TERRAIN), "i16", driver="EHdr", no_data=-9999)
    case("void.bil", (30, 30), [FILLED], holes=HOLES)
    for name, order, kind in [("little.flt", "LSBFIRST", "<f4"), ("big.flt", "MSBFIRST", ">f4")]:
        Path(name).write_bytes(TERRAIN.astype(kind).tobytes())
        Path(name).with_suffix(".hdr").write_text(
            f"ncols {WIDTH}\nnrows {DEPTH}\nxllcorner 5000\nyllcorner 7000\ncellsize 30\nNODATA_value -9999\n"
            f"byteorder {order}\n"
        )
        case(name, (30, 30))
    Path("alone.flt").write_bytes(TERRAIN.astype("<f4").tobytes())
    case("alone.flt", refusal="its header alone.hdr cannot be read")
    for extension, options in [("low", []), ("high", ["MINUSERPIXELVALUE=-50", "MAXUSERPIXELVALUE=900"])]:
        source = gdal.GetDriverByName("MEM").Create("", WIDTH, DEPTH, 1, gdal.GDT_Float32)
        source.GetRasterBand(1).WriteArray(TERRAIN)
        source.SetGeoTransform(UTM)
        name = f"{extension}.ter"
        options = options or [f"MINUSERPIXELVALUE={TERRAIN.min()}", f"MAXUSERPIXELVALUE={TERRAIN.max()}"]
        gdal.GetDriverByName("Terragen").CreateCopy(name, source, options=options)
        case(name, (30, 30), tolerance_m=0.05)
    columns, rows = numpy.meshgrid(numpy.arange(96), numpy.arange(64))
    hills = 400 + 9.3 * columns + 3.1 * rows + 30 * numpy.sin(columns / 5) * numpy.cos(rows / 7)
    hills[:6, :6] += 300
    for name, value, encoding in [
        ("mapbox", numpy.rint((hills + 10000) * 10).astype("u4"), "Mapbox Terrain-RGB"),
        ("terrarium", numpy.rint((hills + 32768) * 256).astype("u4"), "Terrarium"),
    ]:
        pixels = numpy.stack([value >> 16, value >> 8 & 255, value & 255], axis=2).astype("u1")
        for extension, options in [("png", {}), ("webp", {"lossless": True})]:
            Image.fromarray(pixels).save(f"{name}.{extension}", **options)
            notes = [f"its colours are read as {encoding} heights in metres", NO_SPACING]
            case(f"{name}.{extension}", notes=notes, tolerance_m=0.06, terrain=hills)
    rainbow = Image.fromarray(TERRAIN.astype("u1"), "P")
    rainbow.putpalette([channel for at in range(256) for channel in (at, (5 * at) % 256, 255 - at)])
    rainbow.save("palette.png")
    palette = "it has a palette; the numbers of its colours are used as heights"
    case("palette.png", notes=[EIGHT_BITS, palette, NO_RANGE, NO_SPACING])


def problem(case, run, said):
    """What is not as expected, or nothing."""
    if case.refusal is not None:
        is_refused = run.returncode in (1, 2) and case.refusal in said
        return "" if is_refused else f'not refused with "{case.refusal}"'
    if run.returncode:
        return "refused"
    found, side = read_r32("out.r32")
    if found.shape != case.terrain.shape:
        return f"{found.shape} samples"
    error = numpy.abs(found - case.terrain)
    known = error if case.holes is None else error[~case.holes]
    if not known.max() <= case.tolerance_m:
        return f"off by {known.max():.3f} m"
    if case.holes is not None and not error[case.holes].max() <= HOLE_TOLERANCE_M:
        return f"off by {error[case.holes].max():.3f} m in holes"
    written = (side["spacing_x_m"], side["spacing_z_m"])
    if any(abs(a - b) > 2e-3 * b for a, b in zip(written, case.spacing or (1, 1))):
        return f"spacing {written} for {case.spacing}"
    missing = [note for note in case.notes if note not in said]
    if missing or said.count("note: ") != len(case.notes):
        return f"{said.count('note: ')} notes for {len(case.notes)}, missing: {missing}"
    return ""


def compare(case):
    Path("out.r32").unlink(missing_ok=True)
    run = [PROGRAM, "convert", case.name, "out.r32", "--force", *case.options]
    run = subprocess.run(run, capture_output=True, text=True)
    said = " ".join(run.stderr.split())
    found = problem(case, run, said)
    expected = "refused" if case.refusal else "noted" if case.notes else "read"
    report(f"{case.name:32} {expected:8}", f"{found}; {said}" if found else said[:150], not found)
    return expected


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    for make in [geotiffs, grids, images, floats, headerless, other_programs]:
        make()
    results = [compare(case) for case in cases]
    print(f"{len(cases)} files: " + ", ".join(f"{results.count(kind)} {kind}" for kind in sorted(set(results))))
    os.chdir("/")
finish()
