//! Files that an export leaves when it is killed or cannot write.

use std::collections::BTreeMap;
use std::io::{BufRead, Read};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc;
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

/// Kills an export `rounds` times, spread over its run, and checks the files that it leaves.
fn kill_exports(rounds: u32) {
    let folder = tempfile::tempdir().expect("folder");
    project(folder.path(), 20);
    let build = "build p.upthrust.json --size 65 --texture-size 64 --set texture.types=[] --force --heightmap \
                 out/h.tif --texture out/t.png --mesh out/m.glb -o";
    let begun = Instant::now();
    assert!(command(folder.path(), &format!("{build} out")).status().expect("runs").success());
    let duration = begun.elapsed();
    let expected = contents(&folder.path().join("out"));
    assert_eq!(expected.len(), 4, "{:?}", expected.keys());

    let (mut found, mut unfinished) = (0, 0);
    for round in 0..rounds {
        std::fs::remove_dir_all(folder.path().join("out")).expect("removed");
        let mut build = command(folder.path(), &format!("{build} out"));
        let mut child = build.stdout(Stdio::piped()).spawn().expect("runs");
        // Spread by the golden ratio, with half of the rounds near the end, where files are renamed.
        let share = f64::from(round) * 0.618_033_988_75 % 1.0;
        let moment = duration.mul_f64(if round % 2 == 0 { share * 1.1 } else { 0.7 + 0.4 * share });
        wait_for_exit(&mut child, moment);
        child.kill().expect("killed with SIGKILL");
        child.wait().expect("gone");
        for (name, bytes) in contents(&folder.path().join("out")) {
            match expected.get(&name) {
                Some(complete) => assert!(bytes == *complete, "{name} in round {round}: {} bytes", bytes.len()),
                None => {
                    assert!(name.starts_with(".upthrust-") && name.ends_with(".part"), "{name}");
                    unfinished += 1;
                }
            }
            found += 1;
        }
        std::fs::create_dir_all(folder.path().join("out")).expect("made");
    }
    println!("{found} files, {unfinished} of them temporary");
}

/// Waits until a program closes its output, at most for `moment`.
fn wait_for_exit(child: &mut Child, moment: Duration) {
    let mut output = child.stdout.take().expect("piped");
    let (sender, receiver) = mpsc::channel::<()>();
    std::thread::spawn(move || {
        let _ = std::io::copy(&mut output, &mut std::io::sink());
        drop(sender);
    });
    let _ = receiver.recv_timeout(moment);
}

#[test]
fn a_killed_export_leaves_only_complete_files() {
    kill_exports(12);
}

#[test]
#[ignore = "slow: kills 200 exports"]
fn nightly_killed_exports_leave_only_complete_files() {
    kill_exports(200);
}

#[track_caller]
fn check_refused(output: &Output, message: &str, folder: &Path, left: &[&str]) {
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{errors}");
    assert!(errors.starts_with("error: ") && errors.contains(message) && !errors.contains("panicked"), "{errors}");
    assert!(!errors.contains(".part"), "names a temporary file: {errors}");
    assert_eq!(contents(folder).into_keys().collect::<Vec<_>>(), left, "{errors}");
}

#[test]
fn a_file_size_limit_is_reported_and_leaves_no_files() {
    let folder = tempfile::tempdir().expect("folder");
    project(folder.path(), 20);
    let heightmaps = ["h.png", "h.exr", "h.tif", "h.r32", "h.asc"];
    let meshes = ["m.glb --mesh-bare", "m.stl", "m.obj --mesh-bare", "m.usda --mesh-bare"];
    for name in heightmaps.into_iter().chain(meshes) {
        let option = if name.starts_with('m') { "--mesh" } else { "--heightmap" };
        // In blocks of 512 bytes or 1 KiB. A write beyond the limit fails as on a full disk.
        let script =
            format!("trap '' XFSZ; ulimit -f 16; exec {PROGRAM} build p.upthrust.json --size 257 {option} {name}");
        let output = Command::new("sh").args(["-c", &script]).current_dir(folder.path()).output().expect("a shell");
        let file = name.split(' ').next().unwrap_or(name);
        check_refused(&output, &format!("{file}: "), folder.path(), &["p.upthrust.json"]);
    }
}

#[test]
fn a_full_disk_is_reported_and_leaves_no_files() {
    let folder = tempfile::tempdir().expect("folder");
    project(folder.path(), 20);
    let disk = folder.path().join("disk");
    std::fs::create_dir(&disk).expect("made");
    let mounted = Command::new("mount").args(["-t", "tmpfs", "-o", "size=64k", "tmpfs"]).arg(&disk).output();
    if !mounted.is_ok_and(|output| output.status.success()) {
        println!("SKIPPED: cannot mount a small file system");
        return;
    }
    let mut build = command(folder.path(), "build p.upthrust.json --size 257 --heightmap disk/h.exr");
    let output = build.stderr(Stdio::piped()).output().expect("runs");
    let left = contents(&disk);
    let unmounted = Command::new("umount").arg(&disk).status();
    assert!(unmounted.is_ok_and(|status| status.success()));
    assert!(left.is_empty());
    check_refused(&output, "disk/h.exr: ", &disk, &[]);
}

#[test]
fn a_folder_that_disappears_is_reported() {
    let folder = tempfile::tempdir().expect("folder");
    project(folder.path(), 4000);
    let out = folder.path().join("out");
    std::fs::create_dir(&out).expect("made");
    let mut build = command(folder.path(), "build p.upthrust.json --size 1025 --heightmap out/h.png --progress json");
    let mut child = build.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("runs");
    let mut output = std::io::BufReader::new(child.stdout.take().expect("piped"));
    output.read_line(&mut String::new()).expect("the first line of progress");
    std::fs::remove_dir(&out).expect("removed");
    // Until the end of the output, so that the program never waits for its reader.
    output.read_to_string(&mut String::new()).expect("progress");
    let ended = child.wait_with_output().expect("ended");
    check_refused(&ended, "folder out", folder.path(), &["p.upthrust.json"]);
}

#[test]
fn a_read_only_folder_is_reported() {
    let folder = tempfile::tempdir().expect("folder");
    project(folder.path(), 20);
    // Not even root can create files there.
    let mut build = command(folder.path(), "build p.upthrust.json --size 33 --heightmap /sys/h.png");
    let output = build.stderr(Stdio::piped()).output().expect("runs");
    check_refused(&output, "/sys", folder.path(), &["p.upthrust.json"]);
}
