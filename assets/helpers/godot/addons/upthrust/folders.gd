@tool
extends RefCounted
## The folders of the project in which terrains are saved.

const PARENT := "res://upthrust"


## A folder that does not exist yet, named after a terrain, or after the folder of its export if it has no name.
static func unused(title: String, export_folder: String) -> String:
	var stem := (title if title != "" else export_folder.get_file()).validate_filename().to_snake_case()
	if stem == "":
		stem = "terrain"
	var path := PARENT.path_join(stem)
	var number := 2
	while DirAccess.dir_exists_absolute(path):
		path = PARENT.path_join("%s_%d" % [stem, number])
		number += 1
	return path
