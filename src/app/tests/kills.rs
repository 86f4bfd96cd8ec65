//! Editors that are killed without warning during random activity: nothing older than five seconds is lost, and no
//! recovery folder stays for ever.

use std::collections::BTreeSet;
use std::fs::File;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::{Command as Process, Stdio};
use std::time::{Duration, Instant};

use egui::{Key, Modifiers};
use egui_kittest::Harness;
use egui_kittest::kittest::Queryable;

use crate::app::App;
use crate::app::dialogs::file_dialogs::{DialogBackend, DialogOutcome, DialogRequest};
use crate::app::dialogs::modal::Modal;
use crate::app::tasks::recovery::find_recoverable;
use crate::app::tests::autosave::folders_in;
use crate::app::tests::random_actions::{act, below};
use crate::app::tests::wait;
use crate::engine::random::Stream;
use crate::project::ProjectFile;

/// The folder of the editor that a test process runs, and the seed of what it does.
const FOLDER: &str = "UPTHRUST_EDITOR_TO_KILL";
const SEED: &str = "UPTHRUST_EDITOR_SEED";

/// The time between two frames, and what may be lost, seconds.
const FRAME_S: f64 = 0.1;
const MAX_LOST_S: f64 = 5.0;

/// File dialogs in which one of a few files is chosen, or which are cancelled.
struct Choosing {
    folder: PathBuf,
    opened: u64,
    is_open: bool,
}

impl DialogBackend for Choosing {
    fn open(&mut self, _: DialogRequest) {
        (self.is_open, self.opened) = (true, self.opened + 1);
    }

    fn poll(&mut self) -> Option<DialogOutcome> {
        let path = self.folder.join(format!("{}.upthrust.json", self.opened % 4));
        let outcome = match self.opened % 4 {
            0 => DialogOutcome::Cancelled,
            _ => DialogOutcome::Chosen { path, may_replace: true },
        };
        std::mem::take(&mut self.is_open).then_some(outcome)
    }
}

fn editor_in(folder: &Path) -> Harness<'static, App> {
    let folders = folders_in(folder);
    let dialogs = Choosing { folder: folder.to_path_buf(), opened: 0, is_open: false };
    let mut editor = Harness::builder()
        .with_step_dt(FRAME_S as f32)
        .with_max_steps(64)
        .build_eframe(move |context| App::new(&context.egui_ctx, Box::new(dialogs), None, folders).expect("threads"));
    editor.state_mut().edit_settings(|settings| settings.view.preview_samples = 33);
    editor
}

fn identity(file: &ProjectFile) -> u64 {
    let mut hasher = DefaultHasher::new();
    (&file.project.name, file.project.recipe.to_json().to_string()).hash(&mut hasher);
    hasher.finish()
}

/// The editor that is killed. It writes down when it had which unsaved projects.
#[test]
#[ignore = "run by the tests that kill it"]
fn editor_to_kill() {
    let (Some(folder), Ok(seed)) = (std::env::var_os(FOLDER), std::env::var(SEED)) else { return };
    let mut editor = editor_in(Path::new(&folder));
    let stream = Stream::new(seed.parse().expect("a number"), 1);
    let mut known = None;
    // The autosave sees the document at the beginning of a frame.
    let mut frame = |editor: &mut Harness<'static, App>| {
        for is_drawn in [false, true] {
            if is_drawn {
                editor.step();
            }
            let unsaved = editor.state().document.unsaved();
            let now: Vec<String> = unsaved.iter().map(|unsaved| identity(&unsaved.file).to_string()).collect();
            let time = editor.ctx.input(|input| input.time);
            println!("unsaved {time} {}", if known.as_ref() == Some(&now) { "same".into() } else { now.join(",") });
            known = Some(now);
        }
    };
    for action in 0.. {
        let begin = Instant::now();
        let rng = &mut stream.at(action);
        match &editor.state().ui.modal {
            Some(Modal::Recovered) if rng.chance(0.7) => {
                let answers = ["Ask again later", "Discard", "Discard all"];
                if let Some(button) = editor.query_by_label(answers[below(rng, answers.len())]) {
                    button.click();
                }
            }
            Some(Modal::Recovered) => {
                let recovered = editor.state().services.autosave.as_ref().expect("autosave").recovered();
                let name = crate::app::document::title(&recovered[0].contents.project).to_string();
                if let Some(button) = editor.query_all_by_label(&format!("Open {name}")).next() {
                    button.click();
                }
            }
            _ if rng.chance(0.1) => editor.key_press_modifiers(Modifiers::COMMAND, Key::S),
            _ => drop(act(&mut editor, rng, &mut frame)),
        }
        frame(&mut editor);
        std::thread::sleep(Duration::from_secs_f64(FRAME_S).saturating_sub(begin.elapsed()));
    }
}

/// The unsaved projects of an editor, and when it had them last, seconds.
type States = Vec<(f64, BTreeSet<u64>)>;

