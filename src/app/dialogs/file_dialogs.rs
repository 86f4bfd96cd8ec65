//! File dialogs: the desktop's own, or a path field in the window where the desktop has none.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::app::commands::{FileSlot, ImportTarget};
use crate::app::widgets::{main_button, modal};
use crate::files::formats::heightmap::Format;
use crate::worker::{JobContext, JobError, Policy, Runner, RunnerConfig, Wake, Worker};

/// What the chosen file is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum DialogPurpose {
    /// A project, heightmap or texture to open.
    Open,
    /// Where to save the project with that id.
    Save { project_id: usize },
    /// A heightmap or texture for a target in the project; `None`: a heightmap for a new step.
    Import { target: Option<ImportTarget> },
    /// The folder to export to.
    ExportFolder,
    /// Where to write a render of the 3-D view.
    Image {
        /// Its size, pixels.
        size: [u32; 2],
        /// The number of frames of a turntable, in numbered files; `None`: a single image.
        frames: Option<u32>,
    },
}

/// The kind of file that a dialog is for. Each is looked for where the last one was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DialogKind {
    Project,
    Heightmap,
    Mask,
    Stamp,
    Texture,
    Export,
    Image,
}

impl DialogKind {
    /// The name in the settings; `None` for projects, which have a list of recent files.
    pub(crate) fn key(self) -> Option<&'static str> {
        match self {
            Self::Project => None,
            Self::Heightmap => Some("heightmap"),
            Self::Mask => Some("mask"),
            Self::Stamp => Some("stamp"),
            Self::Texture => Some("texture"),
            Self::Export => Some("export"),
            Self::Image => Some("image"),
        }
    }
}

impl DialogPurpose {
    pub(crate) fn kind(&self) -> DialogKind {
        match self {
            Self::Open | Self::Save { .. } => DialogKind::Project,
            Self::Import { target } => match target.as_ref().map(|target| target.slot) {
                Some(FileSlot::Mask { .. }) => DialogKind::Mask,
                Some(FileSlot::Stamp { .. }) => DialogKind::Stamp,
                Some(FileSlot::Texture(_)) => DialogKind::Texture,
                Some(FileSlot::Operation(_)) | None => DialogKind::Heightmap,
            },
            Self::ExportFolder => DialogKind::Export,
            Self::Image { .. } => DialogKind::Image,
        }
    }
}

/// A request for a file dialog.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DialogRequest {
    pub(crate) purpose: DialogPurpose,
    /// The folder to begin in; `None`: the one that the desktop suggests.
    pub(crate) folder: Option<PathBuf>,
    /// The suggested file name.
    pub(crate) file_name: String,
}

/// Extensions of the images that can be read as textures and written as renders.
const IMAGE_EXTENSIONS: [&str; 5] = ["png", "jpg", "jpeg", "tga", "bmp"];

/// The files that a dialog shows, by their extensions.
type Filter = (&'static str, Vec<&'static str>);

