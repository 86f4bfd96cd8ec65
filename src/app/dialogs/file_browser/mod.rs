//! The built-in file dialog, for desktops that have none and for users who prefer it.
//!
//! Folders are read and pictures are drawn by other threads, so that a slow disk never blocks a frame.

mod folder;
mod pictures;
mod rows;

use std::path::{Path, PathBuf, is_separator};

use egui::{Context, Key, Modifiers, ScrollArea, Sides, TextEdit, Ui, Vec2};
use egui_material_icons::icons::{ICON_ARROW_UPWARD, ICON_CREATE_NEW_FOLDER, ICON_HOME};

use self::folder::{Folder, FolderEntry, FolderJob, FolderReader, FolderResult};
use self::pictures::{KEY_PREFIX, picture_key, read_picture};
use self::rows::{ROW_HEIGHT, place_ui, row_ui, selected_picture_ui};
use crate::app::dialogs::file_dialogs::{DialogOutcome, DialogPurpose, DialogRequest, Filter};
use crate::app::preview::thumbnails::Thumbnails;
use crate::app::widgets::theme::colours;
use crate::app::widgets::{
    ListUi, end_of, focus_and_select, heading, icon_button_enabled, list_value, main_button, modal,
};
use crate::engine::cast::ToFloat;
use crate::worker::{Runner, Wake};

/// The size of the window's contents and the width of the places beside the list, points.
const SIZE: Vec2 = Vec2::new(780.0, 640.0);
const PLACES_WIDTH: f32 = 168.0;

/// The height of everything but the list and the places, points.
const FIXED_HEIGHT: f32 = 200.0;

/// The most characters of the folder's path.
const MAX_FOLDER_CHARS: usize = 76;

/// The built-in file dialog.
pub(crate) struct FileBrowser {
    request: DialogRequest,
    reader: Runner<FolderReader>,
    /// The open folder, once it was read.
    folder: Option<Folder>,
    /// The indices of its entries that are listed.
    listed: Vec<usize>,
    filters: Vec<Filter>,
    /// The index of the filter in use.
    filter: usize,
    /// The folders that were used last.
    recent: Vec<PathBuf>,
    /// The text of the name field: a name or a path.
    name: String,
    /// That text when the thread got its last job: what is typed while a folder is read is kept.
    submitted_name: String,
    /// What was typed to narrow down the list.
    narrowing: String,
    /// The index of the selected entry.
    selected: Option<usize>,
    /// The name of a folder that is about to be created.
    new_folder: Option<String>,
    error: Option<String>,
    /// Whether the name is still to be selected, so that typing replaces it.
    selects_name: bool,
    /// Whether to scroll to the selected entry.
    scrolls: bool,
}

impl FileBrowser {
    /// Begins in the folder of the request, or in the user's home folder.
    pub(crate) fn new(request: DialogRequest, recent: Vec<PathBuf>, wake: Wake) -> std::io::Result<Self> {
        let home = || std::env::home_dir().unwrap_or_else(|| PathBuf::from("."));
        let mut browser = Self::unread(request, recent, wake)?;
        browser.open(browser.request.folder.clone().unwrap_or_else(home));
        Ok(browser)
    }

    fn unread(request: DialogRequest, recent: Vec<PathBuf>, wake: Wake) -> std::io::Result<Self> {
        Ok(Self {
            reader: folder::start(wake)?,
            folder: None,
            listed: Vec::new(),
            filters: request.filters(),
            filter: 0,
            recent,
            name: request.file_name.clone(),
            submitted_name: request.file_name.clone(),
            narrowing: String::new(),
            selected: None,
            new_folder: None,
            error: None,
            selects_name: true,
            scrolls: true,
            request,
        })
    }

    /// What the chosen file is for.
    pub(crate) fn request(&self) -> &DialogRequest {
        &self.request
    }

