"""Reads exported meshes with trimesh or Pixar's USD library, and glTF and USD with Blender's own importers too, and
compares their surfaces, extents and textures with the heights and textures that the program writes by itself.

meshes.py PROGRAM, in a Python environment with bpy, numpy, Pillow, trimesh and usd-core
"""

import re
import tempfile
from pathlib import Path

import bpy
import numpy
import trimesh
from PIL import Image
from pxr import Gf, Usd, UsdGeom, UsdShade, UsdValidation

from common import build, finish, read_r32, report, silence_other_output, start, write_project

STL_LONGER_MM, STL_BASE_MM = 200, 3
VERSIONS = f"trimesh {trimesh.__version__}", f"Blender {bpy.app.version_string}"
USD = "USD {}.{}".format(*Usd.GetVersion()[1:])
# An asset path has no escapes but for @@@, and other letters may be in two encodings.
USD_NAMES = ["my terrain", "a@b", "@@@", "a@@@@b@", "quote\" and 'quote'", "[x] #1 %20 $y", "Gelände 地形"]
# USD takes a backslash for a separator, and has no escapes for line breaks.
USD_REFUSED = ["a\\b", "a\nb"]

# Blender's importer prints lines of its own.
silence_other_output()


def surface(places: numpy.ndarray, triangles: numpy.ndarray, shape: tuple[int, int], world) -> numpy.ndarray:
    """The heights of a mesh at every sample, from x east, y north and z up. NaN where there is no triangle."""
    rows, columns = shape
    at = numpy.stack([
        (places[:, 0] / world[0] + 0.5) * (columns - 1), (0.5 - places[:, 1] / world[1]) * (rows - 1),
    ], axis=1)
    assert abs(at - numpy.rint(at)).max() < 1e-2, "vertices beside the samples"
    at = numpy.rint(at).astype(int)
    heights = numpy.full(shape, numpy.nan)
    for triangle in triangles:
        (a, b, c), (z_a, z_b, z_c) = at[triangle], places[triangle, 2]
        (left, top), (right, bottom) = at[triangle].min(axis=0), at[triangle].max(axis=0)
        x, y = numpy.meshgrid(numpy.arange(left, right + 1), numpy.arange(top, bottom + 1))
        doubled = (b[0] - a[0]) * (c[1] - a[1]) - (c[0] - a[0]) * (b[1] - a[1])
        assert doubled != 0, "a triangle without area"
        share_b = ((x - a[0]) * (c[1] - a[1]) - (c[0] - a[0]) * (y - a[1])) / doubled
        share_c = ((b[0] - a[0]) * (y - a[1]) - (x - a[0]) * (b[1] - a[1])) / doubled
        inside = (share_b >= -1e-9) & (share_c >= -1e-9) & (share_b + share_c <= 1 + 1e-9)
        z = z_a + share_b * (z_b - z_a) + share_c * (z_c - z_a)
        heights[y[inside], x[inside]] = z[inside]
    return heights


def check_surface(case: str, places, triangles, heights, world, stated_m: float, more: str = "", is_right=True) -> None:
    """Compares the extent, the lowest point and every height."""
    heights = heights.astype("f8")
    places = numpy.asarray(places, "f8")
    low, high = places.min(axis=0), places.max(axis=0)
    extent = max(abs(low[:2] + numpy.array(world) / 2).max(), abs(high[:2] - numpy.array(world) / 2).max())
    off = abs(surface(places, numpy.asarray(triangles), heights.shape, world) - heights)
    lowest = places[places[:, 2].argmin()]
    # Seen from above, triangles turn left.
    corners = places[triangles]
    sides = numpy.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    is_right &= not numpy.isnan(off).any() and off.max() <= stated_m + 0.001 and bool((sides[:, 2] > 0).all())
    is_right &= extent < 0.01 and lowest[0] < 0 < lowest[1] and low[2] >= heights.min() - stated_m - 0.001
    is_right &= high[2] <= heights.max() + stated_m + 0.001
    report(
        case,
        f"{len(places)} vertices, {len(triangles)} triangles; border off by {extent:.4f} m, heights by {off.max():.4f} "
        f"m (stated {stated_m:.3f} m), lowest at {lowest[0]:.0f}, {lowest[1]:.0f} m{more}",
        bool(is_right),
    )


