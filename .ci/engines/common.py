"""What the Python checks of exports share: the test terrain, building, and the count of wrong results. Every script
takes the program as its first argument.
"""

import json
import os
import subprocess
import sys
import zlib
from pathlib import Path

PROGRAM = str(Path(sys.argv[1]).resolve())
# The north-western corner lies far below the other three, so a terrain that is turned or mirrored is noticed.
FAULTS = [
    {"from_m": [0, 200], "to_m": [300, 0], "displacement_m": 800},
    {"from_m": [0, 600], "to_m": [900, 500], "displacement_m": 150},
]
STACK = [{"operation": "faults", "count": 200}, {"operation": "drawn_faults", "faults": FAULTS}]

wrong = []
console = sys.stdout


def silence_other_output():
    """Discards what libraries print to the standard output; results are still printed."""
    global console
    console = os.fdopen(os.dup(1), "w")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


def report(case, found, is_right):
    """Prints a result, and counts it if it is wrong."""
    print(f"{'right' if is_right else 'WRONG'}  {case}: {found}", file=console, flush=True)
    if not is_right:
        wrong.append(case)
    return bool(is_right)


def check(case, error, tolerance, unit="m"):
    """Reports whether an error is within its tolerance."""
    found = f"off by {error:.3g} {unit} at most, allowed {tolerance:.3g}"
    # An error of NaN is not within any tolerance.
    return report(case, found, error <= tolerance)


def confirm(case, is_right, found):
    """Reports a result only if it is wrong."""
    return bool(is_right) or report(case, found, False)


def finish():
    """Prints how many results were wrong, and ends the script."""
    print(f"{len(wrong)} wrong", file=console, flush=True)
    sys.exit(bool(wrong))


def start(source, *arguments):
    """Runs `upthrust build`."""
    return subprocess.run([PROGRAM, "build", str(source), *map(str, arguments)], capture_output=True, text=True)


def build(source, *arguments):
    """Runs `upthrust build`, which has to succeed; returns its messages."""
    run = start(source, *arguments)
    if run.returncode != 0:
        raise SystemExit(f"upthrust build {source} {' '.join(map(str, arguments))}: {run.stderr}")
    return run.stderr


def write_project(folder, seed, world, recipe=None, **keys):
    """Writes a project of the test terrain. `world` is its width and depth in metres; `recipe` and `keys` are added to
    the recipe and to the project."""
    size = dict(zip(["width_m", "depth_m"], world))
    content = {"format": 1, "recipe": {"seed": seed, "world": size, "stack": STACK, **(recipe or {})}, **keys}
    path = Path(folder) / "p.upthrust.json"
    path.write_text(json.dumps(content))
    return path


def set_at(content, path, value):
    """Sets a value in nested lists and dictionaries."""
    *parents, key = path
    for parent in parents:
        content = content[parent]
    content[key] = value


def write_scatter(manifest, folder, data):
    """Replaces the file of scattered instances of an export by another one that belongs to the manifest."""
    (Path(folder) / "scatter.json").write_bytes(data)
    manifest["scatter"][0]["crc32"] = f"{zlib.crc32(data):08x}"


def read_r32(path):
    """The heights of an .r32 in metres as 32-bit floats, the northern row first, and its sidecar."""
    # Here, because the check for Unity runs without numpy.
    import numpy

    sidecar = json.loads(Path(f"{path}.json").read_text())
    return numpy.fromfile(path, "<f4").reshape(sidecar["height"], sidecar["width"]), sidecar