    /// Draws the window; returns how it ended, once it has.
    pub(crate) fn ui(&mut self, ctx: &Context, thumbnails: &mut Thumbnails) -> Option<DialogOutcome> {
        let chosen = self.poll(thumbnails);
        let modal = modal("file browser", ctx).stay_on_outside_click().show(ctx, |ui| self.content_ui(ui, thumbnails));
        let closes = modal.should_close().then_some(DialogOutcome::Cancelled);
        let outcome = chosen.or(modal.inner).or(closes);
        if outcome.is_some() {
            Self::discard_pictures(thumbnails);
        }
        outcome
    }

    /// Discards the pictures of files, when the window closes or shows another folder.
    pub(crate) fn discard_pictures(thumbnails: &mut Thumbnails) {
        thumbnails.remove(KEY_PREFIX);
    }

    /// Takes the result of the thread; returns the chosen file.
    fn poll(&mut self, thumbnails: &mut Thumbnails) -> Option<DialogOutcome> {
        let (_, result) = self.reader.take()?;
        match result.unwrap_or_else(|error| FolderResult::Failed(error.to_string())) {
            FolderResult::Opened(folder) => {
                Self::discard_pictures(thumbnails);
                self.opened(folder);
            }
            FolderResult::Chosen(path) => return Some(DialogOutcome::Chosen { path, may_replace: false }),
            FolderResult::Failed(error) => self.error = Some(error),
        }
        None
    }

    fn submit(&mut self, job: FolderJob) {
        self.submitted_name.clone_from(&self.name);
        self.reader.submit(job);
    }

    fn opened(&mut self, folder: Folder) {
        let is_first = self.folder.is_none();
        (self.folder, self.new_folder, self.error) = (Some(folder), None, None);
        if self.name == self.submitted_name {
            if !is_first && !self.request.writes() {
                self.name.clear();
            } else if self.is_path() {
                self.name.clone_from(&self.request.file_name);
            }
            self.narrowing.clear();
            self.list();
        } else {
            self.narrow();
        }
        self.select_typed();
        self.scrolls = true;
    }

    fn entry(&self, index: usize) -> Option<&FolderEntry> {
        self.folder.as_ref()?.entries.get(index)
    }

    /// Finds the entries to list: folders, and the files that the filter and the narrowing admit.
    fn list(&mut self) {
        let extensions = self.filters.get(self.filter).map(|(_, extensions)| extensions.as_slice());
        let narrowing = self.narrowing.to_lowercase();
        let is_listed = |entry: &FolderEntry| {
            (entry.is_folder || extensions.is_some_and(|extensions| has_extension(&entry.path, extensions)))
                && (narrowing.is_empty() || entry.name.to_lowercase().contains(&narrowing))
        };
        let entries = self.folder.iter().flat_map(|folder| folder.entries.iter().enumerate());
        self.listed = entries.filter(|(_, entry)| is_listed(entry)).map(|(i, _)| i).collect();
        self.selected = self.selected.filter(|selected| self.listed.contains(selected));
    }

    /// Narrows the list down to what was typed, unless it is a path or the name of a file to be written.
    fn narrow(&mut self) {
        let narrows = !self.request.writes() && !self.is_path();
        self.narrowing = if narrows { self.name.trim().into() } else { String::new() };
        self.list();
    }

    /// Selects the entry whose name was typed. For a file to be read, the beginning or a part of it is enough.
    fn select_typed(&mut self) {
        let typed = self.name.trim().to_lowercase();
        let name = |i: &usize| self.entry(*i).map(|entry| entry.name.to_lowercase()).unwrap_or_default();
        let found = |fits: &dyn Fn(&str) -> bool| self.listed.iter().copied().find(|i| fits(&name(i)));
        let exact = found(&|name| name == typed);
        let completes = !self.request.writes() && !typed.is_empty() && !self.is_path();
        self.selected = if completes {
            exact.or_else(|| found(&|name| name.starts_with(&typed))).or_else(|| found(&|name| name.contains(&typed)))
        } else {
            exact
        };
    }

    /// Whether the text of the name field is a path, and not only a name.
    fn is_path(&self) -> bool {
        let text = self.name.trim();
        text.contains(is_separator) || text.starts_with('~')
    }

