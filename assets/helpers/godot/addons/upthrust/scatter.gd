@tool
extends RefCounted
## Reads the file of what stands on a terrain, and makes a node for each layer.

const Manifest := preload("manifest.gd")
const Outcome := Manifest.Outcome
const Folders := preload("folders.gd")
const LayerNode := preload("scatter_layer.gd")

## On the node of a layer: its name in the export. Other nodes can have the same name.
const LAYER_META := &"upthrust_scatter"
## On the node of a layer that the last export does not have. It is hidden and not freed, because the editor's history
## may hold it, and it is shown again when an export has the layer again.
const UNUSED_META := &"upthrust_unused"
## On the terrain: the layers of the last export. If there is no node for one, the user has deleted it.
const NAMES_META := &"upthrust_scatter_layers"
## On a mesh that stands for a layer: what it was made from. Meshes of the user do not have it.
const STAND_IN_META := &"upthrust_stand_in"
const FIELDS: Array[String] = ["x_m", "y_m", "z_m", "yaw_deg", "pitch_deg", "roll_deg", "scale"]
## The corners around the shapes.
const SHAPES: Dictionary[String, int] = {"cone": 8, "ball": 8, "box": 4, "pillar": 8}
const RINGS_OF_BALL := 5
## The instances of a cell on average, and the most cells along a side.
const INSTANCES_PER_CELL := 2000.0
const MAX_CELLS := 32


## A layer of a file.
class Layer:
	var name: String
	var shape: String
	var radius_m: float
	var height_m: float
	var color: Color
	## Rows of numbers in the order of `FIELDS`.
	var instances: Array

	func stand_in_key() -> String:
		return str([shape, radius_m, height_m, color])


## Reads the layers from the text of a file.
static func read(text: String, path: String, layers: Array[Layer]) -> Outcome:
	var json := JSON.new()
	if json.parse(text) != OK or not json.data is Dictionary:
		return _damaged(path, "it is not valid JSON")
	var content: Dictionary = json.data
	# The order is always this one; a file of a later version may have more columns.
	var fields: Variant = content.get("fields")
	if not fields is Array or (fields as Array).slice(0, FIELDS.size()) != FIELDS:
		return _damaged(path, "\"fields\" is not valid")
	if not content.get("layers") is Array:
		return _damaged(path, "\"layers\" is not valid")
	var names: Dictionary[String, bool] = {}
	for entry: Variant in content["layers"]:
		var layer := Layer.new()
		if not entry is Dictionary or not _take(entry, (fields as Array).size(), layer):
			return _damaged(path, "a layer is not valid")
		if names.has(layer.name):
			return _damaged(path, "two layers have the same name")
		names[layer.name] = true
		layers.append(layer)
	return Outcome.success()


static func _damaged(path: String, reason: String) -> Outcome:
	return Outcome.failure("%s is damaged: %s. Export the terrain again." % [path, reason])


## Takes a layer from its entry. Returns whether that is valid.
static func _take(entry: Dictionary, columns: int, layer: Layer) -> bool:
	var is_valid := (
		entry.get("name") is String and entry.get("shape") is String and SHAPES.has(entry["shape"])
		and _is_length(entry.get("radius_m")) and _is_length(entry.get("height_m"))
		and entry.get("color") is String and Color.html_is_valid(entry["color"])
		and entry.get("instances") is Array
	)
	if not is_valid:
		return false
	layer.name = entry["name"]
	layer.shape = entry["shape"]
	layer.radius_m = entry["radius_m"]
	layer.height_m = entry["height_m"]
	layer.color = Color.html(entry["color"])
	layer.instances = entry["instances"]
	# Without a function for each number: there can be millions.
	for row: Variant in layer.instances:
		if not row is Array or (row as Array).size() != columns:
			return false
		for value: Variant in row:
			if not (value is float or value is int) or not absf(value) <= Manifest.MAX_NUMBER:
				return false
	return true


