@tool
extends RefCounted
## Puts an export for Terrain3D into a Terrain3D node.
##
## Nothing here names the types of the extension, so that the plugin loads without it.

const Manifest := preload("manifest.gd")
const Outcome := Manifest.Outcome
const Folders := preload("folders.gd")

const CLASS := &"Terrain3D"
const REGION_CLASS := &"Terrain3DRegion"
const TEXTURE_CLASS := &"Terrain3DTextureAsset"
## The region sizes in order of preference, and the regions on either side of the origin.
const REGION_SIZES: Array[int] = [256, 64, 128, 512, 1024, 2048]
const REGIONS_PER_SIDE := 16
## Terrain3DRegion.MapType, and the format and filling of each map.
enum Map { HEIGHT, CONTROL, COLOR }
const FORMATS: Array[Image.Format] = [Image.FORMAT_RF, Image.FORMAT_RF, Image.FORMAT_RGBA8]
const FILLS: Array[Color] = [Color.BLACK, Color.BLACK, Color(1, 1, 1, 0.5)]
## The limits of vertex_spacing.
const MIN_SPACING_M := 0.25
const MAX_SPACING_M := 100.0
## Terrain3D has one spacing for both directions. With a difference up to this share, the terrain is off by 0.05 % of
## its size at most.
const MAX_SPACING_DIFFERENCE := 0.0005
## The samples that the last import covered, as metadata of the node.
const BOUNDS_META := &"upthrust_bounds"


## Whether a manifest can be imported into a node, or as a new one.
static func check(manifest: Manifest, node: Node3D) -> Outcome:
	if not ClassDB.class_exists(CLASS):
		return Outcome.failure(
			"this terrain is for Terrain3D. Install Terrain3D from the Asset Library and restart the editor."
		)
	if node != null and not node.is_class(CLASS):
		return Outcome.failure("%s is not a Terrain3D node. Import this export as a new terrain." % node.name)
	var samples := manifest.samples
	if region_size(samples) == 0:
		return Outcome.failure("%d × %d samples do not fill whole regions of Terrain3D." % [samples.x, samples.y])
	var spacing := manifest.spacing_m
	if minf(spacing.x, spacing.y) < MIN_SPACING_M or maxf(spacing.x, spacing.y) > MAX_SPACING_M:
		return Outcome.failure(
			"Terrain3D takes %s to %s m between samples, not %s." % [MIN_SPACING_M, MAX_SPACING_M, spacing.x]
		)
	if absf(spacing.x - spacing.y) > MAX_SPACING_DIFFERENCE * spacing.x:
		return Outcome.failure(
			"Terrain3D has one spacing for both directions, but samples are %s m apart eastward and %s m southward. "
			% [spacing.x, spacing.y] + "Export with as many samples per metre in both directions."
		)
	return Outcome.success()


## The size of the regions that a map fills completely, or 0.
static func region_size(samples: Vector2i) -> int:
	for most: int in [REGIONS_PER_SIDE, 2 * REGIONS_PER_SIDE]:
		for size: int in REGION_SIZES:
			if samples % size == Vector2i.ZERO and maxi(samples.x, samples.y) <= most * size:
				return size
	return 0


## The place of the north-western sample: the origin, unless the map only fits around it.
static func origin(samples: Vector2i) -> Vector2i:
	var size := region_size(samples)
	var regions := samples / size
	return Vector2i(
		-(regions.x / 2) * size if regions.x > REGIONS_PER_SIDE else 0,
		-(regions.y / 2) * size if regions.y > REGIONS_PER_SIDE else 0
	)


static func water_origin(manifest: Manifest) -> Vector3:
	var first := Vector2(origin(manifest.samples)) * manifest.spacing_m
	return Vector3(first.x, 0, first.y)


static func create(_manifest: Manifest) -> Node3D:
	return ClassDB.instantiate(CLASS)


static func is_loaded(node: Node3D) -> bool:
	return int((node.get("data") as Object).call("get_region_count")) > 0


static func apply(node: Node3D, manifest: Manifest, images: Dictionary[String, Image]) -> Outcome:
	var data: Object = node.get("data")
	var is_new: bool = node.get("data_directory") == "" and int(data.call("get_region_count")) == 0
	var size := region_size(manifest.samples)
	if int(node.get("region_size")) != size:
		node.call("change_region_size", size)
	node.set("vertex_spacing", manifest.spacing_m.x)
	var bounds := Rect2i(origin(manifest.samples), manifest.samples)
	_remove_regions(data, size, node.get_meta(BOUNDS_META, Rect2i()), bounds)
	node.set_meta(BOUNDS_META, bounds)
	var sources: Array[Array] = [
		_sources(manifest, manifest.heightmaps, images, bounds.position),
		_sources(manifest, manifest.weights, images, bounds.position),
		_sources(manifest, manifest.textures, images, bounds.position),
	]
	for z: int in range(bounds.position.y / size, bounds.end.y / size):
		for x: int in range(bounds.position.x / size, bounds.end.x / size):
			_fill_region(data, Vector2i(x, z), size, manifest.spacing_m.x, sources)
	data.call("update_maps", Map.size(), true, false)
	data.call("calc_height_range", true)
	var collision: Object = node.get("collision")
	if collision != null and collision.has_method("update"):
		collision.call("update", true)
	_set_textures(node, manifest)
	if is_new:
		# The colour map shows the terrain as it is in Upthrust until the slots have textures.
		node.set("show_checkered", false)
		node.set("show_colormap", not manifest.textures.is_empty())
	return Outcome.success()