    /// The typed path; relative paths are in the open folder, `~` is the home folder.
    fn typed_path(&self) -> PathBuf {
        let text = self.name.trim();
        let home = || std::env::home_dir().filter(|_| text == "~" || text.starts_with("~/"));
        match (home(), &self.folder) {
            (Some(home), _) => home.join(text.trim_start_matches('~').trim_start_matches('/')),
            (None, Some(folder)) => folder.path.join(text),
            (None, None) => PathBuf::from(text),
        }
    }

    /// Whether the typed path, or nothing, names a folder: relative paths need the open one, which may not be read yet.
    fn has_typed_folder(&self) -> bool {
        self.folder.is_some() || self.typed_path().is_absolute()
    }

    fn chooses_folder(&self) -> bool {
        self.request.purpose == DialogPurpose::ExportFolder
    }

    /// Selects an entry, as a click does.
    fn select(&mut self, index: usize) {
        let Some(entry) = self.entry(index) else { return };
        if !entry.is_folder || !self.request.writes() {
            self.name = entry.name.clone();
        }
        (self.selected, self.error) = (Some(index), None);
    }

    /// Moves the selection by so many rows of the list.
    fn move_selection(&mut self, rows: isize) {
        let at = self.selected.and_then(|selected| self.listed.iter().position(|i| *i == selected));
        let last = self.listed.len().saturating_sub(1);
        let to = at.map_or(0, |at| at.saturating_add_signed(rows).min(last));
        if let Some(index) = self.listed.get(to) {
            self.select(*index);
            self.scrolls = true;
        }
    }

    fn open(&mut self, folder: PathBuf) {
        self.submit(FolderJob::Open(folder));
    }

    fn open_parent(&mut self) {
        if let Some(parent) = self.folder.as_ref().and_then(|folder| folder.path.parent()) {
            self.open(parent.to_path_buf());
        }
    }

    /// Opens the selected folder, or chooses what is selected or typed; a file is looked for first.
    fn accept(&mut self) -> Option<DialogOutcome> {
        let chosen = |path| Some(DialogOutcome::Chosen { path, may_replace: false });
        let selected = self.selected.and_then(|selected| self.entry(selected)).filter(|_| !self.is_path()).cloned();
        match selected {
            Some(entry) if self.chooses_folder() => return chosen(entry.path),
            Some(entry) if entry.is_folder => self.open(entry.path),
            Some(entry) if !self.request.writes() => {
                self.submit(FolderJob::Choose { path: entry.path, writes: false });
            }
            // A folder that does not exist is created when something is written into it.
            _ if self.chooses_folder() => return chosen(self.typed_path()).filter(|_| self.has_typed_folder()),
            _ if self.name.trim().is_empty() => {}
            _ => {
                let (path, writes) = (self.typed_path(), self.request.writes());
                self.submit(FolderJob::Choose { path, writes });
            }
        }
        None
    }

    fn content_ui(&mut self, ui: &mut Ui, thumbnails: &mut Thumbnails) -> Option<DialogOutcome> {
        let window = ui.ctx().content_rect();
        ui.set_width(SIZE.x.min(window.width() - 48.0));
        ui.heading(self.request.title());
        ui.add_space(4.0);
        self.keys(ui);
        self.tools_ui(ui);
        self.new_folder_ui(ui);
        ui.add_space(4.0);
        let height = (SIZE.y.min(window.height() - 40.0) - FIXED_HEIGHT).max(2.0 * ROW_HEIGHT);
        let size = Vec2::new(ui.available_width(), height);
        let opens = ui
            .allocate_ui_with_layout(size, egui::Layout::left_to_right(egui::Align::Min), |ui| {
                // Nothing moves when the folder has been read.
                ui.set_min_size(size);
                ui.allocate_ui(Vec2::new(PLACES_WIDTH, height), |ui| self.places_ui(ui, height, thumbnails));
                ui.separator();
                ui.vertical(|ui| self.list_ui(ui, height, thumbnails)).inner
            })
            .inner;
        ui.add_space(4.0);
        let entered = self.name_ui(ui);
        let text = self.error.clone().unwrap_or_default();
        ui.add(egui::Label::new(egui::RichText::new(text).color(colours(ui).error)).truncate());
        let is_typed = if self.chooses_folder() { self.has_typed_folder() } else { !self.name.trim().is_empty() };
        let is_usable = self.selected.is_some() || is_typed;
        let button = match (self.chooses_folder(), self.request.writes()) {
            (true, _) => "Choose folder",
            (false, true) => "Save",
            (false, false) => "Open",
        };
        let (_, [accepts, cancels]) = Sides::new().show(
            ui,
            |_| {},
            |ui| [main_button(ui, button, is_usable).clicked(), ui.button("Cancel").clicked()],
        );
        if cancels {
            return Some(DialogOutcome::Cancelled);
        }
        match opens {
            Some(folder) => {
                self.open(folder);
                None
            }
            None => (accepts || entered).then(|| self.accept()).flatten(),
        }
    }

