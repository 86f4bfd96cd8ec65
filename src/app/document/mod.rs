//! The open document and its undo history.
//!
//! Panels edit a working copy of the project ([`Document::take_draft`]) and hand it back ([`Document::commit_draft`]),
//! which names what changed and makes it an entry of the history. Undo and redo move along a list of immutable values.
//! Opening another project is an entry too, so that undo brings the previous one back. View and export settings are
//! saved with a project but are not part of the history.

pub(crate) mod describe;
mod memory;
mod names;
#[cfg(test)]
mod tests;

use std::cell::Cell;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use crate::app::document::describe::{Change, describe};
use crate::app::document::memory::{EntryMemory, HistoryMemory};
pub(crate) use crate::app::document::names::{export_stem, file_name, file_stem, name_of, project_file_stem, title};
use crate::engine::recipe::Timeline;
use crate::files::io::disk_state::DiskState;
use crate::project::{Project, ProjectFile, ProjectSettings};

/// The most entries the history keeps; the oldest are dropped first.
const MAX_ENTRIES: usize = 1000;

/// The most memory the history keeps, in bytes, the imported files that only old entries hold included.
pub(crate) const MAX_BYTES: usize = 256 << 20;

/// Where a project came from, what is stored there, and the settings saved with it.
#[derive(Clone, Debug)]
struct OpenedProject {
    /// The project's file; `None` for new projects and presets.
    path: Option<PathBuf>,
    /// The contents of that file as last opened or saved; `None` if unknown, as for a recovered project.
    stored: Option<ProjectFile>,
    settings: ProjectSettings,
    /// The state of that file when it was last opened or saved; `None` if unknown.
    disk_state: Option<DiskState>,
    /// The newest of its entries that was dropped from the history; used once the history has none of its entries.
    dropped: Option<Arc<Project>>,
    /// When it was opened or edited last.
    changed: SystemTime,
}

impl OpenedProject {
    /// Whether saving would change the file. Changes of the view settings alone do not count.
    fn is_dirty(&self, project: &Arc<Project>) -> bool {
        self.stored.as_ref().is_none_or(|stored| {
            let is_same = Arc::ptr_eq(&stored.project, project) || stored.project == *project;
            !is_same || stored.settings.export != self.settings.export
        })
    }

    fn file(&self, project: &Arc<Project>) -> ProjectFile {
        ProjectFile::with_settings(project.clone(), self.settings.clone())
    }
}

/// A project that would be lost if the program ended now.
#[derive(Clone, Debug)]
pub(crate) struct Unsaved {
    /// Identifies the project in [`Document::mark_saved`].
    pub(crate) project_id: usize,
    pub(crate) file: ProjectFile,
    /// The path to save to, if it has one.
    pub(crate) path: Option<PathBuf>,
    /// When it was opened or edited last.
    pub(crate) changed: SystemTime,
    /// Whether a project that was opened later has the same file.
    pub(crate) is_earlier: bool,
}

/// Identifies an edit, which is an entry of the history. Later edits have larger ids.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct EditId(u64);

#[derive(Clone, Debug)]
struct Entry {
    id: EditId,
    /// The name of the edit that led here.
    name: String,
    project: Arc<Project>,
    project_id: usize,
    /// The gesture that made the entry and the parameter it changed: further changes by that gesture update the entry.
    gesture: Option<(u64, String)>,
    memory: EntryMemory,
    timeline: Timeline,
}

impl Entry {
    fn new(name: String, project: Arc<Project>, project_id: usize, gesture: Option<(u64, String)>) -> Self {
        let (memory, timeline) = (EntryMemory::new(&project), project.recipe.timeline());
        Self { id: EditId::default(), name, project, project_id, gesture, memory, timeline }
    }
}

/// The working copy that panels edit during a frame.
#[derive(Debug)]
pub(crate) struct Draft {
    pub(crate) project: Project,
    pub(crate) settings: ProjectSettings,
}

/// The open document and its undo history.
#[derive(Debug)]
pub(crate) struct Document {
    entries: Vec<Entry>,
    /// The memory of the entries.
    memory: HistoryMemory,
    current: usize,
    /// The id of the newest edit.
    newest_edit: EditId,
    opened_projects: Vec<OpenedProject>,
    revision: u64,
    /// The ids of the closed projects that the user was told of.
    known_closed: BTreeSet<usize>,
    /// Whether the open project differs from what is stored, and the revision for which that was found out.
    dirty: Cell<Option<(u64, bool)>>,
}