static func _is_length(value: Variant) -> bool:
	return (value is float or value is int) and value > 0 and value <= Manifest.MAX_NUMBER


## The nodes of layers below a terrain.
static func nodes_of(terrain: Node3D) -> Array[Node3D]:
	var found: Array[Node3D] = []
	for child: Node in terrain.get_children():
		if child is LayerNode and child.has_meta(LAYER_META):
			found.append(child)
	return found


## Makes, updates or hides the nodes of layers. `origin` is the north-western corner of the terrain.
static func place(terrain: Node3D, origin: Vector3, size_m: Vector2, layers: Array[Layer]) -> Outcome:
	var earlier: Array = terrain.get_meta(NAMES_META, [])
	var nodes: Dictionary[String, Node3D] = {}
	for node: Node3D in nodes_of(terrain):
		nodes[node.get_meta(LAYER_META)] = node
	var names := layers.map(func(layer: Layer) -> String: return layer.name)
	for layer: Layer in layers:
		var node: Node3D = nodes.get(layer.name)
		if node == null and earlier.has(layer.name):
			continue
		if node == null:
			node = LayerNode.new()
			node.name = layer.name.validate_node_name() if layer.name != "" else "Scatter"
			node.set_meta(LAYER_META, layer.name)
			terrain.add_child(node, true)
			node.owner = terrain.owner if terrain.owner != null else terrain
		if node.has_meta(UNUSED_META):
			node.remove_meta(UNUSED_META)
			node.show()
		node.position = origin
		var mesh: Mesh = node.get("mesh")
		var is_stand_in := mesh == null or mesh.has_meta(STAND_IN_META)
		if is_stand_in and (mesh == null or mesh.get_meta(STAND_IN_META) != layer.stand_in_key()):
			node.set("mesh", _stand_in(layer))
		var data: Resource = node.get("data")
		if data == null:
			data = Resource.new()
		data.set_meta(LayerNode.BUFFERS_META, _buffers(layer.instances, size_m))
		node.set("data", data)
	for node: Node3D in nodes.values():
		# Layers that the user hid stay as they are.
		if not names.has(node.get_meta(LAYER_META)) and node.visible:
			node.hide()
			node.set_meta(UNUSED_META, true)
	terrain.set_meta(NAMES_META, names)
	return Outcome.success()


## Saves the instances of all layers in a folder, which exists.
static func save(terrain: Node3D, folder: String) -> Outcome:
	for node: Node3D in nodes_of(terrain):
		var data: Resource = node.get("data")
		if data == null:
			continue
		var path := data.resource_path
		# A resource without a file has no path, or one within its scene.
		if path == "" or path.contains("::"):
			path = _unused_file(folder, node.get_meta(LAYER_META))
		if ResourceSaver.save(data, path) != OK:
			return Outcome.failure("the terrain was imported, but %s cannot be saved." % path)
		data.take_over_path(path)
	return Outcome.success()


static func _unused_file(folder: String, layer: String) -> String:
	var stem := "scatter_" + layer.validate_filename().to_snake_case()
	var path := folder.path_join(stem + ".res")
	var number := 2
	while FileAccess.file_exists(path):
		path = folder.path_join("%s_%d.res" % [stem, number])
		number += 1
	return path


