//! A long random walk through the editor: commands, parameters, the mouse and the keys, all from one seed. No thread
//! may panic, and undoing everything restores the first document.

use crate::app::App;
use crate::app::commands::stack_edits::StepPlace;
use crate::app::commands::{Command, ParameterOwner};
use crate::app::dialogs::file_dialogs::DialogBackend;
use crate::app::state::CardList;
use crate::app::tasks::settings::UserFolders;
use crate::app::tools::tool::Tool;
use crate::project::{Project, preset_projects};
use std::collections::BTreeMap;

use cpu_time::ThreadTime;
use egui::{Event, Key, Modifiers, PointerButton, Pos2, Vec2};
use egui_kittest::Harness;

use crate::app::commands::SHORTCUTS;
use crate::app::commands::menus::{Entry, MENUS, MenuContext};
use crate::app::commands::seed_generator::SeedGenerator;
use crate::app::dialogs::file_dialogs::{DialogOutcome, DialogRequest};
use crate::app::widgets::parameter::initial_value;
use crate::engine::AnyOperation;
use crate::engine::parameters::{Band, Colour, Group, Kind, Limits, Parameter, Point, Value};
use crate::engine::random::{Rng, Stream};

/// File dialogs that are always cancelled.
#[derive(Default)]
struct Cancelling {
    is_open: bool,
}

impl DialogBackend for Cancelling {
    fn open(&mut self, _: DialogRequest) {
        self.is_open = true;
    }

    fn poll(&mut self) -> Option<DialogOutcome> {
        std::mem::take(&mut self.is_open).then_some(DialogOutcome::Cancelled)
    }
}

/// The size of the window.
const WINDOW: Vec2 = Vec2::new(1280.0, 800.0);

/// Longer stacks are shortened, so that the worker catches up from time to time.
const MAX_STEPS: usize = 8;

fn pick<T: Copy>(rng: &mut Rng, among: &[T]) -> T {
    among[below(rng, among.len())]
}

pub(super) fn below(rng: &mut Rng, count: usize) -> usize {
    (rng.unit() * count as f64) as usize
}

/// A random value from the parameter's slider range or choices.
fn any_value(parameter: &Parameter, rng: &mut Rng) -> Value {
    let slider = parameter.slider;
    let mut number = || rng.between(slider.low, slider.high);
    match parameter.kind {
        Kind::Integer => Value::Integer(number().round() as u32),
        Kind::Number => Value::Number(number()),
        Kind::Band => {
            let (a, b) = (number(), number());
            Value::Band(Band { min: a.min(b), max: a.max(b) })
        }
        Kind::Limits => {
            let (a, b) = (number(), number());
            Value::Limits(Limits { min: a.min(b), max: a.max(b), release: 0.1 * (slider.high - slider.low) })
        }
        Kind::Point => Value::Point(Point { x_m: number(), z_m: number() }),
        Kind::Boolean => Value::Boolean(rng.chance(0.5)),
        Kind::Choice(choices) => Value::Choice(choices[below(rng, choices.len())].key),
        Kind::Text => Value::Text(format!("Name {}", below(rng, 100))),
        Kind::Colour => Value::Colour(Colour([0; 3].map(|_: u8| below(rng, 256) as u8))),
        _ if parameter.nullable && rng.chance(0.5) => Value::None,
        _ => initial_value(parameter),
    }
}

/// Sets one of the group's parameters. Refused values change nothing.
fn vary(group: &mut dyn Group, rng: &mut Rng) {
    let parameter = &group.table()[below(rng, group.table().len())];
    let value = if rng.chance(0.2) { parameter.default.clone() } else { any_value(parameter, rng) };
    // Sizes of the world and of exports would make the walk slow.
    if !matches!(parameter.kind, Kind::File) {
        let _ = group.set(parameter.key, &value);
    }
}

fn commands(entries: &[Entry], found: &mut Vec<Command>) {
    for entry in entries {
        match entry {
            Entry::Item(item) if item.is_enabled => found.push(item.command),
            Entry::Item(_) | Entry::Separator => {}
            Entry::Menu(_, entries) => commands(entries, found),
        }
    }
}

