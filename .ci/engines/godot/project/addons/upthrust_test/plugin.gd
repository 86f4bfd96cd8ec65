@tool
extends EditorPlugin
## Chooses a manifest in the dialog of "Upthrust import", unless the scene has a terrain already, then waits until the
## terrain has other heights. Both times the heights are written; then the scene is saved, and the editor ends.
##
## godot --headless --editor --path PROJECT -- MANIFEST OUT
##
## With a third argument, the scene has a terrain, and the export changes at the wrong moments: see _run_missed.

const SCENE := "res://main.tscn"
const OTHER_SCENE := "res://other.tscn"
const Writer := preload("res://follow_steps.gd")
const LIMIT_S := 300.0
## The longest time until a changed export is noticed.
const MISSED_LIMIT_S := 20.0
## Longer than the plugin treats a modification time as recent.
const OLD_S := 4.0

var _manifest: String
var _out: String


func _enter_tree() -> void:
	var arguments := OS.get_cmdline_user_args()
	if arguments.size() >= 2:
		_manifest = arguments[0]
		_out = arguments[1]
		(_run if arguments.size() == 2 else _run_missed).call_deferred()


func _run() -> void:
	var root := await _open(SCENE)
	if root.get_child_count() == 0:
		_choose()
		if not _can_be_undone(root):
			printerr("undo and redo do not work")
			get_tree().quit(1)
			return
	var terrain: Node3D = root.get_child(0)
	var id := terrain.get_instance_id()
	_write(terrain, "first")
	var before := _probe(terrain)
	# From here on the export may change.
	FileAccess.open(_out.path_join("ready"), FileAccess.WRITE).close()
	var started := Time.get_ticks_msec()
	while _probe(terrain) == before:
		if Time.get_ticks_msec() - started > LIMIT_S * 1000:
			printerr("the terrain was not imported again")
			get_tree().quit(1)
			return
		await get_tree().process_frame
	var now := Time.get_unix_time_from_system()
	var file := FileAccess.open(_out.path_join("changed.json"), FileAccess.WRITE)
	file.store_string(JSON.stringify({
		"unix_s": now,
		"is_same_node": root.get_child(0).get_instance_id() == id,
		"children": root.get_child_count(),
	}))
	file.close()
	_write(terrain, "second")
	EditorInterface.save_scene()
	get_tree().quit()


## The export changes while another scene is open, while the editor is blocked, and with a file that is missing at
## first; then the scene is closed without saving and opened again. Every time the terrain has to become what was
## exported.
func _run_missed() -> void:
	var root := await _open(SCENE)
	var terrain: Node3D = root.get_child(0)
	await get_tree().create_timer(OLD_S).timeout
	var before := _probe(terrain)

	await _open(OTHER_SCENE)
	_create("away.ready")
	while not _exists("away.done"):
		await get_tree().process_frame
	await get_tree().create_timer(OLD_S).timeout
	await _open(SCENE)
	await _until(_differs.bind(terrain, before), "the export while another scene was open was missed")
	_write(terrain, "away")
	await get_tree().create_timer(OLD_S).timeout

	before = _probe(terrain)
	_create("blocked.ready")
	while not _exists("blocked.done"):
		OS.delay_msec(100)
	OS.delay_msec(int(1000 * OLD_S))
	await _until(_differs.bind(terrain, before), "the export while the editor was blocked was missed")
	_write(terrain, "blocked")
	await get_tree().create_timer(OLD_S).timeout

	before = _probe(terrain)
	_create("lost.ready")
	while not _exists("lost.done"):
		await get_tree().process_frame
	await _until(_differs.bind(terrain, before), "the export with a file that was missing at first was not tried again")
	_write(terrain, "lost")
	await get_tree().create_timer(OLD_S).timeout

	# The maps are saved by the plugin and not with the scene, so only the metadata tells.
	var files: Dictionary = terrain.get_meta(&"upthrust_files")
	EditorInterface.close_scene()
	root = await _open(SCENE)
	terrain = root.get_child(0)
	if terrain.get_meta(&"upthrust_files") == files:
		printerr("the scene was saved")
		get_tree().quit(1)
		return
	var is_current := func() -> bool: return terrain.get_meta(&"upthrust_files") == files
	await _until(is_current, "the scene that was opened again stays as it was saved")
	_write(terrain, "reopened")
	get_tree().quit()


## The root of a scene that is opened, or shown if it is open.
func _open(path: String) -> Node:
	while EditorInterface.get_resource_filesystem().is_scanning():
		await get_tree().process_frame
	EditorInterface.open_scene_from_path(path)
	while EditorInterface.get_edited_scene_root() == null \
			or EditorInterface.get_edited_scene_root().scene_file_path != path:
		await get_tree().process_frame
	return EditorInterface.get_edited_scene_root()


func _until(condition: Callable, message: String) -> void:
	var started := Time.get_ticks_msec()
	while not condition.call():
		if Time.get_ticks_msec() - started > MISSED_LIMIT_S * 1000:
			printerr(message)
			get_tree().quit(1)
			await get_tree().create_timer(60).timeout
		await get_tree().process_frame


func _differs(terrain: Node3D, before: PackedFloat32Array) -> bool:
	return _probe(terrain) != before


func _create(file: String) -> void:
	FileAccess.open(_out.path_join(file), FileAccess.WRITE).close()


func _exists(file: String) -> bool:
	return FileAccess.file_exists(_out.path_join(file))


func _choose() -> void:
	for child: Node in EditorInterface.get_base_control().get_children():
		var dialog := child as EditorFileDialog
		if dialog != null and dialog.title == "Import Upthrust terrain":
			dialog.file_selected.emit(_manifest)


## Takes the terrain out of the scene, and puts it back with its heights.
func _can_be_undone(root: Node) -> bool:
	var terrain: Node3D = root.get_child(0)
	var heights := _probe(terrain)
	var manager := get_undo_redo()
	var history := manager.get_history_undo_redo(manager.get_object_history_id(root))
	history.undo()
	var is_gone := root.get_child_count() == 0
	history.redo()
	return is_gone and root.get_child(0) == terrain and terrain.owner == root and _probe(terrain) == heights


## Some heights.
func _probe(terrain: Node3D) -> PackedFloat32Array:
	var heights := PackedFloat32Array()
	for number: int in range(1, 20):
		if terrain.is_class("Terrain3D"):
			var image: Image = (terrain.get("data") as Object).call("get_height_maps")[0]
			heights.append(image.get_pixel(number * 7, number * 3).r)
		else:
			heights.append(float((terrain.call("get_data") as Resource).call("get_height_at", number * 7, number * 3)))
	return heights


func _write(terrain: Node3D, name: String) -> void:
	DirAccess.make_dir_recursive_absolute(_out.path_join(name))
	Writer.write_scatter(terrain, _out.path_join(name))
	if terrain.is_class("Terrain3D"):
		Writer.write_terrain3d(terrain, _out.path_join(name), Vector2i.ZERO)
	else:
		Writer.write_hterrains([terrain] as Array[Node3D], _out.path_join(name))
