@tool
extends Node3D
## The instances of a scatter layer. They are drawn in cells of a grid, so that Godot skips what the camera does not
## see.

## On `data`: an array of buffers for MultiMesh.buffer, one for each cell. The resource is saved beside the terrain.
const BUFFERS_META := &"upthrust_buffers"
## The numbers of an instance in a buffer: a 3 × 4 matrix, row by row.
const FLOATS_PER_INSTANCE := 12

## What is shown for each instance. An import keeps a mesh that you choose.
@export var mesh: Mesh:
	set(value):
		mesh = value
		for cell: MultiMeshInstance3D in _cells:
			cell.multimesh.mesh = mesh
## The distance in metres from which on cells are not drawn; 0: they always are.
@export_range(0, 20000, 1, "or_greater", "suffix:m") var draw_distance: float = 0.0:
	set(value):
		draw_distance = value
		for cell: MultiMeshInstance3D in _cells:
			cell.visibility_range_end = draw_distance
@export_storage var data: Resource:
	set(value):
		data = value
		_make_cells()

var _cells: Array[MultiMeshInstance3D] = []


func count() -> int:
	var total := 0
	for cell: MultiMeshInstance3D in _cells:
		total += cell.multimesh.instance_count
	return total


func _make_cells() -> void:
	for cell: MultiMeshInstance3D in _cells:
		remove_child(cell)
		cell.queue_free()
	_cells.clear()
	if data == null:
		return
	for buffer: PackedFloat32Array in data.get_meta(BUFFERS_META, []):
		var multimesh := MultiMesh.new()
		multimesh.transform_format = MultiMesh.TRANSFORM_3D
		multimesh.mesh = mesh
		multimesh.instance_count = buffer.size() / FLOATS_PER_INSTANCE
		multimesh.buffer = buffer
		var cell := MultiMeshInstance3D.new()
		cell.multimesh = multimesh
		cell.visibility_range_end = draw_distance
		# Internal nodes are neither shown in the scene's tree nor saved.
		add_child(cell, false, Node.INTERNAL_MODE_FRONT)
		_cells.append(cell)