/// A command that is available now.
fn any_command(app: &App, rng: &mut Rng) -> Command {
    let context = MenuContext {
        document: &app.document,
        settings: &app.settings,
        missing: &app.services.recent_files.missing,
        has_recovered: app.has_recovered(),
        has_import_notes: app.ui.export.import_notes().is_some(),
        panels: [true; 2],
        selected_step: app.ui.selection.step,
        free_bytes: None,
        view_modes: app.view_modes(),
    };
    let mut found = Vec::new();
    for (_, entries) in MENUS {
        commands(&entries(&context), &mut found);
    }
    let recipe = &app.document.project().recipe;
    let steps = recipe.stack.len();
    let operations = AnyOperation::all();
    found.extend([
        Command::AddStep(operations[below(rng, operations.len())].key()),
        Command::OpenPreset(below(rng, preset_projects().len())),
        Command::Seek(below(rng, recipe.iterations() as usize + 1) as u32),
        Command::GoToEntry(below(rng, app.document.history().0.len())),
        Command::UseVariation(below(rng, 9)),
        Command::EnlargeVariation(below(rng, 9)),
        Command::CancelPreview,
        Command::UpdatePreview,
        Command::DismissMessage,
    ]);
    if steps > 0 {
        let [step, other] = [below(rng, steps), below(rng, steps)];
        found.extend([
            Command::SelectStep(step),
            Command::DuplicateStep(step),
            Command::DeleteStep(step),
            Command::DeleteStep(other),
            Command::MoveStep { from: step, to: StepPlace { gap: other, depth: below(rng, 3) } },
            Command::Group(Some(step)),
            Command::Ungroup(Some(other)),
            Command::FoldGroup(other),
            Command::SeekToStep(step),
            Command::ShowParameter { of: ParameterOwner::Step(step), key: "name" },
            Command::EditFault { step, number: 1 + below(rng, 30) as u32 },
        ]);
    }
    let types = recipe.texture.types.len();
    if types > 0 {
        found.push(Command::MoveType { from: below(rng, types), to: below(rng, types) });
        found.extend([Command::AddType(None), Command::SelectType(below(rng, types))]);
    }
    // The walk sets the size of the preview itself.
    found.retain(|command| !matches!(command, Command::PreviewSamples(_) | Command::ExportSize | Command::Quit));
    pick(rng, &found)
}

/// Changes something in the recipe.
pub(super) fn edit(project: &mut Project, rng: &mut Rng) {
    let recipe = &mut project.recipe;
    let (steps, types) = (recipe.stack.len(), recipe.texture.types.len());
    match below(rng, 6) {
        0..=2 if steps > 0 => vary(recipe.stack[below(rng, steps)].operation.group_mut(), rng),
        3 if steps > 0 => vary(&mut recipe.stack[below(rng, steps)].settings, rng),
        4 if types > 0 => vary(&mut recipe.texture.types[below(rng, types)], rng),
        5 => vary(&mut recipe.texture.settings, rng),
        _ => vary(&mut recipe.light, rng),
    }
    recipe.stack.truncate(MAX_STEPS);
}

/// Presses, drags or turns the wheel somewhere, or presses a key.
fn input(editor: &mut Harness<'static, App>, rng: &mut Rng, frame: &mut Frame) -> String {
    let mut place = || Pos2::new((rng.unit() as f32) * WINDOW.x, (rng.unit() as f32) * WINDOW.y);
    let (from, to) = (place(), place());
    let modifiers = if rng.chance(0.8) { Modifiers::NONE } else { Modifiers::COMMAND };
    if rng.chance(0.3) {
        let keys = [Key::Tab, Key::Space, Key::Enter, Key::ArrowLeft, Key::ArrowUp, Key::Escape, Key::Delete];
        let own = SHORTCUTS.iter().filter(|(command, _)| *command != Command::Quit);
        let own: Vec<Key> = own.map(|(_, shortcut)| shortcut.logical_key).collect();
        let key = if rng.chance(0.5) { pick(rng, &keys) } else { pick(rng, &own) };
        if !(modifiers == Modifiers::COMMAND && key == Key::Q) {
            editor.key_press_modifiers(modifiers, key);
        }
        return format!("key {modifiers:?} {key:?}");
    }
    let button = pick(rng, &[PointerButton::Primary, PointerButton::Primary, PointerButton::Secondary]);
    let pressed = |pos, pressed| Event::PointerButton { pos, button, pressed, modifiers };
    editor.event(Event::PointerMoved(from));
    editor.event(pressed(from, true));
    if rng.chance(0.5) {
        frame(editor);
        editor.event(Event::PointerMoved(from + 0.3 * (to - from)));
        frame(editor);
        editor.event(Event::PointerMoved(to));
        editor.event(pressed(to, false));
        return format!("drag by {button:?}");
    }
    editor.event(pressed(from, false));
    format!("click by {button:?}")
}

