//! The timeline: play, step, scrub, speed and seed.

use egui::{
    Align, ComboBox, EventFilter, Key, Label, Layout, Rect, RichText, Role, Sense, Stroke, StrokeKind, Ui, Vec2,
    WidgetInfo,
};
use egui_material_icons::icons::{
    ICON_CASINO, ICON_CHEVRON_LEFT, ICON_CHEVRON_RIGHT, ICON_PAUSE, ICON_PLAY_ARROW, ICON_REPEAT, ICON_SKIP_NEXT,
    ICON_SKIP_PREVIOUS,
};

use crate::app::commands::Command;
use crate::app::commands::menus::context_ui;
use crate::app::preview::playback::Playback;
use crate::app::widgets::theme::colours;
use crate::app::widgets::typed_number::Quantity;
use crate::app::widgets::{ListUi, coloured_icon_button, icon_button, icon_button_enabled, list_value};
use crate::engine::cast::{ToFloat, ToInteger};
use crate::engine::recipe::{Recipe, Timeline};
use crate::project::ViewSettings;

/// The speeds to choose from, iterations per frame; 0 is the whole uplift in four seconds.
const SPEEDS: [u32; 8] = [1, 2, 5, 10, 25, 100, 1000, 0];

/// What the timeline shows and edits.
pub(crate) struct TimelineContext<'a> {
    pub(crate) recipe: &'a mut Recipe,
    pub(crate) timeline: &'a Timeline,
    pub(crate) view: &'a mut ViewSettings,
    /// Iterations done.
    pub(crate) at: u32,
    pub(crate) playback: Playback,
}

/// Draws the timeline; returns the user's command.
pub(crate) fn timeline_ui(ui: &mut Ui, context: TimelineContext) -> Option<Command> {
    let TimelineContext { recipe, timeline, view, at, playback } = context;
    let total = timeline.total();
    let mut command = None;
    ui.horizontal_centered(|ui| {
        ui.spacing_mut().item_spacing.x = 4.0;
        let play = if playback.is_playing() { ICON_PAUSE } else { ICON_PLAY_ARROW };
        let buttons = [
            (ICON_SKIP_PREVIOUS, Command::ToStart, at > 0),
            (ICON_CHEVRON_LEFT, Command::StepBack, at > 0),
            (play, Command::TogglePlay, total > 0),
            (ICON_CHEVRON_RIGHT, Command::StepForward, at < total),
            (ICON_SKIP_NEXT, Command::ToEnd, at < total),
        ];
        for (icon, found, enabled) in buttons {
            if icon_button_enabled(ui, icon, &found.tooltip(ui), enabled).clicked() {
                command = Some(found);
            }
        }
        let (name, icon) = (Command::ToggleLoop.tooltip(ui), ICON_REPEAT);
        let colour = if playback.loops() { colours(ui).accent } else { colours(ui).weak };
        if coloured_icon_button(ui, icon, &name, colour).clicked() {
            command = Some(Command::ToggleLoop);
        }
        ui.add_space(8.0);
        // From right to left, so that the rail gets the remaining width.
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            command = command.take().or(seed_ui(ui, recipe));
            speed_ui(ui, view);
            // A fixed width, so that nothing moves during playback.
            // Not all steps have iterations.
            let text = if total > 0 { format!("{at} / {total}") } else { "no iterations".into() };
            let least = if ui.available_width() < NARROW { 84.0 } else { 104.0 };
            let width = f32::max(least, DIGIT_WIDTH * (2 * total.to_string().len() + 3).to_f32());
            ui.add_sized(Vec2::new(width, 20.0), Label::new(RichText::new(text).monospace()).truncate());
            ui.add_space(4.0);
            let rail = scrubber(ui, recipe, timeline, at, &mut command);
            command = command.take().or(rail.map(Command::Seek));
        });
    });
    command
}

/// The width of a monospaced character, points.
const DIGIT_WIDTH: f32 = 8.0;

/// The width of the row below which labels are left out, points.
const NARROW: f32 = 420.0;

/// The seed, and the button for a random one.
fn seed_ui(ui: &mut Ui, recipe: &mut Recipe) -> Option<Command> {
    let command = icon_button(ui, ICON_CASINO, &Command::NewSeed.tooltip(ui)).clicked().then_some(Command::NewSeed);
    let is_narrow = ui.available_width() < NARROW;
    let seed = Quantity::count("Seed", 0..=u32::MAX);
    let field = seed.sized_ui(ui, Vec2::new(76.0, 20.0), &mut recipe.seed, |field| field.speed(1));
    field.widget_info(|| WidgetInfo::labeled(Role::SpinButton, true, "Seed"));
    field.on_hover_text("The seed of all random numbers of the project");
    if !is_narrow {
        ui.weak("Seed");
        ui.add_space(8.0);
    }
    command
}

