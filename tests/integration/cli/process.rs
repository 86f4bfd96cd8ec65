//! Listings, progress, signals and pipes.

use std::process::{Command, Stdio};

use serde_json::{Value, json};

use super::{Sandbox, WITHOUT_EDITOR, project};

#[test]
fn listings_are_complete() {
    let sandbox = Sandbox::new();
    let presets = sandbox.json("presets --json");
    assert!(presets.as_array().expect("a list").iter().all(|row| {
        ["name", "title", "description"].iter().all(|key| row[key].as_str().is_some_and(|text| !text.is_empty()))
    }));
    let listing = sandbox.json("operations --json");
    for key in ["operations", "texture", "terrain_type", "light", "recipe", "world", "step", "view", "export"] {
        assert!(listing[key].as_array().is_some_and(|rows| !rows.is_empty()), "{key}");
    }
    // Every operation states its own blend mode, which a step does not.
    let of = |key: &str| {
        let rows = listing["operations"].as_array().expect("operations");
        rows.iter().find(|row| row["key"] == key).map(|row| row["blend"].clone())
    };
    assert_eq!(["faults", "noise", "heightmap"].map(of), ["add"; 3].map(|blend| Some(json!(blend))));
    assert_eq!(["terrace", "symmetry", "pads"].map(of), ["replace"; 3].map(|blend| Some(json!(blend))));
    let step = listing["step"].as_array().expect("rows");
    assert!(step.iter().any(|row| row["key"] == "blend" && row["default"].is_null()));
    let faults = &listing["operations"][0];
    assert_eq!((&faults["key"], &faults["parameters"][0]["key"]), (&json!("faults"), &json!("count")));
    for key in ["key", "label", "unit", "kind", "hard", "slider", "default", "choices", "doc"] {
        assert!(faults["parameters"][0].get(key).is_some(), "{key}");
    }
    let rows = faults["parameters"].as_array().expect("a list");
    let sizes = rows.iter().find(|row| row["key"] == "sizes").expect("a row");
    assert_eq!(sizes["of"], json!({"kind": "weighted", "columns": ["value", "weight"]}));
    assert!(rows[0].get("of").is_none());
    assert_eq!((&listing["recipe"][0]["key"], &listing["recipe"][0]["default"]), (&json!("seed"), &json!(1994)));
    assert!(sandbox.succeed("operations").contains("recipe:\n  seed ("));
    assert!(sandbox.succeed("operations").contains("up_chance"));
    assert!(sandbox.succeed("presets").contains("krten-wind"));
}

#[test]
fn json_progress_is_json_to_the_last_line() {
    let sandbox = Sandbox::new();
    let output = sandbox.succeed("build preset:krten-wind -o out --size 65 --texture-size 32 --progress json");
    let lines: Vec<Value> = output.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let last = lines.last().expect("lines");
    assert_eq!((&last["done"], last["files"].as_array().map(Vec::len)), (&json!(true), Some(3)));
    assert_eq!(lines[lines.len() - 2]["progress"], 1.0);
}

#[test]
fn a_closed_pipe_is_not_an_error() {
    let sandbox = Sandbox::new();
    sandbox.write("p.upthrust.json", project(&json!([{"operation": "faults", "count": 50_000}])));
    let mut child = sandbox
        .command("faults p.upthrust.json")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program runs");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("it ends");
    assert!(output.status.success() && output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[cfg(target_os = "linux")]
#[test]
fn output_to_a_full_disk_is_an_error() {
    let sandbox = Sandbox::new();
    sandbox.write("p.upthrust.json", project(&json!([{"operation": "faults", "count": 50}])));
    sandbox.succeed("build p.upthrust.json --heightmap h.r32 --size 33");
    for arguments in ["operations", "operations --json", "presets", "faults p.upthrust.json", "inspect h.r32"] {
        let full = std::fs::File::options().write(true).open("/dev/full").expect("Linux has it");
        let output = sandbox.command(arguments).stdout(full).output().expect("the program runs");
        let message = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{arguments}");
        assert!(message.contains("cannot write to standard output"), "{arguments}: {message}");
    }
}

#[cfg(unix)]
#[test]
fn an_interrupt_stops_the_work_and_leaves_no_files() {
    let kill = |signal: &str, id: u32| {
        let sent = Command::new("kill").args([signal, &id.to_string()]).status();
        assert!(sent.is_ok_and(|status| status.success()));
    };
    let sandbox = Sandbox::new();
    let stack = json!([{"operation": "faults", "count": 100_000, "wind": {"k": 0.5}}]);
    sandbox.write("p.upthrust.json", project(&stack));
    for signal in ["-INT", "-TERM"] {
        let mut command = sandbox.command("build p.upthrust.json --heightmap h.png --size 1025 --progress json");
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program runs");
        // The work starts before the first line of progress and would continue for minutes.
        let mut line = String::new();
        let mut output = std::io::BufReader::new(child.stdout.take().expect("piped"));
        std::io::BufRead::read_line(&mut output, &mut line).expect("a line");
        kill(signal, child.id());
        let ended = child.wait_with_output().expect("it ends");
        assert_eq!(ended.status.code(), Some(1), "{signal}");
        assert!(String::from_utf8_lossy(&ended.stderr).contains("interrupted"), "{signal}");
        assert_eq!(sandbox.names(), ["p.upthrust.json"], "{signal}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn paths_need_not_be_utf_8() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    let sandbox = Sandbox::new();
    let [source, output, converted] =
        [&b"f\xf6hn.upthrust.json"[..], b"f\xf6hn.png", b"f\xf6hn.tif"].map(OsStr::from_bytes);
    let text = project(&json!([{"operation": "faults", "count": 20}]));
    std::fs::write(sandbox.folder.path().join(source), text).expect("written");
    let run = |command: &mut Command| command.output().expect("the program runs");
    let build = run(sandbox.command("build --size 33 --heightmap").arg(output).arg(source));
    assert!(build.status.success(), "{}", String::from_utf8_lossy(&build.stderr));
    assert!(run(sandbox.command("faults").arg(source)).stdout.starts_with(b"{"));
    assert!(run(sandbox.command("inspect").arg(output)).status.success());
    assert!(run(sandbox.command("convert").arg(output).arg(converted)).status.success());
    let refused = run(sandbox.command("build --size 33 --heightmap a.png").arg(OsStr::from_bytes(b"f\xf6.json")));
    let message = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(refused.status.code() == Some(1) && message.contains("f\u{fffd}.json"), "{message}");
}

#[test]
fn a_build_without_the_editor_names_its_commands() {
    if cfg!(feature = "gui") && std::env::var_os(WITHOUT_EDITOR).is_none() {
        println!("skipped: {WITHOUT_EDITOR} names no program");
        return;
    }
    Sandbox::new().fail("", 1, "build, presets, operations");
}