def same_image(found: numpy.ndarray, expected: numpy.ndarray) -> bool:
    return found.shape[:2] == expected.shape[:2] and bool((found[..., :3] == expected[..., :3]).all())


def uv_error(places, uv, world) -> float:
    """How far texture coordinates are from 0, 0 in the south-west and 1, 1 in the north-east."""
    expected = numpy.asarray(places)[:, :2] / numpy.array(world) + 0.5
    return float(abs(expected - uv).max())


def check_in_blender(case: str, path: Path, heights, texture, world, stated_m: float) -> None:
    bpy.ops.wm.read_factory_settings(use_empty=True)
    load = bpy.ops.import_scene.gltf if path.suffix == ".glb" else bpy.ops.wm.usd_import
    load(filepath=str(path))
    (item,) = [item for item in bpy.context.scene.objects if item.type == "MESH"]
    mesh = item.data
    mesh.calc_loop_triangles()
    places = numpy.array([item.matrix_world @ vertex.co for vertex in mesh.vertices])
    triangles = numpy.array([triangle.vertices for triangle in mesh.loop_triangles])
    uv = numpy.empty(2 * len(mesh.loops), numpy.float32)
    mesh.uv_layers[0].uv.foreach_get("vector", uv)
    loops = numpy.array([loop.vertex_index for loop in mesh.loops])
    off_uv = uv_error(places[loops], uv.reshape(-1, 2), world)
    nodes = mesh.materials[0].node_tree.nodes
    shader = next(node for node in nodes if node.type == "BSDF_PRINCIPLED")
    node = shader.inputs["Base Color"].links[0].from_node
    image = node.image
    pixels = numpy.array(image.pixels[:]).reshape(image.size[1], image.size[0], -1)[::-1]
    is_same = same_image(numpy.rint(pixels * 255).astype("u1"), texture)
    is_srgb = image.colorspace_settings.name == "sRGB"
    # The importer of USD turns the object in place of the vertices.
    rotation = item.matrix_world.to_3x3()
    normals = numpy.array([rotation @ normal.vector for normal in mesh.vertex_normals])
    more = f", texture coordinates off by {off_uv:.6f}, texture {'equal' if is_same else 'different'}"
    is_right = is_same and is_srgb and off_uv < 1e-5 and normals[:, 2].min() > 0
    check_surface(f"{case}, {VERSIONS[1]}", places, triangles, heights, world, stated_m, more, is_right)


def check_trimesh(case: str, path: Path, heights, texture, world, stated_m: float) -> None:
    loaded = trimesh.load(path, process=False)
    mesh = loaded
    if isinstance(loaded, trimesh.Scene):
        ((name, mesh),) = loaded.geometry.items()
        (node,) = loaded.graph.nodes_geometry
        assert numpy.array_equal(loaded.graph[node][0], numpy.eye(4)), f"{name} is transformed"
    # Metres with y up and north at −z, to z up and north at +y.
    places = numpy.stack([mesh.vertices[:, 0], -mesh.vertices[:, 2], mesh.vertices[:, 1]], axis=1)
    material = mesh.visual.material
    image = getattr(material, "baseColorTexture", None) or getattr(material, "image", None)
    is_same = image is not None and same_image(numpy.asarray(image.convert("RGB")), texture)
    off_uv = uv_error(places, mesh.visual.uv, world)
    more = f", texture coordinates off by {off_uv:.6f}, texture {'equal' if is_same else 'different'}"
    # Normals that the file gives have to point up.
    is_right = is_same and off_uv < 1e-5 and bool((mesh.vertex_normals[:, 1] > 0).all())
    check_surface(f"{case}, {VERSIONS[0]}", places, mesh.faces, heights, world, stated_m, more, is_right)