## The images of a kind with their places, in the format of their map.
static func _sources(
	manifest: Manifest, entries: Array[Dictionary], images: Dictionary[String, Image], first: Vector2i
) -> Array:
	var found := []
	for entry: Dictionary in entries:
		if images.has(entry["file"]):
			found.append([images[entry["file"]], first + manifest.first_sample(entry)])
	return found


static func _fill_region(data: Object, location: Vector2i, size: int, spacing_m: float, sources: Array[Array]) -> void:
	var region: Object = data.call("get_region", location)
	var is_new: bool = region == null or bool(region.call("is_deleted"))
	if is_new:
		region = ClassDB.instantiate(REGION_CLASS)
		region.call("set_location", location)
		region.call("set_region_size", size)
		region.call("set_vertex_spacing", spacing_m)
	var area := Rect2i(location * size, Vector2i(size, size))
	for map: int in Map.values():
		var filled: Image = null
		for source: Array in sources[map]:
			var image: Image = source[0]
			var overlap := area.intersection(Rect2i(source[1], image.get_size()))
			if not overlap.has_area():
				continue
			if filled == null:
				filled = _copy_of(null if is_new else region.call("get_map", map), map, size)
			var part := image.get_region(Rect2i(overlap.position - Vector2i(source[1]), overlap.size))
			part.convert(FORMATS[map])
			filled.blit_rect(part, Rect2i(Vector2i.ZERO, overlap.size), overlap.position - area.position)
		if filled != null:
			region.call("set_map", map, filled)
	region.call("set_modified", true)
	if is_new:
		data.call("add_region", region, false)


static func _copy_of(map: Image, kind: int, size: int) -> Image:
	if map == null:
		var empty := Image.create_empty(size, size, false, FORMATS[kind])
		empty.fill(FILLS[kind])
		return empty
	var copy: Image = map.duplicate()
	copy.clear_mipmaps()
	return copy


## Removes the regions of the last import that this one does not cover. Regions that the user added stay.
static func _remove_regions(data: Object, size: int, old: Rect2i, new: Rect2i) -> void:
	for location: Vector2i in (data.call("get_region_locations") as Array).duplicate():
		var area := Rect2i(location * size, Vector2i(size, size))
		if old.intersects(area) and not new.intersects(area):
			data.call("remove_region", data.call("get_region", location), false)


## Names and colours the texture slots. Slots that have a texture are left as they are.
static func _set_textures(node: Node3D, manifest: Manifest) -> void:
	var assets: Object = node.get("assets")
	var number := 0
	for kind: Dictionary in manifest.types:
		# Only covering types are in the control map.
		if not kind.get("covers", true):
			continue
		var texture: Object = null
		if number < int(assets.call("get_texture_count")):
			texture = assets.call("get_texture", number)
		if texture == null:
			texture = ClassDB.instantiate(TEXTURE_CLASS)
			texture.set("name", kind["name"])
			texture.set("albedo_color", Color.html(kind["color"]))
			assets.call("set_texture", number, texture)
		elif texture.get("albedo_texture") == null:
			texture.set("name", kind["name"])
			texture.set("albedo_color", Color.html(kind["color"]))
		number += 1


## The folder in which the terrain is saved.
static func folder(node: Node3D) -> String:
	return node.get("data_directory")


## Saves the regions that were changed.
static func save(node: Node3D, manifest: Manifest) -> Outcome:
	var directory: String = node.get("data_directory")
	if directory == "":
		directory = Folders.unused(manifest.title, manifest.folder)
	if DirAccess.make_dir_recursive_absolute(directory) != OK:
		return Outcome.failure("the terrain was imported, but the folder %s cannot be made." % directory)
	node.set("data_directory", directory)
	var data: Object = node.get("data")
	data.call("save_directory", directory)
	# Terrain3D returns nothing, but regions that could not be saved stay marked as modified.
	for location: Vector2i in data.call("get_region_locations"):
		var region: Object = data.call("get_region", location)
		if region != null and region.call("is_modified"):
			return Outcome.failure("the terrain was imported, but cannot be saved in %s." % directory)
	return Outcome.success()
