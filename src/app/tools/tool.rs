//! The tools in the tool bar.

use egui_material_icons::MaterialIcon;
use egui_material_icons::icons::{
    ICON_APPROVAL, ICON_BRUSH, ICON_FLAG, ICON_FORMAT_PAINT, ICON_FOUNDATION, ICON_POLYLINE, ICON_ROUTE,
};

use crate::engine::operations::Operation;
use crate::engine::operations::drawn_faults::DrawnFaults;
use crate::engine::operations::pads::Pads;
use crate::engine::operations::paths::Paths;
use crate::engine::operations::sculpt::Sculpt;
use crate::engine::operations::stamps::Stamps;

/// A tool in the tool bar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tool {
    /// Draws faults.
    Fault,
    /// Sculpts the terrain.
    Brush,
    /// Paints the mask of the step or the terrain type that was selected last.
    MaskBrush,
    /// Draws roads, rivers, ridges, valleys and faults along curves.
    Path,
    /// Draws building pads.
    Pad,
    /// Places stamps.
    Stamp,
    /// Places spawns, objectives and cameras.
    Marker,
}

impl Tool {
    /// All tools, in the order of the tool bar.
    pub(crate) const ALL: [Self; 7] =
        [Self::Fault, Self::Brush, Self::MaskBrush, Self::Path, Self::Pad, Self::Stamp, Self::Marker];

    /// The name of the command that activates the tool.
    pub(crate) fn text(self) -> &'static str {
        match self {
            Self::Fault => "Draw faults",
            Self::Brush => "Sculpt with a brush",
            Self::MaskBrush => "Paint a mask",
            Self::Path => "Draw roads and other paths",
            Self::Pad => "Draw building pads and lakes",
            Self::Stamp => "Place stamps",
            Self::Marker => "Place spawns and markers",
        }
    }

    /// Other words for it, under which the search finds it.
    pub(crate) fn words(self) -> &'static str {
        match self {
            Self::Fault => "cliff escarpment scarp line",
            Self::Brush => "raise lower flatten smooth roughen erase hand hill hollow",
            Self::MaskBrush => "texture material colour",
            Self::Path => "path road river street track ridge valley ditch spline pass saddle mountain",
            Self::Pad => "flat flatten level foundation house plot plateau lake pond",
            Self::Stamp => "crater hill landform mountain paste",
            Self::Marker => "player start base team objective camera level point of interest",
        }
    }

    pub(super) fn icon(self) -> MaterialIcon {
        match self {
            Self::Fault => ICON_POLYLINE,
            Self::Brush => ICON_BRUSH,
            Self::MaskBrush => ICON_FORMAT_PAINT,
            Self::Path => ICON_ROUTE,
            Self::Pad => ICON_FOUNDATION,
            Self::Stamp => ICON_APPROVAL,
            Self::Marker => ICON_FLAG,
        }
    }

    /// The operation whose steps hold what the tool draws; `None` if any step does, or none.
    pub(crate) fn operation(self) -> Option<&'static str> {
        match self {
            Self::Fault => Some(DrawnFaults::KEY),
            Self::Brush => Some(Sculpt::KEY),
            Self::MaskBrush | Self::Marker => None,
            Self::Path => Some(Paths::KEY),
            Self::Pad => Some(Pads::KEY),
            Self::Stamp => Some(Stamps::KEY),
        }
    }

    /// The tool that draws in the steps of an operation, if there is one.
    pub(crate) fn of_operation(key: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|tool| tool.operation() == Some(key))
    }

    /// What to do with the tool.
    pub(crate) fn hint(self) -> &'static str {
        match self {
            Self::Fault => {
                "Drag on a view to draw a fault. Click a highlighted random fault near the pointer to edit it"
            }
            Self::Brush => "Drag on a view. Shift smooths, Ctrl inverts, [ and ] change the radius",
            Self::MaskBrush => "Drag to paint where the step acts or the type appears. Ctrl erases, Q hides the tint",
            Self::Path => {
                "Click to add nodes, Enter ends. Drag nodes, double-click a curve to insert one, right-click for more"
            }
            Self::Pad => {
                "Click or drag to draw a pad, with Shift a square. Drag its corners, or its handle to rotate it"
            }
            Self::Stamp => {
                "Click to place a stamp. Drag its corners (Shift keeps proportions), or its handle to rotate it"
            }
            Self::Marker => "Click to place a spawn, an objective or a camera. Drag one to move it",
        }
    }
}
