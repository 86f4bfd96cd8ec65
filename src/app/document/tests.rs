//! Undo, unsaved work, and what counts as an edit.

use super::*;
use crate::engine::Step;
use crate::engine::operations::AnyOperation;
use crate::engine::operations::drawn_faults::{DrawnFault, DrawnFaults};
use crate::engine::parameters::FileName;

fn document() -> Document {
    let presets = crate::project::presets();
    Document::new(presets[0].file().expect("preset"))
}

fn edit(document: &mut Document, gesture: Option<u64>, change: impl FnOnce(&mut Project)) {
    let mut project = (**document.project()).clone();
    change(&mut project);
    document.commit(project, gesture);
}

#[test]
fn undo_and_redo_restore_the_same_value() {
    let mut document = document();
    let first = document.project().clone();
    edit(&mut document, None, |project| project.recipe.seed += 1);
    let second = document.project().clone();
    document.undo();
    assert_eq!(*document.project(), first);
    assert_eq!(document.redo_name(), Some(format!("Seed {} → {}", first.recipe.seed, second.recipe.seed).as_str()));
    document.redo();
    assert_eq!((document.project(), document.redo_name()), (&second, None));
    document.redo();
    assert_eq!(*document.project(), second);
}

#[test]
fn an_edit_is_undone_while_the_project_is_as_before_it() {
    let mut document = document();
    edit(&mut document, Some(1), |project| project.recipe.seed += 1);
    let first = document.current_edit();
    edit(&mut document, Some(1), |project| project.recipe.seed += 1);
    assert_eq!(document.current_edit(), first, "a drag is one edit");
    edit(&mut document, None, |project| project.water.water_m = Some(7.0));
    let second = document.current_edit();
    let undone = |document: &Document| [first, second].map(|edit| document.is_undone(edit));
    assert_eq!(undone(&document), [false, false]);
    document.undo();
    assert_eq!(undone(&document), [false, true]);
    document.go_to(0);
    assert_eq!(undone(&document), [true, true]);
    document.redo();
    assert_eq!(undone(&document), [false, true]);
    edit(&mut document, None, |project| project.recipe.seed += 1);
    assert_eq!(undone(&document), [false, true], "another edit is in its place");
    for _ in 0..MAX_ENTRIES {
        edit(&mut document, None, |project| project.recipe.seed += 1);
    }
    assert!(!document.is_undone(first), "an edit that a full history has dropped is still done");
}

#[test]
fn the_before_view_belongs_to_the_same_project() {
    let mut document = document();
    assert!(document.before().is_none(), "nothing was edited");
    let first = document.project().clone();
    edit(&mut document, None, |project| project.recipe.seed += 1);
    let name = document.undo_name().map(str::to_string);
    assert_eq!(document.before(), name.as_deref().map(|name| (name, &first)));
    document.replace("Another".into(), ProjectFile::default(), None);
    assert!(document.before().is_none(), "that was another project");
    document.undo();
    assert!(document.before().is_some());
}

#[test]
fn a_drag_is_one_entry_and_the_next_drag_another() {
    let mut document = document();
    let start = document.project().recipe.light.altitude_deg;
    for (press, altitude) in [(1, 50.0), (1, 51.0), (1, 52.0), (2, 53.0)] {
        edit(&mut document, Some(press), |project| project.recipe.light.altitude_deg = altitude);
    }
    assert_eq!(document.undo_name(), Some("Sun altitude 52° → 53°"));
    document.undo();
    assert_eq!(document.undo_name(), Some(format!("Sun altitude {start}° → 52°").as_str()));
    document.undo();
    assert_eq!(document.undo_name(), None);
}

#[test]
fn a_drag_back_to_its_start_leaves_no_entry() {
    let mut document = document();
    let start = document.project().recipe.light.altitude_deg;
    let mut drag = |altitude| edit(&mut document, Some(1), |project| project.recipe.light.altitude_deg = altitude);
    [50.0, 60.0, start].into_iter().for_each(&mut drag);
    assert_eq!((document.undo_name(), document.history().0.len()), (None, 1));
    let mut drag = |altitude| edit(&mut document, Some(1), |project| project.recipe.light.altitude_deg = altitude);
    [20.0, 10.0].into_iter().for_each(&mut drag);
    assert_eq!(document.history().0.len(), 2);
}

