@tool
extends RefCounted
## Imports the terrain of a manifest into a scene. It needs no editor.

const Checksum := preload("checksum.gd")
const Manifest := preload("manifest.gd")
const Terrain3DTarget := preload("terrain3d_target.gd")
const HTerrainTarget := preload("hterrain_target.gd")

## The group of all imported terrains.
const GROUP := &"upthrust_terrain"
## The manifest's path, and the checksums of the files that were imported, as metadata of the node.
const MANIFEST_META := &"upthrust_manifest"
const FILES_META := &"upthrust_files"
const LAYOUT_META := &"upthrust_layout"
const WATER := "Water"
## On the water while the terrain has none, so that water that the user has hidden stays hidden.
const DRY_META := &"upthrust_dry"


## What an import came to.
class Result:
	## The terrain, or null if nothing was imported.
	var node: Node3D
	## What went wrong, or nothing.
	var error: String
	## What was done, for the user.
	var message: String
	## False if everything was up to date.
	var is_changed := false

	static func failed(reason: String) -> Result:
		var result := Result.new()
		result.error = "Upthrust: " + reason
		return result


## Imports a terrain as a child of the root of a scene, or into the node that an earlier call returned: then only files
## that have changed are read, and the node keeps its transform, materials and textures. Everything is read and checked
## before the node is touched.
static func import_terrain(scene_root: Node, manifest_path: String, node: Node3D = null) -> Result:
	var started := Time.get_ticks_msec()
	var manifest := Manifest.new()
	var error := manifest.read(ProjectSettings.globalize_path(manifest_path))
	if error != "":
		return Result.failed(error)
	var target := _target(manifest.target)
	if target == null:
		return Result.failed(
			"%s is an export for \"%s\". Export for Terrain3D or HTerrain." % [manifest_path, manifest.target]
		)
	error = target.call("problem", manifest, node)
	if error != "":
		return Result.failed(error)
	var known: Dictionary = {}
	if node != null and node.get_meta(LAYOUT_META, "") == manifest.layout() and target.call("is_loaded", node):
		known = node.get_meta(FILES_META, {})
	var files: Dictionary = {}
	var images: Dictionary[String, Image] = {}
	for entries: Array[Dictionary] in [manifest.heightmaps, manifest.textures, manifest.weights]:
		for entry: Dictionary in entries:
			files[entry["file"]] = entry["crc32"]
			if known.get(entry["file"]) != entry["crc32"]:
				var image := Image.new()
				error = _read_image(manifest, entry, image)
				if error != "":
					return Result.failed(error)
				images[entry["file"]] = image
	var result := Result.new()
	result.is_changed = node == null or not images.is_empty() or node.get_meta(LAYOUT_META, "") != manifest.layout()
	if node == null:
		node = target.call("create", manifest)
		node.name = manifest.title.validate_node_name() if manifest.title != "" else "Terrain"
		scene_root.add_child(node, true)
		node.owner = scene_root
		node.add_to_group(GROUP, true)
	if result.is_changed:
		result.error = target.call("apply", node, manifest, images)
		_place_water(node, manifest, target.call("water_origin", manifest))
	node.set_meta(MANIFEST_META, ProjectSettings.localize_path(manifest_path))
	if result.error == "":
		node.set_meta(FILES_META, files)
		node.set_meta(LAYOUT_META, manifest.layout())
	else:
		# A part of the files may be in the terrain, so the next import takes all of them.
		node.remove_meta(FILES_META)
		node.remove_meta(LAYOUT_META)
	result.node = node
	result.message = "Upthrust: %s, %d × %d samples, %d of %d files read, in %.1f s." % [
		node.name, manifest.samples.x, manifest.samples.y, images.size(), files.size(),
		(Time.get_ticks_msec() - started) / 1000.0,
	]
	return result


## Reads the image of an entry, if the file is the one that the manifest lists. Returns what is wrong, or nothing.
static func _read_image(manifest: Manifest, entry: Dictionary, image: Image) -> String:
	var path := manifest.path(entry)
	if not FileAccess.file_exists(path):
		return "%s is missing. Export the terrain again." % path
	var bytes := FileAccess.get_file_as_bytes(path)
	if bytes.is_empty():
		return "%s cannot be read. Close other programs that use it, or export the terrain again." % path
	if not Checksum.matches(bytes, entry["crc32"]):
		return "%s is not the file that the manifest lists. Wait until the export has ended, or export again." % path
	if image.load(path) != OK:
		return "%s cannot be read as an image. Export the terrain again." % path
	if image.get_size() != manifest.image_size(entry):
		return (
			"%s has %s pixels, but the manifest says %s. Export the terrain again."
			% [path, image.get_size(), manifest.image_size(entry)]
		)
	return ""


static func _target(key: String) -> GDScript:
	match key:
		"godot-terrain3d":
			return Terrain3DTarget
		"godot-hterrain":
			return HTerrainTarget
	return null


static func _place_water(node: Node3D, manifest: Manifest, origin: Vector3) -> void:
	var water := node.get_node_or_null(WATER) as MeshInstance3D
	if is_nan(manifest.water_m):
		if water != null and water.visible:
			water.hide()
			water.set_meta(DRY_META, true)
		return
	if water == null:
		water = MeshInstance3D.new()
		water.name = WATER
		var material := StandardMaterial3D.new()
		material.albedo_color = Color(0.1, 0.25, 0.32, 0.85)
		material.transparency = BaseMaterial3D.TRANSPARENCY_ALPHA
		material.roughness = 0.05
		water.material_override = material
		node.add_child(water)
		water.owner = node.owner
	var plane := water.mesh as PlaneMesh
	if plane == null:
		plane = PlaneMesh.new()
		water.mesh = plane
	plane.size = manifest.size_m
	water.position = origin + Vector3(manifest.size_m.x / 2, manifest.water_m, manifest.size_m.y / 2)
	if water.has_meta(DRY_META):
		water.remove_meta(DRY_META)
		water.show()
