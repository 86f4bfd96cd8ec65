extends SceneTree
## Follows the import steps in the sidecars of exports with the importers of Terrain3D and HTerrain, and writes the
## terrains that result.
##
## godot --headless --path PROJECT --script follow_steps.gd -- CASES.json
##
## CASES.json is an array of {"target", "folder", "out"}. Every case writes into "out": heights.f32 (float32 rows from
## the smallest z), queried.f32 (the same through get_height), control.f32 or splat.rgba, color.rgba, and terrain.json.

const TERRAIN3D_IMPORTER := "res://addons/terrain_3d/tools/importer.tscn"
const HTERRAIN := "res://addons/zylann.hterrain/hterrain.gd"
const HTERRAIN_DATA := "res://addons/zylann.hterrain/hterrain_data.gd"
const HTERRAIN_IMPORTER := "res://addons/zylann.hterrain/tools/importer/importer_dialog.tscn"
## A query this far from a vertex returns the height of the vertex. At the vertex itself, Terrain3D truncates a quotient
## of floats, and may return the height of a neighbour.
const QUERY_OFFSET_M := 0.005


## Ends the program if a condition is not met.
static func require(condition: bool, message: String) -> void:
	if not condition:
		printerr(message)
		(Engine.get_main_loop() as SceneTree).quit(1)


## The import steps of one sidecar.
class Steps:
	var lines: PackedStringArray
	var file: String

	func _init(folder: String, sidecar_file: String) -> void:
		var sidecar: Dictionary = JSON.parse_string(FileAccess.get_file_as_string(folder.path_join(sidecar_file)))
		lines = PackedStringArray(sidecar["import"])
		file = sidecar["file"]

	## The captures of a pattern in the first step that contains it, or nothing.
	func find(pattern: String) -> PackedStringArray:
		var regex := RegEx.create_from_string(pattern)
		for line: String in lines:
			var found := regex.search(line)
			if found != null:
				return found.strings
		return PackedStringArray()

	## The number of the first step that contains a pattern, or -1.
	func index(pattern: String) -> int:
		var regex := RegEx.create_from_string(pattern)
		for number: int in lines.size():
			if regex.search(lines[number]) != null:
				return number
		return -1

	## The captures of a pattern that must be there.
	func need(pattern: String) -> PackedStringArray:
		var found := find(pattern)
		if found.is_empty():
			printerr(file, ": no step says ", pattern)
			(Engine.get_main_loop() as SceneTree).quit(1)
			found.resize(10)
		return found


func _initialize() -> void:
	_run.call_deferred()


func _run() -> void:
	var cases: Array = JSON.parse_string(FileAccess.get_file_as_string(OS.get_cmdline_user_args()[0]))
	for case: Dictionary in cases:
		DirAccess.make_dir_recursive_absolute(case["out"])
		if case["target"] == "godot-terrain3d":
			await _follow_terrain3d(case["folder"], case["out"])
		else:
			await _follow_hterrain(case["folder"], case["out"])
	quit()


## The sidecars of the heightmaps of an export.
func _steps(folder: String) -> Array[Steps]:
	var found: Array[Steps] = []
	for file: String in DirAccess.get_files_at(folder):
		if file.begins_with("height") and file.ends_with(".exr.json"):
			found.append(Steps.new(folder, file))
	return found


## Column and row of the tile of a file such as height_x1_y0.exr.
func _tile(file: String) -> Vector2i:
	var found := RegEx.create_from_string("_x(\\d+)_y(\\d+)\\.").search(file)
	return Vector2i.ZERO if found == null else Vector2i(int(found.strings[1]), int(found.strings[2]))


func _number(text: String) -> float:
	return float(text.replace("−", "-").replace(" ", ""))