/// Runs a frame.
pub(super) type Frame<'a> = dyn FnMut(&mut Harness<'static, App>) + 'a;

/// Does something at random. Returns its name. `frame` runs the frames that a drag takes before its last one.
pub(super) fn act(editor: &mut Harness<'static, App>, rng: &mut Rng, frame: &mut Frame) -> String {
    if editor.state().ui.modal.is_some() {
        editor.key_press(Key::Escape);
        return "close".into();
    }
    if rng.chance(0.4) {
        let command = any_command(editor.state(), rng);
        let ctx = editor.ctx.clone();
        editor.state_mut().execute(&ctx, command);
        return format!("{command:?}").split(['(', ' ']).next().unwrap_or_default().to_string();
    }
    if rng.chance(0.5) {
        editor.state_mut().edit(|project| edit(project, rng));
        return "edit".into();
    }
    input(editor, rng, frame)
}

/// An editor with previews of this size, whose own random numbers have a seed.
pub(super) fn editor(samples: u32, seed: u32) -> Harness<'static, App> {
    let mut editor = Harness::builder().with_size(WINDOW).with_max_steps(64).build_eframe(|context| {
        App::new(&context.egui_ctx, Box::<Cancelling>::default(), None, UserFolders::default()).expect("threads")
    });
    editor.state_mut().ui.seeds = SeedGenerator::seeded(seed);
    editor.state_mut().edit_settings(|settings| settings.view.preview_samples = samples);
    editor.step();
    editor
}

/// Uses the tools of the tool bar at random on the views: chooses one, presses one of its keys, clicks, drags or draws on
/// a map or the 3-D view, edits a parameter, or takes something back. Returns the name of the action.
fn use_tools(editor: &mut Harness<'static, App>, rng: &mut Rng, frame: &mut Frame) -> String {
    if editor.state().ui.modal.is_some() {
        editor.key_press(Key::Escape);
        return "close".into();
    }
    let ctx = editor.ctx.clone();
    let execute = |editor: &mut Harness<'static, App>, command: Command| {
        editor.state_mut().execute(&ctx, command);
        format!("{command:?}")
    };
    match below(rng, 20) {
        0..=2 => return execute(editor, Command::Tool(pick(rng, &Tool::ALL))),
        3 => return execute(editor, pick(rng, &[Command::Undo, Command::Redo, Command::ToEnd, Command::ToStart])),
        4 => {
            let steps = editor.state().document.project().recipe.stack.len();
            return execute(editor, Command::SelectStep(below(rng, steps.max(1))));
        }
        5 => {
            let types = editor.state().document.project().recipe.texture.types.len();
            let ui = &mut editor.state_mut().ui;
            (ui.texture_panel.selected, ui.selection.last) = (Some(below(rng, types.max(1))), CardList::Types);
            return "select a type".into();
        }
        6 => {
            editor.state_mut().edit(|project| edit(project, rng));
            return "edit".into();
        }
        7..=9 => {
            let keys = [Key::OpenBracket, Key::CloseBracket, Key::Delete, Key::Escape, Key::Enter];
            let key = pick(rng, &keys);
            editor.key_press(key);
            return format!("{key:?}");
        }
        _ => {}
    }
    // The views take most of the window between the panels.
    let mut place = || Pos2::new(rng.between(280.0, 960.0) as f32, rng.between(90.0, 700.0) as f32);
    let (from, to) = (place(), place());
    let points = 1 + below(rng, 4);
    let modifiers =
        pick(rng, &[Modifiers::NONE, Modifiers::NONE, Modifiers::SHIFT, Modifiers::COMMAND, Modifiers::ALT]);
    let button = if rng.chance(0.9) { PointerButton::Primary } else { PointerButton::Secondary };
    let pressed = |pos, pressed| Event::PointerButton { pos, button, pressed, modifiers };
    editor.event(Event::PointerMoved(from));
    editor.event(pressed(from, true));
    for i in 1..points {
        frame(editor);
        let share = i as f32 / points as f32;
        editor.event(Event::PointerMoved(from + share * (to - from)));
    }
    if rng.chance(0.1) {
        frame(editor);
        editor.key_press(Key::Escape);
    }
    let end = if points > 1 { to } else { from };
    editor.event(Event::PointerMoved(end));
    editor.event(pressed(end, false));
    format!("{:?}, {points} points", editor.state().ui.tools.active())
}

