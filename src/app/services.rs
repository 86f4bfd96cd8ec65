//! The threads and system services behind the editor.

use crate::app::dialogs::file_dialogs::FileDialogs;
use crate::app::preview::thumbnails::Thumbnails;
use crate::app::tasks::autosave::Autosave;
use crate::app::tasks::file_tasks::FileTasks;
use crate::app::tasks::recent_files::RecentFiles;
use crate::app::tasks::settings::UserFolders;
use crate::app::views::scene::RenderTask;
use crate::worker::{Exporter, Previewer, Wake};

/// The threads and system services behind the editor.
pub(crate) struct Services {
    pub(crate) previewer: Previewer,
    pub(crate) exporter: Exporter,
    /// The image or turntable being rendered to a file.
    pub(crate) render_task: Option<RenderTask>,
    pub(crate) file_tasks: FileTasks,
    pub(crate) file_dialogs: FileDialogs,
    pub(crate) recent_files: RecentFiles,
    pub(crate) thumbnails: Thumbnails,
    /// `None` once this window no longer saves anything.
    pub(crate) autosave: Option<Autosave>,
    pub(crate) folders: UserFolders,
    /// Wakes the window from another thread.
    pub(crate) wake: Wake,
}

impl Services {
    /// Starts the threads.
    pub(crate) fn start(
        file_dialogs: FileDialogs,
        folders: UserFolders,
        autosave: Autosave,
        wake: Wake,
    ) -> std::io::Result<Self> {
        Ok(Self {
            previewer: Previewer::start(wake.clone())?,
            exporter: Exporter::start(wake.clone())?,
            render_task: None,
            file_tasks: FileTasks::start(&wake)?,
            file_dialogs,
            recent_files: RecentFiles::default(),
            thumbnails: Thumbnails::start(wake.clone())?,
            autosave: Some(autosave),
            folders,
            wake,
        })
    }
}
