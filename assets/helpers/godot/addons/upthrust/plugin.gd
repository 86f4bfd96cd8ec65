@tool
extends EditorPlugin
## Imports terrains by a menu entry, and imports them again when the export changes.

const Importer := preload("importer.gd")
const Outcome := Importer.Manifest.Outcome

const MENU_ITEM := "Import Upthrust terrain…"
const POLL_INTERVAL_S := 0.5
## Modification times count whole seconds: a file that changed this recently may have changed again in the same second.
const RECENT_S := 2
## After a failure, the time until the next attempt, which doubles every time. Another program may lock a file.
const RETRY_S := 1.0
const MAX_RETRY_S := 60.0

var _dialog: EditorFileDialog
var _timer: Timer
## By instance ID, so that copies of a terrain, and terrains of scenes that are opened again, have their own attempts.
var _attempts: Dictionary[int, Attempt] = {}


## The last import of a terrain.
class Attempt:
	## The manifest, the modification time before it was read, and the time at which it was read.
	var text: String
	var modified_s: int
	var read_s: float
	## What went wrong, or nothing.
	var error := ""
	## When to try again if something went wrong.
	var retry_ms := 0
	var wait_s := 0.0

	func _init(path: String) -> void:
		modified_s = FileAccess.get_modified_time(path)
		read_s = Time.get_unix_time_from_system()
		text = FileAccess.get_file_as_string(path)

	## Whether a file with this modification time is the one that was read.
	func covers(time_s: int) -> bool:
		return modified_s == time_s and read_s - modified_s > RECENT_S


func _enter_tree() -> void:
	add_tool_menu_item(MENU_ITEM, _choose)
	_dialog = EditorFileDialog.new()
	_dialog.access = EditorFileDialog.ACCESS_FILESYSTEM
	_dialog.file_mode = EditorFileDialog.FILE_MODE_OPEN_FILE
	_dialog.title = "Import Upthrust terrain"
	_dialog.add_filter("upthrust.json", "Upthrust exports")
	_dialog.file_selected.connect(_import)
	EditorInterface.get_base_control().add_child(_dialog)
	_timer = Timer.new()
	_timer.wait_time = POLL_INTERVAL_S
	_timer.autostart = true
	_timer.timeout.connect(_poll)
	add_child(_timer)


func _exit_tree() -> void:
	remove_tool_menu_item(MENU_ITEM)
	_dialog.queue_free()
	_timer.queue_free()


func _choose() -> void:
	if EditorInterface.get_edited_scene_root() == null:
		_warn("Upthrust: open or create a scene first; the terrain becomes a part of it.")
	else:
		_dialog.popup_file_dialog()


## Imports a manifest into the edited scene, or again into the terrain that came from it.
func _import(path: String) -> void:
	var root := EditorInterface.get_edited_scene_root()
	var stored := ProjectSettings.localize_path(path)
	var node: Node3D = null
	for terrain: Node3D in _terrains():
		if terrain.get_meta(Importer.MANIFEST_META, "") == stored:
			node = terrain
	var is_new := node == null
	var attempt := Attempt.new(path)
	var result := _import_terrain(path, node)
	_report(result)
	if result.node != null:
		_remember(attempt, result, result.node)
	if is_new and result.node != null:
		var undo := get_undo_redo()
		undo.create_action("Import Upthrust terrain", UndoRedo.MERGE_DISABLE, root)
		undo.add_do_method(root, &"add_child", result.node, true)
		# A node that is taken out of the scene loses its owner, and so do its children.
		undo.add_do_property(result.node, &"owner", root)
		for child: Node in result.node.find_children("*", "", true, false):
			if child.owner == root:
				undo.add_do_property(child, &"owner", root)
		undo.add_do_reference(result.node)
		undo.add_undo_method(root, &"remove_child", result.node)
		undo.commit_action(false)


## Imports a terrain. A script error, which the function itself cannot report, is a failure.
func _import_terrain(path: String, terrain: Node3D) -> Importer.Result:
	var result := Importer.import_terrain(EditorInterface.get_edited_scene_root(), path, terrain)
	return Importer.Result.failed(Outcome.error_of(null)) if result == null else result


func _poll() -> void:
	for id: int in _attempts.keys():
		if not is_instance_id_valid(id):
			_attempts.erase(id)
	for terrain: Node3D in _terrains():
		var path: String = terrain.get_meta(Importer.MANIFEST_META, "")
		if FileAccess.file_exists(path):
			_import_if_changed(path, terrain)


func _import_if_changed(path: String, terrain: Node3D) -> void:
	var last: Attempt = _attempts.get(terrain.get_instance_id())
	var is_done := last != null and last.error == ""
	if is_done and last.covers(FileAccess.get_modified_time(path)):
		return
	var attempt := Attempt.new(path)
	if last != null and last.text == attempt.text:
		if is_done:
			last.modified_s = attempt.modified_s
			last.read_s = attempt.read_s
			return
		if Time.get_ticks_msec() < last.retry_ms:
			return
		attempt.wait_s = last.wait_s
	var result := _import_terrain(path, terrain)
	if last == null or result.error == "" or result.error != last.error:
		_report(result)
	_remember(attempt, result, terrain)


func _remember(attempt: Attempt, result: Importer.Result, terrain: Node3D) -> void:
	attempt.error = result.error
	if result.error != "":
		attempt.wait_s = clampf(2 * attempt.wait_s, RETRY_S, MAX_RETRY_S)
		attempt.retry_ms = Time.get_ticks_msec() + int(1000 * attempt.wait_s)
	_attempts[terrain.get_instance_id()] = attempt


## The imported terrains of the edited scene.
func _terrains() -> Array[Node3D]:
	var found: Array[Node3D] = []
	var root := EditorInterface.get_edited_scene_root()
	if root != null:
		for node: Node in root.get_tree().get_nodes_in_group(Importer.GROUP):
			if node is Node3D and (node == root or root.is_ancestor_of(node)):
				found.append(node)
	return found


func _report(result: Importer.Result) -> void:
	if result.error != "":
		_warn(result.error)
	elif result.is_changed:
		print(result.message)
		EditorInterface.get_editor_toaster().push_toast(result.message)
	if result.is_changed:
		EditorInterface.mark_scene_as_unsaved()
		# Godot imports the saved maps.
		var files := EditorInterface.get_resource_filesystem()
		if not files.is_scanning():
			files.scan()


func _warn(message: String) -> void:
	push_error(message)
	EditorInterface.get_editor_toaster().push_toast(message, EditorToaster.SEVERITY_ERROR)