func _follow_terrain3d(folder: String, out: String) -> void:
	var importer: Node = (load(TERRAIN3D_IMPORTER) as PackedScene).instantiate()
	root.add_child(importer)
	await process_frame
	var tiles := _steps(folder)
	var first := tiles[0]
	importer.set("region_size", int(first.need("set Region Size to (\\d+)")[1]))
	first.need("leave Import Scale at 1 and (Import|Height) Offset at 0")
	var spacing := _number(first.need("set Vertex Spacing to ([0-9.]+)")[1])
	# Terrain3D 1.0 takes the position in metres, later versions in vertices; they agree while the spacing is 1.
	var last_import_step := maxi(first.index(" as height"), first.index("set Import Position"))
	var spaced_before := first.index("set Vertex Spacing to") < last_import_step
	if spaced_before:
		importer.set("vertex_spacing", spacing)
	var corner := Vector2i.MAX
	for steps: Steps in tiles:
		var height := steps.need("choose (\\S+) as height")[1]
		var control := steps.find("(\\S+) as control")
		var color := steps.need("and (\\S+) as colour")[1]
		var position := Vector2i.ZERO
		var formula := steps.find("set Import Position to (\\d+) × N( [−+] \\d+)? and (\\d+) × M( [−+] \\d+)?")
		var single := steps.find("set Import Position to ([−0-9]+) and ([−0-9]+)")
		if not formula.is_empty():
			var tile := _tile(steps.file)
			position.x = int(formula[1]) * tile.x + int(_number(formula[2]))
			position.y = int(formula[3]) * tile.y + int(_number(formula[4]))
		elif not single.is_empty():
			position = Vector2i(int(_number(single[1])), int(_number(single[2])))
		corner = corner.min(position)
		importer.set("height_file_name", folder.path_join(height))
		importer.set("control_file_name", "" if control.is_empty() else folder.path_join(control[1]))
		importer.set("color_file_name", folder.path_join(color))
		importer.set("import_position", position)
		importer.set("run_import", true)
	if not spaced_before:
		importer.set("vertex_spacing", spacing)
	await process_frame
	write_terrain3d(importer, out, corner)
	importer.queue_free()
	await process_frame


## Writes what the plugin has scattered on a terrain: scatter.json, and for each layer a file with the matrices.
static func write_scatter(terrain: Node, out: String) -> void:
	var layers := []
	for child: Node in terrain.get_children():
		if not child.has_meta("upthrust_scatter"):
			continue
		var layer := child as Node3D
		var name: String = layer.get_meta("upthrust_scatter")
		var file := FileAccess.open(out.path_join("scatter %s.f32" % name), FileAccess.WRITE)
		var cells := layer.get_children(true)
		var counts := []
		for cell: MultiMeshInstance3D in cells:
			counts.append(cell.multimesh.instance_count)
			require(cell.multimesh.mesh == layer.get("mesh"), "a cell of %s has another mesh" % name)
		for buffer: PackedFloat32Array in (layer.get("data") as Resource).get_meta("upthrust_buffers"):
			file.store_buffer(buffer.to_byte_array())
		var mesh: Mesh = layer.get("mesh")
		var bounds := mesh.get_aabb()
		layers.append({
			"name": name, "node": layer.name, "counts": counts, "visible": layer.visible,
			"position": [layer.position.x, layer.position.y, layer.position.z],
			"mesh": mesh.get_class(), "saved": (layer.get("data") as Resource).resource_path,
			"bounds": [bounds.position.x, bounds.position.y, bounds.position.z, bounds.end.x, bounds.end.y, bounds.end.z],
			"volume": _volume(mesh), "is_owned": layer.owner != null,
		})
	FileAccess.open(out.path_join("scatter.json"), FileAccess.WRITE).store_string(JSON.stringify(layers))


## The volume of a mesh whose triangles are clockwise from outside.
static func _volume(mesh: Mesh) -> float:
	var faces := mesh.get_faces()
	var volume := 0.0
	for at: int in range(0, faces.size(), 3):
		volume += faces[at].dot(faces[at + 2].cross(faces[at + 1])) / 6
	return volume