#[test]
fn unsaved_work_in_a_hidden_project_is_kept() {
    let mut document = document();
    edit(&mut document, None, |project| project.recipe.seed = 5);
    document.replace("New".into(), ProjectFile::default(), None);
    assert!(!document.is_dirty());
    let name = document.entries[0].project.name.clone();
    let unsaved = document.unsaved();
    assert_eq!((unsaved.len(), unsaved[0].project_id, &unsaved[0].file.project.name), (1, 0, &name));
    assert_eq!(document.newest(0).map(|file| file.project.recipe.seed), Some(5));
    edit(&mut document, None, |project| project.recipe.seed = 6);
    assert_eq!(document.unsaved().len(), 2);
}

#[test]
fn unsaved_work_that_undo_no_longer_reaches_can_be_reopened() {
    let mut document = document();
    let other = Project { name: "Other".into(), ..Default::default() };
    document.replace("New".into(), ProjectFile::new(other), None);
    edit(&mut document, None, |project| project.recipe.seed = 5);
    let seed = |document: &Document, project_id| document.newest(project_id).map(|file| file.project.recipe.seed);
    document.undo();
    document.undo();
    assert_eq!((document.project_id(), document.closed().count()), (0, 0), "redo still reaches it");
    edit(&mut document, None, |project| project.recipe.seed = 6);
    let closed: Vec<usize> = document.closed().map(|(project_id, _)| project_id).collect();
    assert_eq!((closed, document.unsaved().len(), seed(&document, 1)), (vec![1], 2, Some(5)));
    let newly_closed = [document.take_newly_closed(), document.take_newly_closed()];
    assert_eq!(newly_closed, [Some("Other".into()), None], "told once");
    document.reopen(1);
    assert_eq!((document.project_id(), document.project().recipe.seed), (1, 5));
    assert_eq!((document.undo_name(), document.closed().count()), (Some("Reopen Other"), 0));
    document.undo();
    document.mark_saved(1, "other.upthrust.json".into(), document.newest(1).expect("a project"));
    edit(&mut document, None, |project| project.recipe.seed = 7);
    assert_eq!(document.closed().count(), 0, "it was saved");
}

#[test]
fn an_edit_after_undo_drops_the_undone_entries() {
    let mut document = document();
    edit(&mut document, None, |project| project.recipe.seed = 1);
    edit(&mut document, None, |project| project.recipe.seed = 2);
    document.undo();
    edit(&mut document, None, |project| project.recipe.seed = 3);
    assert_eq!((document.redo_name(), document.history().0.len()), (None, 3));
}

#[test]
fn changing_the_view_is_not_an_edit() {
    let mut document = document();
    edit(&mut document, None, |project| project.recipe.seed = 5);
    let mut settings = document.settings().clone();
    settings.view.preview_samples = 129;
    document.set_settings(settings);
    assert!(document.history().0.len() == 2);
    document.undo();
    assert_eq!(document.settings().view.preview_samples, 129);
}

#[test]
fn export_settings_are_saved_and_are_not_an_edit() {
    let mut document = document();
    edit(&mut document, None, |project| project.recipe.seed = 5);
    let (entries, revision) = (document.history().0.len(), document.revision());
    document.mark_saved(document.project_id(), "a.upthrust.json".into(), document.file());
    let mut settings = document.settings().clone();
    settings.export.samples = 4033;
    document.set_settings(settings);
    assert_eq!((document.history().0.len(), document.is_dirty()), (entries, true));
    assert!(document.revision() > revision, "it is to be kept");
    document.undo();
    assert_eq!(document.settings().export.samples, 4033);
    document.redo();
    assert_eq!((document.settings().export.samples, document.project().recipe.seed), (4033, 5));
}

