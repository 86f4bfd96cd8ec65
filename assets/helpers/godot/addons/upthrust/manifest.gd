@tool
extends RefCounted
## The manifest of an export, upthrust.json.

## The newest format of manifests that this helper reads.
const FORMAT := 1
const KEYS: Array[String] = ["width_m", "depth_m", "samples", "spacing_m", "tiles", "heightmaps"]
## In every entry of a file, besides its name and its checksum.
const FILE_KEYS: Array[String] = ["tile", "size"]

## The folder of the export.
var folder: String
## The key of the target, such as "godot-terrain3d".
var target: String
## The name of the terrain.
var title: String
## West to east, and north to south.
var size_m: Vector2
## The samples of all tiles together.
var samples: Vector2i
## Metres between samples, eastward and southward.
var spacing_m: Vector2
## The height of the water, or NAN.
var water_m: float
## Columns and rows of tiles.
var tiles: Vector2i
## The entries of the manifest, in its words.
var heightmaps: Array[Dictionary]
var textures: Array[Dictionary]
var weights: Array[Dictionary]
## The terrain types that weights are written for.
var types: Array[Dictionary]

var _first_samples: Dictionary[Vector2i, Vector2i]


## Reads a manifest. Returns what is wrong with it, or nothing.
func read(path: String) -> String:
	if not FileAccess.file_exists(path):
		return "%s does not exist. Export the terrain again." % path
	return parse(FileAccess.get_file_as_string(path), path)


## Takes the manifest from its text. Returns what is wrong with it, or nothing.
func parse(text: String, path: String) -> String:
	var json := JSON.new()
	if json.parse(text) != OK or not json.data is Dictionary:
		return "%s is no manifest of Upthrust." % path
	var data: Dictionary = json.data
	if not data.has_all(["upthrust", "format", "target"]):
		return "%s is no manifest of Upthrust." % path
	if int(data["format"]) > FORMAT:
		return (
			"%s was written by Upthrust %s, which needs a newer version of this plugin. Upthrust writes it beside the export."
			% [path, data["upthrust"]]
		)
	if not data.has_all(KEYS):
		return "%s is damaged. Export the terrain again." % path
	for key: String in ["heightmaps", "texture", "weights"]:
		for entry: Variant in data.get(key, []):
			if not _is_file(entry):
				return "%s has an entry in \"%s\" that is no file of its folder. Export the terrain again." % [path, key]
	folder = path.get_base_dir()
	target = data["target"]
	title = str(data.get("name", ""))
	size_m = Vector2(data["width_m"], data["depth_m"])
	samples = _pair(data["samples"])
	spacing_m = Vector2(data["spacing_m"][0], data["spacing_m"][1])
	water_m = NAN if data.get("water_m") == null else float(data["water_m"])
	tiles = _pair(data["tiles"])
	heightmaps.assign(data.get("heightmaps", []))
	textures.assign(data.get("texture", []))
	weights.assign(data.get("weights", []))
	types.assign(data.get("types", []))
	_first_samples.clear()
	for entry: Dictionary in heightmaps:
		_first_samples[tile(entry)] = _pair(entry["first_sample"])
	return "" if not heightmaps.is_empty() else "%s names no heightmap." % path


## Column and row of the tile of an entry.
func tile(entry: Dictionary) -> Vector2i:
	return _pair(entry["tile"])


## Width and height of the image of an entry.
func image_size(entry: Dictionary) -> Vector2i:
	return _pair(entry["size"])


## The place of the first sample of the tile of an entry among all samples.
func first_sample(entry: Dictionary) -> Vector2i:
	return _first_samples.get(tile(entry), Vector2i.ZERO)


func path(entry: Dictionary) -> String:
	return folder.path_join(entry["file"])


## Two exports with the same layout differ in the contents of their files only.
func layout() -> String:
	return str([target, samples, size_m, spacing_m, water_m, tiles, heightmaps.map(image_size), types])


## Whether an entry is complete, and names a file in the folder of the manifest and nowhere else.
static func _is_file(entry: Variant) -> bool:
	if not entry is Dictionary or not (entry as Dictionary).has_all(FILE_KEYS):
		return false
	var file: Variant = entry.get("file")
	if not file is String or not entry.get("crc32") is String:
		return false
	for part: String in ["/", "\\", ":", ".."]:
		if (file as String).contains(part):
			return false
	return file != ""


static func _pair(of: Array) -> Vector2i:
	return Vector2i(int(of[0]), int(of[1]))
