//! The open document and its history.
//!
//! Every edit comes through one door, [`Document::propose`]: the interface works on a copy of the project and hands it
//! over; what differs becomes an entry with a name. Only a move brings its name along. Undo and redo are steps along a
//! list of plain values. Opening another project is an entry too, so nothing is lost by it.

pub(crate) mod describe;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::app::document::describe::{Change, describe};
use crate::project::{Project, ViewSettings};

/// The most entries that are kept; the oldest are forgotten first. An entry of the presets that ship takes 2 to 10 kB
/// (measured by `what_a_full_history_takes`), so a full history takes 40 to 200 MB.
const MOST_ENTRIES: usize = 20_000;

/// Where a project came from and what is stored there.
#[derive(Clone, Debug)]
struct Origin {
    /// Its file; `None` for new projects and presets.
    path: Option<PathBuf>,
    /// The project as it was opened or last saved; `None`: nobody knows what is stored there.
    stored: Option<Arc<Project>>,
    /// Its newest entry among those that were forgotten.
    forgotten: Option<Arc<Project>>,
}

impl Origin {
    fn differs_from(&self, project: &Arc<Project>) -> bool {
        self.stored.as_ref().is_none_or(|stored| !Arc::ptr_eq(stored, project) && differs(project, stored))
    }
}

/// A project that would lose something if the program ended now.
#[derive(Clone, Debug)]
pub(crate) struct Unsaved {
    /// Where it came from, to be given back to [`Document::mark_saved`].
    pub(crate) origin: usize,
    pub(crate) project: Arc<Project>,
    /// Its file, if it has one.
    pub(crate) path: Option<PathBuf>,
}

#[derive(Clone, Debug)]
struct Entry {
    /// What led here.
    name: String,
    project: Arc<Project>,
    origin: usize,
    /// The gesture that made it, and what it changed: the same gesture goes on changing the same entry.
    gesture: Option<(u64, String)>,
}

/// The open document and its history.
#[derive(Debug)]
pub(crate) struct Document {
    entries: Vec<Entry>,
    at: usize,
    origins: Vec<Origin>,
    revision: u64,
}

impl Document {
    pub(crate) fn new(project: Project) -> Self {
        let project = Arc::new(project);
        let entry = Entry { name: "Start".into(), project: project.clone(), origin: 0, gesture: None };
        let origin = Origin { path: None, stored: Some(project), forgotten: None };
        Self { entries: vec![entry], at: 0, origins: vec![origin], revision: 0 }
    }

    fn entry(&self) -> &Entry {
        &self.entries[self.at]
    }

    fn origin(&self) -> &Origin {
        &self.origins[self.entry().origin]
    }

    /// The project as it is now.
    pub(crate) fn project(&self) -> &Arc<Project> {
        &self.entry().project
    }

    /// The file that "save" writes to.
    pub(crate) fn path(&self) -> Option<&Path> {
        self.origin().path.as_deref()
    }

    /// The name of its file, or what the project is called, with a mark while there is something to save.
    pub(crate) fn heading(&self) -> String {
        let name = self.path().map_or_else(|| title(self.project()).into(), file_name);
        format!("{name}{}", if self.is_dirty() { " •" } else { "" })
    }

    /// Counts everything that may change what is unsaved.
    pub(crate) fn revision(&self) -> u64 {
        self.revision
    }

    /// Whether the open project differs from what is stored.
    pub(crate) fn is_dirty(&self) -> bool {
        self.origin().differs_from(self.project())
    }

    /// All projects that were opened since the start and would lose something if the program ended now.
    pub(crate) fn unsaved(&self) -> Vec<Unsaved> {
        let mut newest: Vec<Option<&Arc<Project>>> =
            self.origins.iter().map(|origin| origin.forgotten.as_ref()).collect();
        for entry in &self.entries {
            newest[entry.origin] = Some(&entry.project);
        }
        newest[self.entry().origin] = Some(self.project());
        let found = newest.into_iter().zip(&self.origins).enumerate();
        found
            .filter_map(|(origin, (project, from))| {
                let project = project.filter(|project| from.differs_from(project))?.clone();
                Some(Unsaved { origin, project, path: from.path.clone() })
            })
            .collect()
    }

    /// The newest state of the project of that origin: the present one, if it is open.
    pub(crate) fn newest(&self, origin: usize) -> Option<&Arc<Project>> {
        if self.entry().origin == origin {
            return Some(self.project());
        }
        let entry = self.entries.iter().rev().find(|entry| entry.origin == origin);
        entry.map(|entry| &entry.project).or(self.origins.get(origin)?.forgotten.as_ref())
    }