impl DialogRequest {
    /// The title of the dialog.
    pub(crate) fn title(&self) -> &'static str {
        match &self.purpose {
            DialogPurpose::Open => "Open a project, heightmap or texture",
            DialogPurpose::Save { .. } => "Save the project",
            DialogPurpose::Import { .. } => match self.purpose.kind() {
                DialogKind::Mask => "Choose a mask image",
                DialogKind::Stamp => "Choose a heightmap or project as a stamp",
                DialogKind::Texture => "Choose a texture",
                _ => "Import a heightmap",
            },
            DialogPurpose::ExportFolder => "Choose a folder for the export",
            DialogPurpose::Image { frames: None, .. } => "Save an image of the 3-D view",
            DialogPurpose::Image { frames: Some(_), .. } => "Save a turntable of the 3-D view",
        }
    }

    /// Whether a file will be written.
    pub(crate) fn writes(&self) -> bool {
        matches!(self.purpose, DialogPurpose::Save { .. } | DialogPurpose::Image { .. })
    }

    /// The filters of the dialog, the default one first.
    fn filters(&self) -> Vec<Filter> {
        // The suffix of projects has two dots, which some dialogs do not support.
        let projects = || ("Projects", vec!["json"]);
        let heightmaps = || {
            let extensions = Format::all().flat_map(Format::extensions);
            ("Heightmaps", extensions.copied().collect::<Vec<_>>())
        };
        let images = || ("Images", IMAGE_EXTENSIONS.to_vec());
        let all_files = || ("All files", vec!["*"]);
        match &self.purpose {
            DialogPurpose::Open => {
                let mut known = [projects().1, heightmaps().1, images().1].concat();
                known.sort_unstable();
                known.dedup();
                vec![("All supported files", known), projects(), heightmaps(), images(), all_files()]
            }
            DialogPurpose::Save { .. } => vec![projects()],
            DialogPurpose::Import { .. } => match self.purpose.kind() {
                // A mask is read from any heightmap.
                DialogKind::Mask => vec![("Mask images", heightmaps().1), all_files()],
                DialogKind::Stamp => {
                    let known = [projects().1, heightmaps().1].concat();
                    vec![("Projects and heightmaps", known), projects(), heightmaps(), all_files()]
                }
                DialogKind::Texture => vec![images(), all_files()],
                _ => vec![heightmaps(), all_files()],
            },
            DialogPurpose::ExportFolder => Vec::new(),
            DialogPurpose::Image { .. } => vec![images()],
        }
    }
}

/// How a dialog ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum DialogOutcome {
    Chosen {
        path: PathBuf,
        /// Whether the user has confirmed that this file is replaced.
        may_replace: bool,
    },
    Cancelled,
    /// The desktop has no file dialogs.
    Unavailable,
}

/// Shows file dialogs without blocking.
pub(crate) trait DialogBackend {
    fn open(&mut self, request: DialogRequest);
    /// Returns how the open dialog ended, once it has.
    fn poll(&mut self) -> Option<DialogOutcome>;
}

/// Shows one file dialog at a time.
pub(crate) struct FileDialogs {
    backend: Box<dyn DialogBackend>,
    open: Option<DialogRequest>,
}

impl FileDialogs {
    pub(crate) fn new(backend: Box<dyn DialogBackend>) -> Self {
        Self { backend, open: None }
    }

    /// Opens a dialog, unless another one is open. Returns whether it did.
    #[must_use]
    pub(crate) fn open(&mut self, request: DialogRequest) -> bool {
        if self.open.is_some() {
            return false;
        }
        self.open = Some(request.clone());
        self.backend.open(request);
        true
    }

    /// Returns the request of the open dialog and how it ended, once it has.
    pub(crate) fn poll(&mut self) -> Option<(DialogRequest, DialogOutcome)> {
        let outcome = self.backend.poll()?;
        Some((self.open.take()?, outcome))
    }
}

/// A dialog that ends sooner than this without a choice was never shown: the library returns `None` if it cannot show
/// it, as for a cancelled dialog.
const MIN_DIALOG_TIME: Duration = Duration::from_millis(150);

/// How long to wait for the service that shows the dialogs of a Linux desktop.
#[cfg(target_os = "linux")]
const PORTAL_TIMEOUT: Duration = Duration::from_secs(5);

/// Whether the desktop can show file dialogs: by its portal, or by the program that the library starts without one.
/// See <https://flatpak.github.io/xdg-desktop-portal/docs/doc-org.freedesktop.portal.FileChooser.html>.
#[cfg(target_os = "linux")]
fn are_dialogs_available() -> bool {
    let portal = || {
        let bus = zbus::blocking::connection::Builder::session()?.method_timeout(PORTAL_TIMEOUT).build()?;
        let [name, path] = ["org.freedesktop.portal.Desktop", "/org/freedesktop/portal/desktop"];
        zbus::blocking::Proxy::new(&bus, name, path, "org.freedesktop.portal.FileChooser")?
            .get_property::<u32>("version")
    };
    let folders = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&folders).any(|folder| folder.join("zenity").is_file()) || portal().is_ok()
}

#[cfg(not(target_os = "linux"))]
fn are_dialogs_available() -> bool {
    true
}

/// The desktop's dialogs, shown from a thread.
pub(crate) struct NativeDialogs {
    runner: Runner<DialogWorker>,
    /// A dialog that belongs to the editor's window.
    template: rfd::FileDialog,
}

