"""Imports terrain that Upthrust exported, with its scattered instances, and loads it again when the export changes.

Install this file as an add-on, or import it as a module and call `register`, `import_terrain` and `reload_terrain`.
"""

import ctypes
import json
import math
import reprlib
import string
import sys
import textwrap
import time
import traceback
import zlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import bpy
import numpy
from bpy.props import (
    BoolProperty, CollectionProperty, EnumProperty, FloatProperty, IntVectorProperty, PointerProperty, StringProperty,
)
from bpy_extras.io_utils import ImportHelper
from mathutils import Color

bl_info = {
    "name": "Upthrust terrain",
    "description": "Import terrain from Upthrust, and reload it when its export changes",
    "author": "The Upthrust authors",
    "version": (0, 1, 0),
    "blender": (4, 2, 0),
    "location": "File > Import > Upthrust terrain; 3D viewport > sidebar > Upthrust",
    "category": "Import-Export",
}

MANIFEST_NAME = "upthrust.json"
# The newest manifest format that this add-on reads.
FORMAT = 1
WATCH_INTERVAL_S = 0.5
# The longest time until an export that could not be loaded is tried again. The time doubles with every failure.
MAX_RETRY_S = 10.0
# How often all objects are searched for terrains; in between, only those that were found are looked at.
SEARCH_INTERVAL_S = 5.0
# The largest number that a manifest may have. NaN and infinity are not below it.
MAX_NUMBER = 1e9
# Before 4.5 every property of a path could be relative to the .blend file.
RELATIVE_PATHS = {"PATH_SUPPORTS_BLEND_RELATIVE"} if bpy.app.version >= (4, 5, 0) else set()
WATER_NAME = "Upthrust water"
# On the node with the colour of a terrain type: the colour in the export, to tell it from one that the user chose.
EXPORTED_COLOR = "upthrust_color"
# On the mesh that stands for the instances of a layer until the user has another one.
STAND_IN = "upthrust_stand_in"
SCATTER_NODES_NAME = "Upthrust scatter"
# The columns of a scatter file, and the sides of the shapes that stand for instances.
SCATTER_FIELDS = ["x_m", "y_m", "z_m", "yaw_deg", "pitch_deg", "roll_deg", "scale"]
SHAPES = {"cone": 8, "ball": 8, "box": 4, "pillar": 8}
# What the material of a terrain shows.
SOURCES = [
    ("TEXTURE", "Texture", "The texture of the export"),
    ("TYPES", "Terrain types", "The colours of the terrain types, mixed by the weights of the export"),
]
IMAGE_HEIGHTMAPS = {".exr", ".png"}
RAW_HEIGHTMAPS = {".r16", ".r32", ".raw"}
# Blender counts the corners of a mesh in 32 bits.
MAX_CORNERS = 2**31 - 1
# An import takes 160 at its peak, measured with 4097 × 4097 samples; the rest is for drawing.
BYTES_PER_SAMPLE = 200
# For each byte of a scatter file, measured with a million instances: 10.
BYTES_PER_SCATTER_BYTE = 12


class ImportFailed(Exception):
    """An export that cannot be loaded; the message is for the user."""


# The manifest


@dataclass(frozen=True)
class ImageFile:
    """A texture or a map of weights, or a tile of one."""

    file: str
    crc32: str
    tile: tuple[int, int]
    size: tuple[int, int]
    # The terrain type of each channel; empty for a texture.
    types: tuple[int, ...] = ()


@dataclass(frozen=True)
class Heightmap:
    """A heightmap, or a tile of one."""

    file: str
    crc32: str
    first_sample: tuple[int, int]
    size: tuple[int, int]
    # The heights of 0 and of `max_value`; without `max_value` the values are metres.
    min_m: float
    max_m: float
    max_value: int | None
    bits: int | None
    byte_order: str | None
    south_first: bool


@dataclass(frozen=True)
class TerrainType:
    name: str
    # sRGB, as in "#4a7a32".
    color: str
    # Whether the type covers what is below it. Other types only tint the colours.
    covers: bool


@dataclass(frozen=True)
class ScatterFile:
    """The instances that stand on the terrain."""

    file: str
    crc32: str


@dataclass(frozen=True)
class Export:
    """What a manifest contains."""

    folder: Path
    # The CRC-32 of the manifest.
    digest: str
    name: str
    width_m: float
    depth_m: float
    samples: tuple[int, int]
    water_m: float | None
    heightmaps: tuple[Heightmap, ...]
    texture: tuple[ImageFile, ...]
    types: tuple[TerrainType, ...]
    weights: tuple[ImageFile, ...]
    scatter: ScatterFile | None

    def heights_key(self) -> str:
        """A key that changes when the vertices have to be loaded again."""
        return repr((self.width_m, self.depth_m, self.samples, self.heightmaps))

    def scatter_key(self) -> str:
        """A key that changes when the scattered instances have to be loaded again."""
        return repr((self.width_m, self.depth_m, self.scatter))

    def files(self) -> list[str]:
        scatter = [] if self.scatter is None else [self.scatter]
        return [entry.file for entry in (*self.heightmaps, *self.texture, *self.weights, *scatter)]


def crc32_of(data: bytes) -> str:
    return f"{zlib.crc32(data):08x}"