## Writes the maps of a Terrain3D node, and the place of its north-western sample where the steps or an importer put it.
static func write_terrain3d(terrain: Node, out: String, corner: Vector2i) -> void:
	var data: Object = terrain.get("data")
	var region_size: int = terrain.get("region_size")
	var spacing: float = terrain.get("vertex_spacing")
	var locations: Array = data.call("get_region_locations")
	var bounds := Rect2i()
	for location: Vector2i in locations:
		var cell := Rect2i(location, Vector2i.ONE)
		bounds = bounds.merge(cell) if bounds.has_area() else cell
	var size := bounds.size * region_size
	var heights := Image.create_empty(size.x, size.y, false, Image.FORMAT_RF)
	var control := Image.create_empty(size.x, size.y, false, Image.FORMAT_RF)
	var color := Image.create_empty(size.x, size.y, false, Image.FORMAT_RGBA8)
	for location: Vector2i in locations:
		var region: Object = data.call("get_region", location)
		var to := (location - bounds.position) * region_size
		var maps: Array = region.call("get_maps")
		var area := Rect2i(0, 0, region_size, region_size)
		for pair: Array in [[heights, maps[0]], [control, maps[1]], [color, maps[2]]]:
			var source := (pair[1] as Image).duplicate() as Image
			source.clear_mipmaps()
			require(source.get_format() == (pair[0] as Image).get_format(), "a map of another format")
			(pair[0] as Image).blit_rect(source, area, to)
	_write(out.path_join("heights.f32"), heights.get_data())
	_write(out.path_join("control.f32"), control.get_data())
	_write(out.path_join("color.rgba"), color.get_data())
	var origin := bounds.position * region_size
	var queried := PackedFloat32Array()
	queried.resize(size.x * size.y)
	var number := 0
	for z: int in size.y:
		for x: int in size.x:
			var at := Vector3((origin.x + x) * spacing + QUERY_OFFSET_M, 0, (origin.y + z) * spacing + QUERY_OFFSET_M)
			queried[number] = data.call("get_height", at)
			number += 1
	_write(out.path_join("queried.f32"), queried.to_byte_array())
	_write_description(out, {
		"engine": "Terrain3D " + str(terrain.get("version")),
		"size": [size.x, size.y],
		"origin_m": [origin.x * spacing, origin.y * spacing],
		"spacing_m": [spacing, spacing],
		"asked_origin_m": [corner.x * spacing, corner.y * spacing],
	})


func _follow_hterrain(folder: String, out: String) -> void:
	var terrains: Array[Node3D] = []
	for steps: Steps in _steps(folder):
		var terrain: Node3D = (load(HTERRAIN) as GDScript).new()
		root.add_child(terrain)
		var data: Resource = (load(HTERRAIN_DATA) as GDScript).new()
		data.call("_edit_load_default")
		terrain.call("set_data", data)
		var scale := steps.need("set Map scale to ([0-9.]+), ([0-9.]+), ([0-9.]+)")
		terrain.set("map_scale", Vector3(_number(scale[1]), _number(scale[2]), _number(scale[3].trim_suffix("."))))
		var place := steps.find("to x = ([0-9.]+) × N and z = ([0-9.]+) × M")
		if not place.is_empty():
			var tile := _tile(steps.file)
			terrain.position = Vector3(_number(place[1]) * tile.x, 0, _number(place[2]) * tile.y)
		var dialog: Node = (load(HTERRAIN_IMPORTER) as PackedScene).instantiate()
		root.add_child(dialog)
		await process_frame
		dialog.call("set_terrain", terrain)
		var form: Object = dialog.get("_inspector")
		form.call("set_value", "heightmap", folder.path_join(steps.need("Import maps, (\\S+):")[1]))
		var splat := steps.find("(\\S+) is the splat map")
		if not splat.is_empty():
			form.call("set_value", "splatmap", folder.path_join(splat[1]))
		var color := steps.find("(\\S+) is the colour map")
		if not color.is_empty():
			form.call("set_value", "colormap", folder.path_join(color[1]))
		var report: Object = dialog.call("_validate_form")
		require((report.get("errors") as Array).is_empty(), str(report.get("errors")))
		require((report.get("warnings") as Array).is_empty(), str(report.get("warnings")))
		dialog.call("_on_ImportButton_pressed")
		dialog.queue_free()
		terrains.append(terrain)
	await process_frame
	write_hterrains(terrains, out)
	for terrain: Node3D in terrains:
		terrain.queue_free()
	await process_frame