impl NativeDialogs {
    pub(crate) fn new(context: &eframe::CreationContext<'_>, wake: Wake) -> std::io::Result<Self> {
        // A dialog that is open cannot be closed from here.
        let shutdown_timeout = Some(Duration::ZERO);
        let config = RunnerConfig { shutdown_timeout, ..RunnerConfig::new("upthrust dialog", Policy::Queue) };
        let runner = Runner::start(config, DialogWorker, wake)?;
        Ok(Self { runner, template: rfd::FileDialog::new().set_parent(context) })
    }
}

impl DialogBackend for NativeDialogs {
    fn open(&mut self, request: DialogRequest) {
        let mut dialog = self.template.clone().set_title(request.title());
        if request.writes() {
            dialog = dialog.set_file_name(&request.file_name);
        }
        if let Some(folder) = &request.folder {
            dialog = dialog.set_directory(folder);
        }
        for (name, extensions) in request.filters() {
            dialog = dialog.add_filter(name, &extensions);
        }
        self.runner.submit((request, dialog));
    }

    fn poll(&mut self) -> Option<DialogOutcome> {
        self.runner.take().map(|(_, outcome)| outcome.unwrap_or(DialogOutcome::Unavailable))
    }
}

struct DialogWorker;

impl Worker for DialogWorker {
    type Job = (DialogRequest, rfd::FileDialog);
    type Label = ();
    type Output = DialogOutcome;

    fn label(_: &Self::Job) {}

    fn run(
        &mut self,
        (request, dialog): Self::Job,
        _: &JobContext<'_, DialogOutcome>,
    ) -> Result<DialogOutcome, JobError> {
        let opened = Instant::now();
        let chosen = match &request.purpose {
            DialogPurpose::ExportFolder => dialog.pick_folder(),
            _ if request.writes() => dialog.save_file(),
            _ => dialog.pick_file(),
        };
        Ok(match chosen {
            Some(path) => DialogOutcome::Chosen { path, may_replace: true },
            None if opened.elapsed() < MIN_DIALOG_TIME || !are_dialogs_available() => DialogOutcome::Unavailable,
            None => DialogOutcome::Cancelled,
        })
    }
}

/// A path field in the window, where the desktop has no file dialogs.
pub(crate) struct PathField {
    pub(crate) request: DialogRequest,
    pub(crate) path: String,
    /// The folder of relative paths.
    folder: PathBuf,
    /// Whether the text is still to be selected.
    is_new: bool,
}

impl PathField {
    /// Suggests a file in the folder of the request or in the user's home folder, or what was typed last if a file is to
    /// be read: it may only have to be corrected.
    pub(crate) fn new(request: DialogRequest, typed: Option<&Path>) -> Self {
        let home = || std::env::home_dir().filter(|home| home.is_dir()).unwrap_or_else(|| PathBuf::from("."));
        let folder = request.folder.clone().unwrap_or_else(home);
        let typed = typed.filter(|_| !request.writes());
        let path = typed.map_or_else(|| folder.join(&request.file_name), Path::to_path_buf);
        Self { path: path.display().to_string(), request, folder, is_new: true }
    }

    /// The typed path; relative paths are in the suggested folder, `~` is the home folder.
    fn chosen(&self) -> PathBuf {
        let text = self.path.trim();
        let home = || std::env::home_dir().filter(|_| text == "~" || text.starts_with("~/"));
        match home() {
            Some(home) => home.join(text.trim_start_matches('~').trim_start_matches('/')),
            None => self.folder.join(text),
        }
    }

    /// The characters that are selected at first, to be typed over: the file's name, up to its ending if it is written.
    fn name_range(&self) -> [usize; 2] {
        let start = self.path.rfind(std::path::MAIN_SEPARATOR).map_or(0, |at| at + 1);
        let ending = self.path[start..].find('.').filter(|_| self.request.writes());
        let end = ending.map_or(self.path.len(), |at| start + at);
        [start, end].map(|at| self.path[..at].chars().count())
    }