def text(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError(f"{reprlib.repr(value)} is not a string")
    # Half of a surrogate pair cannot be encoded, and Blender does not take it.
    value.encode()
    return value


def file_name(value: Any) -> str:
    # Files are beside the manifest; a path to elsewhere can only come from a damaged or malicious manifest.
    if not text(value) or value in (".", "..") or set(value) & set("/\\:\0"):
        raise ValueError(f"{reprlib.repr(value)} is not a file name")
    return value


def whole(value: Any, least: int) -> int:
    if type(value) is not int or not least <= value <= MAX_NUMBER:
        raise ValueError(f"{reprlib.repr(value)} is not a whole number of at least {least}")
    return value


def pair(values: Any, least: int) -> tuple[int, int]:
    first, second = values
    return whole(first, least), whole(second, least)


def number(value: Any) -> float:
    if type(value) not in (int, float) or not abs(value) <= MAX_NUMBER:
        raise ValueError(f"{reprlib.repr(value)} is not a number")
    return float(value)


def length(value: Any) -> float:
    if number(value) <= 0:
        raise ValueError(f"{reprlib.repr(value)} is not a length")
    return float(value)


def is_readable(entry: dict[str, Any]) -> bool:
    """Whether this is a heightmap of a kind that the add-on reads. An export can have others."""
    suffix = Path(file_name(entry["file"])).suffix.lower()
    return suffix in IMAGE_HEIGHTMAPS | RAW_HEIGHTMAPS and entry["values"] in ("integers", "metres")


def heightmap_entry(entry: dict[str, Any]) -> Heightmap:
    integers = entry["values"] == "integers"
    min_m, max_m = number(entry["min_m"]), number(entry["max_m"])
    if min_m > max_m:
        raise ValueError(f"the heights of {entry['file']} are from {min_m} to {max_m} m")
    return Heightmap(
        file=file_name(entry["file"]),
        crc32=text(entry["crc32"]),
        first_sample=pair(entry["first_sample"], 0),
        size=pair(entry["size"], 1),
        min_m=min_m,
        max_m=max_m,
        max_value=whole(entry["max_value"], 1) if integers else None,
        bits=None if entry.get("bits") is None else whole(entry["bits"], 1),
        byte_order=entry.get("byte_order"),
        south_first=entry.get("row_order") == "south first",
    )


def image_entry(entry: dict[str, Any]) -> ImageFile:
    types = tuple(whole(index, 0) for index in entry.get("types") or ())
    return ImageFile(
        file_name(entry["file"]), text(entry["crc32"]), pair(entry["tile"], 0), pair(entry["size"], 1), types
    )


def color_text(value: Any) -> str:
    color = text(value)
    if len(color) != 7 or color[0] != "#" or not set(color[1:]) <= set(string.hexdigits):
        raise ValueError(f"{reprlib.repr(color)} is not a colour")
    return color


def type_entry(entry: dict[str, Any]) -> TerrainType:
    return TerrainType(text(entry["name"]), color_text(entry["color"]), entry.get("covers", True) is True)


def chosen_scatter(entries: list[dict[str, Any]]) -> ScatterFile | None:
    """The JSON file of scattered instances. An export can have other formats, with other axes."""
    files = [ScatterFile(file_name(entry["file"]), text(entry["crc32"])) for entry in entries]
    return next((entry for entry in files if Path(entry.file).suffix.lower() == ".json"), None)


def chosen_heightmaps(entries: list[dict[str, Any]]) -> tuple[Heightmap, ...]:
    """The tiles of one heightmap: of metres if there is one, because integers are rounded."""
    readable = [heightmap_entry(entry) for entry in entries if is_readable(entry)]
    if not readable:
        known = ", ".join(sorted(IMAGE_HEIGHTMAPS | RAW_HEIGHTMAPS))
        raise ImportFailed(f"The export has no heightmap that this add-on reads ({known}).")

    def suffix(heightmap: Heightmap) -> str:
        return Path(heightmap.file).suffix.lower()

    best = min(readable, key=lambda heightmap: heightmap.max_value is not None)
    return tuple(heightmap for heightmap in readable if suffix(heightmap) == suffix(best))


def chosen_weights(weights: list[ImageFile], types_to_show: set[int]) -> tuple[ImageFile, ...]:
    """As few maps as possible that have all of these types: packs instead of a map for each, if both are there."""
    chosen: list[ImageFile] = []
    types: dict[tuple[int, int], set[int]] = {}
    # Packs are listed last, and the last pack can have a single type too.
    for entry in sorted(reversed(weights), key=lambda entry: -len(entry.types)):
        types_of_tile = types.setdefault(entry.tile, set())
        if (set(entry.types) & types_to_show) - types_of_tile:
            chosen.append(entry)
            types_of_tile |= set(entry.types)
    return tuple(sorted(chosen, key=lambda entry: entry.types))


def parse_manifest(folder: Path, data: bytes) -> Export:
    """Reads a manifest. Unknown keys are ignored."""
    try:
        content = json.loads(data)
        # The sidecar of a heightmap names its format in words.
        if not isinstance(content, dict) or "upthrust" not in content or type(content.get("format")) is not int:
            raise ImportFailed(f"This is not the {MANIFEST_NAME} of an export for a target.")
        if content["format"] > FORMAT:
            raise ImportFailed(
                "This export needs a newer version of this add-on. Install upthrust_blender.py from the folder of an "
                "export for Blender that the same version of Upthrust made."
            )
        types = tuple(type_entry(entry) for entry in content.get("types", []))
        covering = {index for index, terrain_type in enumerate(types) if terrain_type.covers}
        weights = [image_entry(entry) for entry in content.get("weights", [])]
        if any(index >= len(types) for entry in weights for index in entry.types):
            raise ValueError("a map of weights has an unknown terrain type")
        export = Export(
            folder=folder,
            digest=crc32_of(data),
            name=text(content.get("name") or "Terrain"),
            width_m=length(content["width_m"]),
            depth_m=length(content["depth_m"]),
            samples=pair(content["samples"], 2),
            water_m=None if content.get("water_m") is None else number(content["water_m"]),
            heightmaps=chosen_heightmaps(content["heightmaps"]),
            texture=tuple(image_entry(entry) for entry in content.get("texture", [])),
            types=types,
            weights=chosen_weights(weights, covering),
            scatter=chosen_scatter(content.get("scatter", [])),
        )
    except (json.JSONDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ImportFailed(f"{MANIFEST_NAME} is damaged or incomplete. Export again.") from error
    except KeyError as error:
        raise ImportFailed(f"{MANIFEST_NAME} is damaged: {error.args[0]!r} is missing. Export again.") from error
    except (ValueError, TypeError, AttributeError) as error:
        raise ImportFailed(f"{MANIFEST_NAME} is damaged: {error}. Export again.") from error
    return export


def manifest_path(path: str) -> Path:
    """The manifest, given by itself or by its folder."""
    manifest = Path(bpy.path.abspath(path))
    return manifest / MANIFEST_NAME if manifest.is_dir() else manifest


def read_file(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise ImportFailed(f"{path.name} cannot be read: {error.strerror or error}.") from error


def read_manifest(path: Path) -> Export:
    return parse_manifest(path.parent, read_file(path))


def verified_bytes(folder: Path, entry: Heightmap | ImageFile | ScatterFile) -> bytes:
    """The contents of a file. A file of another export, which may just be under way, is refused."""
    data = read_file(folder / entry.file)
    if crc32_of(data) != entry.crc32:
        raise ImportFailed(f"{entry.file} does not belong to this {MANIFEST_NAME}. An export may still be under way.")
    return data


# Heights


def available_memory() -> int | None:
    """The bytes that programs can still use, if the system says."""
    if sys.platform == "linux":
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    if sys.platform == "win32":

        class MemoryStatus(ctypes.Structure):
            _fields_ = [("length", ctypes.c_ulong), ("load", ctypes.c_ulong)] + [
                (name, ctypes.c_ulonglong)
                for name in ["total", "available", "total_page", "available_page", "total_virtual", "virtual", "more"]
            ]

        status = MemoryStatus(length=ctypes.sizeof(MemoryStatus))
        if ctypes.windll.kernel32.GlobalMemoryStatusEx(ctypes.byref(status)):
            return status.available
    return None


def check_size(samples: tuple[int, int]) -> None:
    """Refuses a mesh that Blender cannot hold. Blender crashes when its own allocations fail, so this is checked
    first."""
    width, height = samples
    if 4 * (width - 1) * (height - 1) > MAX_CORNERS:
        raise ImportFailed(f"{width} × {height} samples are too many for a mesh in Blender. Export at a smaller size.")
    needed, available = width * height * BYTES_PER_SAMPLE, available_memory()
    if available is not None and needed > available:
        raise ImportFailed(
            f"There is not enough memory: {width} × {height} samples need about {needed / 1e9:.1f} GB, and "
            f"{available / 1e9:.1f} GB are available. Export at a smaller size."
        )


def image_values(entry: Heightmap, data: bytes) -> numpy.ndarray:
    """The values of an EXR or PNG heightmap, rows from north to south."""
    image = bpy.data.images.new(entry.file, 1, 1)
    try:
        # From memory: the file on the disk may have been replaced since its checksum was compared.
        image.pack(data=data, data_len=len(data))
        image.source = "FILE"
        image.colorspace_settings.is_data = True
        image.alpha_mode = "CHANNEL_PACKED"
        if tuple(image.size) != entry.size:
            raise ImportFailed(f"{entry.file} does not have the size that {MANIFEST_NAME} states. Export again.")
        if not image.is_float:
            raise ImportFailed(f"{entry.file} has 8 bits per value. Export a heightmap of 16 or 32 bits.")
        pixels = numpy.empty(len(image.pixels), numpy.float32)
        image.pixels.foreach_get(pixels)
        values = pixels.reshape(entry.size[1], entry.size[0], -1)[..., 0]
    finally:
        bpy.data.images.remove(image)
    # Blender's first row is the bottom one.
    return values if entry.south_first else values[::-1]


def raw_values(entry: Heightmap, data: bytes) -> numpy.ndarray:
    """The values of a raw heightmap, rows from north to south."""
    kind = {(16, True): "u2", (32, True): "u4", (32, False): "f4"}.get((entry.bits, entry.max_value is not None))
    if kind is None:
        raise ImportFailed(f"{entry.file} has values that this add-on does not read.")
    order = ">" if entry.byte_order == "big-endian" else "<"
    if len(data) != entry.size[0] * entry.size[1] * numpy.dtype(kind).itemsize:
        raise ImportFailed(f"{entry.file} does not have the size that {MANIFEST_NAME} states. Export again.")
    values = numpy.frombuffer(data, order + kind).reshape(entry.size[1], entry.size[0])
    return values[::-1] if entry.south_first else values


def tile_heights(folder: Path, entry: Heightmap) -> numpy.ndarray:
    """The heights of a heightmap in metres, rows from north to south."""
    data = verified_bytes(folder, entry)
    if Path(entry.file).suffix.lower() in RAW_HEIGHTMAPS:
        values, is_integer = raw_values(entry, data), True
    else:
        # Blender scales integers to between 0 and 1.
        values, is_integer = image_values(entry, data), False
    if entry.max_value is None:
        return values.astype(numpy.float32, copy=False)
    # In 64 bits, and from whole numbers again: the step of a height can be as small as the rounding of 32 bits.
    values = values.astype(numpy.float64)
    if not is_integer:
        values = numpy.rint(values * entry.max_value)
    return (entry.min_m + values * ((entry.max_m - entry.min_m) / entry.max_value)).astype(numpy.float32)


def read_heights(export: Export) -> numpy.ndarray:
    """The heights of the whole terrain in metres, rows from north to south."""
    width, height = export.samples
    heights = numpy.full((height, width), numpy.nan, numpy.float32)
    for entry in export.heightmaps:
        (column, row), (columns, rows) = entry.first_sample, entry.size
        if column + columns > width or row + rows > height:
            raise ImportFailed(f"{entry.file} is larger than the terrain in {MANIFEST_NAME}. Export again.")
        heights[row : row + rows, column : column + columns] = tile_heights(export.folder, entry)
    if not numpy.isfinite(heights).all():
        raise ImportFailed("Some tiles of the heights are missing. Export all of them.")
    return heights


# Scattered instances


@dataclass(frozen=True)
class ScatterLayer:
    """The instances of a layer, and the shape that stands for them."""

    name: str
    shape: str
    radius_m: float
    height_m: float
    color: str
    # Rows of `SCATTER_FIELDS`.
    instances: numpy.ndarray

    def stand_in_key(self) -> str:
        return repr((self.shape, self.radius_m, self.height_m, self.color))


def instances_of(rows: list[list[float]], fields: list[str]) -> numpy.ndarray:
    """The instances of a layer, with the columns in the order of `SCATTER_FIELDS`."""
    try:
        values = numpy.array(rows) if rows else numpy.empty((0, len(fields)))
    except ValueError as error:
        raise ValueError("its instances are not rows of numbers") from error
    # Texts and nested lists make arrays of other kinds. NaN is not below the limit.
    if values.dtype.kind not in "if" or values.ndim != 2 or values.shape[1] != len(fields):
        raise ValueError("its instances are not rows of numbers")
    values = values[:, [fields.index(field) for field in SCATTER_FIELDS]].astype(numpy.float64)
    if not (abs(values) <= MAX_NUMBER).all():
        raise ValueError("an instance has a number that is too large")
    return values


def scatter_layer(entry: dict[str, Any], fields: list[str]) -> ScatterLayer:
    shape = text(entry["shape"])
    if shape not in SHAPES:
        raise ValueError(f"{reprlib.repr(shape)} is not a known shape")
    name, color = text(entry["name"]) or "Scatter", color_text(entry["color"])
    instances = instances_of(entry["instances"], fields)
    return ScatterLayer(name, shape, length(entry["radius_m"]), length(entry["height_m"]), color, instances)


def read_scatter(export: Export) -> list[ScatterLayer]:
    """The layers of scattered instances."""
    if export.scatter is None:
        return []
    file = export.scatter.file
    data = verified_bytes(export.folder, export.scatter)
    needed, available = len(data) * BYTES_PER_SCATTER_BYTE, available_memory()
    if available is not None and needed > available:
        raise ImportFailed(
            f"There is not enough memory: {file} needs about {needed / 1e9:.1f} GB, and {available / 1e9:.1f} GB are "
            "available. Scatter fewer instances."
        )
    try:
        content = json.loads(data)
        fields = content["fields"]
        if not set(SCATTER_FIELDS) <= set(fields):
            raise ValueError("a column is missing")
        layers = [scatter_layer(entry, fields) for entry in content["layers"]]
        if len({layer.name for layer in layers}) != len(layers):
            raise ValueError("two layers have the same name")
        return layers
    except KeyError as error:
        raise ImportFailed(f"{file} is damaged: {error.args[0]!r} is missing. Export again.") from error
    except (ValueError, TypeError, AttributeError, RecursionError) as error:
        raise ImportFailed(f"{file} is damaged: {error}. Export again.") from error


def instance_positions(export: Export, instances: numpy.ndarray) -> numpy.ndarray:
    """Where instances stand beside the middle of the terrain: from x east, y up, z south to x east, y north, z up."""
    x, y, z = instances[:, :3].T
    return numpy.stack([x - export.width_m / 2, export.depth_m / 2 - z, y], axis=-1).astype(numpy.float32)


def instance_rotations(instances: numpy.ndarray) -> numpy.ndarray:
    """The rotations of instances as quaternions w, x, y, z: first the roll, which lifts the right side, then the
    pitch, which lifts the front, then the yaw, clockwise from above. Without rotation, they face north, which is y."""
    yaw, pitch, roll = numpy.radians(instances[:, 3:6].T) / 2
    cos_yaw, sin_yaw, cos_pitch, sin_pitch = numpy.cos(yaw), -numpy.sin(yaw), numpy.cos(pitch), numpy.sin(pitch)
    cos_roll, sin_roll = numpy.cos(roll), -numpy.sin(roll)
    return numpy.stack(
        [
            cos_yaw * cos_pitch * cos_roll - sin_yaw * sin_pitch * sin_roll,
            cos_yaw * sin_pitch * cos_roll - sin_yaw * cos_pitch * sin_roll,
            cos_yaw * cos_pitch * sin_roll + sin_yaw * sin_pitch * cos_roll,
            cos_yaw * sin_pitch * sin_roll + sin_yaw * cos_pitch * cos_roll,
        ],
        axis=-1,
    ).astype(numpy.float32)


def instance_ids(instances: numpy.ndarray) -> numpy.ndarray:
    """A number for each instance that follows from its place, so that an instance that stays keeps its asset and its
    random numbers when others come and go."""
    cells = numpy.rint(instances[:, [0, 2]] * 1000).astype(numpy.int64)
    return ((cells * (73856093, 19349663)).sum(axis=1) & 0x7FFFFFFF).astype(numpy.int32)


def set_points(mesh: bpy.types.Mesh, export: Export, instances: numpy.ndarray) -> None:
    """Makes the vertices of a mesh those of instances, with the attributes that the nodes read."""
    if len(mesh.vertices) != len(instances) or len(mesh.edges) > 0:
        mesh.clear_geometry()
        mesh.vertices.add(len(instances))
    if len(instances) > 0:
        for name, kind, field, values in [
            ("rotation", "QUATERNION", "value", instance_rotations(instances)),
            ("scale", "FLOAT", "value", instances[:, 6].astype(numpy.float32)),
            ("id", "INT", "value", instance_ids(instances)),
        ]:
            attribute = mesh.attributes.get(name)
            if attribute is not None and (attribute.data_type, attribute.domain) != (kind, "POINT"):
                mesh.attributes.remove(attribute)
                attribute = None
            if attribute is None:
                mesh.attributes.new(name, kind, "POINT")
            set_attribute(mesh, name, field, values)
        set_positions(mesh, instance_positions(export, instances)[None])
    mesh.update()


def stand_in_geometry(layer: ScatterLayer) -> tuple[list[tuple[float, float, float]], list[tuple[int, ...]]]:
    """The vertices and faces of the shape of a layer, standing on the origin."""
    sides = SHAPES[layer.shape]
    # Rings from the bottom up, as shares of the radius and the height.
    rings = {
        "cone": [(0, 0), (1, 0), (0, 1)],
        "ball": [(math.sin(math.pi * at / 5), 0.5 - 0.5 * math.cos(math.pi * at / 5)) for at in range(6)],
    }.get(layer.shape, [(0, 0), (1, 0), (1, 1), (0, 1)])
    # A box has sides of twice the radius, which face the compass directions.
    radius_m, turned = (layer.radius_m * math.sqrt(2), 0.5) if layer.shape == "box" else (layer.radius_m, 0)
    angles = [2 * math.pi * (at + turned) / sides for at in range(sides)]
    vertices, rows = [], []
    for at, (share, up) in enumerate(rings):
        # The first and the last ring are points.
        around = [0.0] if at in (0, len(rings) - 1) else angles
        rows.append([len(vertices) + at % len(around) for at in range(sides)])
        reach = 0 if len(around) == 1 else share * radius_m
        vertices += [(reach * math.sin(angle), reach * math.cos(angle), up * layer.height_m) for angle in around]
    faces = []
    for low, high in zip(rows, rows[1:]):
        for at in range(sides):
            after = (at + 1) % sides
            faces.append(tuple(dict.fromkeys((low[after], low[at], high[at], high[after]))))
    return vertices, faces


# The mesh


def positions(export: Export, heights: numpy.ndarray) -> numpy.ndarray:
    """The vertices: x east, y north, z up, with the middle of the terrain at the origin."""
    rows, columns = heights.shape
    result = numpy.empty((rows, columns, 3), numpy.float32)
    result[..., 0] = numpy.linspace(-export.width_m / 2, export.width_m / 2, columns)
    result[..., 1] = numpy.linspace(export.depth_m / 2, -export.depth_m / 2, rows)[:, None]
    result[..., 2] = heights
    return result


def set_attribute(mesh: bpy.types.Mesh, name: str, field: str, values: numpy.ndarray) -> None:
    # The attributes take an array of the right type in one copy. `vertices`, `edges` and `loops` take each value by
    # itself, which is a hundred times slower.
    mesh.attributes[name].data.foreach_set(field, values.ravel())


def set_positions(mesh: bpy.types.Mesh, places: numpy.ndarray) -> None:
    set_attribute(mesh, "position", "vector", places)
    # Writing an attribute keeps the bounds and the normals of before; setting a vertex discards them.
    mesh.vertices[0].co = places[0, 0]
    mesh.update()


def corner_vertices(rows: int, columns: int) -> numpy.ndarray:
    """The vertices of each face, counter-clockwise from above and starting in the south-west."""
    vertices = numpy.arange(rows * columns, dtype=numpy.int32).reshape(rows, columns)
    return numpy.stack([vertices[1:, :-1], vertices[1:, 1:], vertices[:-1, 1:], vertices[:-1, :-1]], axis=-1)


def edge_vertices(rows: int, columns: int) -> numpy.ndarray:
    """The vertices of each edge: first the edges eastward, then those southward."""
    vertices = numpy.arange(rows * columns, dtype=numpy.int32).reshape(rows, columns)
    eastward = numpy.stack([vertices[:, :-1], vertices[:, 1:]], axis=-1).reshape(-1, 2)
    southward = numpy.stack([vertices[:-1], vertices[1:]], axis=-1).reshape(-1, 2)
    return numpy.concatenate([eastward, southward])


def corner_edges(rows: int, columns: int) -> numpy.ndarray:
    """The edge that follows each corner of each face."""
    eastward = numpy.arange(rows * (columns - 1), dtype=numpy.int32).reshape(rows, columns - 1)
    southward = numpy.arange((rows - 1) * columns, dtype=numpy.int32).reshape(rows - 1, columns) + eastward.size
    return numpy.stack([eastward[1:], southward[:, 1:], eastward[:-1], southward[:, :-1]], axis=-1)


def corner_uvs(rows: int, columns: int) -> numpy.ndarray:
    """The texture coordinates of each corner: 0, 0 in the south-west and 1, 1 in the north-east."""
    u = numpy.linspace(0, 1, columns, dtype=numpy.float32)
    v = numpy.linspace(1, 0, rows, dtype=numpy.float32)[:, None]
    result = numpy.empty((rows - 1, columns - 1, 4, 2), numpy.float32)
    result[:, :, 0::3, 0], result[:, :, 1:3, 0] = u[:-1, None], u[1:, None]
    result[:, :, 0:2, 1], result[:, :, 2:4, 1] = v[1:, :, None], v[:-1, :, None]
    return result


def make_mesh(name: str, places: numpy.ndarray) -> bpy.types.Mesh:
    """A grid of quads with a vertex at every sample. The edges are given, because computing them takes seconds."""
    rows, columns = places.shape[:2]
    faces = (rows - 1) * (columns - 1)
    mesh = bpy.data.meshes.new(name)
    mesh.vertices.add(rows * columns)
    mesh.edges.add(rows * (columns - 1) + (rows - 1) * columns)
    mesh.loops.add(4 * faces)
    mesh.polygons.add(faces)
    set_attribute(mesh, ".edge_verts", "value", edge_vertices(rows, columns))
    set_attribute(mesh, ".corner_vert", "value", corner_vertices(rows, columns))
    set_attribute(mesh, ".corner_edge", "value", corner_edges(rows, columns))
    mesh.polygons.foreach_set("loop_start", numpy.arange(0, 4 * faces, 4, dtype=numpy.int32))
    layer = mesh.uv_layers.new(name="UVMap", do_init=False)
    set_attribute(mesh, layer.name, "vector", corner_uvs(rows, columns))
    set_positions(mesh, places)
    mesh.shade_smooth()
    return mesh


def set_material_indices(mesh: bpy.types.Mesh, samples: tuple[int, int], tiles: tuple[int, int]) -> None:
    """Gives the faces of each tile of the texture the material of that tile."""
    if tiles == (1, 1):
        if "material_index" in mesh.attributes:
            mesh.attributes.remove(mesh.attributes["material_index"])
        return
    columns, rows = (numpy.arange(count - 1) * tiles[axis] // (count - 1) for axis, count in enumerate(samples))
    if "material_index" not in mesh.attributes:
        mesh.attributes.new("material_index", "INT", "FACE")
    indices = (rows[:, None] * tiles[0] + columns).astype(numpy.int32)
    set_attribute(mesh, "material_index", "value", indices)
    mesh.update()


# Materials


@dataclass(frozen=True)
class MaterialPlan:
    """The materials of a terrain: one for each tile of its texture or weights."""

    export: Export
    source: str
    images: tuple[ImageFile, ...]
    tiles: tuple[int, int]

    def key(self) -> str:
        """A key that changes when the nodes have to be made again."""
        files = [(entry.file, entry.types) for entry in self.images]
        names = [terrain_type.name for terrain_type in self.export.types] if self.source == "TYPES" else []
        return repr((self.source, files, names))

    def images_of(self, tile: tuple[int, int]) -> list[ImageFile]:
        return [entry for entry in self.images if entry.tile == tile]


def material_plan(export: Export, wanted: str) -> MaterialPlan:
    """What the materials show: the wanted source, the other one if the export does not have it, or plain grey."""
    sources = {"TEXTURE": export.texture, "TYPES": export.weights}
    order = [wanted, *(source for source in sources if source != wanted)]
    source = next((source for source in order if sources[source]), "PLAIN")
    images = sources.get(source, ())
    tiles = tuple(max((entry.tile[axis] for entry in images), default=0) + 1 for axis in (0, 1))
    return MaterialPlan(export, source, images, tiles)


def linear_color(color: str) -> tuple[float, float, float, float]:
    """A colour such as "#4a7a32" in the scene's linear colour space."""
    color = Color(int(color[at : at + 2], 16) / 255 for at in (1, 3, 5))
    return (*color.from_srgb_to_scene_linear(), 1.0)


def type_node_name(index: int) -> str:
    """The name by which the colour of a terrain type is found again."""
    return f"Upthrust type {index}"


class NodeTree:
    """Adds nodes in columns from left to right."""

    def __init__(self, tree: bpy.types.NodeTree):
        self.tree = tree

    def add(self, kind: str, place: tuple[float, float], **settings: Any) -> bpy.types.Node:
        node = self.tree.nodes.new(kind)
        node.location = place
        for name, value in settings.items():
            setattr(node, name, value)
        return node

    def connect(self, output: Any, target: bpy.types.NodeSocket) -> None:
        """Connects an output with an input, or sets the input to a constant."""
        if isinstance(output, bpy.types.NodeSocket):
            self.tree.links.new(output, target)
        else:
            target.default_value = output

    def operation(self, kind: str, operation: str, place: tuple[float, float], *inputs: Any) -> bpy.types.NodeSocket:
        node = self.add(kind, place, operation=operation)
        for output, target in zip(inputs, node.inputs):
            self.connect(output, target)
        return node.outputs[0]


def tile_coordinates(nodes: NodeTree, plan: MaterialPlan, tile: tuple[int, int]) -> bpy.types.NodeSocket | None:
    """The coordinates within the image of a tile; `None` for those of the mesh."""
    columns, rows = plan.tiles
    if plan.tiles == (1, 1):
        return None
    uv = nodes.add("ShaderNodeUVMap", (-1500, 0), uv_map="UVMap")
    mapping = nodes.add("ShaderNodeMapping", (-1300, 0))
    mapping.inputs["Scale"].default_value = (columns, rows, 1)
    mapping.inputs["Location"].default_value = (-tile[0], tile[1] + 1 - rows, 0)
    nodes.connect(uv.outputs["UV"], mapping.inputs["Vector"])
    return mapping.outputs["Vector"]


def image_node(
    nodes: NodeTree, image: bpy.types.Image, vector: bpy.types.NodeSocket | None, place: tuple[float, float]
) -> bpy.types.Node:
    # Extended, because a repeated image would bring colours of the other side to the borders.
    node = nodes.add("ShaderNodeTexImage", place, image=image, extension="EXTEND")
    if vector is not None:
        nodes.connect(vector, node.inputs["Vector"])
    return node


def weight_outputs(
    nodes: NodeTree, entry: ImageFile, image: bpy.types.Image, vector: Any, y: float
) -> list[bpy.types.NodeSocket]:
    """The weights of the types of a map, one for each channel."""
    node = image_node(nodes, image, vector, (-1100, y))
    # Also for a single type, which can be the last one, alone in the red channel of a pack.
    channels = nodes.add("ShaderNodeSeparateColor", (-800, y))
    nodes.connect(node.outputs["Color"], channels.inputs["Color"])
    return [*channels.outputs, node.outputs["Alpha"]]


def mixed_types(
    nodes: NodeTree, plan: MaterialPlan, tile: tuple[int, int], images: dict[str, bpy.types.Image]
) -> bpy.types.NodeSocket:
    """The mean of the terrain types' colours by their weights."""
    vector = tile_coordinates(nodes, plan, tile)
    # Starts from a little grey, which shows only where no type has a weight.
    grey = 0.001
    color: Any = (0.2 * grey,) * 3
    total: Any = grey
    y = 0.0
    for entry in plan.images_of(tile):
        outputs = weight_outputs(nodes, entry, images[entry.file], vector, y)
        for index, weight in zip(entry.types, outputs):
            terrain_type = plan.export.types[index]
            if not terrain_type.covers:
                continue
            rgb = nodes.add("ShaderNodeRGB", (-600, y), name=type_node_name(index), label=terrain_type.name)
            set_type_color(rgb, terrain_type.color)
            color = nodes.operation("ShaderNodeVectorMath", "MULTIPLY_ADD", (-400, y), rgb.outputs[0], weight, color)
            total = nodes.operation("ShaderNodeMath", "ADD", (-400, y - 190), weight, total)
            y -= 400
    return nodes.operation("ShaderNodeVectorMath", "DIVIDE", (-200, 0), color, total)


def make_material(
    plan: MaterialPlan, tile: tuple[int, int], images: dict[str, bpy.types.Image]
) -> bpy.types.Material:
    suffix = "" if plan.tiles == (1, 1) else f" {tile[0]}, {tile[1]}"
    kind = {"TEXTURE": "texture", "TYPES": "terrain types", "PLAIN": "plain"}[plan.source]
    material = bpy.data.materials.new(f"{plan.export.name} {kind}{suffix}")
    # Without effect since 5.0, where every material has nodes, and deprecated there.
    if bpy.app.version < (5, 0, 0):
        material.use_nodes = True
    nodes = NodeTree(material.node_tree)
    nodes.tree.nodes.clear()
    shader = nodes.add("ShaderNodeBsdfPrincipled", (0, 0))
    shader.inputs["Roughness"].default_value = 0.95
    # Soil and plants hardly shine.
    shader.inputs["Specular IOR Level"].default_value = 0.1
    output = nodes.add("ShaderNodeOutputMaterial", (300, 0))
    nodes.connect(shader.outputs["BSDF"], output.inputs["Surface"])
    if plan.source == "TYPES":
        nodes.connect(mixed_types(nodes, plan, tile, images), shader.inputs["Base Color"])
    elif plan.source == "TEXTURE" and plan.images_of(tile):
        image = images[plan.images_of(tile)[0].file]
        node = image_node(nodes, image, tile_coordinates(nodes, plan, tile), (-400, 0))
        nodes.connect(node.outputs["Color"], shader.inputs["Base Color"])
    else:
        shader.inputs["Base Color"].default_value = (0.2, 0.2, 0.2, 1)
    return material


def make_materials(plan: MaterialPlan, images: dict[str, bpy.types.Image]) -> list[bpy.types.Material]:
    columns, rows = plan.tiles
    return [make_material(plan, (column, row), images) for row in range(rows) for column in range(columns)]


def set_type_color(node: bpy.types.Node, color: str) -> None:
    node.outputs[0].default_value = linear_color(color)
    node[EXPORTED_COLOR] = color


def update_type_colors(materials: Iterable[bpy.types.Material], export: Export) -> None:
    """Sets the colours of the terrain types that have another colour in this export than in the last one. Colours that
    the user has changed stay until then."""
    for material in materials:
        for index, terrain_type in enumerate(export.types):
            node = material.node_tree.nodes.get(type_node_name(index))
            if node is not None and node.type == "RGB" and node.get(EXPORTED_COLOR) != terrain_type.color:
                set_type_color(node, terrain_type.color)


def water_material() -> bpy.types.Material:
    material = bpy.data.materials.new(WATER_NAME)
    if bpy.app.version < (5, 0, 0):
        material.use_nodes = True
    shader = next(node for node in material.node_tree.nodes if node.type == "BSDF_PRINCIPLED")
    shader.inputs["Base Color"].default_value = (0.02, 0.09, 0.14, 1)
    shader.inputs["Roughness"].default_value = 0.15
    shader.inputs["IOR"].default_value = 1.33
    shader.inputs["Alpha"].default_value = 0.7
    # The colour in solid shading.
    material.diffuse_color = (0.15, 0.35, 0.5, 0.7)
    material.surface_render_method = "BLENDED"
    return material


# Nodes that place instances


def make_scatter_nodes() -> bpy.types.NodeTree:
    """Puts the objects of a collection on the points of a mesh: each point gets one of them, turned and scaled by the
    attributes of the point."""
    group = bpy.data.node_groups.new(SCATTER_NODES_NAME, "GeometryNodeTree")
    group.is_modifier = True
    group.interface.new_socket("Geometry", in_out="OUTPUT", socket_type="NodeSocketGeometry")
    group.interface.new_socket("Geometry", in_out="INPUT", socket_type="NodeSocketGeometry")
    group.interface.new_socket("Collection", in_out="INPUT", socket_type="NodeSocketCollection")
    nodes = NodeTree(group)
    points = nodes.add("NodeGroupInput", (-600, 0))
    collection = nodes.add("GeometryNodeCollectionInfo", (-400, -100))
    nodes.connect(points.outputs["Collection"], collection.inputs["Collection"])
    nodes.connect(True, collection.inputs["Separate Children"])
    # Where an object lies does not matter, but its rotation and scale do; "Reset Children" would discard those too.
    centred = nodes.add("GeometryNodeSetPosition", (-200, -100))
    origin = nodes.add("FunctionNodeInputVector", (-400, -300))
    nodes.connect(collection.outputs["Instances"], centred.inputs["Geometry"])
    nodes.connect(origin.outputs["Vector"], centred.inputs["Position"])
    instances = nodes.add("GeometryNodeInstanceOnPoints", (0, 0))
    nodes.connect(points.outputs["Geometry"], instances.inputs["Points"])
    nodes.connect(centred.outputs["Geometry"], instances.inputs["Instance"])
    # Which of the objects follows from the attribute "id".
    nodes.connect(True, instances.inputs["Pick Instance"])
    for name, kind, y in [("rotation", "QUATERNION", -250), ("scale", "FLOAT", -400)]:
        attribute = nodes.add("GeometryNodeInputNamedAttribute", (-200, y), data_type=kind)
        nodes.connect(name, attribute.inputs["Name"])
        nodes.connect(attribute.outputs["Attribute"], instances.inputs[name.capitalize()])
    output = nodes.add("NodeGroupOutput", (200, 0))
    nodes.connect(instances.outputs["Instances"], output.inputs["Geometry"])
    return group


def collection_input(group: bpy.types.NodeTree) -> str | None:
    """The key of the modifier's collection; `None` if the user has removed it from the nodes."""
    items = [item for item in group.interface.items_tree if item.item_type == "SOCKET"]
    return next((item.identifier for item in items if item.socket_type == "NodeSocketCollection"), None)


# Properties of the object


class UpthrustImage(bpy.types.PropertyGroup):
    """An image that was loaded for a terrain."""

    image: PointerProperty(type=bpy.types.Image)
    file: StringProperty()
    crc32: StringProperty()


class UpthrustScatter(bpy.types.PropertyGroup):
    """A layer of scattered instances. `name` is that of the layer."""

    # The points, the collection that is put on them, and the shape in it that stands for the user's assets.
    points: PointerProperty(type=bpy.types.Object)
    collection: PointerProperty(type=bpy.types.Collection)
    stand_in: PointerProperty(type=bpy.types.Object)
    stand_in_key: StringProperty()
    # Whether the export has the layer: if there are no points then, the user has deleted them.
    is_exported: BoolProperty()


class UpthrustMaterial(bpy.types.PropertyGroup):
    """A material that was made for a terrain."""

    material: PointerProperty(type=bpy.types.Material)


def search_terrains(_settings: bpy.types.PropertyGroup, _context: bpy.types.Context) -> None:
    """Looks for watched terrains at the next check, after a property of one has changed."""
    watcher.next_search_s = 0.0


class UpthrustTerrain(bpy.types.PropertyGroup):
    """What an object needs to be loaded again. It is saved in the .blend file."""

    manifest: StringProperty(
        name="Export",
        description="The upthrust.json of the export",
        subtype="FILE_PATH",
        options=RELATIVE_PATHS,
        update=search_terrains,
    )
    watch: BoolProperty(
        name="Reload when the export changes",
        description="Look twice a second whether Upthrust has exported again, and load what has changed",
        default=True,
        update=search_terrains,
    )
    source: EnumProperty(
        name="Material",
        items=SOURCES,
    )
    # What is loaded: the checksum of the manifest, and the keys of the heights and of the materials.
    digest: StringProperty()
    heights_key: StringProperty()
    materials_key: StringProperty()
    images: CollectionProperty(type=UpthrustImage)
    materials: CollectionProperty(type=UpthrustMaterial)
    # The tiles whose faces have the material of their tile; the user may have given them others since then.
    tiles: IntVectorProperty(size=2, default=(1, 1))
    has_water: BoolProperty()
    water_m: FloatProperty()
    water: PointerProperty(type=bpy.types.Object)
    scatter_key: StringProperty()
    scatter: CollectionProperty(type=UpthrustScatter)
    scatter_nodes: PointerProperty(type=bpy.types.NodeTree)
    # The result of the last load.
    result: StringProperty()
    result_time: StringProperty()
    failed: BoolProperty()


def set_result(settings: UpthrustTerrain, message: str, failed: bool) -> None:
    if failed and settings.failed and settings.result == message:
        return
    settings.result, settings.failed = message, failed
    settings.result_time = time.strftime("%H:%M:%S")
    # The panel is not drawn again by itself when a timer changes what it shows.
    for window in bpy.context.window_manager.windows:
        for area in window.screen.areas:
            if area.type == "VIEW_3D":
                area.tag_redraw()


# Loading


@dataclass
class StagedImage:
    """An image that is loaded but not shown yet."""

    entry: ImageFile
    image: bpy.types.Image


def file_state(path: Path) -> tuple[int, ...] | None:
    try:
        state = path.stat()
    except OSError:
        return None
    return state.st_mtime_ns, state.st_size, state.st_ino


def stage_image(export: Export, entry: ImageFile, old: bpy.types.Image | None) -> StagedImage:
    """Loads an image beside the one that it replaces, whose settings it takes over."""
    path = export.folder / entry.file
    state = file_state(path)
    verified_bytes(export.folder, entry)
    image = bpy.data.images.load(str(path), check_existing=False)
    try:
        if old is not None:
            image.colorspace_settings.name = old.colorspace_settings.name
            image.alpha_mode = old.alpha_mode
        else:
            if entry.types:
                image.colorspace_settings.is_data = True
            # The fourth channel is a weight, or the roughness for Terrain3D, but never opacity.
            image.alpha_mode = "CHANNEL_PACKED"
        # Asking for the size reads the file.
        if tuple(image.size) != entry.size:
            raise ImportFailed(f"{entry.file} does not have the size that {MANIFEST_NAME} states. Export again.")
        if file_state(path) != state:
            raise ImportFailed(f"{entry.file} was replaced while it was read. An export may still be under way.")
        if old is not None and old.packed_file is not None:
            image.pack()
    except BaseException:
        bpy.data.images.remove(image)
        raise
    return StagedImage(entry, image)


def replace_image(old: bpy.types.Image, new: bpy.types.Image) -> None:
    """Shows the new image wherever the old one is used."""
    name, is_relative = old.name, old.filepath_raw.startswith("//")
    old.user_remap(new)
    bpy.data.images.remove(old)
    new.name = name
    if is_relative:
        # Setting `filepath` would read the file again.
        new.filepath_raw = bpy.path.relpath(new.filepath_raw)


def make_water(export: Export, terrain: bpy.types.Object) -> bpy.types.Object:
    mesh = bpy.data.meshes.new(WATER_NAME)
    mesh.from_pydata(water_corners(export), [], [(0, 1, 2, 3)])
    mesh.materials.append(water_material())
    water = bpy.data.objects.new(WATER_NAME, mesh)
    water.parent = terrain
    for collection in terrain.users_collection:
        collection.objects.link(water)
    return water


def water_corners(export: Export) -> list[tuple[float, float, float]]:
    x, y = export.width_m / 2, export.depth_m / 2
    return [(-x, -y, 0), (x, -y, 0), (x, y, 0), (-x, y, 0)]


def apply_water(export: Export, terrain: bpy.types.Object) -> None:
    """Makes, moves or removes the water. Water that the user has deleted stays deleted."""
    settings = terrain.upthrust
    # A deleted object that a property still refers to is in no collection.
    water = settings.water if settings.water is not None and settings.water.users_collection else None
    if export.water_m is None:
        if water is not None:
            remove_object(water)
        settings.water = None
    elif water is None and not settings.has_water:
        settings.water = water = make_water(export, terrain)
    elif water is None:
        deleted, settings.water = settings.water, None
        if deleted is not None and deleted.users == 0:
            remove_object(deleted)
    if water is not None and export.water_m is not None:
        if len(water.data.vertices) == 4:
            water.data.vertices.foreach_set("co", [part for corner in water_corners(export) for part in corner])
            water.data.update()
        if not settings.has_water or settings.water_m != numpy.float32(export.water_m):
            water.location.z = export.water_m
    settings.has_water = export.water_m is not None
    settings.water_m = export.water_m or 0


def apply_scatter(export: Export, terrain: bpy.types.Object, layers: list[ScatterLayer]) -> None:
    """Makes, updates or removes the points of each layer. Points that the user has deleted stay deleted, and so do
    the objects that the user has put in the place of the shapes."""
    settings = terrain.upthrust
    for layer in layers:
        entry = settings.scatter.get(layer.name)
        if entry is None:
            entry = settings.scatter.add()
            entry.name = layer.name
        points = scatter_points(entry)
        if points is None and not entry.is_exported:
            update_stand_in(terrain, entry, layer)
            entry.points = points = make_points(terrain, entry)
        elif points is None:
            remove_points(entry)
        else:
            update_stand_in(terrain, entry, layer)
        if points is not None:
            set_points(points.data, export, layer.instances)
        entry.is_exported = True
    names = {layer.name for layer in layers}
    for at in reversed(range(len(settings.scatter))):
        entry = settings.scatter[at]
        if entry.name in names:
            continue
        remove_points(entry)
        entry.is_exported = False
        # A collection with objects of the user stays, and is used again if the layer comes back.
        if remove_stand_in(entry):
            settings.scatter.remove(at)


def scatter_points(entry: UpthrustScatter) -> bpy.types.Object | None:
    """The points of a layer, unless the user has deleted them."""
    # A deleted object that a property still refers to is in no collection.
    points = entry.points
    return points if points is not None and points.users_collection and points.type == "MESH" else None


def make_points(terrain: bpy.types.Object, entry: UpthrustScatter) -> bpy.types.Object:
    """An object for the points of a layer, with a modifier that puts the collection on them."""
    settings = terrain.upthrust
    points = bpy.data.objects.new(entry.name, bpy.data.meshes.new(entry.name))
    points.parent = terrain
    for collection in terrain.users_collection:
        collection.objects.link(points)
    if settings.scatter_nodes is None:
        settings.scatter_nodes = make_scatter_nodes()
    modifier = points.modifiers.new(SCATTER_NODES_NAME, "NODES")
    modifier.node_group = settings.scatter_nodes
    key = collection_input(settings.scatter_nodes)
    if key is not None:
        modifier[key] = entry.collection
    return points


def update_stand_in(terrain: bpy.types.Object, entry: UpthrustScatter, layer: ScatterLayer) -> None:
    """Makes the collection of a layer with the shape that stands for its instances, or gives the shape another size or
    colour if the export has another one."""
    if entry.stand_in is not None and not entry.stand_in.users_collection:
        remove_unused(entry, "stand_in")
    shape = entry.stand_in
    if entry.collection is None:
        entry.collection = bpy.data.collections.new(f"Upthrust {layer.name}")
        mesh = bpy.data.meshes.new(f"{layer.name} stand-in")
        mesh[STAND_IN] = True
        material = bpy.data.materials.new(f"{layer.name} stand-in")
        if bpy.app.version < (5, 0, 0):
            material.use_nodes = True
        mesh.materials.append(material)
        entry.stand_in = shape = bpy.data.objects.new(f"{layer.name} stand-in", mesh)
        entry.collection.objects.link(shape)
        for scene in terrain.users_scene:
            scene.collection.children.link(entry.collection)
            # It is put on the points, and would show at the origin too.
            for view_layer in scene.view_layers:
                view_layer.layer_collection.children[entry.collection.name].exclude = True
    elif shape is None or entry.stand_in_key == layer.stand_in_key() or STAND_IN not in shape.data:
        # A mesh without the mark is the user's.
        return
    shape.data.clear_geometry()
    vertices, faces = stand_in_geometry(layer)
    shape.data.from_pydata(vertices, [], faces)
    shape.data.update()
    material = shape.data.materials[0] if shape.data.materials else None
    if material is not None and material.node_tree is not None:
        # The colour in solid shading, and the one in renders.
        material.diffuse_color = linear_color(layer.color)
        for node in material.node_tree.nodes:
            if node.type == "BSDF_PRINCIPLED":
                node.inputs["Base Color"].default_value = linear_color(layer.color)
                node.inputs["Roughness"].default_value = 0.95
    entry.stand_in_key = layer.stand_in_key()


def remove_unused(entry: UpthrustScatter, name: str) -> None:
    """Removes an object that the user has deleted, and that only a property still holds."""
    item = getattr(entry, name)
    setattr(entry, name, None)
    if item is not None and item.users == 0:
        remove_object(item)


def remove_points(entry: UpthrustScatter) -> None:
    """Removes the points of a layer."""
    points = scatter_points(entry)
    if points is None:
        remove_unused(entry, "points")
    else:
        remove_object(points)


def remove_stand_in(entry: UpthrustScatter) -> bool:
    """Removes the collection of a layer, unless there is something of the user in it. Returns whether it is gone."""
    collection, shape = entry.collection, entry.stand_in
    if collection is not None:
        if collection.children or any(item != shape for item in collection.objects):
            return False
        entry.collection = None
        bpy.data.collections.remove(collection)
    if shape is None or not shape.users_collection:
        remove_unused(entry, "stand_in")
    return True


def remove_object(item: bpy.types.Object) -> None:
    """Removes a mesh object with its mesh and materials, unless something else uses them."""
    mesh = item.data
    materials = list(mesh.materials)
    bpy.data.objects.remove(item)
    if mesh.users == 0:
        bpy.data.meshes.remove(mesh)
    for material in materials:
        if material is not None and material.users == 0:
            bpy.data.materials.remove(material)


def apply_heights(terrain: bpy.types.Object, places: numpy.ndarray, made: bpy.types.Mesh | None) -> None:
    """Moves the vertices, or gives the object the mesh that was made because the number of samples has changed."""
    if made is None:
        set_positions(terrain.data, places)
        return
    old = terrain.data
    name = old.name
    for material in old.materials:
        made.materials.append(material)
    terrain.data = made
    if old.users == 0:
        bpy.data.meshes.remove(old)
    made.name = name


def apply_materials(
    plan: MaterialPlan, terrain: bpy.types.Object, images: dict[str, bpy.types.Image], is_new_mesh: bool
) -> None:
    """Makes the materials again if other images or types belong to them, and puts them in the place of the old ones."""
    settings, mesh = terrain.upthrust, terrain.data
    old = [entry.material for entry in settings.materials if entry.material is not None]
    if settings.materials_key == plan.key():
        update_type_colors(old, plan.export)
        if is_new_mesh:
            set_material_indices(mesh, plan.export.samples, plan.tiles)
        return
    first = settings.materials_key == ""
    # A terrain whose materials the user has replaced keeps those.
    if first or any(material in old for material in mesh.materials):
        made = make_materials(plan, images)
        others = [material for material in mesh.materials if material not in old]
        # Clearing the list would also give all faces the first material.
        for at, material in enumerate([*made, *others]):
            if at < len(mesh.materials):
                mesh.materials[at] = material
            else:
                mesh.materials.append(material)
        while len(mesh.materials) > len(made) + len(others):
            mesh.materials.pop()
        settings.materials.clear()
        for material in made:
            settings.materials.add().material = material
        for material in old:
            if material.users == 0:
                bpy.data.materials.remove(material)
        if is_new_mesh or tuple(settings.tiles) != plan.tiles:
            set_material_indices(mesh, plan.export.samples, plan.tiles)
            settings.tiles = plan.tiles
    settings.materials_key = plan.key()


def grid_size(export: Export) -> tuple[int, int]:
    """The numbers of vertices and of faces."""
    width, height = export.samples
    return width * height, (width - 1) * (height - 1)


def load(export: Export, terrain: bpy.types.Object | None, source: str, everything: bool) -> bpy.types.Object:
    """Loads an export into an object, or into a new one. `everything`: also what has not changed.

    First all files are read; only when that has succeeded does anything change that is shown.
    """
    settings = terrain.upthrust if terrain is not None else None
    known = {entry.file: entry for entry in settings.images if entry.image is not None} if settings else {}
    plan = material_plan(export, source)
    places, made, layers = None, None, None
    staged: list[StagedImage] = []
    try:
        mesh = terrain.data if terrain is not None else None
        is_same_grid = mesh is not None and (len(mesh.vertices), len(mesh.polygons)) == grid_size(export)
        if everything or settings is None or settings.heights_key != export.heights_key() or not is_same_grid:
            check_size(export.samples)
            if mesh is not None and mesh.shape_keys is not None:
                raise ImportFailed("The mesh has shape keys, which hide new heights. Remove them to reload.")
            places = positions(export, read_heights(export))
            if not is_same_grid:
                made = make_mesh(export.name, places)
        if everything or settings is None or settings.scatter_key != export.scatter_key():
            layers = read_scatter(export)
        for entry in plan.images:
            old = known.get(entry.file)
            if everything or old is None or old.crc32 != entry.crc32:
                staged.append(stage_image(export, entry, old.image if old is not None else None))
    except BaseException as error:
        for image in staged:
            bpy.data.images.remove(image.image)
        if made is not None:
            bpy.data.meshes.remove(made)
        if isinstance(error, MemoryError):
            raise ImportFailed("There is not enough memory. Export at a smaller size.") from error
        raise
    if terrain is None:
        terrain = bpy.data.objects.new(export.name, made)
        bpy.context.collection.objects.link(terrain)
        settings = terrain.upthrust
        settings.source = source
    elif places is not None:
        apply_heights(terrain, places, made)
    unused = apply_images(settings, plan, staged)
    images = {entry.file: entry.image for entry in settings.images}
    apply_materials(plan, terrain, images, made is not None)
    for image in unused:
        if image.users == 0:
            bpy.data.images.remove(image)
    apply_water(export, terrain)
    if layers is not None:
        apply_scatter(export, terrain, layers)
    settings.heights_key = export.heights_key()
    settings.scatter_key = export.scatter_key()
    settings.digest = export.digest
    return terrain


def apply_images(
    settings: UpthrustTerrain, plan: MaterialPlan, staged: list[StagedImage]
) -> list[bpy.types.Image]:
    """Shows the images that were read; returns those that are no longer in the export."""
    for new in staged:
        entry = next((entry for entry in settings.images if entry.file == new.entry.file), None)
        if entry is None:
            entry = settings.images.add()
            entry.file, entry.image = new.entry.file, new.image
        elif entry.image is None:
            entry.image = new.image
        else:
            replace_image(entry.image, new.image)
            entry.image = new.image
        entry.crc32 = new.entry.crc32
    files = {entry.file for entry in plan.images}
    unused = []
    for at in reversed(range(len(settings.images))):
        if settings.images[at].file not in files:
            if settings.images[at].image is not None:
                unused.append(settings.images[at].image)
            settings.images.remove(at)
    return unused


def describe(export: Export, terrain: bpy.types.Object, started: float) -> str:
    width, height = export.samples
    entries = [(entry.name, scatter_points(entry)) for entry in terrain.upthrust.scatter]
    counts = [f"{len(points.data.vertices):,} {name}" for name, points in entries if points is not None]
    what = ", ".join([f"{width} × {height} samples", *counts])
    return f"Loaded {what} in {time.perf_counter() - started:.2f} s"


def extend_clipping(export: Export) -> None:
    """Lets the 3D viewports show the whole terrain: they end at 1000 m by default."""
    end = 4 * math.hypot(export.width_m, export.depth_m)
    for screen in bpy.data.screens:
        for area in screen.areas:
            for space in area.spaces:
                if space.type == "VIEW_3D":
                    space.clip_end = max(space.clip_end, end)
                    # A larger ratio than this makes surfaces far away flicker into each other.
                    space.clip_start = max(space.clip_start, space.clip_end / 100_000)


def import_terrain(path: str, source: str = "TEXTURE", watch: bool = True, clipping: bool = True) -> bpy.types.Object:
    """Makes the object of an export in the current collection. `source`: "TEXTURE" or "TYPES"."""
    started = time.perf_counter()
    export = read_manifest(manifest_path(path))
    terrain = load(export, None, source, everything=True)
    settings = terrain.upthrust
    settings.manifest, settings.watch = str(manifest_path(path)), watch
    if clipping:
        extend_clipping(export)
    set_result(settings, describe(export, terrain, started), failed=False)
    return terrain


def is_edited(terrain: bpy.types.Object) -> bool:
    # What is written to a mesh in these modes is lost when they end.
    points = [entry.points for entry in terrain.upthrust.scatter if entry.points is not None]
    return any(item.mode in {"EDIT", "SCULPT"} for item in [terrain, *points])


def reload_terrain(terrain: bpy.types.Object, everything: bool = False) -> None:
    """Loads what has changed in the export. A failure changes nothing but the result in the panel."""
    settings = terrain.upthrust
    started = time.perf_counter()
    try:
        if is_edited(terrain):
            raise ImportFailed("Leave Edit Mode or Sculpt Mode to reload.")
        export = read_manifest(manifest_path(settings.manifest))
        load(export, terrain, settings.source, everything)
    except ImportFailed as error:
        set_result(settings, str(error), failed=True)
        raise
    set_result(settings, describe(export, terrain, started), failed=False)


# Watching


def watched_state(path: Path, settings: UpthrustTerrain, files: Iterable[str]) -> tuple[Any, ...]:
    # With the checksum of what is loaded: undo can bring back older heights.
    return path, settings.digest, file_state(path), *(file_state(path.parent / file) for file in files)


class Watcher:
    """Finds the terrains to watch, and remembers which state of its export each was checked against."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.clock = clock
        # By object: the state, and the files other than the manifest whose change is a reason to try again.
        self.checked: dict[str, tuple[tuple[Any, ...], list[str]]] = {}
        # By object whose export could not be loaded: when to try again, and the time between the last attempts.
        self.retries: dict[str, tuple[float, float]] = {}
        # The names of the watched objects: undo makes references to objects invalid.
        self.names: list[str] = []
        self.number_of_objects = 0
        self.next_search_s = 0.0

    def terrains(self) -> list[bpy.types.Object]:
        """The watched objects. Asking every object for its properties takes long in large scenes."""
        now = self.clock()
        if now >= self.next_search_s or len(bpy.data.objects) != self.number_of_objects:
            self.names = [item.name for item in bpy.data.objects if is_watched(item)]
            self.number_of_objects = len(bpy.data.objects)
            self.next_search_s = now + SEARCH_INTERVAL_S
        found = (bpy.data.objects.get((name, None)) for name in self.names)
        return [item for item in found if item is not None and is_watched(item)]

    def check_all(self) -> None:
        for terrain in self.terrains():
            retry_s, wait_s = self.retries.get(terrain.name_full, (0.0, 0.0))
            now = self.clock()
            if now < retry_s:
                continue
            if self.check(terrain):
                self.retries.pop(terrain.name_full, None)
            else:
                wait_s = min(max(2 * wait_s, 2 * WATCH_INTERVAL_S), MAX_RETRY_S)
                self.retries[terrain.name_full] = now + wait_s, wait_s

    def check(self, terrain: bpy.types.Object) -> bool:
        """Reloads a terrain if its export has changed. Returns whether the export could be loaded."""
        settings = terrain.upthrust
        path = manifest_path(settings.manifest)
        state, files = self.checked.get(terrain.name_full, ((), []))
        if watched_state(path, settings, files) == state:
            return not settings.failed
        if is_edited(terrain):
            set_result(settings, "The export may have changed. Leave Edit Mode or Sculpt Mode to reload.", failed=True)
            return True
        before = watched_state(path, settings, ())
        files = []
        try:
            data = read_file(path)
            if crc32_of(data) != settings.digest:
                files = parse_manifest(path.parent, data).files()
                reload_terrain(terrain)
                files = []
            elif settings.failed:
                set_result(settings, "The export is as it was when it was loaded.", failed=False)
        except ImportFailed as error:
            set_result(settings, str(error), failed=True)
        except Exception as error:
            # A timer that raises is never called again.
            traceback.print_exc()
            set_result(settings, f"Reloading failed: {error}. The system console has the details.", failed=True)
        # From before the manifest was read: one that came since then is checked the next time.
        after = watched_state(path, settings, files)
        self.checked[terrain.name_full] = (before[0], settings.digest, before[2], *after[3:]), files
        return not settings.failed


watcher = Watcher()


def is_watched(item: bpy.types.Object) -> bool:
    is_own = item.type == "MESH" and item.library is None and item.data.library is None
    return is_own and item.upthrust.watch and item.upthrust.manifest != ""


def watch_exports() -> float:
    """Reloads the terrains whose exports have changed. Returns the seconds until the next call."""
    # A render reads the meshes from another thread.
    if not bpy.app.is_job_running("RENDER"):
        watcher.check_all()
    return WATCH_INTERVAL_S


# The interface


def shown_terrain(context: bpy.types.Context) -> bpy.types.Object | None:
    """The active terrain, or else the only one in the scene."""
    active = context.active_object
    for item in [active, active.parent if active is not None else None]:
        if item is not None and item.upthrust.manifest != "":
            return item
    terrains = [item for item in context.scene.objects if item.upthrust.manifest != ""]
    return terrains[0] if len(terrains) == 1 else None


class UPTHRUST_OT_import(bpy.types.Operator, ImportHelper):
    """Import terrain that Upthrust exported"""

    bl_idname = "import_scene.upthrust"
    bl_label = "Import Upthrust terrain"
    bl_options = {"REGISTER", "UNDO"}

    filename_ext = ".json"
    filter_glob: StringProperty(default=MANIFEST_NAME, options={"HIDDEN"})
    source: EnumProperty(
        name="Material",
        items=SOURCES,
    )
    watch: BoolProperty(
        name="Reload when the export changes",
        description="Look twice a second whether Upthrust has exported again, and load what has changed",
        default=True,
    )
    clipping: BoolProperty(
        name="Show distant terrain",
        description="Raise the clip end of all 3D viewports, which is 1000 m by default, and the clip start with it",
        default=True,
    )

    def execute(self, context: bpy.types.Context) -> set[str]:
        try:
            terrain = import_terrain(self.filepath, self.source, self.watch, self.clipping)
        except ImportFailed as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        for item in context.selected_objects:
            item.select_set(False)
        terrain.select_set(True)
        context.view_layer.objects.active = terrain
        self.report({"INFO"}, terrain.upthrust.result)
        return {"FINISHED"}


class UPTHRUST_OT_reload(bpy.types.Operator):
    """Load the export again, including what has not changed"""

    bl_idname = "object.upthrust_reload"
    bl_label = "Reload"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return shown_terrain(context) is not None

    def execute(self, context: bpy.types.Context) -> set[str]:
        terrain = shown_terrain(context)
        try:
            reload_terrain(terrain, everything=True)
        except ImportFailed as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        self.report({"INFO"}, terrain.upthrust.result)
        return {"FINISHED"}


class UPTHRUST_PT_terrain(bpy.types.Panel):
    bl_idname = "UPTHRUST_PT_terrain"
    bl_label = "Upthrust terrain"
    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"
    bl_category = "Upthrust"

    def draw(self, context: bpy.types.Context) -> None:
        layout = self.layout
        terrain = shown_terrain(context)
        if terrain is None:
            layout.operator(UPTHRUST_OT_import.bl_idname, text="Import…", icon="IMPORT")
            return
        settings = terrain.upthrust
        layout.prop(settings, "manifest", text="")
        layout.operator(UPTHRUST_OT_reload.bl_idname, icon="FILE_REFRESH")
        layout.prop(settings, "watch")
        if settings.result == "":
            return
        column = layout.column(align=True)
        icon = "ERROR" if settings.failed else "CHECKMARK"
        # Labels do not wrap by themselves; a character is about seven pixels wide.
        width = max(20, int(context.region.width / context.preferences.system.ui_scale / 7) - 6)
        for line in textwrap.wrap(f"{settings.result_time}  {settings.result}", width):
            column.label(text=line, icon=icon)
            icon = "BLANK1"


CLASSES: list[type] = [
    UpthrustImage, UpthrustScatter, UpthrustMaterial, UpthrustTerrain, UPTHRUST_OT_import, UPTHRUST_OT_reload,
    UPTHRUST_PT_terrain,
]


def add_to_menu(menu: bpy.types.Menu, _context: bpy.types.Context) -> None:
    menu.layout.operator(UPTHRUST_OT_import.bl_idname, text=f"Upthrust terrain ({MANIFEST_NAME})")


def register() -> None:
    for each in CLASSES:
        bpy.utils.register_class(each)
    bpy.types.Object.upthrust = PointerProperty(type=UpthrustTerrain)
    bpy.types.TOPBAR_MT_file_import.append(add_to_menu)
    # Persistent: also after another .blend file has been opened.
    bpy.app.timers.register(watch_exports, first_interval=WATCH_INTERVAL_S, persistent=True)


def unregister() -> None:
    if bpy.app.timers.is_registered(watch_exports):
        bpy.app.timers.unregister(watch_exports)
    bpy.types.TOPBAR_MT_file_import.remove(add_to_menu)
    del bpy.types.Object.upthrust
    for each in reversed(CLASSES):
        bpy.utils.unregister_class(each)


if __name__ == "__main__":
    register()