def usd_texture(prim: Usd.Prim) -> Path | None:
    """The file that colours a mesh as sRGB, as USD finds it."""
    material = UsdShade.MaterialBindingAPI(prim).ComputeBoundMaterial()[0]
    if not material:
        return None
    surface = material.ComputeSurfaceSource()[0]
    node = surface.GetInput("diffuseColor").GetConnectedSources()[0][0].source
    texture = UsdShade.Shader(node.GetPrim())
    reader = UsdShade.Shader(texture.GetInput("st").GetConnectedSources()[0][0].source.GetPrim())
    kinds = [shader.GetIdAttr().Get() for shader in (surface, texture, reader)]
    assert kinds == ["UsdPreviewSurface", "UsdUVTexture", "UsdPrimvarReader_float2"], kinds
    assert reader.GetInput("varname").Get() == "st"
    assert texture.GetInput("sourceColorSpace").Get() == "sRGB"
    return Path(texture.GetInput("file").Get().resolvedPath)


def usd_errors(stage: Usd.Stage) -> list[str]:
    """What all validators of the library say about a stage, as usdchecker does."""
    validators = UsdValidation.ValidationRegistry().GetOrLoadAllValidators()
    return [error.GetErrorAsString() for error in UsdValidation.ValidationContext(validators).Validate(stage)]


def check_usd(case: str, path: Path, heights, texture, world, stated_m: float) -> None:
    stage = Usd.Stage.Open(str(path))
    (prim,) = [prim for prim in stage.Traverse() if prim.IsA(UsdGeom.Mesh)]
    mesh = UsdGeom.Mesh(prim)
    errors = usd_errors(stage)
    is_right = not errors and stage.GetDefaultPrim() == prim.GetParent() and stage.GetDefaultPrim().IsA(UsdGeom.Xform)
    is_right &= UsdGeom.GetStageUpAxis(stage) == "Y" and UsdGeom.GetStageMetersPerUnit(stage) == 1
    is_right &= UsdGeom.XformCache().GetLocalToWorldTransform(prim) == Gf.Matrix4d(1)
    is_right &= mesh.GetSubdivisionSchemeAttr().Get() == "none" and mesh.GetOrientationAttr().Get() == "rightHanded"
    points = numpy.array(mesh.GetPointsAttr().Get())
    is_right &= numpy.array_equal(mesh.GetExtentAttr().Get(), [points.min(axis=0), points.max(axis=0)])
    assert set(mesh.GetFaceVertexCountsAttr().Get()) == {3}
    triangles = numpy.array(mesh.GetFaceVertexIndicesAttr().Get()).reshape(-1, 3)
    normals = numpy.array(mesh.GetNormalsAttr().Get())
    is_right &= mesh.GetNormalsInterpolation() == "vertex" and normals.shape == points.shape
    is_right &= abs(numpy.linalg.norm(normals, axis=1) - 1).max() < 1e-5 and normals[:, 1].min() > 0
    coordinates = UsdGeom.PrimvarsAPI(prim).GetPrimvar("st")
    # Metres with y up and north at −z, to z up and north at +y.
    places = numpy.stack([points[:, 0], -points[:, 2], points[:, 1]], axis=1)
    off_uv = uv_error(places, numpy.array(coordinates.Get()), world)
    is_right &= off_uv < 1e-5 and coordinates.GetInterpolation() == "vertex"
    image = usd_texture(prim)
    is_same = image is not None and same_image(numpy.asarray(Image.open(image).convert("RGB")), texture)
    more = f", texture coordinates off by {off_uv:.6f}, texture {'equal' if is_same else 'different'}"
    more += "".join(f"; {error}" for error in errors)
    check_surface(f"{case}, {USD}", places, triangles, heights, world, stated_m, more, bool(is_right) and is_same)