/// The slowest frame of each action, milliseconds.
type Slowest = BTreeMap<String, f64>;

/// Does something at random and returns its name; the last argument runs the frames that a drag takes before its last.
type Act = fn(&mut Harness<'static, App>, &mut Rng, &mut Frame) -> String;

/// The entries of the history after which a walk undoes them. The history does not keep all entries of a long one.
const UNDONE_AT_ONCE: usize = 900;

/// Performs this many actions at a preview of this size, and undoes them all.
fn walk(act: Act, actions: u64, samples: u32, seed: u32) -> Slowest {
    let mut editor = editor(samples, seed);
    let first = editor.state().document.project().clone();
    let stream = Stream::new(seed, 1);
    let mut slowest = Slowest::new();
    for action in 0..actions {
        let name = act(&mut editor, &mut stream.at(action), &mut Harness::step);
        let before = ThreadTime::now();
        editor.step();
        let own = before.elapsed().as_secs_f64() * 1e3;
        let app = editor.state();
        let worst = slowest.entry(name.clone()).or_default();
        *worst = worst.max(own);
        let message = app.ui.message.as_ref().map(|message| message.text.as_str()).unwrap_or_default();
        assert!(!message.contains("an error in the program"), "action {action}, {name}: {message}");
        if app.document.history().1 >= UNDONE_AT_ONCE {
            undo_all(&mut editor, &first);
        }
        // Presets set their own size.
        if editor.state().document.settings().view.preview_samples != samples {
            editor.state_mut().edit_settings(|settings| settings.view.preview_samples = samples);
        }
    }
    undo_all(&mut editor, &first);
    slowest
}

/// Undoes everything, which gives the first document.
fn undo_all(editor: &mut Harness<'static, App>, first: &Project) {
    let ctx = editor.ctx.clone();
    while editor.state().document.history().1 > 0 {
        editor.state_mut().execute(&ctx, Command::Undo);
    }
    let last = editor.state().document.project();
    assert!(last.recipe == first.recipe, "undone to another recipe");
    assert_eq!((&last.name, &last.description), (&first.name, &first.description));
}

#[test]
fn random_actions_can_all_be_undone() {
    walk(act, 90, 33, 1);
}

/// The number of actions of the slow walks; `UPTHRUST_ACTIONS=10000` for more.
fn nightly_actions() -> u64 {
    std::env::var("UPTHRUST_ACTIONS").ok().and_then(|value| value.parse().ok()).unwrap_or(1500)
}

#[test]
#[ignore = "slow: takes minutes"]
fn nightly_random_actions_can_all_be_undone() {
    walk(act, nightly_actions(), 65, 2);
}

#[test]
fn random_actions_of_tools_can_all_be_undone() {
    walk(use_tools, 60, 33, 4);
}

#[test]
#[ignore = "slow: takes minutes"]
fn nightly_random_actions_of_tools_can_all_be_undone() {
    walk(use_tools, nightly_actions(), 65, 5);
}

/// Measures the processor time of the interface thread per frame, without painting. A virtual machine also counts time
/// that its host takes away, so the same walk runs three times and the smallest time of each action counts.
#[test]
#[ignore = "a measurement"]
fn no_frame_takes_longer_than_a_screen_refresh() {
    let mut least = walk(act, 2000, 1025, 3);
    for _ in 1..3 {
        let again = walk(act, 2000, 1025, 3);
        least.retain(|name, _| again.contains_key(name));
        least.iter_mut().for_each(|(name, worst)| *worst = worst.min(again[name]));
    }
    let mut slowest: Vec<(String, f64)> = least.into_iter().collect();
    slowest.sort_by(|a, b| b.1.total_cmp(&a.1));
    for (name, milliseconds) in slowest.iter().take(12) {
        println!("{milliseconds:>7.1} ms  {name}");
    }
    // A new scale or theme makes egui rasterize every glyph again.
    let redraws =
        ["Scale", "LargerInterface", "SmallerInterface", "ResetInterfaceScale", "Theme", "Plus", "Minus", "Num0"];
    slowest.retain(|(name, _)| !redraws.iter().any(|redraw| name.ends_with(redraw)));
    assert!(slowest[0].1 <= 16.0, "{:?}", slowest[0]);
}