#[test]
fn changing_the_water_level_is_an_edit() {
    let mut document = document();
    for level in [10.0, 12.0] {
        edit(&mut document, Some(1), |project| project.water.water_m = Some(level));
    }
    assert!(document.is_dirty() && document.history().0.len() == 2);
    assert!(document.undo_name().is_some_and(|name| name.starts_with("Water level")), "{:?}", document.undo_name());
    document.undo();
    assert!(!document.is_dirty() && document.project().water.water_m.is_none());
    document.redo();
    assert_eq!(document.project().water.water_m, Some(12.0));
}

#[test]
fn opening_saving_and_unsaved_changes() {
    let mut document = document();
    assert!(!document.is_dirty());
    edit(&mut document, None, |project| project.recipe.seed = 5);
    assert!(document.is_dirty());
    let stored = document.file();
    document.mark_saved(document.project_id(), "a.upthrust.json".into(), stored);
    assert!(!document.is_dirty() && document.path() == Some(Path::new("a.upthrust.json")));
    document.replace("Open b".into(), ProjectFile::default(), Some("b.upthrust.json".into()));
    assert_eq!(document.path(), Some(Path::new("b.upthrust.json")));
    document.undo();
    assert_eq!(document.path(), Some(Path::new("a.upthrust.json")));
    assert!(!document.is_dirty() && document.project().recipe.seed == 5);
}

#[test]
fn the_seed_before_comes_from_the_history_and_goes_further_back_each_time() {
    let mut document = document();
    let first = document.project().recipe.seed;
    assert_eq!(document.earlier_seed(), None);
    for seed in [7001, 7002] {
        edit(&mut document, None, |project| project.recipe.seed = seed);
        edit(&mut document, None, |project| project.recipe.light.altitude_deg += 1.0);
    }
    let mut back = || {
        let seed = document.earlier_seed();
        edit(&mut document, None, |project| project.recipe.seed = seed.unwrap_or(project.recipe.seed));
        seed
    };
    assert_eq!([back(), back(), back()], [Some(7001), Some(first), None]);
    edit(&mut document, None, |project| project.recipe.seed = 7003);
    assert_eq!(document.earlier_seed(), Some(first));
    document.undo();
    assert_eq!(document.earlier_seed(), None, "undone, it is no longer the seed");
    document.replace("New".into(), ProjectFile::default(), None);
    assert_eq!(document.earlier_seed(), None, "another project has its own seeds");
}

#[test]
fn a_full_history_is_undone_to_the_first_entry_and_dropped_work_is_still_unsaved() {
    let mut document = document();
    let first = document.project().clone();
    for seed in 0..MAX_ENTRIES as u32 - 1 {
        edit(&mut document, None, |project| project.recipe.seed = 100_000 + seed);
    }
    while document.undo_name().is_some() {
        document.undo();
    }
    assert_eq!(*document.project(), first);
    edit(&mut document, None, |project| project.recipe.seed = 5);
    document.replace("New".into(), ProjectFile::default(), None);
    for seed in 0..MAX_ENTRIES as u32 {
        edit(&mut document, None, |project| project.recipe.seed = 100_000 + seed);
    }
    let unsaved = document.unsaved();
    assert_eq!(unsaved.iter().map(|unsaved| unsaved.file.project.recipe.seed).next(), Some(5));
    assert_eq!((unsaved.len(), document.history().0.len()), (2, MAX_ENTRIES));
}

#[test]
fn recovered_projects_are_unsaved() {
    let mut document = document();
    document.replace_unsaved("Recover".into(), ProjectFile::default(), Some("a.upthrust.json".into()));
    assert!(document.is_dirty());
    assert_eq!((document.history().0.len(), document.undo_name()), (1, None), "nothing was done to the first project");
    document.mark_saved(document.project_id(), "a.upthrust.json".into(), document.file());
    assert!(!document.is_dirty() && document.unsaved().is_empty());
    document.replace_unsaved("Recover".into(), ProjectFile::default(), Some("b.upthrust.json".into()));
    assert_eq!(document.history().0.len(), 2, "a project with a file stays in the history");
}

