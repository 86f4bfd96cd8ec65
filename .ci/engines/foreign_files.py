"""Reads heightmaps written by other programs' libraries (GDAL, Pillow, tifffile, OpenEXR, numpy) and prints what came of
each: read right, with a note about what had to be guessed, or refused with what to do about it.

foreign_files.py PROGRAM
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy
import OpenEXR
import tifffile
from osgeo import gdal, osr
from PIL import Image

gdal.UseExceptions()
PROGRAM = str(Path(sys.argv[1]).resolve())
WIDTH, DEPTH = 41, 31
COLUMNS, ROWS = numpy.meshgrid(numpy.arange(WIDTH), numpy.arange(DEPTH))
# A slope that rises to the south-east, with a block in the north-west corner: unmistakable if it is turned or mirrored.
LAND = (60 + COLUMNS + 3 * ROWS).astype("f8")
LAND[:4, :4] = 250
HOLES = numpy.zeros(LAND.shape, bool)
HOLES[10:14, 20:25] = True
UTM = (500000, 30, 0, 4000000, 0, -30)
SECOND = 1 / 3600
TYPES = {
    "u8": gdal.GDT_Byte, "u16": gdal.GDT_UInt16, "i16": gdal.GDT_Int16, "u32": gdal.GDT_UInt32, "i32": gdal.GDT_Int32,
    "f32": gdal.GDT_Float32, "f64": gdal.GDT_Float64,
}

# Name, metres between samples if the file says them, samples that are holes, and the tolerance of the heights.
cases = []


def case(name, spacing=None, holes=None, tolerance=1e-3, land=LAND, options=()):
    cases.append((name, spacing, holes, tolerance, land, options))


def write(name, land, kind, epsg=32632, transform=UTM, driver="GTiff", options=(), no_data=None, scale=None, unit=None):
    memory = gdal.GetDriverByName("MEM").Create("", land.shape[1], land.shape[0], 1, TYPES[kind])
    if epsg:
        system = osr.SpatialReference()
        system.ImportFromEPSG(epsg)
        memory.SetProjection(system.ExportToWkt())
    if transform:
        memory.SetGeoTransform(transform)
    band = memory.GetRasterBand(1)
    band.WriteArray(land)
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
        for compression in ["NONE", "DEFLATE", "LZW", "PACKBITS", "ZSTD", "LERC"]:
            name = f"{kind}_{compression.lower()}.tif"
            write(name, LAND, kind, options=[f"COMPRESS={compression}"])
            case(name, (30, 30))
        name = f"{kind}_tiled.tif"
        write(name, LAND, kind, options=["TILED=YES", "BLOCKXSIZE=16", "BLOCKYSIZE=16", "COMPRESS=DEFLATE"])
        case(name, (30, 30))
    for kind, predictor in [("u16", 2), ("i16", 2), ("i32", 2), ("f32", 3), ("f64", 3)]:
        name = f"{kind}_predictor.tif"
        write(name, LAND, kind, options=["COMPRESS=DEFLATE", f"PREDICTOR={predictor}"])
        case(name, (30, 30))
    for name, options in [
        ("big_tiff.tif", ["BIGTIFF=YES"]), ("big_endian.tif", ["ENDIANNESS=BIG"]), ("banded.tif", ["INTERLEAVE=BAND"]),
        ("one_strip.tif", ["BLOCKYSIZE=1"]), ("sparse.tif", ["SPARSE_OK=TRUE"]),
    ]:
        write(name, LAND, "f32", options=options)
        case(name, (30, 30))
    for epsg, transform, spacing in [
        (4326, (10, SECOND, 0, 60, 0, -SECOND), (15.502, 30.948)),
        (4326, (-70, SECOND, 0, -33, 0, -SECOND), (25.964, 30.811)),
        (4258, (5, 3 * SECOND, 0, 45, 0, -3 * SECOND), (65.712, 92.610)),
        (3857, (1e6, 25, 0, 6e6, 0, -25), (25, 25)),
        (2263, (9e5, 100, 0, 2e5, 0, -100), (30.48006, 30.48006)),
        (32632, (5e5, 30, 0, 4e6, 0, -20), (30, 20)),
        (2056, (2.6e6, 2, 0, 1.2e6, 0, -2), (2, 2)),
    ]:
        name = f"epsg_{epsg}_{int(transform[3])}_{int(transform[0])}.tif"
        write(name, LAND, "f32", epsg, transform)
        case(name, spacing)
    for value in [-9999, -32768, -3.4028234663852886e38, 0, float("nan")]:
        for declared in [True, False]:
            if value == 0 and not declared:
                continue
            name = f"void_{value}_{'declared' if declared else 'bare'}.tif".replace("+", "")
            write(name, numpy.where(HOLES, value, LAND), "f32", no_data=value if declared else None)
            case(name, (30, 30), HOLES)
    write("void_i16.tif", numpy.where(HOLES, -32768, LAND), "i16")
    case("void_i16.tif", (30, 30), HOLES)
    for unit in ["ft", "US survey foot", "m", "metre"]:
        name = f"unit_{unit.replace(' ', '_')}.tif"
        factor = {"ft": 0.3048, "US survey foot": 1200 / 3937}.get(unit, 1)
        write(name, LAND / factor, "f32", unit=unit)
        case(name, (30, 30), tolerance=2e-3)
    write("scaled.tif", (LAND + 100) * 10, "i16", scale=(0.1, -100))
    case("scaled.tif", (30, 30))
    write("scaled_u16.tif", (LAND + 100) * 100, "u16", scale=(0.01, -100))
    case("scaled_u16.tif", (30, 30))
    write("south_up.tif", LAND[::-1], "f32", transform=(500000, 30, 0, 4000000 - 30 * DEPTH, 0, 30))
    case("south_up.tif", (30, 30))
    for orientation in range(1, 9):
        name = f"orientation_{orientation}.tif"
        stored = LAND.T if orientation >= 5 else LAND
        if orientation in (2, 3, 6, 7):
            stored = stored[:, ::-1] if orientation < 5 else stored[::-1]
        if orientation in (3, 4, 7, 8):
            stored = stored[::-1] if orientation < 5 else stored[:, ::-1]
        extra = [(274, "H", 1, orientation, True)]
        tifffile.imwrite(name, numpy.ascontiguousarray(stored).astype("f4"), extratags=extra)
        case(name)
    for kind in ["f2", "f4", "f8", "u2", "i2"]:
        tifffile.imwrite(f"tifffile_{kind}.tif", LAND.astype(kind))
        case(f"tifffile_{kind}.tif")
    tifffile.imwrite("planar_bands.tif", numpy.stack([LAND, LAND + 1, LAND + 2]).astype("f4"), planarconfig="separate")
    case("planar_bands.tif")


def grids():
    for name, epsg, transform, spacing in [
        ("utm.asc", 32632, UTM, (30, 30)), ("degrees.asc", 4326, (10, SECOND, 0, 60, 0, -SECOND), (15.502, 30.948)),
        ("oblong.asc", 32632, (5e5, 30, 0, 4e6, 0, -20), (30, 20)),
    ]:
        options = ["FORCE_CELLSIZE=NO"]
        write(name, LAND, "f32", epsg, transform, "AAIGrid", options)
        case(name, spacing)
    header = f"ncols {WIDTH}\nnrows {DEPTH}\nxllcorner 0\nyllcorner 0\ncellsize 30\n"
    rows = "\n".join(" ".join(f"{height:.2f}" for height in row) for row in LAND)
    holes = numpy.where(HOLES, numpy.nan, LAND)
    texts = {
        "plain.asc": header + rows, "crlf.asc": (header + rows).replace("\n", "\r\n"),
        "mark.asc": "\ufeff" + header + rows, "comma.asc": (header + rows).replace(".", ","),
        "upper.asc": header.upper() + rows,
    }
    for name, text in texts.items():
        Path(name).write_text(text, encoding="utf-8", newline="")
        case(name, (30, 30), tolerance=0.01)
    text = header + "NODATA_value nan\n" + "\n".join(" ".join(f"{height:.2f}" for height in row) for row in holes)
    Path("nan.asc").write_text(text)
    case("nan.asc", (30, 30), HOLES, 0.01)


def images():
    write("world_file.png", LAND, "u16", driver="PNG", options=["WORLDFILE=YES"])
    case("world_file.png", (30, 30))
    Image.fromarray(LAND.astype("u2")).save("pillow_16.png")
    case("pillow_16.png")
    for name in ["pillow.png", "pillow.bmp", "pillow.tga", "pillow.tif"]:
        Image.fromarray(LAND.astype("u1")).save(name)
        case(name)
    Image.fromarray(LAND.astype("u1")).save("pillow.jpg", quality=100, subsampling=0)
    case("pillow.jpg", tolerance=4)
    grey = LAND.astype("u1")
    Image.fromarray(numpy.stack([grey] * 3, axis=2)).save("rgb_grey.png")
    case("rgb_grey.png", tolerance=1)
    Image.fromarray(numpy.stack([grey, grey, grey, 255 - grey // 9], axis=2)).save("rgba_grey.png")
    case("rgba_grey.png", tolerance=1)
    Path("ascii.pgm").write_text(f"P2\n{WIDTH} {DEPTH}\n65535\n" + " ".join(str(int(value)) for value in LAND.ravel()))
    case("ascii.pgm")
    Path("binary.pgm").write_bytes(f"P5\n{WIDTH} {DEPTH}\n65535\n".encode() + LAND.astype(">u2").tobytes())
    case("binary.pgm")
    for name, options in [("pillow.webp", {"lossless": True}), ("pillow.ppm", {}), ("pillow.gif", {})]:
        Image.fromarray(grey).convert("RGB").save(name, **options)
        case(name)
    Image.fromarray(grey).convert("RGB").save("lossy.webp", quality=95)
    case("lossy.webp", tolerance=8)


def floats():
    land = LAND.astype("f4")
    other = (land * 0 + 0.5).astype("f4")
    for name, channels in {
        "y.exr": {"Y": land}, "r.exr": {"R": land}, "z.exr": {"Z": land}, "height.exr": {"height": land},
        "displacement.exr": {"displacement.Y": land, "albedo.R": other, "albedo.G": other, "albedo.B": other},
        "rgb.exr": {"R": land, "G": other, "B": other}, "rgba.exr": {"R": land, "G": other, "B": other, "A": other},
        "colour_depth.exr": {"R": land, "G": other, "B": other, "Z": other},
        "alpha_height.exr": {"A": other, "height": land}, "only_colour.exr": {"albedo.R": other, "A": other},
    }.items():
        for compression in [OpenEXR.NO_COMPRESSION, OpenEXR.ZIP_COMPRESSION, OpenEXR.PIZ_COMPRESSION]:
            header = {"compression": compression, "type": OpenEXR.scanlineimage}
            stored = f"{compression.name.split('_')[0].lower()}_{name}"
            OpenEXR.File(header, channels).write(stored)
            case(stored)
    half = OpenEXR.File({"type": OpenEXR.scanlineimage}, {"Y": LAND.astype("f2")})
    half.write("half.exr")
    case("half.exr", tolerance=0.13)


def headerless():
    side = 64
    columns, rows = numpy.meshgrid(numpy.arange(side), numpy.arange(side))
    square = 3000 + 61.0 * columns + 37 * rows
    square[:4, :4] = 9000
    for name, kind in [("le.raw", "<u2"), ("be.raw", ">u2"), ("le.r16", "<u2"), ("be.r16", ">u2"), ("le.r32", "<f4")]:
        Path(name).write_bytes(square.astype(kind).tobytes())
        case(name, land=square)
    Path("oblong.raw").write_bytes(LAND.astype("<u2").tobytes())
    case("oblong.raw")
    Path("header.raw").write_bytes(bytes(512) + LAND.astype(">u2").tobytes())
    case("header.raw")
    Path("skipped.raw").write_bytes(bytes(512) + LAND.astype(">u2").tobytes())
    case("skipped.raw", options=["--raw", f"u16be,{WIDTH}x{DEPTH}+512"])
    # Metres per degree in the middle of the tile, from published tables for 45° and 46°.
    degree = {"N45E006.hgt": (78147, 111142), "S46W072.hgt": (78147, 111142)}
    for name, (east, north) in degree.items():
        Path(name).write_bytes(square.astype(">i2").tobytes())
        case(name, (east / (side - 1), north / (side - 1)), land=square)


def other_programs():
    for kind in ["u8", "u16", "i16", "f32"]:
        for options in [[], ["SIGNEDBYTE=NO"]]:
            name = f"{kind}{len(options)}.bil"
            write(name, LAND, kind, driver="EHdr", options=options)
            case(name, (30, 30))
    write("void.bil", numpy.where(HOLES, -9999, LAND), "i16", driver="EHdr", no_data=-9999)
    case("void.bil", (30, 30), HOLES)
    for name, order, kind in [("little.flt", "LSBFIRST", "<f4"), ("big.flt", "MSBFIRST", ">f4")]:
        Path(name).write_bytes(LAND.astype(kind).tobytes())
        Path(name).with_suffix(".hdr").write_text(
            f"ncols {WIDTH}\nnrows {DEPTH}\nxllcorner 5000\nyllcorner 7000\ncellsize 30\nNODATA_value -9999\nbyteorder {order}\n"
        )
        case(name, (30, 30))
    Path("alone.flt").write_bytes(LAND.astype("<f4").tobytes())
    case("alone.flt")
    for extension, options in [("low", []), ("high", ["MINUSERPIXELVALUE=-50", "MAXUSERPIXELVALUE=900"])]:
        source = gdal.GetDriverByName("MEM").Create("", WIDTH, DEPTH, 1, gdal.GDT_Float32)
        source.GetRasterBand(1).WriteArray(LAND)
        source.SetGeoTransform(UTM)
        name = f"{extension}.ter"
        options = options or [f"MINUSERPIXELVALUE={LAND.min()}", f"MAXUSERPIXELVALUE={LAND.max()}"]
        gdal.GetDriverByName("Terragen").CreateCopy(name, source, options=options)
        case(name, (30, 30), tolerance=0.05)
    columns, rows = numpy.meshgrid(numpy.arange(96), numpy.arange(64))
    hills = 400 + 9.3 * columns + 3.1 * rows + 30 * numpy.sin(columns / 5) * numpy.cos(rows / 7)
    hills[:6, :6] += 300
    for name, value in [
        ("mapbox", numpy.rint((hills + 10000) * 10).astype("u4")), ("terrarium", numpy.rint((hills + 32768) * 256).astype("u4")),
    ]:
        pixels = numpy.stack([value >> 16, value >> 8 & 255, value & 255], axis=2).astype("u1")
        for extension, options in [("png", {}), ("webp", {"lossless": True})]:
            Image.fromarray(pixels).save(f"{name}.{extension}", **options)
            case(f"{name}.{extension}", tolerance=0.06, land=hills)
    rainbow = Image.fromarray(LAND.astype("u1"), "P")
    rainbow.putpalette([channel for at in range(256) for channel in (at, (5 * at) % 256, 255 - at)])
    rainbow.save("palette.png")
    case("palette.png")


def outcome(name, spacing, holes, tolerance, land, options):
    run = subprocess.run([PROGRAM, "convert", name, "out.r32", "--force", *options], capture_output=True, text=True)
    said = " ".join(run.stderr.split())
    if run.returncode:
        has_cure = any(word in said for word in ["convert", "save", "supported:", "specify", "choose", "name one", "write", "put it"])
        return ("refused" if has_cure and run.returncode in (1, 2) else "WRONG"), said
    side = json.load(open("out.r32.json"))
    found = numpy.fromfile("out.r32", "<f4").reshape(side["height"], side["width"])
    if found.shape != land.shape:
        return "WRONG", f"{found.shape}, {said}"
    error = numpy.abs(found - land)
    known = error if holes is None else error[~holes]
    filled = 0 if holes is None else error[holes].max()
    if known.max() > tolerance or filled > 12:
        return "WRONG", f"off by {known.max():.3f} m, in holes by {filled:.3f} m, {said}"
    written = (side["spacing_x_m"], side["spacing_z_m"])
    if spacing is None:
        return ("noted" if "spacing" in said else "WRONG"), said
    if any(abs(a - b) > 2e-3 * b for a, b in zip(written, spacing)):
        return "WRONG", f"spacing {written} for {spacing}, {said}"
    return ("noted" if said else "right"), said


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    for make in [geotiffs, grids, images, floats, headerless, other_programs]:
        make()
    counts = {}
    for arguments in cases:
        result, said = outcome(*arguments)
        counts[result] = counts.get(result, 0) + 1
        print(f"{arguments[0]:32} {result:8} {said[:150]}")
    print(f"{len(cases)} files: " + ", ".join(f"{count} {result}" for result, count in sorted(counts.items())))
    sys.exit(counts.get("WRONG", 0) > 0)
