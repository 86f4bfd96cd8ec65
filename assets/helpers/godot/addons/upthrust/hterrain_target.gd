@tool
extends RefCounted
## Puts an export for HTerrain into an HTerrain node, or the tiles of one into a node for each.

const Manifest := preload("manifest.gd")
const Outcome := Manifest.Outcome
const Folders := preload("folders.gd")

const TERRAIN_SCRIPT := "res://addons/zylann.hterrain/hterrain.gd"
const DATA_SCRIPT := "res://addons/zylann.hterrain/hterrain_data.gd"
const DATA_FILE := "data.hterrain"
const RESOLUTIONS: Array[int] = [65, 129, 257, 513, 1025, 2049, 4097]
## HTerrainData.CHANNEL_HEIGHT, CHANNEL_NORMAL, CHANNEL_SPLAT and CHANNEL_COLOR.
enum Channel { HEIGHT = 0, NORMAL = 1, SPLAT = 2, COLOR = 3 }
## On the node of a tile: its column and row. Other nodes can have the same name.
const TILE_META := &"upthrust_tile"
## On tiles that the last export does not have: whether they had collision. They are hidden and not freed, because the
## editor's history may hold them, and they are shown again when an export has them again.
const UNUSED_META := &"upthrust_unused"


## Whether a manifest can be imported into a node, or as a new one.
static func check(manifest: Manifest, node: Node3D) -> Outcome:
	if not ResourceLoader.exists(TERRAIN_SCRIPT):
		return Outcome.failure(
			"this terrain is for HTerrain. Install \"Heightmap terrain\" by Zylann from the Asset Library."
		)
	if node != null and not _is_terrain(node) and node.get_child_count() > 0 and _terrains(node).is_empty():
		return Outcome.failure("%s is not an HTerrain node. Import this export as a new terrain." % node.name)
	if node != null and _is_terrain(node) != (manifest.tiles == Vector2i.ONE):
		return Outcome.failure("%s has a different number of tiles. Import this export as a new terrain." % node.name)
	for entry: Dictionary in manifest.heightmaps:
		var size := manifest.image_size(entry)
		if size.x != size.y or not RESOLUTIONS.has(size.x):
			return Outcome.failure(
				"HTerrain takes square maps of 65, 129, … or 4097 samples, not %d × %d." % [size.x, size.y]
			)
	return Outcome.success()


static func water_origin(_manifest: Manifest) -> Vector3:
	return Vector3.ZERO


static func create(manifest: Manifest) -> Node3D:
	return _new_terrain() if manifest.tiles == Vector2i.ONE else Node3D.new()


static func is_loaded(node: Node3D) -> bool:
	var terrains := _terrains(node)
	return not terrains.is_empty() and terrains.all(func(terrain: Node3D) -> bool: return terrain.call("has_data"))


static func apply(node: Node3D, manifest: Manifest, images: Dictionary[String, Image]) -> Outcome:
	if manifest.tiles != Vector2i.ONE:
		_hide_unused_tiles(node, manifest)
	for entry: Dictionary in manifest.heightmaps:
		var terrain := node
		if manifest.tiles != Vector2i.ONE:
			terrain = _tile_node(node, manifest, entry)
		terrain.set("map_scale", Vector3(manifest.spacing_m.x, 1, manifest.spacing_m.y))
		var maps: Dictionary[int, Image] = {}
		_add_image(maps, Channel.HEIGHT, manifest, manifest.heightmaps, entry, images)
		_add_image(maps, Channel.SPLAT, manifest, manifest.weights, entry, images)
		_add_image(maps, Channel.COLOR, manifest, manifest.textures, entry, images)
		_set_maps(terrain, manifest, entry, maps)
	return Outcome.success()


## The folder in which the terrain, or its first tile, is saved.
static func folder(node: Node3D) -> String:
	var data: Resource = _terrains(node)[0].call("get_data")
	return data.resource_path.get_base_dir()


## Saves the maps of all tiles.
static func save(node: Node3D, _manifest: Manifest) -> Outcome:
	for terrain: Node3D in _terrains(node):
		var data: Resource = terrain.call("get_data")
		if data == null:
			continue
		var directory := data.resource_path.get_base_dir()
		# HTerrain does not write into a folder that it has just made.
		var is_made := DirAccess.make_dir_recursive_absolute(directory) == OK
		if not is_made or not data.call("save_data", directory):
			_mark_as_modified(node)
			return Outcome.failure("the terrain was imported, but cannot be saved in %s." % directory)
	return Outcome.success()


