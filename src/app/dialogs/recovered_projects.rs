//! The offer of what an editor left behind that did not end in order.

use std::time::Duration;

use egui::{Context, ScrollArea, Sides};

use crate::app::document::title;
use crate::app::tasks::recovery::RecoveredProject;
use crate::app::widgets::{main_button, modal};

/// What the user wants with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RecoveryResponse {
    /// To go on with the project at that place.
    Open(usize),
    /// To be asked at the next start again.
    Later,
    /// To have none of it.
    Discard,
}

pub(crate) fn recovery_ui(ctx: &Context, left: &[RecoveredProject]) -> Option<RecoveryResponse> {
    let modal = modal("recovery", ctx).show(ctx, |ui| {
        ui.set_width(440.0);
        ui.heading("Upthrust was not closed properly");
        ui.label(if left.len() == 1 { "This was not saved:" } else { "These were not saved:" });
        ui.add_space(4.0);
        let mut decision = None;
        ScrollArea::vertical().max_height(260.0).show(ui, |ui| {
            for (i, leftover) in left.iter().enumerate() {
                let name = title(&leftover.contents.project);
                Sides::new().shrink_left().truncate().show(
                    ui,
                    |ui| {
                        ui.vertical(|ui| {
                            ui.strong(name);
                            let age = leftover.time.elapsed().unwrap_or_default();
                            let place = leftover
                                .path
                                .as_ref()
                                .map_or("not saved yet".into(), |path| path.display().to_string());
                            ui.weak(format!("{}, {}, {place}", ago(age), size(leftover.size)));
                        });
                    },
                    |ui| {
                        let open = main_button(ui, "Open", true);
                        open.widget_info(|| {
                            egui::WidgetInfo::labeled(egui::Role::Button, true, format!("Open {name}"))
                        });
                        if open.clicked() {
                            decision = Some(RecoveryResponse::Open(i));
                        }
                    },
                );
                ui.add_space(4.0);
            }
        });
        ui.weak("What is discarded can be had for a week from the folder that Help > About names.");
        ui.add_space(8.0);
        let (discard, later) =
            Sides::new().show(ui, |ui| ui.button("Discard").clicked(), |ui| ui.button("Ask again later").clicked());
        decision.or(discard.then_some(RecoveryResponse::Discard)).or(later.then_some(RecoveryResponse::Later))
    });
    modal.inner.or(modal.should_close().then_some(RecoveryResponse::Later))
}

/// How long ago, in the largest unit that says it.
fn ago(age: Duration) -> String {
    let seconds = age.as_secs();
    let (count, unit) = match seconds {
        0..60 => return "just now".into(),
        60..3600 => (seconds / 60, "minute"),
        3600..86_400 => (seconds / 3600, "hour"),
        _ => (seconds / 86_400, "day"),
    };
    format!("{count} {unit}{} ago", if count == 1 { "" } else { "s" })
}

fn size(bytes: u64) -> String {
    match bytes {
        0..1_000_000 => format!("{} kB", bytes.div_ceil(1000)),
        _ => format!("{:.1} MB", bytes as f64 / 1e6),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_and_sizes_are_said_in_words() {
        for (seconds, expected) in [
            (3, "just now"),
            (60, "1 minute ago"),
            (7300, "2 hours ago"),
            (90_000, "1 day ago"),
            (900_000, "10 days ago"),
        ] {
            assert_eq!(ago(Duration::from_secs(seconds)), expected);
        }
        assert_eq!((size(1), size(15_001), size(2_340_000)), ("1 kB".into(), "16 kB".into(), "2.3 MB".into()));
    }
}
