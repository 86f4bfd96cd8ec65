# Recipes for `just`; plain cargo commands work as well.

# List the recipes.
default:
    @just --list

# Open the editor.
run *arguments:
    cargo run --release -- {{arguments}}

# What every change must pass: the same as CI without the slow tests.
check:
    .ci/run

# Format and lint.
lint:
    cargo fmt
    rustfmt src/engine/operations/*.rs src/engine/operations/*/mod.rs
    cargo clippy --all-targets -- -D warnings
    cargo clippy --no-default-features --lib --bins -- -D warnings

# Run the tests whose names contain the argument, or all.
test *filter:
    cargo test {{filter}}

# Run the slow tests.
nightly:
    .ci/nightly

# Time the engine; an argument selects rows by name.
bench *filter:
    cargo bench -- {{filter}}

# Check spelling, licences and duplicate dependencies.
deps:
    typos
    cargo deny check licenses bans sources

# Draw every preset and operation into target/gallery.
gallery:
    cargo run --release --no-default-features --example gallery

# Retake the screenshots in docs/ (Linux; needs Xvfb, xdotool and ImageMagick).
screenshots:
    scripts/screenshots

# Make the packages for this machine in dist/.
package:
    scripts/package

# Install the packages on a bare Debian 12 and try them (Linux; needs root).
check-package:
    scripts/check-package
