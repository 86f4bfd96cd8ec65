@tool
extends RefCounted
## The manifest of an export, upthrust.json.

## The newest format of manifests that this plugin reads.
const FORMAT := 1
## The largest number that a manifest may have. NaN and infinity are not below it.
const MAX_NUMBER := 1e9

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
## The entries of the manifest, as they are there. Heightmaps are only those in metres, which Godot can read.
var heightmaps: Array[Dictionary]
var textures: Array[Dictionary]
var weights: Array[Dictionary]
## The file of what stands on the terrain, or nothing. An export can have it in other formats too.
var scatter: Array[Dictionary]
## The terrain types that have weights.
var types: Array[Dictionary]

var _first_samples: Dictionary[Vector2i, Vector2i]
var _sizes: Dictionary[Vector2i, Vector2i]


## The result of a step of an import.
##
## A function that a script error interrupts returns null here, which counts as a failure. A text or a number would be
## empty or 0 then, and look like a success.
class Outcome:
	## What went wrong, or nothing.
	var error: String

	static func success() -> Outcome:
		return Outcome.new()

	static func failure(reason: String) -> Outcome:
		var outcome := Outcome.new()
		outcome.error = reason
		return outcome

	## What went wrong in a step, or nothing.
	static func error_of(outcome: Outcome) -> String:
		if outcome == null:
			return "the plugin itself has failed; the Output panel says where. Please report it."
		return outcome.error


## Reads a manifest.
func read(path: String) -> Outcome:
	if not FileAccess.file_exists(path):
		return Outcome.failure("%s does not exist. Export the terrain again." % path)
	return parse(FileAccess.get_file_as_string(path), path)


## Takes the manifest from its text.
func parse(text: String, path: String) -> Outcome:
	var json := JSON.new()
	if json.parse(text) != OK or not json.data is Dictionary:
		return Outcome.failure("%s is not an Upthrust manifest." % path)
	var data: Dictionary = json.data
	if not data.has_all(["upthrust", "format", "target"]) or not _is_whole(data["format"], 0):
		return Outcome.failure("%s is not an Upthrust manifest." % path)
	if int(data["format"]) > FORMAT:
		return Outcome.failure(
			"%s was written by Upthrust %s, which needs a newer version of this plugin. " % [path, data["upthrust"]]
			+ "Upthrust writes it beside the export."
		)
	var invalid := _invalid_key(data)
	if invalid != "":
		return Outcome.failure("%s is damaged: \"%s\" is not valid. Export the terrain again." % [path, invalid])
	folder = path.get_base_dir()
	target = data["target"]
	title = data.get("name", "")
	size_m = Vector2(data["width_m"], data["depth_m"])
	samples = _pair(data["samples"])
	spacing_m = Vector2(data["spacing_m"][0], data["spacing_m"][1])
	water_m = NAN if data.get("water_m") == null else float(data["water_m"])
	tiles = _pair(data["tiles"])
	for list: String in ["heightmaps", "texture", "weights", "scatter"]:
		for entry: Variant in data.get(list, []):
			if not (_is_file(entry) if list == "scatter" else _is_entry(entry)):
				return Outcome.failure(
					"%s is damaged: an entry of \"%s\" is not valid. Export the terrain again." % [path, list]
				)
			if not _is_file_name(entry["file"]):
				return Outcome.failure(
					"%s has a file in \"%s\" that points outside its folder. Export the terrain again." % [path, list]
				)
	heightmaps.assign((data["heightmaps"] as Array).filter(_is_used))
	textures.assign(data.get("texture", []))
	weights.assign(data.get("weights", []))
	scatter.assign((data.get("scatter", []) as Array).filter(_is_scatter).slice(0, 1))
	types.assign(data.get("types", []))
	if heightmaps.is_empty():
		return Outcome.failure("%s lists no heightmaps in metres. Export for Terrain3D or HTerrain." % path)
	return _check_tiles(path)


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
	var files := scatter.map(func(entry: Dictionary) -> String: return entry["file"])
	return str([target, samples, size_m, spacing_m, water_m, tiles, heightmaps.map(image_size), types, files])