    /// Draws the field; returns how it ended, once it has.
    pub(crate) fn ui(&mut self, ctx: &egui::Context) -> Option<DialogOutcome> {
        let mut outcome = None;
        let modal = modal("path field", ctx).stay_on_outside_click().show(ctx, |ui| {
            ui.set_width(480.0);
            ui.heading(self.request.title());
            ui.weak("This desktop has no file dialog. Type the path of the file.");
            ui.add_space(8.0);
            let range = self.name_range();
            let mut field =
                egui::TextEdit::singleline(&mut self.path).desired_width(f32::INFINITY).hint_text("Path").show(ui);
            field.response.request_focus();
            if std::mem::take(&mut self.is_new) {
                let [start, end] = range.map(egui::text::CCursor::new);
                field.state.cursor.set_char_range(Some(egui::text::CCursorRange::two(start, end)));
                field.state.store(ui.ctx(), field.response.id);
            }
            let entered = ui.input(|input| input.key_pressed(egui::Key::Enter));
            ui.add_space(8.0);
            let button = if self.request.writes() { "Save" } else { "Open" };
            egui::Sides::new().show(
                ui,
                |_| {},
                |ui| {
                    let has_path = !self.path.trim().is_empty();
                    if main_button(ui, button, has_path).clicked() || (has_path && entered) {
                        outcome = Some(DialogOutcome::Chosen { path: self.chosen(), may_replace: false });
                    }
                    if ui.button("Cancel").clicked() {
                        outcome = Some(DialogOutcome::Cancelled);
                    }
                },
            );
        });
        if outcome.is_none() && modal.should_close() {
            outcome = Some(DialogOutcome::Cancelled);
        }
        outcome
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filters_cover_every_format_that_can_be_opened() {
        let request = |purpose| DialogRequest { purpose, folder: None, file_name: String::new() };
        let filters = request(DialogPurpose::Open).filters();
        let (name, known) = &filters[0];
        assert_eq!(*name, "All supported files");
        for extension in ["json", "png", "r16", "tif", "exr", "jpeg", "bmp"] {
            assert_eq!(known.iter().filter(|known| **known == extension).count(), 1, "{extension}");
        }
        assert_eq!(request(DialogPurpose::Save { project_id: 0 }).filters(), [("Projects", vec!["json"])]);
        assert_eq!(request(DialogPurpose::Import { target: None }).filters()[0].0, "Heightmaps");
        let (_, preset) = &crate::project::preset_projects()[0];
        let target = ImportTarget::new(
            FileSlot::Mask { owner: crate::engine::recipe_masks::MaskOwner::Step(0), source: 0 },
            &preset.project.recipe,
            0,
        );
        let mask = request(DialogPurpose::Import { target });
        assert_eq!((mask.title(), mask.filters()[0].0), ("Choose a mask image", "Mask images"));
        assert!(request(DialogPurpose::ExportFolder).filters().is_empty());
    }

    #[test]
    fn typed_paths_are_relative_to_the_suggested_folder() {
        let request = |purpose, name: &str| DialogRequest {
            purpose,
            folder: Some(PathBuf::from("/land")),
            file_name: name.into(),
        };
        let typed = Path::new("/elsewhere/alps.tif");
        let mut field =
            PathField::new(request(DialogPurpose::Save { project_id: 0 }, "höhe.upthrust.json"), Some(typed));
        assert_eq!((field.path.as_str(), field.name_range()), ("/land/höhe.upthrust.json", [6, 10]));
        for (text, expected) in [("a.png", "/land/a.png"), (" /b.png ", "/b.png"), ("~x.png", "/land/~x.png")] {
            field.path = text.into();
            assert_eq!(field.chosen(), Path::new(expected), "{text}");
        }
        if let Some(home) = std::env::home_dir() {
            field.path = "~/c.png".into();
            assert_eq!(field.chosen(), home.join("c.png"));
        }
        let again = PathField::new(request(DialogPurpose::Open, ""), Some(typed));
        assert_eq!(again.path, "/elsewhere/alps.tif", "a mistyped path can be corrected");
        assert_eq!(again.name_range(), [11, 19]);
        assert_eq!(PathField::new(request(DialogPurpose::Open, ""), None).path, "/land/");
    }
}
