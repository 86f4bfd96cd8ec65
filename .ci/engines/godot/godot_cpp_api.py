"""Prepares Godot's extension API for building Terrain3D with the godot-cpp that it names.

godot_cpp_api.py EXTENSION_API SOURCES API_OUT PROFILE_OUT

EXTENSION_API is what "godot --dump-extension-api" wrote. Godot 4.6 marks required objects, which the older godot-cpp
takes for a type, so the marks are left out. The build profile names the classes that the sources use, because compiling
all of them takes ten times as long.
"""

import json
import re
import sys
from pathlib import Path


def without_required(value):
    if isinstance(value, dict):
        return {key: without_required(item) for key, item in value.items() if (key, item) != ("meta", "required")}
    if isinstance(value, list):
        return [without_required(item) for item in value]
    return value


def main():
    api_path, sources, api_out, profile_out = map(Path, sys.argv[1:])
    api = without_required(json.loads(api_path.read_text()))
    text = "".join(path.read_text(encoding="utf-8") for path in sorted(sources.glob("*.[ch]*")))
    words = set(re.findall(r"\w+", text))
    headers = {name.replace("_", "") for name in re.findall(r"godot_cpp/classes/(\w+)", text)}
    names = [kind["name"] for kind in api["classes"] if kind["name"] in words or kind["name"].lower() in headers]
    api_out.write_text(json.dumps(api))
    profile_out.write_text(json.dumps({"enabled_classes": names}))


if __name__ == "__main__":
    main()
