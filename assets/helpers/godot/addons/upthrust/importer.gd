@tool
extends RefCounted
## Imports the terrain of a manifest into a scene. It needs no editor.

const Checksum := preload("checksum.gd")
const Manifest := preload("manifest.gd")
const Outcome := Manifest.Outcome
const Scatter := preload("scatter.gd")
const Terrain3DTarget := preload("terrain3d_target.gd")
const HTerrainTarget := preload("hterrain_target.gd")

## The group of all imported terrains.
const GROUP := &"upthrust_terrain"
## The manifest's path, and the checksums of the files that were imported, as metadata of the node.
const MANIFEST_META := &"upthrust_manifest"
const FILES_META := &"upthrust_files"
const LAYOUT_META := &"upthrust_layout"
const WATER_NAME := "Water"
## On the node that the plugin made as water. Other nodes can have the same name.
const WATER_META := &"upthrust_water"
## On the water while the terrain has none, so that water that the user has hidden stays hidden.
const DRY_META := &"upthrust_dry"
## On the terrain after water was made: if there is none, the user has deleted it.
const HAS_WATER_META := &"upthrust_has_water"

## The layout and the checksums of terrains that could not be saved, by instance ID. They are not in the metadata,
## because a scene that is saved and opened again does not have these terrains.
static var _unsaved: Dictionary[int, Array] = {}


## The result of an import.
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
## before the node is touched. Returns null after a script error.
static func import_terrain(scene_root: Node, manifest_path: String, node: Node3D = null) -> Result:
	var started := Time.get_ticks_msec()
	var manifest := Manifest.new()
	var error := Outcome.error_of(manifest.read(ProjectSettings.globalize_path(manifest_path)))
	if error != "":
		return Result.failed(error)
	var target := _target(manifest.target)
	if target == null:
		return Result.failed(
			"%s is an export for \"%s\". Export for Terrain3D or HTerrain." % [manifest_path, manifest.target]
		)
	error = Outcome.error_of(target.call("check", manifest, node))
	if error != "":
		return Result.failed(error)
	var layout := ""
	var known: Dictionary = {}
	var is_saved := true
	if node != null and target.call("is_loaded", node):
		is_saved = not _unsaved.has(node.get_instance_id())
		layout = node.get_meta(LAYOUT_META, "") if is_saved else _unsaved[node.get_instance_id()][0]
		if layout == manifest.layout():
			known = node.get_meta(FILES_META, {}) if is_saved else _unsaved[node.get_instance_id()][1]
	var files: Dictionary = {}
	var images: Dictionary[String, Image] = {}
	for entries: Array[Dictionary] in [manifest.heightmaps, manifest.textures, manifest.weights]:
		for entry: Dictionary in entries:
			files[entry["file"]] = entry["crc32"]
			if known.get(entry["file"]) != entry["crc32"]:
				var image := Image.new()
				error = Outcome.error_of(_read_image(manifest, entry, image))
				if error != "":
					return Result.failed(error)
				images[entry["file"]] = image
	# Without a file, the layers of an earlier export are hidden.
	var has_new_scatter := manifest.scatter.is_empty() and layout != manifest.layout()
	var layers: Array[Scatter.Layer] = []
	for entry: Dictionary in manifest.scatter:
		files[entry["file"]] = entry["crc32"]
		if known.get(entry["file"]) != entry["crc32"]:
			has_new_scatter = true
			error = Outcome.error_of(_read_scatter(manifest, entry, layers))
			if error != "":
				return Result.failed(error)
	var result := Result.new()
	var has_changed := node == null or not images.is_empty() or has_new_scatter or layout != manifest.layout()
	result.is_changed = has_changed or not is_saved
	if node == null:
		node = target.call("create", manifest)
		node.name = manifest.title.validate_node_name() if manifest.title != "" else "Terrain"
		scene_root.add_child(node, true)
		node.owner = scene_root
		node.add_to_group(GROUP, true)
	result.node = node
	node.set_meta(MANIFEST_META, ProjectSettings.localize_path(manifest_path))
	if result.is_changed:
		# Until everything is done, the next import takes all files.
		_unsaved.erase(node.get_instance_id())
		node.remove_meta(FILES_META)
		node.remove_meta(LAYOUT_META)
	if has_changed:
		error = Outcome.error_of(target.call("apply", node, manifest, images))
		if error == "":
			error = Outcome.error_of(_place_water(node, manifest, target.call("water_origin", manifest)))
		if error == "" and has_new_scatter:
			error = Outcome.error_of(
				Scatter.place(node, target.call("water_origin", manifest), manifest.size_m, layers)
			)
	if error == "" and result.is_changed:
		error = Outcome.error_of(target.call("save", node, manifest))
		if error == "":
			error = Outcome.error_of(Scatter.save(node, target.call("folder", node)))
		if error != "":
			_unsaved[node.get_instance_id()] = [manifest.layout(), files]
	if error == "":
		node.set_meta(FILES_META, files)
		node.set_meta(LAYOUT_META, manifest.layout())
	else:
		result.error = "Upthrust: " + error
	var read := images.size() + (manifest.scatter.size() if has_new_scatter else 0)
	var counts := ""
	for layer: Node3D in Scatter.nodes_of(node):
		if not layer.has_meta(Scatter.UNUSED_META):
			counts += ", %d %s" % [layer.call("count"), layer.get_meta(Scatter.LAYER_META)]
	result.message = "Upthrust: %s, %d × %d samples%s, %d of %d files read, in %.1f s." % [
		node.name, manifest.samples.x, manifest.samples.y, counts, read, files.size(),
		(Time.get_ticks_msec() - started) / 1000.0,
	]
	return result


