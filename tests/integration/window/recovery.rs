//! Recovery after the editor is killed or loses its display, with a real window. Skipped without Xvfb, xdotool or a graphics adapter.

use std::cell::RefCell;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use tempfile::TempDir;

use crate::common::wait_for;

/// A program that is killed at the end of the test.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A virtual screen and its display name.
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

/// The projects in the recovery folder.
fn recovered(home: &Path) -> Vec<PathBuf> {
    let entries = |folder: &Path| -> Vec<PathBuf> {
        std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect()
    };
    let sessions = entries(&home.join("state/upthrust/recovery"));
    let files = sessions.iter().flat_map(|session| entries(session));
    files.filter(|path| path.extension().is_some_and(|extension| extension == "json")).collect()
}

/// Whether a running editor holds the lock of the project's recovery folder.
fn is_held(project: &Path) -> bool {
    let lock = File::options().write(true).open(project.with_file_name("lock")).expect("a lock");
    lock.try_lock().is_err()
}

/// An editor with a window on a screen of its own.
struct Session {
    screen: Running,
    display: String,
    home: TempDir,
    editor: Running,
    window: String,
}

impl Session {
    /// Opens the editor; `None`, with a note, if this system cannot.
    fn open() -> Option<Self> {
        let Some((screen, display)) = screen() else {
            println!("SKIPPED: Xvfb is not installed");
            return None;
        };
        if xdotool(&display, &["version"]).is_none() {
            println!("SKIPPED: xdotool is not installed");
            return None;
        }
        let home = tempfile::tempdir().expect("folder");
        let run = home.path().join("run");
        std::fs::create_dir(&run).expect("made");
        std::fs::set_permissions(&run, std::os::unix::fs::PermissionsExt::from_mode(0o700)).expect("allowed");
        let editor = RefCell::new(editor(&display, home.path()));
        let window = wait_for(Duration::from_secs(120), || {
            if let Some(status) = editor.borrow_mut().0.try_wait().expect("a child") {
                return Some(Err(status));
            }
            let found = xdotool(&display, &["search", "--name", "^Upthrust"])?;
            let window = found.lines().next()?.to_string();
            xdotool(&display, &["windowfocus", &window]).map(|_| Ok(window))
        });
        match window.expect("the editor opens its window or ends") {
            Ok(window) => Some(Self { screen, display, home, editor: editor.into_inner(), window }),
            Err(status) => {
                println!(
                    "SKIPPED: the editor ended with {status}; is there a graphics adapter, at least a software one?"
                );
                None
            }
        }
    }

    /// Presses N, which changes the seed, until `probe` returns something. Keys can get lost during the first frames.
    fn edit_until<T>(&self, probe: impl Fn() -> Option<T>) -> Option<T> {
        wait_for(Duration::from_secs(60), || {
            xdotool(&self.display, &["key", "n"]);
            wait_for(Duration::from_secs(6), &probe)
        })
    }

    /// Whether the title of the window marks unsaved changes.
    fn is_dirty(&self) -> bool {
        xdotool(&self.display, &["getwindowname", &self.window]).is_some_and(|title| title.ends_with('•'))
    }
}

#[test]
fn unsaved_work_survives_a_killed_editor() {
    let Some(session) = Session::open() else { return };
    let home = session.home.path();
    let file = session.edit_until(|| recovered(home).into_iter().next()).expect("an autosaved project");
    assert!(is_held(&file), "the first editor runs");
    drop(session.editor);
    let text = std::fs::read_to_string(&file).expect("complete after the kill");
    assert!(text.trim_end().ends_with('}') && text.contains("\"recipe\""));
    assert!(!is_held(&file), "the first editor is gone");
    let _second = editor(&session.display, home);
    let taken = wait_for(Duration::from_secs(120), || is_held(&file).then_some(()));
    assert!(taken.is_some(), "the second editor offers it");
    assert!(file.exists(), "the second editor keeps it until the user decides");
}

/// Kills an editor as soon as its window shows an edit, which is long before the autosave.
fn check_saved_at_once(kill: impl FnOnce(&mut Session)) {
    let Some(mut session) = Session::open() else { return };
    session.edit_until(|| session.is_dirty().then_some(())).expect("an edit");
    kill(&mut session);
    let editor = RefCell::new(&mut session.editor.0);
    let ended = wait_for(Duration::from_secs(60), || editor.borrow_mut().try_wait().expect("a child"));
    assert!(ended.is_some_and(|status| !status.success()), "{ended:?}");
    assert_eq!(recovered(session.home.path()).len(), 1);
}

#[test]
#[ignore = "slow: opens windows"]
fn nightly_unsaved_work_is_saved_when_a_signal_ends_the_editor() {
    for signal in ["-TERM", "-HUP"] {
        check_saved_at_once(|session| {
            let sent = Command::new("kill").args([signal, &session.editor.0.id().to_string()]).status();
            assert!(sent.is_ok_and(|status| status.success()));
        });
    }
}

#[test]
#[ignore = "slow: opens windows"]
fn nightly_unsaved_work_is_saved_when_the_display_is_lost() {
    check_saved_at_once(|session| {
        let _ = session.screen.0.kill();
    });
}