impl Document {
    /// A document with one entry: `file`, which has no path.
    pub(crate) fn new(file: ProjectFile) -> Self {
        let entry = Entry::new("Start".into(), file.project.clone(), 0, None);
        let settings = file.settings.clone();
        let changed = SystemTime::now();
        let opened =
            OpenedProject { path: None, stored: Some(file), settings, disk_state: None, dropped: None, changed };
        Self {
            memory: HistoryMemory::of(&entry.memory),
            entries: vec![entry],
            current: 0,
            newest_edit: EditId::default(),
            opened_projects: vec![opened],
            revision: 0,
            known_closed: BTreeSet::new(),
            dirty: Cell::new(None),
        }
    }

    fn entry(&self) -> &Entry {
        &self.entries[self.current]
    }

    fn opened(&self) -> &OpenedProject {
        &self.opened_projects[self.entry().project_id]
    }

    /// The project as it is now.
    pub(crate) fn project(&self) -> &Arc<Project> {
        &self.entry().project
    }

    /// The iterations of the project's steps.
    pub(crate) fn timeline(&self) -> &Timeline {
        &self.entry().timeline
    }

    /// How the project is viewed and exported.
    pub(crate) fn settings(&self) -> &ProjectSettings {
        &self.opened().settings
    }

    /// Changes how the project is viewed and exported, which is not an edit.
    pub(crate) fn set_settings(&mut self, settings: ProjectSettings) {
        let project_id = self.entry().project_id;
        let known = &mut self.opened_projects[project_id].settings;
        self.revision += u64::from(known.export != settings.export);
        *known = settings;
    }

    /// The project and its settings, as saving writes them.
    pub(crate) fn file(&self) -> ProjectFile {
        self.opened().file(self.project())
    }

    /// The path that "Save" writes to.
    pub(crate) fn path(&self) -> Option<&Path> {
        self.opened().path.as_deref()
    }

    /// The file of the project with that id.
    pub(crate) fn path_of(&self, project_id: usize) -> Option<&Path> {
        self.opened_projects.get(project_id)?.path.as_deref()
    }

    /// The file's name, or the project's title, marked while there are unsaved changes.
    pub(crate) fn heading(&self) -> String {
        let name = name_of(self.project(), self.path());
        format!("{name}{}", if self.is_dirty() { " •" } else { "" })
    }

    /// A counter that changes whenever the set of unsaved changes may have changed.
    pub(crate) fn revision(&self) -> u64 {
        self.revision
    }

    /// Whether the open project differs from what is stored.
    pub(crate) fn is_dirty(&self) -> bool {
        if let Some((revision, is_dirty)) = self.dirty.get()
            && revision == self.revision
        {
            return is_dirty;
        }
        let is_dirty = self.opened().is_dirty(self.project());
        self.dirty.set(Some((self.revision, is_dirty)));
        is_dirty
    }

    /// All projects opened since the start that would be lost if the program ended now.
    pub(crate) fn unsaved(&self) -> Vec<Unsaved> {
        let mut newest: Vec<Option<&Arc<Project>>> =
            self.opened_projects.iter().map(|opened| opened.dropped.as_ref()).collect();
        for entry in &self.entries {
            newest[entry.project_id] = Some(&entry.project);
        }
        newest[self.entry().project_id] = Some(self.project());
        let found = newest.into_iter().zip(&self.opened_projects).enumerate();
        found
            .filter_map(|(id, (project, opened))| {
                let project = project.filter(|project| opened.is_dirty(project))?;
                let (file, path, changed) = (opened.file(project), opened.path.clone(), opened.changed);
                let mut later = self.opened_projects[id + 1..].iter();
                let is_earlier = path.is_some() && later.any(|later| later.path == path);
                Some(Unsaved { project_id: id, file, path, changed, is_earlier })
            })
            .collect()
    }

    /// The projects with unsaved changes that undo and redo no longer reach, by their ids: opened, undone,
    /// and then replaced by an edit of another project, or dropped from a full history.
    pub(crate) fn closed(&self) -> impl DoubleEndedIterator<Item = (usize, &Arc<Project>)> {
        let open = self.open_ids();
        let closed = self.opened_projects.iter().enumerate().filter(move |(id, _)| !open.contains(id));
        closed
            .filter_map(|(id, opened)| Some((id, opened.dropped.as_ref().filter(|project| opened.is_dirty(project))?)))
    }

    /// The ids of the projects that the history has entries of.
    fn open_ids(&self) -> BTreeSet<usize> {
        self.entries.iter().map(|entry| entry.project_id).collect()
    }

    /// The name of the newest of the [`closed`](Self::closed) projects that an edit has closed since this was last
    /// called: that of its file, or else its title.
    pub(crate) fn take_newly_closed(&mut self) -> Option<String> {
        let closed: BTreeSet<usize> = self.closed().map(|(id, _)| id).collect();
        let new = self.closed().rfind(|(id, _)| !self.known_closed.contains(id));
        let new = new.map(|(id, project)| name_of(project, self.opened_projects[id].path.as_deref()));
        self.known_closed = closed;
        new
    }