/// The playback speed.
fn speed_ui(ui: &mut Ui, view: &mut ViewSettings) {
    let speed = |speed: u32| if speed == 0 { "All in 4 s".into() } else { format!("{speed} per frame") };
    let list = ComboBox::from_id_salt("speed").selected_text(speed(view.iterations_per_frame)).width(96.0);
    let list = list.list_ui(ui, |ui| {
        for choice in SPEEDS {
            list_value(ui, &mut view.iterations_per_frame, choice, speed(choice));
        }
    });
    list.response.on_hover_text("Playback speed: iterations per frame, or the whole timeline in 4 s");
}

/// The distance from a mark within which a click moves the playhead to it, points.
const MARK_REACH: f32 = 4.0;

/// The commands of the rail's context menu.
const CONTEXT_MENU: [Command; 4] = [Command::TogglePlay, Command::Restart, Command::ToEnd, Command::ToggleLoop];

/// The rail over all iterations, with a mark where each step begins; returns the iteration to seek to.
fn scrubber(ui: &mut Ui, recipe: &Recipe, timeline: &Timeline, at: u32, command: &mut Option<Command>) -> Option<u32> {
    let total = timeline.total();
    let width = ui.available_width();
    let (rect, response) = ui.allocate_exact_size(Vec2::new(width, 24.0), Sense::click_and_drag());
    let rail = rect.shrink2(Vec2::new(7.0, 0.0));
    let share = |iteration: u32| if total == 0 { 0.0 } else { iteration.to_f32() / total.to_f32() };
    let x_of = |iteration: u32| rail.left() + rail.width() * share(iteration);
    let middle = rail.center().y;
    let colours = colours(ui);
    let painter = ui.painter();
    let bar = |from: f32, to: f32| Rect::from_x_y_ranges(from..=to, middle - 2.0..=middle + 2.0);
    painter.rect_filled(bar(rail.left(), rail.right()), 2.0, colours.sunken);
    painter.rect_filled(bar(rail.left(), x_of(at)), 2.0, colours.accent);
    let (mut begins, mut marked) = (0, f32::NEG_INFINITY);
    let mut marks: Vec<(u32, &str)> = Vec::new();
    for (step, &iterations) in recipe.stack.iter().zip(timeline.steps()) {
        if iterations > 0 {
            marks.push((begins, step.title()));
            // Marks less than a point apart would be one.
            if begins > 0 && x_of(begins) - marked >= 1.0 {
                marked = x_of(begins);
                painter.vline(x_of(begins), middle - 8.0..=middle + 8.0, Stroke::new(1.0, colours.weak));
            }
        }
        begins = begins.saturating_add(iterations);
    }
    let near = |x: f32| marks.iter().find(|(begins, _)| (x_of(*begins) - x).abs() <= MARK_REACH).copied();
    let handle = if response.hovered() || response.dragged() { 7.0 } else { 6.0 };
    painter.circle(egui::pos2(x_of(at), middle), handle, colours.accent, Stroke::new(2.0, colours.panel));
    response.widget_info(|| egui::WidgetInfo::slider(true, f64::from(at), "Timeline"));
    response.context_menu(|ui| *command = command.take().or(context_ui(ui, &CONTEXT_MENU)));
    if let Some((_, title)) = response.hover_pos().and_then(|pointer| near(pointer.x)).filter(|_| !response.dragged()) {
        response.clone().on_hover_text_at_pointer(format!("{title} begins"));
    }
    if response.has_focus() {
        painter.rect_stroke(rect, 4.0, Stroke::new(1.0, colours.accent), StrokeKind::Inside);
        let arrows = EventFilter { horizontal_arrows: true, ..Default::default() };
        ui.memory_mut(|memory| memory.set_focus_lock_filter(response.id, arrows));
        let step = (total / 100).max(1);
        let keys =
            [(Key::ArrowLeft, -1), (Key::ArrowRight, 1), (Key::PageDown, -i64::from(step)), (Key::PageUp, step.into())];
        let by: i64 = ui.input(|input| keys.iter().map(|(key, by)| by * input.num_presses(*key).to_i64()).sum());
        if by != 0 {
            return Some((i64::from(at) + by).clamp(0, total.into()).to_u32());
        }
    }
    let pointer = response.interact_pointer_pos().filter(|_| response.dragged() || response.clicked())?;
    if let Some((begins, _)) = near(pointer.x).filter(|_| response.clicked()) {
        return Some(begins);
    }
    let share = ((pointer.x - rail.left()) / rail.width()).clamp(0.0, 1.0);
    Some((f64::from(share) * f64::from(total)).round().to_u32())
}