    /// Moves the selection with the arrow keys, and goes to the parent folder with Alt and the arrow up.
    fn keys(&mut self, ui: &Ui) {
        let pressed = |modifiers, key| ui.input_mut(|input| input.consume_key(modifiers, key));
        if pressed(Modifiers::ALT, Key::ArrowUp) {
            self.open_parent();
        }
        for (key, rows) in [(Key::ArrowDown, 1), (Key::ArrowUp, -1), (Key::PageDown, 8), (Key::PageUp, -8)] {
            if pressed(Modifiers::NONE, key) {
                self.move_selection(rows);
            }
        }
    }

    /// The buttons above the list, and the path of the folder.
    fn tools_ui(&mut self, ui: &mut Ui) {
        ui.horizontal(|ui| {
            let path = self.folder.as_ref().map(|folder| folder.path.clone()).unwrap_or_default();
            if icon_button_enabled(ui, ICON_ARROW_UPWARD, "Parent folder", path.parent().is_some()).clicked() {
                self.open_parent();
            }
            let home = self.folder.as_ref().and_then(|folder| folder.home.clone());
            if icon_button_enabled(ui, ICON_HOME, "Home folder", home.is_some()).clicked() {
                home.into_iter().for_each(|home| self.open(home));
            }
            if (self.request.writes() || self.chooses_folder())
                && icon_button_enabled(ui, ICON_CREATE_NEW_FOLDER, "New folder", self.folder.is_some()).clicked()
            {
                self.new_folder = Some(String::new());
            }
            let path = path.display().to_string();
            ui.label(end_of(&path, MAX_FOLDER_CHARS)).on_hover_text(path);
        });
    }

    /// The name of a new folder, after its button was clicked.
    fn new_folder_ui(&mut self, ui: &mut Ui) {
        let (Some(name), Some(folder)) = (&mut self.new_folder, &self.folder) else { return };
        let [mut creates, mut closes] = [false; 2];
        ui.horizontal(|ui| {
            let label = ui.label("New folder");
            let field = ui.add(TextEdit::singleline(name).hint_text("Name")).labelled_by(label.id);
            let entered = field.lost_focus() && ui.input(|input| input.key_pressed(Key::Enter));
            if ui.memory(|memory| memory.focused()).is_none() {
                field.request_focus();
            }
            let is_usable = !name.trim().is_empty() && !name.contains(is_separator);
            creates = is_usable && (ui.add_enabled(is_usable, egui::Button::new("Create")).clicked() | entered);
            closes = ui.button("Cancel new folder").clicked();
        });
        if creates {
            let path = folder.path.join(name.trim());
            self.submit(FolderJob::Create(path));
        }
        if closes {
            self.new_folder = None;
        }
    }

