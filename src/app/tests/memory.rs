//! The memory of an editor that is used for long.

use std::process::Command;

use egui_kittest::Harness;

use crate::app::document::MAX_BYTES;
use crate::app::tests::random_actions::{edit, editor};
use crate::app::{App, commands};
use crate::engine::random::Stream;
use crate::files::io::memory::cache_bytes;
use crate::project::preset_projects;

const SAMPLES: u32 = 257;

/// Set in the process that measures its memory.
const IS_ALONE: &str = "UPTHRUST_MEASURE_MEMORY";

/// What fifty projects and 2500 edits may add once caches and the history are full.
const MAX_LEAK_MB: usize = 35;

/// The memory of this process, in bytes.
pub(crate) fn resident_bytes() -> usize {
    let status = std::fs::read_to_string("/proc/self/statm").expect("Linux says");
    status.split(' ').nth(1).and_then(|pages| pages.parse::<usize>().ok()).expect("pages") * 4096
}

/// Opens so many projects one after the other, and changes each of them fifty times.
fn use_projects(editor: &mut Harness<'static, App>, projects: std::ops::Range<u64>) {
    for project in projects {
        let ctx = editor.ctx.clone();
        editor.state_mut().execute(&ctx, commands::Command::OpenPreset(project as usize % preset_projects().len()));
        editor.step();
        editor.state_mut().edit_settings(|settings| settings.view.preview_samples = SAMPLES);
        editor.state_mut().ui.playback.pause();
        for change in 0..50 {
            let rng = &mut Stream::new(project as u32, 1).at(change);
            editor.state_mut().edit(|project| edit(project, rng));
            editor.step();
        }
    }
}

#[test]
#[ignore = "slow: opens 120 projects and makes 6000 edits"]
fn nightly_memory_is_bounded_by_what_help_shows() {
    // In a process of its own: other tests would count too.
    if std::env::var_os(IS_ALONE).is_none() {
        let name = "app::tests::memory::nightly_memory_is_bounded_by_what_help_shows";
        let mut alone = Command::new(std::env::current_exe().expect("this program"));
        let status = alone.args(["--exact", "--ignored", "--nocapture", name]).env(IS_ALONE, "1").status();
        return assert!(status.expect("started").success());
    }
    let mut editor = editor(SAMPLES, 5);
    let mut after = |projects| {
        use_projects(&mut editor, projects);
        resident_bytes() >> 20
    };
    let [start, half, end] = [after(0..20), after(20..70), after(70..120)];
    let budget = (cache_bytes() + MAX_BYTES) >> 20;
    println!("{start} MB after 20 projects, {half} MB after 70, {end} MB after 120; the budget is {budget} MB");
    assert!(end <= start + budget && end <= half + MAX_LEAK_MB);
    assert!(editor.state().document.history().0.len() <= 1000);
}
