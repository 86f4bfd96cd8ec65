//! The real editor in a real window, killed in the middle of its work: what was not saved is on the disk, and the next
//! one has it. Skips aloud where there is no Xvfb, xdotool or graphics adapter.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// A program that does not outlive the test.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        // SIGKILL, which no program can answer.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A screen of the test's own, and its name.
fn screen() -> Option<(Running, String)> {
    let mut command = Command::new("Xvfb");
    command.args(["-displayfd", "1", "-screen", "0", "1280x800x24"]).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut server = Running(command.spawn().ok()?);
    let mut number = String::new();
    BufReader::new(server.0.stdout.take()?).read_line(&mut number).ok()?;
    (!number.trim().is_empty()).then(|| (server, format!(":{}", number.trim())))
}

fn editor(display: &str, home: &Path) -> Running {
    let mut command = Command::new(env!("CARGO_BIN_EXE_upthrust"));
    command.env("DISPLAY", display).env_remove("WAYLAND_DISPLAY").env("HOME", home);
    for (variable, folder) in [
        ("XDG_CONFIG_HOME", "config"),
        ("XDG_STATE_HOME", "state"),
        ("XDG_RUNTIME_DIR", "run"),
        ("XDG_CACHE_HOME", "cache"),
    ] {
        command.env(variable, home.join(folder));
    }
    Running(command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("the program runs"))
}

fn xdotool(display: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new("xdotool").args(arguments).env("DISPLAY", display).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_string())
}

/// Waits until there is something, at most so long.
fn wait<T>(most: Duration, found: impl Fn() -> Option<T>) -> Option<T> {
    let deadline = Instant::now() + most;
    loop {
        match found() {
            Some(found) => return Some(found),
            None if Instant::now() > deadline => return None,
            None => std::thread::sleep(Duration::from_millis(50)),
        }
    }
}

/// The projects that lie in the recovery folder.
fn kept(home: &Path) -> Vec<PathBuf> {
    let entries = |folder: &Path| -> Vec<PathBuf> {
        std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect()
    };
    let sessions = entries(&home.join("state/upthrust/recovery"));
    let files = sessions.iter().flat_map(|session| entries(session));
    files.filter(|path| path.extension().is_some_and(|ending| ending == "json")).collect()
}

/// Whether an editor holds the folder in which that project lies.
fn is_held(project: &Path) -> bool {
    let lock = File::options().write(true).open(project.with_file_name("lock")).expect("a lock");
    lock.try_lock().is_err()
}

#[test]
fn work_outlives_a_killed_editor_and_the_next_one_has_it() {
    let Some((_server, display)) = screen() else {
        println!("SKIPPED: there is no Xvfb here");
        return;
    };
    if xdotool(&display, &["version"]).is_none() {
        println!("SKIPPED: there is no xdotool here");
        return;
    }
    let home = tempfile::tempdir().expect("folder");
    let run = home.path().join("run");
    std::fs::create_dir(&run).expect("made");
    std::fs::set_permissions(&run, std::os::unix::fs::PermissionsExt::from_mode(0o700)).expect("allowed");
    let first = editor(&display, home.path());
    let window = wait(Duration::from_secs(120), || {
        let found = xdotool(&display, &["search", "--name", "^Upthrust"])?;
        let window = found.lines().next()?.to_string();
        xdotool(&display, &["windowfocus", &window]).map(|_| window)
    });
    if window.is_none() {
        println!("SKIPPED: no window opens here; is there a graphics adapter, a software one at least?");
        return;
    }
    // The keys of the first frames may be lost; another seed does no harm.
    let asked = Instant::now();
    let file = wait(Duration::from_secs(60), || {
        xdotool(&display, &["key", "n"]);
        wait(Duration::from_secs(6), || kept(home.path()).into_iter().next())
    });
    let file = file.expect("unsaved work on the disk");
    println!("on the disk {:.1} s after the first key", asked.elapsed().as_secs_f64());
    assert!(is_held(&file), "its editor runs");
    drop(first);
    let text = std::fs::read_to_string(&file).expect("whole after the kill");
    assert!(text.trim_end().ends_with('}') && text.contains("\"recipe\""));
    assert!(!is_held(&file), "its editor is gone");
    let _second = editor(&display, home.path());
    let taken = wait(Duration::from_secs(120), || is_held(&file).then_some(()));
    assert!(taken.is_some(), "the next editor offers it");
    assert!(file.exists(), "and keeps it until it is answered");
}