    /// The seed that the open project had before the present one: before it had that for the first time, so that one
    /// comes further back each time.
    pub(crate) fn earlier_seed(&self) -> Option<u32> {
        let (origin, seed) = (self.entry().origin, self.project().recipe.seed);
        let mut seeds = self.entries[..=self.at].iter().filter(|entry| entry.origin == origin);
        let mut before = None;
        seeds.find_map(|entry| {
            let found = entry.project.recipe.seed;
            if found == seed {
                Some(before)
            } else {
                before = Some(found);
                None
            }
        })?
    }

    /// Takes over an edited copy of the project. `gesture` is the present press of the pointer, if it is held down: all
    /// that one press changes in one place is one entry.
    pub(crate) fn propose(&mut self, project: Project, gesture: Option<u64>) {
        if project == **self.project() {
            return;
        }
        let goes_on =
            self.at > 0 && gesture.is_some() && self.entry().gesture.as_ref().map(|(press, _)| *press) == gesture;
        if goes_on {
            let before = &self.entries[self.at - 1];
            match describe(&before.project, &project) {
                Some(Change { place, name })
                    if self.entry().gesture.as_ref().is_some_and(|(_, known)| *known == place) =>
                {
                    let entry = &mut self.entries[self.at];
                    entry.name = name;
                    entry.project = Arc::new(project);
                    self.revision += 1;
                    return;
                }
                Some(_) => {}
                // Back where the gesture began: as if it had not been.
                None if before.origin == self.entry().origin => {
                    self.entries.truncate(self.at);
                    self.at -= 1;
                    self.entries[self.at].project = Arc::new(project);
                    self.revision += 1;
                    return;
                }
                None => {}
            }
        }
        match describe(self.project(), &project) {
            Some(Change { place, name }) => {
                let origin = self.entry().origin;
                let gesture = gesture.map(|press| (press, place));
                self.push(Entry { name, project: Arc::new(project), origin, gesture });
            }
            // How the project is looked at and exported is no edit: it changes without an entry. How it is exported is
            // saved all the same, so it is counted.
            None => {
                self.revision += u64::from(project.export != self.project().export);
                self.entries[self.at].project = Arc::new(project);
            }
        }
    }

    /// Takes over an edit that knows its own name: of two neighbours that change places, nothing but the deed says which
    /// one was moved.
    pub(crate) fn propose_as(&mut self, name: String, project: Project) {
        if project != **self.project() {
            let origin = self.entry().origin;
            self.push(Entry { name, project: Arc::new(project), origin, gesture: None });
        }
    }

    /// Puts another project in the place of this one, as an entry that can be undone.
    pub(crate) fn replace(&mut self, name: String, project: Project, path: Option<PathBuf>) {
        let project = Arc::new(project);
        self.enter(name, project.clone(), Origin { path, stored: Some(project), forgotten: None });
    }

    /// The same with a project that was never saved as it is.
    pub(crate) fn replace_unsaved(&mut self, name: String, project: Project, path: Option<PathBuf>) {
        self.enter(name, Arc::new(project), Origin { path, stored: None, forgotten: None });
    }

    fn enter(&mut self, name: String, project: Arc<Project>, from: Origin) {
        self.origins.push(from);
        self.push(Entry { name, project, origin: self.origins.len() - 1, gesture: None });
    }

    fn push(&mut self, entry: Entry) {
        self.entries.truncate(self.at + 1);
        self.entries.push(entry);
        if self.entries.len() > MOST_ENTRIES {
            let oldest = self.entries.remove(0);
            self.origins[oldest.origin].forgotten = Some(oldest.project);
        }
        self.at = self.entries.len() - 1;
        self.revision += 1;
    }

    /// The place that the open project came from, to be given back to [`Self::mark_saved`].
    pub(crate) fn origin_id(&self) -> usize {
        self.entry().origin
    }

    /// `stored`, as the project of that origin was when it was handed over, is now the contents of the file at `path`.
    pub(crate) fn mark_saved(&mut self, origin: usize, path: PathBuf, stored: Arc<Project>) {
        if let Some(known) = self.origins.get_mut(origin) {
            (known.path, known.stored) = (Some(path), Some(stored));
            self.revision += 1;
        }
    }

    /// What undo would take back.
    pub(crate) fn undo_name(&self) -> Option<&str> {
        (self.at > 0).then(|| self.entry().name.as_str())
    }

    /// What the last edit is called, and the project as it was before; `None` where nothing was edited, or another
    /// project was open.
    pub(crate) fn before(&self) -> Option<(&str, &Arc<Project>)> {
        let before = self.entries.get(self.at.checked_sub(1)?)?;
        (before.origin == self.entry().origin).then(|| (self.entry().name.as_str(), &before.project))
    }

    /// What redo would bring back.
    pub(crate) fn redo_name(&self) -> Option<&str> {
        self.entries.get(self.at + 1).map(|entry| entry.name.as_str())
    }

