//! The modal dialogs.

use std::path::PathBuf;

use crate::app::commands::palette::Palette;
use crate::app::dialogs::file_dialogs::DialogRequest;
use crate::app::dialogs::import::ImportDialog;
use crate::app::dialogs::question::Question;
use crate::app::dialogs::save_preset::SavePresetDialog;
use crate::app::dialogs::variations::VariationsWindow;
use crate::app::document::Unsaved;
use crate::app::views::scene::RenderDialog;

/// A modal dialog. At most one is open.
pub(crate) enum Modal {
    Export,
    Import(Box<ImportDialog>),
    Image(RenderDialog),
    /// Asks before closing the window would lose these projects.
    SaveFirst(Vec<Unsaved>),
    /// Offers projects that an earlier editor could not save.
    Recovered,
    /// Asks before files are replaced.
    Replace {
        request: DialogRequest,
        path: PathBuf,
        files: Vec<PathBuf>,
    },
    Question(Question),
    /// Asks before closing the window would cancel an export.
    ExportFirst,
    Gallery,
    Palette(Palette),
    SavePreset(SavePresetDialog),
    Variations(Box<VariationsWindow>),
    Shortcuts,
    About,
}
