# Shared by the scripts that load exports into programs. A check is passed, failed, or skipped because something that it
# needs cannot be installed or downloaded.
#
# UPTHRUST_REQUIRE_ENGINES=1      a skipped check is a failure

as_root() { if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi; }

# A script that another one started writes into the list of that one.
if [ -z "${UPTHRUST_ENGINE_RESULTS:-}" ]; then
    UPTHRUST_ENGINE_RESULTS=$(mktemp)
    is_outermost=1
fi
export UPTHRUST_ENGINE_RESULTS
# Scripts in the working tree leave no compiled files beside them.
export PYTHONDONTWRITEBYTECODE=1

record() { printf '%s\t%s\n' "$1" "$2" >>"$UPTHRUST_ENGINE_RESULTS"; }

# check NAME COMMAND…: runs a check.
check() {
    local name=$1
    shift
    if "$@"; then record checked "$name"; else record failed "$name"; fi
}

# skip NAME REASON
skip() {
    echo "skipped: $1: $2"
    record skipped "$1 ($2)"
}

# fail NAME REASON: something that a check needs is there, but does not work.
fail() {
    echo "failed: $1: $2"
    record failed "$1 ($2)"
}

# The names with a result, separated by semicolons.
results() {
    local names
    names=$(grep -P "^$1\t" "$UPTHRUST_ENGINE_RESULTS" | cut -f 2 | paste -s -d ';' | sed 's/;/; /g')
    echo "${names:-nothing}"
}

# Prints all results if no other script does, and ends the script.
finish() {
    [ -n "${is_outermost:-}" ] || exit 0
    local status=0
    echo "checked: $(results checked)"
    echo "not checked: $(results skipped)"
    if grep -q "^failed" "$UPTHRUST_ENGINE_RESULTS"; then
        echo "failed: $(results failed)"
        status=1
    fi
    if [ "${UPTHRUST_REQUIRE_ENGINES:-}" = 1 ] && grep -q "^skipped" "$UPTHRUST_ENGINE_RESULTS"; then
        echo "UPTHRUST_REQUIRE_ENGINES is set, so everything has to be checked"
        status=1
    fi
    rm -f "$UPTHRUST_ENGINE_RESULTS"
    exit $status
}