    /// Opens one of the [`closed`](Self::closed) projects, as an entry that can be undone.
    pub(crate) fn reopen(&mut self, project_id: usize) {
        let closed = self.closed().find(|(id, _)| *id == project_id);
        if let Some(project) = closed.map(|(_, project)| project.clone()) {
            self.push(Entry::new(format!("Reopen {}", title(&project)), project, project_id, None));
        }
    }

    /// The newest state of a project: the current one, if it is the open project.
    pub(crate) fn newest(&self, project_id: usize) -> Option<ProjectFile> {
        let from = self.opened_projects.get(project_id)?;
        if self.entry().project_id == project_id {
            return Some(from.file(self.project()));
        }
        let entry = self.entries.iter().rev().find(|entry| entry.project_id == project_id);
        entry.map(|entry| &entry.project).or(from.dropped.as_ref()).map(|project| from.file(project))
    }

    /// The seed that the open project had before the current one. Seeds are visited in the order of their first
    /// appearance, so repeated calls go further back.
    pub(crate) fn earlier_seed(&self) -> Option<u32> {
        let (project_id, seed) = (self.entry().project_id, self.project().recipe.seed);
        let mut seeds = self.entries[..=self.current].iter().filter(|entry| entry.project_id == project_id);
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

    /// A working copy for this frame's panels to edit, to be handed back to [`Self::commit_draft`].
    pub(crate) fn draft(&self) -> Draft {
        Draft { project: (**self.project()).clone(), settings: self.settings().clone() }
    }

    /// Takes back an edited working copy; for `gesture` see [`Self::commit`].
    pub(crate) fn commit_draft(&mut self, draft: Draft, gesture: Option<u64>) {
        if draft.settings != *self.settings() {
            self.set_settings(draft.settings);
        }
        self.commit(draft.project, gesture);
    }

    /// Commits an edited copy of the project. `gesture` identifies the pointer press in progress, if any: all changes
    /// that one press makes to one parameter are one entry.
    pub(crate) fn commit(&mut self, project: Project, gesture: Option<u64>) {
        if project == **self.project() {
            return;
        }
        if let Some(gesture) = gesture
            && self.continue_gesture(gesture, &project)
        {
            return;
        }
        let change = describe(self.project(), &project);
        let Change { place, name } =
            change.unwrap_or_else(|| Change { place: String::new(), name: "Imported files".into() });
        let project_id = self.entry().project_id;
        self.push(Entry::new(name, Arc::new(project), project_id, gesture.map(|press| (press, place))));
    }

    /// Updates the current entry if `gesture` made it and still changes the same parameter. Returns whether it did.
    fn continue_gesture(&mut self, gesture: u64, project: &Project) -> bool {
        let Some((press, known)) = &self.entry().gesture else { return false };
        if *press != gesture || self.current == 0 {
            return false;
        }
        let before = &self.entries[self.current - 1];
        match describe(&before.project, project) {
            Some(Change { place, name }) if place == *known => {
                let entry = &mut self.entries[self.current];
                let (id, project_id, gesture) = (entry.id, entry.project_id, entry.gesture.take());
                self.memory.remove(&entry.memory);
                *entry = Entry { id, ..Entry::new(name, Arc::new(project.clone()), project_id, gesture) };
                self.memory.add(&entry.memory);
            }
            // The gesture is back at its start: remove the entry.
            None if before.project_id == self.entry().project_id => {
                for entry in self.entries.split_off(self.current) {
                    self.memory.remove(&entry.memory);
                }
                self.current -= 1;
            }
            Some(_) | None => return false,
        }
        self.revision += 1;
        true
    }

    /// Commits an edit under a given name, for edits whose name does not follow from the difference, such as which of
    /// two neighbours was moved.
    pub(crate) fn commit_as(&mut self, name: String, project: Project) {
        if project != **self.project() {
            let project_id = self.entry().project_id;
            self.push(Entry::new(name, Arc::new(project), project_id, None));
        }
    }

    /// Replaces the project by another one, as an entry that can be undone.
    pub(crate) fn replace(&mut self, name: String, file: ProjectFile, path: Option<PathBuf>) {
        self.open(name, file.clone(), path, Some(file));
    }

    /// Like [`Self::replace`], with a project that differs from what is stored at `path`. The project that the editor
    /// started with leaves the history if nothing was done to it: undo would only go from the user's work to it.
    pub(crate) fn replace_unsaved(&mut self, name: String, file: ProjectFile, path: Option<PathBuf>) {
        let is_untouched = self.entries.len() == 1 && !self.is_dirty() && self.path().is_none();
        self.open(name, file, path, None);
        if is_untouched {
            let start = self.entries.remove(0);
            self.memory.remove(&start.memory);
            self.current -= 1;
            self.release_closed();
        }
    }

    fn open(&mut self, name: String, file: ProjectFile, path: Option<PathBuf>, stored: Option<ProjectFile>) {
        let ProjectFile { project, settings, .. } = file;
        let changed = SystemTime::now();
        self.opened_projects.push(OpenedProject { path, stored, settings, disk_state: None, dropped: None, changed });
        self.push(Entry::new(name, project, self.opened_projects.len() - 1, None));
    }

    fn push(&mut self, entry: Entry) {
        for undone in self.entries.split_off(self.current + 1) {
            self.memory.remove(&undone.memory);
            self.opened_projects[undone.project_id].dropped = Some(undone.project);
        }
        self.newest_edit.0 += 1;
        self.opened_projects[entry.project_id].changed = SystemTime::now();
        self.memory.add(&entry.memory);
        self.entries.push(Entry { id: self.newest_edit, ..entry });
        while self.entries.len() > MAX_ENTRIES || (self.entries.len() > 2 && self.memory.bytes() > MAX_BYTES) {
            let oldest = self.entries.remove(0);
            self.memory.remove(&oldest.memory);
            self.opened_projects[oldest.project_id].dropped = Some(oldest.project);
        }
        self.current = self.entries.len() - 1;
        self.revision += 1;
        self.release_closed();
    }

    /// Releases the memory of the projects that the history no longer has and that are saved.
    fn release_closed(&mut self) {
        let open = self.open_ids();
        let closed = self.opened_projects.iter_mut().enumerate().filter(|(id, _)| !open.contains(id));
        for (_, opened) in closed {
            if opened.dropped.as_ref().is_none_or(|project| !opened.is_dirty(project)) {
                (opened.stored, opened.dropped) = (None, None);
            }
        }
    }

    /// Identifies the open project in [`Self::mark_saved`].
    pub(crate) fn project_id(&self) -> usize {
        self.entry().project_id
    }

    /// Records that `stored` is now the contents of the file at `path`.
    pub(crate) fn mark_saved(&mut self, project_id: usize, path: PathBuf, stored: ProjectFile) {
        if let Some(known) = self.opened_projects.get_mut(project_id) {
            (known.path, known.stored) = (Some(path), Some(stored));
            self.revision += 1;
        }
    }

    /// The state of a project's file when it was last opened or saved; `None` if unknown.
    pub(crate) fn disk_state(&self, project_id: usize) -> Option<DiskState> {
        self.opened_projects.get(project_id)?.disk_state
    }

    /// Records that a project differs from its file: the user keeps it although the file has changed.
    pub(crate) fn mark_unsaved(&mut self, project_id: usize) {
        if let Some(opened) = self.opened_projects.get_mut(project_id) {
            opened.stored = None;
            self.revision += 1;
        }
    }

    /// Records the state of a project's file.
    pub(crate) fn set_disk_state(&mut self, project_id: usize, state: DiskState) {
        if let Some(opened) = self.opened_projects.get_mut(project_id) {
            opened.disk_state = Some(state);
        }
    }

    /// The edit that led to the project as it is now.
    pub(crate) fn current_edit(&self) -> EditId {
        self.entry().id
    }

    /// Whether the project is as it was before that edit.
    pub(crate) fn is_undone(&self, edit: EditId) -> bool {
        let done = &self.entries[..=self.current];
        // The history drops its oldest edits, which are not undone.
        let was_dropped = done.first().is_some_and(|oldest| edit < oldest.id);
        !was_dropped && done.iter().all(|entry| entry.id != edit)
    }

    /// The name of the edit that undo reverts.
    pub(crate) fn undo_name(&self) -> Option<&str> {
        (self.current > 0).then(|| self.entry().name.as_str())
    }

    /// The name of the last edit and the project before it; `None` if nothing was edited or another project was open.
    pub(crate) fn before(&self) -> Option<(&str, &Arc<Project>)> {
        let before = self.entries.get(self.current.checked_sub(1)?)?;
        (before.project_id == self.entry().project_id).then(|| (self.entry().name.as_str(), &before.project))
    }

    /// The name of the edit that redo restores.
    pub(crate) fn redo_name(&self) -> Option<&str> {
        self.entries.get(self.current + 1).map(|entry| entry.name.as_str())
    }

    pub(crate) fn undo(&mut self) {
        self.go_to(self.current.saturating_sub(1));
    }

    pub(crate) fn redo(&mut self) {
        self.go_to(self.current + 1);
    }

    /// The names of all entries, oldest first, and the index of the current one.
    pub(crate) fn history(&self) -> (impl ExactSizeIterator<Item = &str>, usize) {
        (self.entries.iter().map(|entry| entry.name.as_str()), self.current)
    }

    /// Makes an entry of the history the current one.
    pub(crate) fn go_to(&mut self, index: usize) {
        if index < self.entries.len() && index != self.current {
            self.current = index;
            self.entries[index].gesture = None;
            self.revision += 1;
        }
    }
}
