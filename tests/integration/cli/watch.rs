//! `build --watch`.

use std::io::{BufRead, BufReader};
use std::process::Stdio;
use std::sync::mpsc;
use std::time::Duration;

use serde_json::{Value, json};

use super::renders::can_render;
use super::{Sandbox, faults_project, painted_project, project};

/// The lines that the program prints to standard error, which end with one about waiting.
struct Watch {
    lines: mpsc::Receiver<String>,
    child: std::process::Child,
}

impl Watch {
    fn start(sandbox: &Sandbox, arguments: &str) -> Self {
        let mut command = sandbox.command(arguments);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("the program runs");
        let errors = BufReader::new(child.stderr.take().expect("piped"));
        let (sender, lines) = mpsc::channel();
        std::thread::spawn(move || errors.lines().map_while(Result::ok).try_for_each(|line| sender.send(line)));
        Self { lines, child }
    }

    /// The next line that contains a text.
    #[track_caller]
    fn wait(&self, text: &str) -> String {
        loop {
            let line = self.lines.recv_timeout(Duration::from_secs(60)).expect(text);
            if line.contains(text) {
                return line;
            }
        }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn a_saved_project_is_built_again_and_unchanged_files_are_left_alone() {
    let sandbox = Sandbox::new();
    sandbox.write("p.upthrust.json", faults_project("normal_form"));
    sandbox.fail("build preset:alpine-range --watch --heightmap h.r32", 2, "--watch needs a project file");
    sandbox.write("h.r32", "mine");
    sandbox.fail("build p.upthrust.json --watch --heightmap h.r32 --size 33", 1, "h.r32");
    std::fs::remove_file(sandbox.path("h.r32")).expect("removed");

    let mut watch = Watch::start(&sandbox, "build p.upthrust.json --watch -o out --for blender --size 65");
    let line = watch.wait("built in");
    assert!(line.contains("watching p.upthrust.json"), "{line}");
    let first = sandbox.read("out/height.exr");
    let modified = |name: &str| sandbox.path(name).metadata().expect(name).modified().expect("known");
    let manifest = modified("out/upthrust.json");

    // A project that cannot be read is reported, and the next version is built.
    sandbox.write("p.upthrust.json", "{");
    watch.wait("error: p.upthrust.json");
    let mut changed: Value = serde_json::from_str(&faults_project("normal_form")).expect("JSON");
    changed["recipe"]["texture"]["types"] = json!([]);
    sandbox.write("p.upthrust.json", changed.to_string());
    watch.wait("built in");
    sandbox.write("p.upthrust.json", changed.to_string().replace("90.0", "45.0"));
    let line = watch.wait("built in");
    assert!(!line.contains(" 0 of"), "{line}");
    assert_ne!(sandbox.read("out/height.exr"), first);
    assert_ne!(modified("out/upthrust.json"), manifest);
    // Only the description of the project differs, so every file of the export is left alone.
    let before = (modified("out/texture.png"), modified("out/upthrust.json"));
    changed["description"] = json!("changed");
    sandbox.write("p.upthrust.json", changed.to_string().replace("90.0", "45.0"));
    let line = watch.wait("built in");
    assert!(line.contains(" 0 of"), "{line}");
    assert_eq!((modified("out/texture.png"), modified("out/upthrust.json")), before);
    assert!(watch.child.try_wait().expect("known").is_none(), "it waits");
}

#[test]
fn a_change_during_a_build_starts_it_anew() {
    let sandbox = Sandbox::new();
    let slow = project(&json!([{"operation": "faults", "count": 1_000_000, "wind": {"k": 0.5}}]));
    sandbox.write("p.upthrust.json", slow);
    let watch = Watch::start(&sandbox, "build p.upthrust.json --watch --heightmap h.r32 --size 513 --progress bar");
    std::thread::sleep(Duration::from_millis(300));
    sandbox.write("p.upthrust.json", faults_project("normal_form"));
    watch.wait("built in");
    sandbox.succeed("build p.upthrust.json --heightmap expected.r32 --size 513");
    assert_eq!(sandbox.read("h.r32"), sandbox.read("expected.r32"));
}

#[test]
fn a_changed_input_file_is_read_again() {
    let sandbox = Sandbox::new();
    let raw = |height: f32| [height; 9].into_iter().flat_map(f32::to_le_bytes).collect::<Vec<u8>>();
    sandbox.write("a.r32", raw(5.0));
    sandbox.write("p.upthrust.json", project(&json!([{"operation": "heightmap", "file": "a.r32"}])));
    let watch = Watch::start(&sandbox, "build p.upthrust.json --watch --heightmap h.r32 --size 5");
    watch.wait("built in");
    assert!(super::floats(&sandbox.read("h.r32")).iter().all(|height| *height == 5.0));
    sandbox.write("a.r32", raw(-7.0));
    watch.wait("built in");
    assert!(super::floats(&sandbox.read("h.r32")).iter().all(|height| *height == -7.0));
}

#[test]
fn files_that_the_first_build_did_not_write_are_not_replaced() {
    let sandbox = Sandbox::new();
    let mut few: Value = serde_json::from_str(&painted_project()).expect("JSON");
    few["recipe"]["texture"]["types"].as_array_mut().expect("types").truncate(4);
    sandbox.write("p.upthrust.json", few.to_string());
    let watch =
        Watch::start(&sandbox, "build p.upthrust.json --watch -o out --for blender --size 33 --texture-size 32");
    watch.wait("built in");
    sandbox.write("out/weights_RGBA_1.png", "mine");
    // A fifth type needs a second pack.
    sandbox.write("p.upthrust.json", painted_project());
    let line = watch.wait("error: ");
    assert!(line.contains("weights_RGBA_1.png"), "{line}");
    assert_eq!(sandbox.read("out/weights_RGBA_1.png"), b"mine");
    std::fs::remove_file(sandbox.path("out/weights_RGBA_1.png")).expect("removed");
    sandbox.write("p.upthrust.json", painted_project().replace("Meadow", "Grass"));
    watch.wait("built in");
    assert_ne!(sandbox.read("out/weights_RGBA_1.png"), b"mine");
}

#[test]
fn renders_are_replaced_by_later_builds() {
    let sandbox = Sandbox::new();
    if !can_render(&sandbox) {
        return;
    }
    sandbox.write("p.upthrust.json", faults_project("normal_form"));
    let render = "--render r.png --render-size 64x64 --size 33";
    let watch = Watch::start(&sandbox, &format!("build p.upthrust.json --watch {render} --turntable 2"));
    watch.wait("built in");
    let first = sandbox.read("r_000.png");
    sandbox.write("p.upthrust.json", faults_project("normal_form").replace("90.0", "900.0"));
    watch.wait("built in");
    assert_ne!(sandbox.read("r_000.png"), first);
    // The first build replaces nothing.
    sandbox.fail(&format!("build p.upthrust.json --watch {render} --turntable 2"), 1, "r_000.png");
}

#[test]
fn a_changed_sidecar_is_read_again() {
    let sandbox = Sandbox::new();
    let sidecar = |max: f64| {
        json!({"min_m": 0.0, "max_m": max, "spacing_x_m": 1.0, "spacing_z_m": 1.0, "width": 3, "height": 3,
            "row_order": "rows from south to north, each from west to east"})
        .to_string()
    };
    sandbox.write("a.raw", [0xff; 18]);
    sandbox.write("a.raw.json", sidecar(10.0));
    sandbox.write("p.upthrust.json", project(&json!([{"operation": "heightmap", "file": "a.raw"}])));
    let watch = Watch::start(&sandbox, "build p.upthrust.json --watch --heightmap h.r32 --size 5");
    watch.wait("built in");
    assert!(super::floats(&sandbox.read("h.r32")).iter().all(|height| *height == 10.0));
    sandbox.write("a.raw.json", sidecar(250.0));
    watch.wait("built in");
    assert!(super::floats(&sandbox.read("h.r32")).iter().all(|height| *height == 250.0));
}