#[cfg(target_os = "linux")]
#[test]
#[ignore = "prints what the history takes: cargo test --lib a_full_history -- --ignored --nocapture"]
fn measure_a_full_history() {
    use crate::app::tests::memory::resident_bytes;

    for (preset, _) in crate::project::preset_projects() {
        let before = resident_bytes();
        let mut document = Document::new(preset.file().expect("a preset"));
        for seed in 1..MAX_ENTRIES as u32 {
            edit(&mut document, None, |project| project.recipe.seed = 100_000 + seed);
        }
        let taken = resident_bytes() - before;
        println!("{}: {:.1} kB an entry, {} MB", preset.name, taken as f64 / 2e7, taken / 1_000_000);
        std::mem::forget(document);
    }
}

#[test]
fn each_project_has_its_own_settings() {
    let mut document = document();
    let samples = document.settings().view.preview_samples;
    let mut other = ProjectFile::default();
    other.settings.view.preview_samples = samples + 1;
    document.replace("Open".into(), other, None);
    assert_eq!(document.settings().view.preview_samples, samples + 1);
    document.undo();
    assert_eq!(document.settings().view.preview_samples, samples);
}

#[test]
fn entries_share_the_lists_that_an_edit_leaves_alone() {
    let mut document = document();
    let faults = DrawnFaults { faults: vec![DrawnFault::default(); 100_000].into() };
    edit(&mut document, None, |project| project.recipe.stack.push(Step::new(faults)));
    let with_one = document.memory.bytes();
    for seed in 0..20 {
        edit(&mut document, None, |project| project.recipe.seed = 7000 + seed);
    }
    let list = 100_000 * size_of::<DrawnFault>();
    assert!(
        with_one > list && document.memory.bytes() < with_one + list / 10,
        "{with_one}, then {}",
        document.memory.bytes()
    );
    for at in 0..100 {
        edit(&mut document, None, |project| {
            let step = project.recipe.stack.last_mut().expect("a step");
            let AnyOperation::DrawnFaults(DrawnFaults { faults }) = &mut step.operation else { unreachable!("faults") };
            faults[at].displacement_m = -1.0;
        });
    }
    assert!(document.memory.bytes() <= MAX_BYTES && document.history().0.len() < 100, "each edit of a list copies it");
    assert_eq!(document.undo_name(), Some("Drawn faults: Fault 100: Displacement 100 m → -1 m"));
}

#[test]
fn saved_projects_that_the_history_no_longer_has_take_no_memory() {
    let mut document = document();
    let file = Arc::new(vec![0; 1000]);
    for i in 0..3 {
        let mut project = Project { name: format!("Project {i}"), ..Default::default() };
        project.files.insert(FileName("a.png".into()), file.clone());
        document.replace("Open".into(), ProjectFile::new(project), None);
    }
    assert_eq!(Arc::strong_count(&file), 4);
    edit(&mut document, None, |project| project.recipe.seed = 5);
    (0..4).for_each(|_| document.undo());
    edit(&mut document, None, |project| project.recipe.seed = 6);
    assert_eq!(document.closed().map(|(_, project)| project.name.as_str()).collect::<Vec<_>>(), ["Project 2"]);
    assert_eq!(Arc::strong_count(&file), 3, "what is stored and what is unsaved of the last one");
}

#[test]
fn the_history_is_bounded_by_bytes() {
    let mut document = document();
    for i in 0..6 {
        edit(&mut document, None, |project| {
            project.recipe.seed = 7000 + i;
            project.files.clear();
            project.import_file("a.png", vec![0; MAX_BYTES / 4]);
        });
    }
    assert!(document.memory.bytes() <= MAX_BYTES && document.history().0.len() < 7, "{}", document.memory.bytes());
    assert_eq!(document.project().recipe.seed, 7005);
}