def check_usd_names() -> None:
    """The texture is found whatever the mesh is called, or the name is refused."""
    with tempfile.TemporaryDirectory() as folder:
        project = write_project(folder, 1, (4096, 4096))
        for name in USD_NAMES:
            path = Path(folder, f"{name}.usda")
            build(project, "--size", "33", "--mesh", path, "--texture-size", "16")
            stage = Usd.Stage.Open(str(path))
            found = usd_texture(stage.GetPrimAtPath("/Terrain/Terrain"))
            is_right = found == path.with_suffix(".png") and found.exists() and not usd_errors(stage)
            report(f".usda named {name}, {USD}", f"texture {found.name}", is_right)
        for name in USD_REFUSED:
            run = start(project, "--size", "33", "--mesh", Path(folder, f"{name}.usda"))
            report(f".usda named {name!r}", run.stderr.strip().splitlines()[-1], run.returncode == 1)
        bare = Path(folder, "bare.usda")
        build(project, "--size", "33", "--mesh", bare, "--mesh-bare")
        stage = Usd.Stage.Open(str(bare))
        texture, errors = usd_texture(stage.GetPrimAtPath("/Terrain/Terrain")), usd_errors(stage)
        report(f".usda without texture, {USD}", f"texture {texture}, errors {errors}", texture is None and not errors)


def check_stl(case: str, path: Path, heights, world, stated_m: float) -> None:
    mesh = trimesh.load(path)
    mm_per_m = STL_LONGER_MM / max(world)
    # What points up is the terrain; the walls are upright and the base points down.
    top = mesh.faces[mesh.face_normals[:, 2] > 1e-6]
    places = mesh.vertices.astype("f8")
    base_mm = places[top][..., 2].min()
    # Millimetres above the base become metres: the lowest vertex has the height of its sample.
    metres = (places - [0, 0, base_mm]) / mm_per_m
    metres[:, 2] += lowest_sample(heights, metres[numpy.unique(top)], world)
    used, triangles = numpy.unique(top, return_inverse=True)
    triangles = triangles.reshape(-1, 3)
    is_closed = mesh.is_watertight and mesh.is_winding_consistent and mesh.volume > 0
    size = numpy.ptp(places, axis=0)
    is_right = is_closed and abs(max(size[:2]) - STL_LONGER_MM) < 1e-3
    is_right &= abs(places[:, 2].min()) < 1e-6 and abs(base_mm - STL_BASE_MM) < 1e-3
    more = f", {size[0]:.2f} × {size[1]:.2f} × {size[2]:.2f} mm, {'closed' if is_closed else 'open'}"
    check_surface(f"{case}, {VERSIONS[0]}", metres[used], triangles, heights, world, stated_m, more, is_right)


def lowest_sample(heights, places, world) -> float:
    """The height of the lowest vertex, by where it lies."""
    x, y, _ = places[places[:, 2].argmin()]
    rows, columns = heights.shape
    column, row = (x / world[0] + 0.5) * (columns - 1), (0.5 - y / world[1]) * (rows - 1)
    return float(heights[int(numpy.rint(row)), int(numpy.rint(column))])


def check(seed: int, world: tuple[float, float], size: str, *options: str) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        project = write_project(folder, seed, world)
        build(project, "--size", size, "--heightmap", folder / "h.r32", "--texture", folder / "t.png",
              "--texture-size", "256")
        heights, _ = read_r32(folder / "h.r32")
        texture = numpy.asarray(Image.open(folder / "t.png").convert("RGB"))
        for format in ["glb", "obj", "usda", "stl"]:
            path = folder / f"terrain.{format}"
            said = build(project, "--size", size, "--mesh", path, "--texture-size", "256", "--force", *options)
            stated = re.search(r"no height deviates by more than ([0-9.]+) m", said)
            assert stated is not None, said
            case = " ".join([f".{format}, {world[0]} × {world[1]} m, {size} samples", *options])
            stated_m = float(stated.group(1))
            if format == "stl":
                check_stl(case, path, heights, world, stated_m)
                continue
            read = check_usd if format == "usda" else check_trimesh
            read(case, path, heights, texture, world, stated_m)
            if format in ("glb", "usda"):
                check_in_blender(case, path, heights, texture, world, stated_m)


for seed, world, size, *options in [
    (1, (4096, 4096), "129"),
    (2, (4096, 4096), "257", "--mesh-error", "5"),
    (3, (3000, 2000), "301", "--mesh-error", "2"),
    (4, (700, 1900), "257", "--mesh-vertices", "2000"),
    (5, (20480, 20480), "1025", "--mesh-error", "20"),
    (6, (5000, 1000), "333", "--mesh-vertices", "5000"),
]:
    check(seed, world, size, *options)
check_usd_names()
finish()
