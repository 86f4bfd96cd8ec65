//! What is left of an export that ends before it should.

use std::collections::BTreeMap;
use std::io::BufRead;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::json;

const PROGRAM: &str = env!("CARGO_BIN_EXE_upthrust");

fn project(folder: &Path, count: u32) {
    let step = json!({"operation": "faults", "count": count});
    let project = json!({"format": 1, "recipe": {"stack": [step]}}).to_string();
    std::fs::write(folder.join("p.upthrust.json"), project).expect("written");
}

fn command(folder: &Path, arguments: &str) -> Command {
    let mut command = Command::new(PROGRAM);
    command.current_dir(folder).args(arguments.split_whitespace()).stdout(Stdio::null()).stderr(Stdio::null());
    command
}

fn contents(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let Ok(entries) = std::fs::read_dir(folder) else { return BTreeMap::new() };
    let entries = entries.map(|entry| entry.expect("entry"));
    entries
        .map(|entry| (entry.file_name().to_string_lossy().into_owned(), std::fs::read(entry.path()).expect("a file")))
        .collect()
}

#[test]
fn a_killed_export_leaves_no_file_short_or_broken() {
    let folder = tempfile::tempdir().expect("folder");
    project(folder.path(), 20);
    let build = "build p.upthrust.json --size 65 --texture-size 64 --set texture.types=[] --force --heightmap \
                 out/h.tif --texture out/t.png --mesh out/m.glb -o";
    let begun = Instant::now();
    assert!(command(folder.path(), &format!("{build} out")).status().expect("runs").success());
    let whole = begun.elapsed();
    let expected = contents(&folder.path().join("out"));
    assert_eq!(expected.len(), 4, "{:?}", expected.keys());

    let (mut found, mut unfinished) = (0, 0);
    for round in 0..200_u32 {
        std::fs::remove_dir_all(folder.path().join("out")).expect("removed");
        let mut child = command(folder.path(), &format!("{build} out")).spawn().expect("runs");
        // Spread over the run, by the golden ratio; the end, where files get their names, more closely.
        let share = f64::from(round) * 0.618_033_988_75 % 1.0;
        std::thread::sleep(whole.mul_f64(if round % 2 == 0 { share * 1.1 } else { 0.7 + 0.4 * share }));
        child.kill().expect("killed with SIGKILL");
        child.wait().expect("gone");
        for (name, bytes) in contents(&folder.path().join("out")) {
            match expected.get(&name) {
                Some(whole) => assert!(bytes == *whole, "{name} in round {round}: {} bytes", bytes.len()),
                None => {
                    assert!(name.starts_with(".upthrust-") && name.ends_with(".part"), "{name}");
                    unfinished += 1;
                }
            }
            found += 1;
        }
        std::fs::create_dir_all(folder.path().join("out")).expect("made");
    }
    assert!(found > unfinished && unfinished > 0, "{found} files, {unfinished} without their names");
}

#[track_caller]
fn check_refused(output: &Output, message: &str, folder: &Path, left: &[&str]) {
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{errors}");
    assert!(errors.starts_with("error: ") && errors.contains(message) && !errors.contains("panicked"), "{errors}");
    assert!(!errors.contains(".part"), "nobody has heard of that file: {errors}");
    assert_eq!(contents(folder).into_keys().collect::<Vec<_>>(), left, "{errors}");
}

#[test]
fn a_file_that_may_not_grow_is_said_and_nothing_is_left() {
    let folder = tempfile::tempdir().expect("folder");
    project(folder.path(), 20);
    for name in ["h.png", "h.exr", "h.tif", "h.r32", "h.asc", "m.glb --mesh-bare", "m.stl", "m.obj --mesh-bare"] {
        let option = if name.starts_with('m') { "--mesh" } else { "--heightmap" };
        // The limit is in blocks of 512 bytes or 1 KiB; a write beyond it fails as on a full disk.
        let script =
            format!("trap '' XFSZ; ulimit -f 16; exec {PROGRAM} build p.upthrust.json --size 257 {option} {name}");
        let output = Command::new("sh").args(["-c", &script]).current_dir(folder.path()).output().expect("a shell");
        let file = name.split(' ').next().unwrap_or(name);
        check_refused(&output, &format!("{file}: cannot write this: "), folder.path(), &["p.upthrust.json"]);
    }
}

#[test]
fn a_full_disk_is_said_and_nothing_is_left() {
    let folder = tempfile::tempdir().expect("folder");
    project(folder.path(), 20);
    let disk = folder.path().join("disk");
    std::fs::create_dir(&disk).expect("made");
    let mounted = Command::new("mount").args(["-t", "tmpfs", "-o", "size=64k", "tmpfs"]).arg(&disk).output();
    if !mounted.is_ok_and(|output| output.status.success()) {
        println!("SKIPPED: no small disk can be mounted here");
        return;
    }
    let mut build = command(folder.path(), "build p.upthrust.json --size 257 --heightmap disk/h.exr");
    let output = build.stderr(Stdio::piped()).output().expect("runs");
    let left = contents(&disk);
    let unmounted = Command::new("umount").arg(&disk).status();
    assert!(unmounted.is_ok_and(|status| status.success()));
    assert!(left.is_empty());
    check_refused(&output, "disk/h.exr: cannot write this: ", &disk, &[]);
}

#[test]
fn a_folder_that_goes_away_meanwhile_is_said() {
    let folder = tempfile::tempdir().expect("folder");
    project(folder.path(), 4000);
    let out = folder.path().join("out");
    std::fs::create_dir(&out).expect("made");
    let mut build = command(folder.path(), "build p.upthrust.json --size 1025 --heightmap out/h.png --progress json");
    let mut child = build.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("runs");
    let mut output = std::io::BufReader::new(child.stdout.take().expect("piped"));
    output.read_line(&mut String::new()).expect("a line says that the work has begun");
    std::fs::remove_dir(&out).expect("removed");
    let deadline = Instant::now() + Duration::from_secs(60);
    while child.try_wait().expect("a child").is_none() {
        assert!(Instant::now() < deadline, "it does not end");
        output.read_line(&mut String::new()).expect("a line");
    }
    let ended = child.wait_with_output().expect("ended");
    check_refused(&ended, "there is no folder out; make it first", folder.path(), &["p.upthrust.json"]);
}

#[test]
fn a_folder_that_takes_no_file_is_said() {
    let folder = tempfile::tempdir().expect("folder");
    project(folder.path(), 20);
    // Nobody may make files there, not even root.
    let mut build = command(folder.path(), "build p.upthrust.json --size 33 --heightmap /sys/h.png");
    let output = build.stderr(Stdio::piped()).output().expect("runs");
    check_refused(&output, "the folder /sys; choose another one", folder.path(), &["p.upthrust.json"]);
}