    /// The usual and the recent folders, and below them the picture of the selected file.
    fn places_ui(&mut self, ui: &mut Ui, height: f32, thumbnails: &Thumbnails) {
        let opened = ui.vertical(|ui| {
            let key = self.selected.and_then(|selected| picture_key(self.entry(selected)?));
            let picture = key.and_then(|key| thumbnails.get(&key));
            let picture_height = if picture.is_some() { (0.75 * PLACES_WIDTH).min(0.5 * height) } else { 0.0 };
            let places = ScrollArea::vertical().id_salt("places").auto_shrink(false);
            let folder = self.folder.as_ref();
            let opened = places.max_height(height - picture_height - 8.0).show(ui, |ui| {
                let current = folder.map(|folder| folder.path.as_path());
                let home = folder.and_then(|folder| folder.home.as_deref());
                let mut opened = None;
                for path in folder.iter().flat_map(|folder| &folder.usual) {
                    opened = opened.or(place_ui(ui, path, current, home));
                }
                ui.add_space(4.0);
                heading(ui, "Recent");
                for path in &self.recent {
                    opened = opened.or(place_ui(ui, path, current, home));
                }
                opened
            });
            if picture.is_some() {
                selected_picture_ui(ui, Vec2::new(PLACES_WIDTH, picture_height), picture);
            }
            opened.inner
        });
        opened.inner.into_iter().for_each(|folder| self.open(folder));
    }

    /// The folders and files; returns the folder that was opened by a double click.
    fn list_ui(&mut self, ui: &mut Ui, height: f32, thumbnails: &mut Thumbnails) -> Option<PathBuf> {
        let Some(folder) = &self.folder else {
            ui.spinner();
            return None;
        };
        if self.listed.is_empty() {
            ui.weak(if self.filters.is_empty() { "No folders here" } else { "No files of this kind here" });
            return None;
        }
        ui.spacing_mut().item_spacing.y = 0.0;
        let at = self.selected.and_then(|selected| self.listed.iter().position(|i| *i == selected));
        let scrolls_to = at.filter(|_| std::mem::take(&mut self.scrolls));
        let list = ScrollArea::vertical().id_salt("files").auto_shrink(false).max_height(height);
        let mut acted = None;
        list.show_rows(ui, ROW_HEIGHT, self.listed.len(), |ui, rows| {
            let top = ui.cursor().top() - rows.start.to_f32() * ROW_HEIGHT;
            for i in &self.listed[rows] {
                let entry = &folder.entries[*i];
                let key = picture_key(entry);
                if let Some(key) = &key {
                    let path = entry.path.clone();
                    thumbnails.request_file(key, move || read_picture(&path));
                }
                let picture = key.and_then(|key| thumbnails.get(&key));
                let row = row_ui(ui, entry, self.selected == Some(*i), picture);
                if row.clicked() {
                    acted = Some((*i, row.double_clicked()));
                }
            }
            if let Some(at) = scrolls_to {
                let corner = egui::pos2(ui.min_rect().left(), top + at.to_f32() * ROW_HEIGHT);
                ui.scroll_to_rect(egui::Rect::from_min_size(corner, Vec2::new(1.0, ROW_HEIGHT)), None);
            }
        });
        let (i, is_double) = acted?;
        self.select(i);
        let entry = self.entry(i)?.clone();
        match (is_double, entry.is_folder) {
            (true, true) => Some(entry.path),
            (true, false) => {
                let writes = self.request.writes();
                self.submit(FolderJob::Choose { path: entry.path, writes });
                None
            }
            (false, _) => None,
        }
    }

    /// The field for the name and the choice of the kind of files; returns whether Enter was pressed in the field.
    fn name_ui(&mut self, ui: &mut Ui) -> bool {
        let mut entered = false;
        ui.horizontal(|ui| {
            let label = ui.label(if self.chooses_folder() { "Folder name" } else { "File name" });
            let width = ui.available_width() - if self.filters.is_empty() { 0.0 } else { 190.0 };
            let range = self.name_range();
            let field = TextEdit::singleline(&mut self.name).desired_width(width).hint_text("Name or path");
            let field = field.show(ui);
            field.response.response.clone().labelled_by(label.id);
            entered = field.response.lost_focus() && ui.input(|input| input.key_pressed(Key::Enter));
            if self.new_folder.is_none() && ui.memory(|memory| memory.focused()).is_none() {
                field.response.request_focus();
            }
            let is_changed = field.response.changed();
            if std::mem::take(&mut self.selects_name) {
                focus_and_select(ui, field, range);
            }
            if is_changed {
                self.error = None;
                self.narrow();
                self.select_typed();
                self.scrolls = true;
            }
            let before = self.filter;
            if let Some((name, _)) = self.filters.get(before) {
                let list = egui::ComboBox::from_id_salt("kind of files").width(170.0).selected_text(*name);
                list.list_ui(ui, |ui| {
                    for (i, (name, _)) in self.filters.iter().enumerate() {
                        list_value(ui, &mut self.filter, i, *name);
                    }
                });
            }
            if self.filter != before {
                self.list();
            }
        });
        entered
    }

