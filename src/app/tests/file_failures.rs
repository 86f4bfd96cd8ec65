//! File operations that fail once, each in turn: the user is told, the document stays, and the next try works.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use egui_kittest::Harness;
use serde_json::Value;

use crate::app::App;
use crate::app::commands::Command;
use crate::app::tasks::autosave::Autosave;
use crate::app::tests::autosave::{folders_in, recovery_files};
use crate::app::tests::{Scripted, without_rivers};
use crate::engine::Grid;
use crate::files::export::{HeightmapOrder, Order, Plan};
use crate::files::io::failure::{Operation, PlannedFailure};
use crate::project::ProjectFile;

/// An editor with all its files in one folder, and the errors that it has shown.
struct Session {
    editor: Harness<'static, App>,
    folder: PathBuf,
    errors: Vec<String>,
}

impl Session {
    fn begin(folder: &Path) -> Self {
        let folders = folders_in(folder);
        let mut editor = Harness::builder().with_step_dt(0.25).with_max_steps(64).build_eframe(move |context| {
            without_rivers(App::new(&context.egui_ctx, Box::<Scripted>::default(), None, folders).expect("threads"))
        });
        editor.state_mut().ui.playback.pause();
        let mut session = Self { editor, folder: folder.to_path_buf(), errors: Vec::new() };
        session.settle();
        session
    }

    /// Waits for the threads, so that nothing late is taken for a result of what follows.
    fn settle(&mut self) {
        let is_busy = |app: &App| {
            let autosaves = !app.services.autosave.as_ref().is_some_and(Autosave::is_idle);
            autosaves || !app.services.file_tasks.is_idle()
        };
        while is_busy(self.editor.state()) {
            std::thread::sleep(Duration::from_millis(1));
        }
        self.step();
    }

    fn step(&mut self) {
        self.editor.step();
        let app = self.editor.state_mut();
        if let Some(message) = app.ui.message.take_if(|message| message.is_error) {
            self.errors.push(message.text);
        }
    }

    /// Does something, and again after each error, until it has worked.
    #[track_caller]
    fn do_until(&mut self, what: &str, act: impl Fn(&mut App), done: impl Fn(&App, &Path) -> bool) {
        let deadline = Instant::now() + Duration::from_secs(60);
        let mut seen = None;
        while seen == Some(self.errors.len()) || !done(self.editor.state(), &self.folder) {
            assert!(Instant::now() < deadline, "{what} does not work; errors: {:?}", self.errors);
            if seen != Some(self.errors.len()) {
                seen = Some(self.errors.len());
                act(self.editor.state_mut());
            }
            self.step();
            std::thread::sleep(Duration::from_millis(1));
            if seen == Some(self.errors.len()) && done(self.editor.state(), &self.folder) {
                return;
            }
        }
    }
}

/// The seeds of the projects in the recovery folders.
fn kept_seeds(folder: &Path) -> Vec<u64> {
    let texts = recovery_files(folder).into_iter().filter_map(|file| std::fs::read(file).ok());
    let values = texts.filter_map(|text| serde_json::from_slice::<Value>(&text).ok());
    values.filter_map(|value| value["project"]["recipe"]["seed"].as_u64()).collect()
}

fn saved_seed(path: &Path) -> Option<u64> {
    let text = std::fs::read(path).ok()?;
    serde_json::from_slice::<Value>(&text).ok()?["recipe"]["seed"].as_u64()
}

/// Works with an editor in which an operation fails after so many of its kind. Returns the path with which it failed
/// and the errors shown; `None` if there were not so many.
fn work(operation: Operation, before: usize) -> Option<(PathBuf, Vec<String>)> {
    let folder = tempfile::tempdir().expect("folder");
    let settings = folder.path().join("config/settings.json");
    std::fs::create_dir_all(folder.path().join("config")).expect("made");
    std::fs::write(&settings, "{}").expect("written");
    let file = folder.path().join("fjord.upthrust.json");
    std::fs::write(&file, ProjectFile::default().to_json()).expect("written");

    let failure = PlannedFailure::after(before, operation, folder.path());
    let mut session = Session::begin(folder.path());
    let path = file.clone();
    session.do_until(
        "opening",
        |app| app.services.file_tasks.open(path.clone()),
        |app, _| app.document.path() == Some(path.as_path()),
    );
    session.settle();
    session.do_until(
        "the autosave",
        |app| app.edit(|project| project.recipe.seed = 4711),
        |_, folder| kept_seeds(folder).contains(&4711),
    );
    session.do_until(
        "saving",
        |app| app.execute(&egui::Context::default(), Command::Save),
        |app, _| !app.document.is_dirty(),
    );
    assert_eq!((saved_seed(&file), session.editor.state().document.project().recipe.seed), (Some(4711), 4711));
    // The next autosave deletes the copy of the saved project.
    session.do_until("the next autosave", |_| {}, |_, folder| kept_seeds(folder).is_empty());
    session.do_until(
        "the settings",
        |app| app.settings.scale_percent = 125,
        |_, folder| std::fs::read_to_string(folder.join("config/settings.json")).is_ok_and(|text| text.contains("125")),
    );
    session.do_until(
        "the export",
        |app| {
            let recipe = app.document.project().recipe.clone();
            let grid = Grid::new(recipe.world.extent(), 17, 17);
            let mut order = Order { overwrite: true, ..Order::new("fjord", recipe, grid) };
            order.heightmaps = vec![HeightmapOrder::new(path.with_file_name("fjord.png"))];
            let plan = Plan::new(order).expect("possible");
            app.services.exporter.export(plan, app.document.project().files.clone());
        },
        |_, folder| folder.join("fjord.png").exists(),
    );
    // What nobody waited for may report its error a little later.
    for _ in 0..8 {
        session.step();
        std::thread::sleep(Duration::from_millis(5));
    }
    let failed = failure.failed()?;
    session.settle();
    Some((failed, session.errors))
}

/// Every kind of operation. An editor works with each of them.
const OPERATIONS: [Operation; 8] = [
    Operation::CreateFolder,
    Operation::Create,
    Operation::Write,
    Operation::Sync,
    Operation::Rename,
    Operation::Read,
    Operation::Lock,
    Operation::Remove,
];

/// Lets operations of a kind fail, each in a session of its own, up to so many. Returns how many failed.
fn check(operation: Operation, most: usize) -> usize {
    let failed = (0..most).map_while(|before| {
        let (path, errors) = work(operation, before)?;
        assert!(!errors.is_empty(), "no message about {operation:?} of {}", path.display());
        Some(())
    });
    failed.count()
}

#[test]
fn a_file_operation_of_each_kind_that_fails_is_reported_and_works_the_next_time() {
    for operation in OPERATIONS {
        assert_eq!(check(operation, 1), 1, "{operation:?}");
    }
}

#[test]
#[ignore = "slow: one session for each of about forty operations"]
fn nightly_each_file_operation_that_fails_is_reported_and_works_the_next_time() {
    for operation in OPERATIONS {
        let failed = check(operation, usize::MAX);
        println!("{operation:?}: {failed} failed, each in a session of its own");
        assert!(failed > 0, "{operation:?}");
    }
}
