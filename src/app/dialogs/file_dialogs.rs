//! The purposes of file dialogs, and the dialogs of the desktop. The built-in one is in `file_browser`.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use egui::{Context, Sides};

use crate::app::commands::{FileSlot, ImportTarget};
use crate::app::widgets::modal;
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
pub(crate) type Filter = (&'static str, Vec<&'static str>);

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
    pub(crate) fn filters(&self) -> Vec<Filter> {
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
    /// Whether it is known that there are no dialogs, so that none need be tried.
    fn is_unavailable(&self) -> bool {
        false
    }
}

/// Shows one file dialog of the desktop at a time.
pub(crate) struct FileDialogs {
    backend: Box<dyn DialogBackend>,
    open: Option<DialogRequest>,
    /// Whether a dialog that the user no longer waits for may still be open.
    has_abandoned: bool,
}

impl FileDialogs {
    pub(crate) fn new(backend: Box<dyn DialogBackend>) -> Self {
        Self { backend, open: None, has_abandoned: false }
    }

    /// Opens a dialog, unless one is open.
    pub(crate) fn open(&mut self, request: DialogRequest) {
        if self.open.is_none() {
            self.open = Some(request.clone());
            self.backend.open(request);
        }
    }

    /// Whether a dialog is open or on its way.
    pub(crate) fn is_open(&self) -> bool {
        self.open.is_some()
    }

    /// Whether a new dialog would not come: there are none, or it would have to wait for one that was abandoned.
    pub(crate) fn is_unavailable(&self) -> bool {
        self.has_abandoned || self.backend.is_unavailable()
    }

    /// Ignores how the open dialog will end, as it cannot be closed from here; returns its request.
    pub(crate) fn abandon(&mut self) -> Option<DialogRequest> {
        let request = self.open.take()?;
        self.has_abandoned = true;
        Some(request)
    }

    /// Returns the request of the open dialog and how it ended, once it has.
    pub(crate) fn poll(&mut self) -> Option<(DialogRequest, DialogOutcome)> {
        let outcome = self.backend.poll()?;
        if std::mem::take(&mut self.has_abandoned) {
            return None;
        }
        Some((self.open.take()?, outcome))
    }
}

/// What the user decided while a dialog of the desktop was expected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WaitingResponse {
    /// Choose the file in the built-in dialog.
    InEditor,
    Cancel,
}

/// Covers the editor while a dialog of the desktop is expected: one that does not appear leaves the user with a choice.
pub(crate) fn waiting_ui(ctx: &Context) -> Option<WaitingResponse> {
    let modal = modal("file dialog", ctx).stay_on_outside_click().show(ctx, |ui| {
        ui.set_width(360.0);
        ui.heading("Waiting for the file dialog");
        let advice =
            "If it does not appear, choose the file here. To always do so, turn on View > Use built-in file dialogs.";
        ui.label(advice);
        ui.add_space(8.0);
        let (_, [in_editor, cancel]) =
            Sides::new().show(ui, |_| {}, |ui| [ui.button("Choose here").clicked(), ui.button("Cancel").clicked()]);
        let cancel = cancel.then_some(WaitingResponse::Cancel);
        in_editor.then_some(WaitingResponse::InEditor).or(cancel)
    });
    modal.inner.or_else(|| modal.should_close().then_some(WaitingResponse::Cancel))
}

/// The service that shows the file dialogs of a Linux desktop. See
/// <https://flatpak.github.io/xdg-desktop-portal/docs/doc-org.freedesktop.portal.FileChooser.html>.
#[cfg(target_os = "linux")]
const PORTAL: &str = "org.freedesktop.portal.Desktop";

/// How long to wait for an answer on the session bus.
#[cfg(target_os = "linux")]
const BUS_TIMEOUT: Duration = Duration::from_secs(5);

#[cfg(target_os = "linux")]
fn session_bus() -> zbus::Result<zbus::blocking::Connection> {
    zbus::blocking::connection::Builder::session()?.method_timeout(BUS_TIMEOUT).build()
}

/// Whether the program is installed that the library starts where there is no portal.
#[cfg(target_os = "linux")]
fn has_zenity() -> bool {
    let folders = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&folders).any(|folder| folder.join("zenity").is_file())
}

/// Whether the desktop has file dialogs: a portal that runs or that the session bus can start, or zenity. Starts nothing.
#[cfg(target_os = "linux")]
fn are_dialogs_available() -> bool {
    let has_portal = || {
        let bus = session_bus()?;
        let dbus = zbus::blocking::fdo::DBusProxy::new(&bus)?;
        let name = zbus::names::BusName::try_from(PORTAL)?;
        let is_listed = |names: Vec<zbus::names::OwnedBusName>| names.iter().any(|known| known.as_str() == PORTAL);
        zbus::Result::Ok(dbus.name_has_owner(name)? || is_listed(dbus.list_activatable_names()?))
    };
    has_zenity() || has_portal().unwrap_or_default()
}

/// Whether a dialog that ended without a choice was shown: the library does not tell it from one that it cannot show.
/// A portal need not have file dialogs.
#[cfg(target_os = "linux")]
fn was_dialog_shown() -> bool {
    let version = || {
        let path = "/org/freedesktop/portal/desktop";
        zbus::blocking::Proxy::new(&session_bus()?, PORTAL, path, "org.freedesktop.portal.FileChooser")?
            .get_property::<u32>("version")
    };
    has_zenity() || version().is_ok()
}

#[cfg(not(target_os = "linux"))]
fn are_dialogs_available() -> bool {
    true
}

#[cfg(not(target_os = "linux"))]
fn was_dialog_shown() -> bool {
    true
}

/// The desktop's dialogs, shown from a thread.
pub(crate) struct NativeDialogs {
    runner: Runner<DialogWorker>,
    /// A dialog that belongs to the editor's window.
    template: rfd::FileDialog,
    /// Whether the desktop has file dialogs, once that is known.
    available: Arc<OnceLock<bool>>,
}

impl NativeDialogs {
    pub(crate) fn new(context: &eframe::CreationContext<'_>, wake: Wake) -> std::io::Result<Self> {
        // A dialog that is open cannot be closed from here.
        let shutdown_timeout = Some(Duration::ZERO);
        let config = RunnerConfig { shutdown_timeout, ..RunnerConfig::new("upthrust dialog", Policy::Queue) };
        let available = Arc::new(OnceLock::new());
        // Known before the first dialog is needed. Without this thread, the first dialog asks.
        let asked = available.clone();
        let _ = std::thread::Builder::new().name("upthrust dialog check".into()).spawn(move || {
            asked.get_or_init(are_dialogs_available);
        });
        let runner = Runner::start(config, DialogWorker { available: available.clone() }, wake)?;
        Ok(Self { runner, template: rfd::FileDialog::new().set_parent(context), available })
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

    fn is_unavailable(&self) -> bool {
        self.available.get() == Some(&false)
    }
}

struct DialogWorker {
    /// Whether the desktop has file dialogs, once that is known.
    available: Arc<OnceLock<bool>>,
}

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
        if !self.available.get_or_init(are_dialogs_available) {
            return Ok(DialogOutcome::Unavailable);
        }
        let chosen = match &request.purpose {
            DialogPurpose::ExportFolder => dialog.pick_folder(),
            _ if request.writes() => dialog.save_file(),
            _ => dialog.pick_file(),
        };
        Ok(match chosen {
            Some(path) => DialogOutcome::Chosen { path, may_replace: true },
            None if was_dialog_shown() => DialogOutcome::Cancelled,
            None => DialogOutcome::Unavailable,
        })
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
}
