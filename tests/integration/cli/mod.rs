//! The command-line program: arguments in; files, output and exit status out.

mod exports;
mod heightmaps;
mod maps;
mod play;
mod process;
mod refusals;
mod renders;
mod scatter;
mod sums;
mod watch;

use std::path::PathBuf;
use std::process::{Command, Output};

use serde_json::{Value, json};
use tempfile::TempDir;

/// Names a program built without the editor, to be tested instead of the one that cargo has built.
const WITHOUT_EDITOR: &str = "UPTHRUST_WITHOUT_EDITOR";

/// A temporary folder in which the program runs.
struct Sandbox {
    folder: TempDir,
}

impl Sandbox {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().expect("a folder") }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        std::fs::write(self.path(name), bytes).expect("written");
    }

    fn read(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path(name)).expect("there")
    }

    fn names(&self) -> Vec<String> {
        self.names_in("")
    }

    fn names_in(&self, folder: &str) -> Vec<String> {
        let entries = std::fs::read_dir(self.path(folder)).expect("folder");
        let mut names: Vec<String> =
            entries.map(|entry| entry.expect("entry").file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    fn command(&self, arguments: &str) -> Command {
        let built = env!("CARGO_BIN_EXE_upthrust").into();
        let mut command = Command::new(std::env::var_os(WITHOUT_EDITOR).unwrap_or(built));
        command.current_dir(self.folder.path()).args(arguments.split_whitespace());
        command
    }

    fn run(&self, arguments: &str) -> Output {
        self.command(arguments).output().expect("the program runs")
    }

    /// Runs the program, asserts success and returns the standard output.
    #[track_caller]
    fn succeed(&self, arguments: &str) -> String {
        let output = self.run(arguments);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{arguments}: {errors}");
        String::from_utf8(output.stdout).expect("text")
    }

    /// Runs the program and asserts that it fails with the status and message and changes no files.
    #[track_caller]
    fn fail(&self, arguments: &str, status: i32, message: &str) {
        let before = self.names();
        let output = self.run(arguments);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(status), "{arguments}: {errors}");
        assert!(errors.starts_with("error: ") && errors.contains(message), "{arguments}: {errors}");
        assert!(!errors.contains("panicked"), "{arguments}: {errors}");
        assert_eq!(self.names(), before, "{arguments}");
    }

    #[track_caller]
    fn json(&self, arguments: &str) -> Value {
        serde_json::from_str(&self.succeed(arguments)).expect("JSON")
    }
}

fn project(stack: &Value) -> String {
    json!({"format": 1, "name": "Test", "recipe": {"world": {"width_m": 4000, "depth_m": 3000}, "stack": stack}})
        .to_string()
}

fn faults_project(line: &str) -> String {
    project(&json!([{"operation": "faults", "count": 60, "line": line, "decay": "harmonic", "displacement_m": 90.0,
        "profile": "step"}]))
}

fn floats(bytes: &[u8]) -> Vec<f32> {
    bytes.as_chunks::<4>().0.iter().map(|chunk| f32::from_le_bytes(*chunk)).collect()
}

/// A project with one terrain type that has the given parameter.
fn terrain_type_project(key: &str, value: &Value) -> String {
    let mut terrain_type = json!({"name": "Ground"});
    terrain_type[key] = value.clone();
    json!({"format": 1, "recipe": {"texture": {"types": [terrain_type]}}}).to_string()
}

/// A project with flat and steep terrain and six active types, one of which does not cover.
fn painted_project() -> String {
    let terrain_type = |name: &str, elevation: [f64; 2], slope: [f64; 2]| json!({"name": name, "elevation": elevation, "slope_deg": slope});
    let mut types = vec![
        terrain_type("Meadow", [0.0, 60.0], [0.0, 10.0]),
        terrain_type("Wet sand/mud", [0.0, 30.0], [0.0, 90.0]),
        terrain_type("Rock", [0.0, 100.0], [8.0, 90.0]),
        terrain_type("Scree", [40.0, 90.0], [0.0, 30.0]),
        terrain_type("Snow", [70.0, 100.0], [0.0, 40.0]),
        terrain_type("Haze", [0.0, 50.0], [0.0, 90.0]),
        terrain_type("Off", [0.0, 100.0], [0.0, 90.0]),
    ];
    types[5]["blend"] = json!("multiply");
    types[6]["enabled"] = json!(false);
    let stack = json!([{"operation": "faults", "count": 60, "displacement_m": 90.0}]);
    let world = json!({"width_m": 4000, "depth_m": 3000});
    let recipe = json!({"world": world, "stack": stack, "texture": {"types": types}});
    json!({"format": 1, "name": "Test", "recipe": recipe}).to_string()
}