fn states(log: &str) -> States {
    // Before the first frame there is nothing to lose.
    let mut states = vec![(0.0, BTreeSet::new())];
    for line in log.lines() {
        let mut words = line.split(' ');
        let (Some("unsaved"), Some(time), Some(projects)) = (words.next(), words.next(), words.next()) else {
            continue;
        };
        let Ok(time) = time.parse() else { continue };
        match (projects, states.last_mut()) {
            ("same", Some((last, _))) => *last = time,
            _ => states.push((time, projects.split(',').filter_map(|project| project.parse().ok()).collect())),
        }
    }
    states
}

/// Kills an editor after that time; panics if it loses what it should not. Returns whether there was something to lose
/// during all of the last seconds.
fn kill_one(folder: &Path, seed: u32, after: Duration) -> bool {
    let log = folder.join("log");
    let mut editor = Process::new(std::env::current_exe().expect("this program"))
        .args(["--exact", "--ignored", "--nocapture", "app::tests::kills::editor_to_kill"])
        .env(FOLDER, folder)
        .env(SEED, seed.to_string())
        .stdout(File::create(&log).expect("a file"))
        .stderr(Stdio::null())
        .spawn()
        .expect("started");
    std::thread::sleep(after);
    assert!(editor.try_wait().expect("its state").is_none(), "seed {seed}: it ended by itself");
    editor.kill().expect("killed");
    editor.wait().expect("ended");

    let states = states(&std::fs::read_to_string(&log).expect("a log"));
    let end = states.last().map_or(0.0, |(last, _)| *last);
    let (found, broken) = find_recoverable(&folder.join("state/recovery"), File::try_lock);
    assert!(broken.is_empty(), "seed {seed}: {broken:?}");
    let found: BTreeSet<u64> = found.iter().map(|project| identity(&project.contents)).collect();
    // What the editor had at some time in the last seconds is there.
    let recent = || states.iter().filter(|(last, _)| *last >= end - MAX_LOST_S);
    assert!(
        recent().any(|(_, unsaved)| unsaved.is_subset(&found)),
        "seed {seed}: of the states {states:?}, the recovery folders have {found:?}"
    );
    recent().all(|(_, unsaved)| !unsaved.is_empty())
}

/// Kills so many editors one after the other in the same folders. At the end nothing is left but what was discarded.
/// Returns how many of them had something to lose.
fn kill_many(kills: u32, chain: u32, seconds: Range<f64>) -> u32 {
    let folder = tempfile::tempdir().expect("folder");
    let mut with_work = 0;
    for kill in 0..kills {
        let seed = 1000 * chain + kill;
        let after = Stream::new(seed, 2).at(0).between(seconds.start, seconds.end);
        with_work += u32::from(kill_one(folder.path(), seed, Duration::from_secs_f64(after)));
    }
    let (found, _) = find_recoverable(&folder.path().join("state/recovery"), File::try_lock);
    let is_asked = !found.is_empty();
    drop(found);
    let mut editor = editor_in(folder.path());
    if is_asked {
        wait(&mut editor, "the offer", |app| matches!(app.ui.modal, Some(Modal::Recovered)));
        editor.run_steps(3);
    }
    for label in ["Discard", "Discard all"] {
        if let Some(button) = editor.query_by_label(label) {
            button.click();
            editor.run_steps(3);
        }
    }
    editor.state_mut().finish_autosave();
    let left = std::fs::read_dir(folder.path().join("state/recovery")).into_iter().flatten().flatten();
    let left: Vec<_> = left.map(|entry| entry.file_name()).filter(|name| name != "old").collect();
    assert!(left.is_empty(), "{left:?}");
    with_work
}

/// Kills editors in several folders at a time, each after a random number of seconds. Returns how many of them had
/// something to lose.
fn kill(chains: u32, kills: u32, seconds: &Range<f64>) -> u32 {
    std::thread::scope(|scope| {
        let killed: Vec<_> =
            (0..chains).map(|chain| scope.spawn(move || kill_many(kills, chain, seconds.clone()))).collect();
        killed.into_iter().map(|killed| killed.join().expect("nothing was lost")).sum()
    })
}

#[test]
fn a_killed_editor_loses_nothing_older_than_five_seconds() {
    kill(1, 1, &(MAX_LOST_S + 1.0..MAX_LOST_S + 2.0));
}

/// The number of kills in each of ten folders.
const KILLS: &str = "UPTHRUST_KILLS";

#[test]
#[ignore = "slow: a minute; UPTHRUST_KILLS=100 kills a thousand editors"]
fn nightly_killed_editors_lose_nothing_older_than_five_seconds() {
    let kills = std::env::var(KILLS).ok().and_then(|kills| kills.parse().ok()).unwrap_or(10);
    let with_work = kill(10, kills, &(0.5..9.0));
    println!(
        "{} editors killed, {with_work} of them with unsaved work during all of the last five seconds",
        10 * kills
    );
    assert!(with_work >= kills, "{with_work}");
}