## The matrices of instances for MultiMesh.buffer, cell by cell.
static func _buffers(instances: Array, size_m: Vector2) -> Array:
	var side := clampi(ceili(sqrt(instances.size() / INSTANCES_PER_CELL)), 1, MAX_CELLS)
	var cells := PackedInt32Array()
	cells.resize(instances.size())
	var counts := PackedInt32Array()
	counts.resize(side * side)
	for at: int in instances.size():
		var row: Array = instances[at]
		var x := clampi(int(row[0] / size_m.x * side), 0, side - 1)
		var z := clampi(int(row[2] / size_m.y * side), 0, side - 1)
		cells[at] = z * side + x
		counts[z * side + x] += 1
	# All in one array at first: an array in an array is slower to write to.
	var starts := PackedInt32Array()
	starts.resize(side * side)
	for cell: int in range(1, side * side):
		starts[cell] = starts[cell - 1] + LayerNode.FLOATS_PER_INSTANCE * counts[cell - 1]
	var all := PackedFloat32Array()
	all.resize(LayerNode.FLOATS_PER_INSTANCE * instances.size())
	var next := starts.duplicate()
	for number: int in instances.size():
		var row: Array = instances[number]
		# The order of Godot, YXZ: first the roll, then the pitch, then the yaw, which is clockwise from above here.
		var angles := Vector3(deg_to_rad(row[4]), -deg_to_rad(row[3]), deg_to_rad(row[5]))
		var basis := Basis.from_euler(angles) * float(row[6])
		var at := next[cells[number]]
		next[cells[number]] = at + LayerNode.FLOATS_PER_INSTANCE
		all[at] = basis.x.x
		all[at + 1] = basis.y.x
		all[at + 2] = basis.z.x
		all[at + 3] = row[0]
		all[at + 4] = basis.x.y
		all[at + 5] = basis.y.y
		all[at + 6] = basis.z.y
		all[at + 7] = row[1]
		all[at + 8] = basis.x.z
		all[at + 9] = basis.y.z
		all[at + 10] = basis.z.z
		all[at + 11] = row[2]
	var buffers := []
	for cell: int in side * side:
		if counts[cell] > 0:
			buffers.append(all.slice(starts[cell], next[cell]))
	return buffers


## The placeholder shape of a layer, standing on the origin.
static func _stand_in(layer: Layer) -> Mesh:
	var sides := SHAPES[layer.shape]
	# Rings from the bottom up, as shares of the radius and the height.
	var rings: Array[Vector2] = [Vector2(0, 0), Vector2(1, 0), Vector2(1, 1), Vector2(0, 1)]
	if layer.shape == "cone":
		rings = [Vector2(0, 0), Vector2(1, 0), Vector2(0, 1)]
	elif layer.shape == "ball":
		rings = []
		for ring: int in RINGS_OF_BALL + 1:
			var angle := PI * ring / RINGS_OF_BALL
			rings.append(Vector2(sin(angle), 0.5 - 0.5 * cos(angle)))
	# A box has sides of twice the radius, which face the compass directions.
	var turned := 0.5 if layer.shape == "box" else 0.0
	var radius := layer.radius_m * (sqrt(2.0) if layer.shape == "box" else 1.0)
	var corner := func(ring: Vector2, side: int) -> Vector3:
		var angle := TAU * (side + turned) / sides
		return Vector3(ring.x * radius * sin(angle), ring.y * layer.height_m, -ring.x * radius * cos(angle))
	var tool := SurfaceTool.new()
	tool.begin(Mesh.PRIMITIVE_TRIANGLES)
	tool.set_smooth_group(-1)
	for at: int in rings.size() - 1:
		for side: int in sides:
			var low: Vector3 = corner.call(rings[at], side)
			var low_next: Vector3 = corner.call(rings[at], side + 1)
			var high: Vector3 = corner.call(rings[at + 1], side)
			var high_next: Vector3 = corner.call(rings[at + 1], side + 1)
			# Clockwise from outside. At a point, one of the two triangles has no area.
			for triangle: Array in [[low, low_next, high], [high, low_next, high_next]]:
				if not triangle[0].is_equal_approx(triangle[1]) and not triangle[0].is_equal_approx(triangle[2]) \
						and not triangle[1].is_equal_approx(triangle[2]):
					for vertex: Vector3 in triangle:
						tool.add_vertex(vertex)
	tool.generate_normals()
	var material := StandardMaterial3D.new()
	material.albedo_color = layer.color
	material.roughness = 1.0
	tool.set_material(material)
	var mesh := tool.commit()
	mesh.set_meta(STAND_IN_META, layer.stand_in_key())
	return mesh