## Writes the maps of HTerrain nodes that share their borders.
static func write_hterrains(terrains: Array[Node3D], out: String) -> void:
	var origin := Vector3(INF, 0, INF)
	var far := Vector3(-INF, 0, -INF)
	var step := Vector3.ONE
	for terrain: Node3D in terrains:
		var transform: Transform3D = terrain.call("get_internal_transform")
		var last: int = int((terrain.call("get_data") as Resource).call("get_resolution")) - 1
		step = transform * Vector3.ONE - transform * Vector3.ZERO
		origin = origin.min(transform * Vector3.ZERO)
		far = far.max(transform * Vector3(last, 0, last))
	var size := Vector2i(roundi((far.x - origin.x) / step.x) + 1, roundi((far.z - origin.z) / step.z) + 1)
	var heights := Image.create_empty(size.x, size.y, false, Image.FORMAT_RF)
	var splat := Image.create_empty(size.x, size.y, false, Image.FORMAT_RGBA8)
	var color := Image.create_empty(size.x, size.y, false, Image.FORMAT_RGBA8)
	var queried := PackedFloat32Array()
	queried.resize(size.x * size.y)
	# Heights that two terrains have in common must be the same in both.
	var seam_m := 0.0
	queried.fill(INF)
	for terrain: Node3D in terrains:
		var data: Resource = terrain.call("get_data")
		var resolution: int = data.call("get_resolution")
		var transform: Transform3D = terrain.call("get_internal_transform")
		var at := transform.origin - origin
		var to := Vector2i(roundi(at.x / step.x), roundi(at.z / step.z))
		var area := Rect2i(0, 0, resolution, resolution)
		# The numbers of the plugin's channels: heights, splat map and colour map.
		for pair: Array in [[heights, 0], [splat, 2], [color, 3]]:
			var source: Image = data.call("get_image", pair[1])
			require(source.get_format() == (pair[0] as Image).get_format(), "a map of another format")
			(pair[0] as Image).blit_rect(source, area, to)
		for z: int in resolution:
			for x: int in resolution:
				var height := (transform * Vector3(x, float(data.call("get_height_at", x, z)), z)).y
				var number := (to.y + z) * size.x + to.x + x
				if queried[number] != INF:
					seam_m = maxf(seam_m, absf(queried[number] - height))
				queried[number] = height
	_write(out.path_join("heights.f32"), heights.get_data())
	_write(out.path_join("splat.rgba"), splat.get_data())
	_write(out.path_join("color.rgba"), color.get_data())
	_write(out.path_join("queried.f32"), queried.to_byte_array())
	var about := ConfigFile.new()
	about.load("res://addons/zylann.hterrain/plugin.cfg")
	_write_description(out, {
		"engine": "HTerrain " + str(about.get_value("plugin", "version")),
		"size": [size.x, size.y],
		"origin_m": [origin.x, origin.z],
		"asked_origin_m": [0, 0],
		"spacing_m": [step.x, step.z],
		"seam_m": seam_m,
	})


static func _write(path: String, bytes: PackedByteArray) -> void:
	var file := FileAccess.open(path, FileAccess.WRITE)
	file.store_buffer(bytes)


static func _write_description(out: String, description: Dictionary) -> void:
	description["godot"] = Engine.get_version_info()["string"]
	_write(out.path_join("terrain.json"), JSON.stringify(description).to_utf8_buffer())