## HTerrain takes maps for saved even if that failed, and skips them the next time.
static func _mark_as_modified(node: Node3D) -> void:
	for terrain: Node3D in _terrains(node):
		var data: Resource = terrain.call("get_data")
		for channel: int in Channel.values():
			if data != null and int(data.call("get_map_count", channel)) > 0:
				data.call("notify_region_change", Rect2(0, 0, 1, 1), channel, 0, false, false)


static func _is_terrain(node: Node3D) -> bool:
	return node.get_script() != null and (node.get_script() as Script).resource_path == TERRAIN_SCRIPT


static func _terrains(node: Node3D) -> Array[Node3D]:
	var found: Array[Node3D] = []
	if _is_terrain(node):
		found.append(node)
		return found
	for child: Node in node.get_children():
		if child is Node3D and _is_terrain(child):
			found.append(child)
	return found


static func _new_terrain() -> Node3D:
	return (load(TERRAIN_SCRIPT) as GDScript).new()


static func _tile_node(parent: Node3D, manifest: Manifest, entry: Dictionary) -> Node3D:
	var tile := manifest.tile(entry)
	var terrain: Node3D = null
	for child: Node3D in _terrains(parent):
		if child.get_meta(TILE_META, null) == tile:
			terrain = child
	if terrain == null:
		terrain = _new_terrain()
		terrain.name = _tile_name(manifest, entry)
		terrain.set_meta(TILE_META, tile)
		parent.add_child(terrain, true)
		terrain.owner = parent.owner
	var first := Vector2(manifest.first_sample(entry)) * manifest.spacing_m
	terrain.position = Vector3(first.x, 0, first.y)
	if terrain.has_meta(UNUSED_META):
		terrain.set("collision_enabled", terrain.get_meta(UNUSED_META))
		terrain.remove_meta(UNUSED_META)
		terrain.show()
	return terrain


static func _tile_name(manifest: Manifest, entry: Dictionary) -> String:
	var tile := manifest.tile(entry)
	return "Tile_x%d_y%d" % [tile.x, tile.y]


## Hides the tiles of an earlier export that this one does not have. Terrains that the user added are not tiles, and
## tiles that the user hid stay as they are.
static func _hide_unused_tiles(parent: Node3D, manifest: Manifest) -> void:
	var used := manifest.heightmaps.map(manifest.tile)
	for terrain: Node3D in _terrains(parent):
		if terrain.visible and terrain.has_meta(TILE_META) and not used.has(terrain.get_meta(TILE_META)):
			terrain.hide()
			terrain.set_meta(UNUSED_META, terrain.get("collision_enabled"))
			terrain.set("collision_enabled", false)


## Adds the image for the tile of a heightmap, if it was read. HTerrain has one splat map, so only the first is used.
static func _add_image(
	maps: Dictionary[int, Image], channel: Channel, manifest: Manifest, entries: Array[Dictionary],
	heightmap: Dictionary, images: Dictionary[String, Image]
) -> void:
	for entry: Dictionary in entries:
		if manifest.tile(entry) == manifest.tile(heightmap) and images.has(entry["file"]):
			maps[channel] = images[entry["file"]]
			return


static func _set_maps(terrain: Node3D, manifest: Manifest, entry: Dictionary, maps: Dictionary[int, Image]) -> void:
	if maps.is_empty():
		return
	var data: Resource = terrain.call("get_data")
	var is_new := data == null
	var resolution := manifest.image_size(entry).x
	if is_new:
		data = (load(DATA_SCRIPT) as GDScript).new()
		var suffix := "" if manifest.tiles == Vector2i.ONE else "_x%d_y%d" % [entry["tile"][0], entry["tile"][1]]
		var title := manifest.title if manifest.title != "" else manifest.folder.get_file()
		data.resource_path = Folders.unused(title + suffix, manifest.folder).path_join(DATA_FILE)
	if int(data.call("get_resolution")) != resolution:
		data.call("resize", resolution, false)
	for channel: int in maps:
		var map: Image = data.call("get_image", channel)
		var image: Image = maps[channel].duplicate()
		image.convert(map.get_format())
		map.blit_rect(image, Rect2i(0, 0, resolution, resolution), Vector2i.ZERO)
	if is_new:
		terrain.call("set_data", data)
	for channel: int in maps:
		data.call("notify_region_change", Rect2(0, 0, resolution, resolution), channel)
	if maps.has(Channel.HEIGHT) and terrain.get("collision_enabled") and terrain.is_inside_tree():
		terrain.call("update_collider")