    /// The characters of the name that are selected at first: all of them, or up to the ending of a file to be written.
    fn name_range(&self) -> [usize; 2] {
        let ending = self.name.find('.').filter(|_| self.request.writes());
        [0, self.name[..ending.unwrap_or(self.name.len())].chars().count()]
    }
}

/// Whether a file has one of these extensions; `*` stands for any.
fn has_extension(path: &Path, extensions: &[&str]) -> bool {
    let own = path.extension().unwrap_or_default();
    extensions.iter().any(|extension| *extension == "*" || own.eq_ignore_ascii_case(extension))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use egui::accesskit::Role;
    use egui_kittest::Harness;
    use egui_kittest::kittest::Queryable as _;

    use super::*;
    use crate::app::widgets::theme::install;

    /// The window with a request, whose thread has read nothing yet.
    fn unread(purpose: DialogPurpose, file_name: &str) -> FileBrowser {
        let request = DialogRequest { purpose, folder: None, file_name: file_name.into() };
        FileBrowser::unread(request, Vec::new(), Arc::new(|| {})).expect("a thread")
    }

    fn folder_with(names: &[&str]) -> Folder {
        let entry = |name: &&str| FolderEntry {
            name: (*name).into(),
            path: Path::new("/lands").join(name),
            is_folder: false,
            bytes: 1,
            modified: None,
        };
        let entries = names.iter().map(entry).collect();
        Folder { path: "/lands".into(), entries, usual: vec!["/".into()], home: None }
    }

    #[test]
    fn what_is_typed_while_a_folder_is_read_is_kept() {
        let mut browser = unread(DialogPurpose::ExportFolder, "");
        browser.name = "/elsewhere/game".into();
        browser.opened(folder_with(&[]));
        assert_eq!(browser.typed_path(), Path::new("/elsewhere/game"));

        let mut browser = unread(DialogPurpose::Open, "");
        browser.name = "al".into();
        browser.opened(folder_with(&["alps.json", "karst.json"]));
        assert_eq!((browser.name.as_str(), browser.listed.len()), ("al", 1));
        // What was there before the folder was opened belongs to the folder before.
        browser.submit(FolderJob::Open("/lands".into()));
        browser.opened(folder_with(&["alps.json", "karst.json"]));
        assert_eq!((browser.name.as_str(), browser.listed.len()), ("", 2));

        // The file that is proposed is selected among all others.
        let mut browser = unread(DialogPurpose::Open, "karst.json");
        browser.opened(folder_with(&["alps.json", "karst.json"]));
        assert_eq!((browser.listed.len(), browser.selected), (2, Some(1)));
    }

    #[test]
    fn nothing_moves_when_the_folder_has_been_read() {
        let thumbnails = Thumbnails::start(Arc::new(|| {})).expect("a thread");
        let state = (unread(DialogPurpose::ExportFolder, ""), thumbnails);
        let mut has_fonts = false;
        let mut window = Harness::builder().with_size([1280.0, 800.0]).build_ui_state(
            move |ui, (browser, thumbnails): &mut (FileBrowser, Thumbnails)| {
                if std::mem::replace(&mut has_fonts, true) {
                    assert!(browser.ui(ui.ctx(), thumbnails).is_none());
                } else {
                    install(ui.ctx());
                }
            },
            state,
        );
        window.run_steps(4);
        let button = |window: &Harness<'_, _>| window.get_by_role_and_label(Role::Button, "Choose folder").rect();
        let before = button(&window);
        window.state_mut().0.opened(folder_with(&["alps.json"; 60]));
        window.run_steps(4);
        assert_eq!(button(&window), before);
    }
}