## Whether the heightmaps lie within the terrain, and every other map has the size of the heightmap of its tile.
func _check_tiles(manifest_path: String) -> Outcome:
	_first_samples.clear()
	_sizes.clear()
	for entry: Dictionary in heightmaps:
		_first_samples[tile(entry)] = _pair(entry["first_sample"])
		_sizes[tile(entry)] = image_size(entry)
		var end := first_sample(entry) + image_size(entry)
		if end.x > samples.x or end.y > samples.y:
			return Outcome.failure(
				"%s is damaged: %s is larger than the terrain. Export the terrain again."
				% [manifest_path, entry["file"]]
			)
	for entry: Dictionary in textures + weights:
		var expected: Vector2i = _sizes.get(tile(entry), Vector2i.ZERO)
		if image_size(entry) != expected:
			return Outcome.failure(
				"%s has %s pixels, but the heightmap of its tile has %s samples. Export for Terrain3D or HTerrain."
				% [entry["file"], image_size(entry), expected]
			)
	return Outcome.success()


## The first key of the manifest whose value has the wrong type, or nothing. Entries of files are checked by themselves.
static func _invalid_key(data: Dictionary) -> String:
	for key: String in ["target", "name"]:
		if not data.get(key, "") is String:
			return key
	for key: String in ["width_m", "depth_m"]:
		if not _is_number(data.get(key)) or float(data[key]) <= 0:
			return key
	if not _is_pair(data.get("samples"), 2):
		return "samples"
	if not _is_pair(data.get("tiles"), 1):
		return "tiles"
	var spacing: Variant = data.get("spacing_m")
	if not spacing is Array or (spacing as Array).size() != 2 or not (spacing as Array).all(_is_number):
		return "spacing_m"
	if minf(spacing[0], spacing[1]) <= 0:
		return "spacing_m"
	if data.get("water_m") != null and not _is_number(data["water_m"]):
		return "water_m"
	for key: String in ["heightmaps", "texture", "weights", "scatter", "types"]:
		if not data.get(key, []) is Array:
			return key
	if not data.has("heightmaps"):
		return "heightmaps"
	return "" if (data.get("types", []) as Array).all(_is_type) else "types"


static func _is_file(entry: Variant) -> bool:
	return entry is Dictionary and entry.get("file") is String and entry.get("crc32") is String


static func _is_entry(entry: Variant) -> bool:
	if not _is_file(entry):
		return false
	var map: Dictionary = entry
	return (
		_is_pair(map.get("tile"), 0)
		and _is_pair(map.get("size"), 1) and (not map.has("values") or _is_pair(map.get("first_sample"), 0))
	)


## Whether a name is that of a file in the folder of the manifest; a path could lead elsewhere.
static func _is_file_name(file: String) -> bool:
	return file != "" and not ["/", "\\", ":", ".."].any(func(part: String) -> bool: return file.contains(part))


## Whether this is a heightmap that the plugin reads. An export can have others.
static func _is_used(entry: Dictionary) -> bool:
	return entry.get("values") == "metres" and (entry["file"] as String).get_extension().to_lower() == "exr"


static func _is_scatter(entry: Dictionary) -> bool:
	return (entry["file"] as String).get_extension().to_lower() == "json"


static func _is_type(entry: Variant) -> bool:
	if not entry is Dictionary:
		return false
	var kind: Dictionary = entry
	var color: Variant = kind.get("color")
	return (
		kind.get("name") is String and kind.get("covers", true) is bool
		and color is String and Color.html_is_valid(color)
	)


static func _is_number(value: Variant) -> bool:
	return (value is float or value is int) and absf(value) <= MAX_NUMBER


static func _is_whole(value: Variant, least: int) -> bool:
	return _is_number(value) and float(value) == floorf(value) and value >= least


static func _is_pair(value: Variant, least: int) -> bool:
	if not value is Array or (value as Array).size() != 2:
		return false
	return _is_whole(value[0], least) and _is_whole(value[1], least)


static func _pair(values: Array) -> Vector2i:
	return Vector2i(int(values[0]), int(values[1]))