## Reads a file, if it is the one that the manifest lists.
static func _read_file(manifest: Manifest, entry: Dictionary, bytes: PackedByteArray) -> Outcome:
	var path := manifest.path(entry)
	if not FileAccess.file_exists(path):
		return Outcome.failure("%s is missing. Export the terrain again." % path)
	bytes.append_array(FileAccess.get_file_as_bytes(path))
	if bytes.is_empty():
		return Outcome.failure(
			"%s cannot be read. Close other programs that use it, or export the terrain again." % path
		)
	if not Checksum.matches(bytes, entry["crc32"]):
		return Outcome.failure(
			"%s is not the file that the manifest lists. Wait until the export has ended, or export again." % path
		)
	return Outcome.success()


static func _read_scatter(manifest: Manifest, entry: Dictionary, layers: Array[Scatter.Layer]) -> Outcome:
	var bytes := PackedByteArray()
	var error := Outcome.error_of(_read_file(manifest, entry, bytes))
	if error != "":
		return Outcome.failure(error)
	return Scatter.read(bytes.get_string_from_utf8(), manifest.path(entry), layers)


## Reads the image of an entry.
static func _read_image(manifest: Manifest, entry: Dictionary, image: Image) -> Outcome:
	var path := manifest.path(entry)
	var error := Outcome.error_of(_read_file(manifest, entry, PackedByteArray()))
	if error != "":
		return Outcome.failure(error)
	if image.load(path) != OK:
		return Outcome.failure("%s cannot be read as an image. Export the terrain again." % path)
	if image.get_size() != manifest.image_size(entry):
		return Outcome.failure(
			"%s has %s pixels, but the manifest says %s. Export the terrain again."
			% [path, image.get_size(), manifest.image_size(entry)]
		)
	return Outcome.success()


static func _target(key: String) -> GDScript:
	match key:
		"godot-terrain3d":
			return Terrain3DTarget
		"godot-hterrain":
			return HTerrainTarget
	return null


## The water that the plugin made, or null.
static func water_of(node: Node3D) -> MeshInstance3D:
	for child: Node in node.get_children():
		if child is MeshInstance3D and child.has_meta(WATER_META):
			return child
	return null


static func _place_water(node: Node3D, manifest: Manifest, origin: Vector3) -> Outcome:
	var water := water_of(node)
	if is_nan(manifest.water_m):
		if water != null and water.visible:
			water.hide()
			water.set_meta(DRY_META, true)
		if water == null:
			node.remove_meta(HAS_WATER_META)
		return Outcome.success()
	if water == null and node.has_meta(HAS_WATER_META):
		return Outcome.success()
	if water == null:
		water = _new_water()
		node.add_child(water, true)
		water.owner = node.owner
	node.set_meta(HAS_WATER_META, true)
	var plane := water.mesh as PlaneMesh
	if plane == null:
		plane = PlaneMesh.new()
		water.mesh = plane
	plane.size = manifest.size_m
	water.position = origin + Vector3(manifest.size_m.x / 2, manifest.water_m, manifest.size_m.y / 2)
	if water.has_meta(DRY_META):
		water.remove_meta(DRY_META)
		water.show()
	return Outcome.success()


static func _new_water() -> MeshInstance3D:
	var water := MeshInstance3D.new()
	water.name = WATER_NAME
	water.set_meta(WATER_META, true)
	var material := StandardMaterial3D.new()
	material.albedo_color = Color(0.1, 0.25, 0.32, 0.85)
	material.transparency = BaseMaterial3D.TRANSPARENCY_ALPHA
	material.roughness = 0.05
	water.material_override = material
	return water
