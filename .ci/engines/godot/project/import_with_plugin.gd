extends SceneTree
## Imports exports with the code of "Upthrust import", without the editor.
##
## godot --headless --path PROJECT --script import_with_plugin.gd -- ORDERS.json
##
## ORDERS.json is an array of {"manifest", "out", "node", "can_save", "edit"}: a manifest is imported as a new node if
## "node" is -1, or into the node of an earlier order. "edit" changes that node first as the user may do. Unless
## "can_save", a file is where the folder for terrains should be. Every order writes result.json into "out", and what
## follow_steps.gd writes.

const Importer := preload("res://addons/upthrust/importer.gd")
const Folders := preload("res://addons/upthrust/folders.gd")
const Writer := preload("res://follow_steps.gd")


func _initialize() -> void:
	_run.call_deferred()


func _run() -> void:
	var orders: Array = JSON.parse_string(FileAccess.get_file_as_string(OS.get_cmdline_user_args()[0]))
	var scene := Node3D.new()
	root.add_child(scene)
	var nodes: Array[Node3D] = []
	for order: Dictionary in orders:
		var out: String = order["out"]
		DirAccess.make_dir_recursive_absolute(out)
		var node: Node3D = null if int(order["node"]) < 0 else nodes[int(order["node"])]
		_edit(node, order["edit"])
		if not order["can_save"]:
			DirAccess.rename_absolute(Folders.PARENT, Folders.PARENT + "_away")
			FileAccess.open(Folders.PARENT, FileAccess.WRITE).close()
		var before_s := Time.get_unix_time_from_system()
		var result := Importer.import_terrain(scene, order["manifest"], node)
		if not order["can_save"]:
			DirAccess.remove_absolute(Folders.PARENT)
			DirAccess.rename_absolute(Folders.PARENT + "_away", Folders.PARENT)
		nodes.append(node if result.node == null else result.node)
		await process_frame
		_write_result(out, result, nodes[-1], node, before_s)
		if nodes[-1] != null:
			_write_terrain(out, nodes[-1])
	quit()


func _edit(node: Node3D, change: String) -> void:
	match change:
		"add a node named Water":
			var own := Node3D.new()
			own.name = "Water"
			own.position.x = 7
			node.add_child(own)
		"choose another mesh":
			var layers := node.get_children().filter(func(child: Node) -> bool: return child.has_meta("upthrust_scatter"))
			layers[0].set("mesh", SphereMesh.new())
		"delete a layer":
			for child: Node in node.get_children():
				if child.has_meta("upthrust_scatter") and child.get_meta("upthrust_scatter") == "Rocks":
					node.remove_child(child)
					child.queue_free()
		"delete the water":
			var water := Importer.water_of(node)
			node.remove_child(water)
			water.queue_free()


func _write_result(out: String, result: Importer.Result, node: Node3D, before: Node3D, before_s: float) -> void:
	var water: MeshInstance3D = null if node == null else Importer.water_of(node)
	var textures := []
	if node != null and node.is_class("Terrain3D"):
		var assets: Object = node.get("assets")
		for number: int in int(assets.call("get_texture_count")):
			var texture: Object = assets.call("get_texture", number)
			textures.append([texture.get("name"), (texture.get("albedo_color") as Color).to_html(false)])
	var folder := ""
	if node != null and node.is_class("Terrain3D"):
		folder = node.get("data_directory")
	elif node != null and node.has_method("get_data"):
		folder = (node.call("get_data") as Resource).resource_path.get_base_dir()
	var new_files := []
	for file: String in DirAccess.get_files_at(folder) if folder != "" else PackedStringArray():
		# Modification times count whole seconds.
		if FileAccess.get_modified_time(folder.path_join(file)) >= int(before_s):
			new_files.append(file)
	var other_water: Node3D = null if node == null else node.get_node_or_null("Water")
	if other_water == water:
		other_water = null
	var hidden := []
	for child: Node in [] if node == null else node.get_children():
		if child.has_method("get_data") and not (child as Node3D).visible:
			hidden.append([child.name, child.get("collision_enabled")])
	var file := FileAccess.open(out.path_join("result.json"), FileAccess.WRITE)
	file.store_string(JSON.stringify({
		"error": result.error,
		"message": result.message,
		"is_changed": result.is_changed,
		"is_same_node": node == before,
		"water": null if water == null or not water.visible else [
			water.position.x, water.position.y, water.position.z,
			(water.mesh as PlaneMesh).size.x, (water.mesh as PlaneMesh).size.y,
		],
		"textures": textures,
		"hidden": hidden,
		"new_files": new_files,
		"other_water": null if other_water == null else [other_water.get_class(), other_water.position.x],
		"saved": Array(DirAccess.get_files_at(folder)) if folder != "" else [],
	}))


func _write_terrain(out: String, node: Node3D) -> void:
	Writer.write_scatter(node, out)
	if node.is_class("Terrain3D"):
		Writer.write_terrain3d(node, out, (node.get_meta("upthrust_bounds") as Rect2i).position)
		return
	var terrains: Array[Node3D] = []
	if node.has_method("get_data"):
		terrains.append(node)
	else:
		for child: Node in node.get_children():
			if child.has_method("get_data") and (child as Node3D).visible:
				terrains.append(child)
	Writer.write_hterrains(terrains, out)