    pub(crate) fn undo(&mut self) {
        self.go_to(self.at.saturating_sub(1));
    }

    pub(crate) fn redo(&mut self) {
        self.go_to(self.at + 1);
    }

    /// The names of all entries, oldest first, and the place of the present one.
    pub(crate) fn history(&self) -> (impl ExactSizeIterator<Item = &str>, usize) {
        (self.entries.iter().map(|entry| entry.name.as_str()), self.at)
    }

    /// Goes to an entry of the history; how the project is looked at and exported stays as it is, but for the water and
    /// for another project.
    pub(crate) fn go_to(&mut self, at: usize) {
        if at < self.entries.len() && at != self.at {
            let Project { view, export, .. } = (**self.project()).clone();
            let origin = self.entry().origin;
            self.at = at;
            let entry = &mut self.entries[at];
            if entry.origin == origin {
                let water_m = entry.project.view.water_m;
                let project = Arc::make_mut(&mut entry.project);
                (project.view, project.export) = (ViewSettings { water_m, ..view }, export);
            }
            entry.gesture = None;
            self.revision += 1;
        }
    }
}

/// What a project is called.
pub(crate) fn title(project: &Project) -> &str {
    if project.name.is_empty() { "Untitled" } else { &project.name }
}

/// The last part of a path.
pub(crate) fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// The project's title as the name of a file, without an ending: letters and digits, and a dash for whatever is
/// between.
pub(crate) fn file_stem(project: &Project) -> String {
    let title = title(project).to_lowercase();
    let parts: Vec<&str> = title.split(|c: char| !c.is_alphanumeric()).filter(|part| !part.is_empty()).collect();
    if parts.is_empty() { "untitled".into() } else { parts.join("-") }
}

/// Whether saving would change the file, but for how the project is looked at; its water is more than that.
fn differs(project: &Project, stored: &Project) -> bool {
    project.recipe != stored.recipe
        || project.view.water_m != stored.view.water_m
        || project.name != stored.name
        || project.description != stored.description
        || project.export != stored.export
}

#[cfg(test)]
mod tests {
    use super::*;

    fn document() -> Document {
        let presets = crate::project::presets();
        Document::new(presets[0].project().expect("preset"))
    }

    fn edit(document: &mut Document, gesture: Option<u64>, change: impl FnOnce(&mut Project)) {
        let mut project = (**document.project()).clone();
        change(&mut project);
        document.propose(project, gesture);
    }

    #[test]
    fn undo_and_redo_bring_back_the_very_same_value() {
        let mut document = document();
        let first = document.project().clone();
        edit(&mut document, None, |project| project.recipe.seed += 1);
        let second = document.project().clone();
        document.undo();
        assert_eq!(*document.project(), first);
        assert_eq!(
            document.redo_name(),
            Some(format!("Seed {} to {}", first.recipe.seed, second.recipe.seed).as_str())
        );
        document.redo();
        assert_eq!((document.project(), document.redo_name()), (&second, None));
        document.redo();
        assert_eq!(*document.project(), second);
    }

    #[test]
    fn what_was_before_is_of_the_same_project() {
        let mut document = document();
        assert!(document.before().is_none(), "nothing was edited");
        let first = document.project().clone();
        edit(&mut document, None, |project| project.recipe.seed += 1);
        let name = document.undo_name().map(str::to_string);
        assert_eq!(document.before(), name.as_deref().map(|name| (name, &first)));
        document.replace("Another".into(), Project::default(), None);
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
        assert_eq!(document.undo_name(), Some("Sun altitude 52° to 53°"));
        document.undo();
        assert_eq!(document.undo_name(), Some(format!("Sun altitude {start}° to 52°").as_str()));
        document.undo();
        assert_eq!(document.undo_name(), None);
    }

    #[test]
    fn a_drag_that_comes_back_leaves_no_entry_and_goes_on_as_one() {
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
    fn work_behind_another_project_is_not_forgotten() {
        let mut document = document();
        edit(&mut document, None, |project| project.recipe.seed = 5);
        document.replace("New".into(), Project::default(), None);
        assert!(!document.is_dirty());
        let name = document.entries[0].project.name.clone();
        let unsaved = document.unsaved();
        assert_eq!((unsaved.len(), unsaved[0].origin, &unsaved[0].project.name), (1, 0, &name));
        assert_eq!(document.newest(0).map(|project| project.recipe.seed), Some(5));
        edit(&mut document, None, |project| project.recipe.seed = 6);
        assert_eq!(document.unsaved().len(), 2);
    }

    #[test]
    fn an_edit_after_undo_forgets_what_was_undone() {
        let mut document = document();
        edit(&mut document, None, |project| project.recipe.seed = 1);
        edit(&mut document, None, |project| project.recipe.seed = 2);
        document.undo();
        edit(&mut document, None, |project| project.recipe.seed = 3);
        assert_eq!((document.redo_name(), document.history().0.len()), (None, 3));
    }

    #[test]
    fn the_view_is_no_edit() {
        let mut document = document();
        edit(&mut document, None, |project| project.recipe.seed = 5);
        edit(&mut document, None, |project| project.view.preview_samples = 129);
        assert!(document.history().0.len() == 2);
        document.undo();
        assert_eq!(document.project().view.preview_samples, 129);
    }

    #[test]
    fn the_choice_of_an_export_is_saved_and_no_edit() {
        let mut document = document();
        edit(&mut document, None, |project| project.recipe.seed = 5);
        let (entries, revision) = (document.history().0.len(), document.revision());
        document.mark_saved(document.origin_id(), "a.upthrust.json".into(), document.project().clone());
        edit(&mut document, None, |project| project.export.samples = 4033);
        assert_eq!((document.history().0.len(), document.is_dirty()), (entries, true));
        assert!(document.revision() > revision, "it is to be kept");
        document.undo();
        assert_eq!(document.project().export.samples, 4033);
        document.redo();
        assert_eq!((document.project().export.samples, document.project().recipe.seed), (4033, 5));
    }

    #[test]
    fn the_water_is_an_edit() {
        let mut document = document();
        for level in [10.0, 12.0] {
            edit(&mut document, Some(1), |project| project.view.water_m = Some(level));
        }
        assert!(document.is_dirty() && document.history().0.len() == 2);
        assert!(document.undo_name().is_some_and(|name| name.starts_with("Water level")), "{:?}", document.undo_name());
        document.undo();
        assert!(!document.is_dirty() && document.project().view.water_m.is_none());
        document.redo();
        assert_eq!(document.project().view.water_m, Some(12.0));
    }

    #[test]
    fn opening_saving_and_what_would_be_lost() {
        let mut document = document();
        assert!(!document.is_dirty());
        edit(&mut document, None, |project| project.recipe.seed = 5);
        assert!(document.is_dirty());
        let stored = document.project().clone();
        document.mark_saved(document.origin_id(), "a.upthrust.json".into(), stored);
        assert!(!document.is_dirty() && document.path() == Some(Path::new("a.upthrust.json")));
        document.replace("Open b".into(), Project::default(), Some("b.upthrust.json".into()));
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
        document.replace("New".into(), Project::default(), None);
        assert_eq!(document.earlier_seed(), None, "another project has its own seeds");
    }

    #[test]
    fn ten_thousand_edits_are_undone_to_the_first_and_forgotten_ones_are_still_unsaved() {
        let mut document = document();
        let first = document.project().clone();
        for seed in 0..10_000 {
            edit(&mut document, None, |project| project.recipe.seed = 100_000 + seed);
        }
        while document.undo_name().is_some() {
            document.undo();
        }
        assert_eq!(*document.project(), first);
        edit(&mut document, None, |project| project.recipe.seed = 5);
        document.replace("New".into(), Project::default(), None);
        for seed in 0..MOST_ENTRIES as u32 {
            edit(&mut document, None, |project| project.recipe.seed = 100_000 + seed);
        }
        let unsaved = document.unsaved();
        assert_eq!(unsaved.iter().map(|unsaved| unsaved.project.recipe.seed).next(), Some(5));
        assert_eq!((unsaved.len(), document.history().0.len()), (2, MOST_ENTRIES));
    }

    #[test]
    fn what_was_recovered_is_unsaved_as_it_is() {
        let mut document = document();
        document.replace_unsaved("Recover".into(), Project::default(), Some("a.upthrust.json".into()));
        assert!(document.is_dirty());
        document.mark_saved(document.origin_id(), "a.upthrust.json".into(), document.project().clone());
        assert!(!document.is_dirty() && document.unsaved().is_empty());
    }

    #[cfg(target_os = "linux")]
    #[test]
    #[ignore = "prints what the history takes: cargo test --lib a_full_history -- --ignored --nocapture"]
    fn what_a_full_history_takes() {
        let resident = || {
            let status = std::fs::read_to_string("/proc/self/statm").expect("Linux says");
            status.split(' ').nth(1).and_then(|pages| pages.parse::<u64>().ok()).expect("pages") * 4096
        };
        for (preset, _) in crate::project::preset_projects() {
            let before = resident();
            let mut document = Document::new(preset.project().expect("a preset"));
            for seed in 1..MOST_ENTRIES as u32 {
                edit(&mut document, None, |project| project.recipe.seed = 100_000 + seed);
            }
            let taken = resident() - before;
            println!("{}: {:.1} kB an entry, {} MB", preset.name, taken as f64 / 2e7, taken / 1_000_000);
            std::mem::forget(document);
        }
    }
}
