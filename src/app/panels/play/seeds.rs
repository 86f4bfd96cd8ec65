//! The search for seeds that pass the rules of the level.

use std::sync::Arc;

use egui::{Align, Button, Color32, Image, Layout, ProgressBar, RichText, Ui, Vec2};

use crate::app::preview::thumbnails::{ThumbnailState, Thumbnails};
use crate::app::widgets::heading;
use crate::app::widgets::theme::colours;
use crate::app::widgets::typed_number::Quantity;
use crate::engine::cast::ToFloat;
use crate::engine::level::Level;
use crate::engine::play::{Found, Ranking, RuleError, Verdict};
use crate::engine::recipe::Recipe;
use crate::worker::{InputFiles, JobError, SeedSearchRequest, SeedSearcher, ThumbnailRequest, ThumbnailStyle, Wake};

/// How many seeds are kept, and how many there are in a row.
const BEST: usize = 9;
const COLUMNS: usize = 3;

/// Samples along the longer side at which all seeds are compared, and the most at which the best are checked again.
const SAMPLES: usize = if cfg!(test) { 33 } else { 257 };
const MAX_SAMPLES: usize = if cfg!(test) { 65 } else { 1025 };

/// How many seeds are tried unless the user changes it.
const COUNT: u32 = if cfg!(test) { 12 } else { 200 };

/// Pixels along the longer side of a thumbnail.
const PIXELS: usize = 160;

/// The prefix of the keys of the thumbnails.
const PREFIX: &str = "seed found ";

/// The state of the search. None of it is part of the document.
pub(crate) struct SeedPanel {
    searcher: SeedSearcher,
    /// How many seeds are tried.
    count: u32,
    wants_start: bool,
    wants_cancel: bool,
    /// What the seeds were found for: the recipe, with any seed, and the rules.
    searched: Option<(Arc<Recipe>, Level)>,
    /// The best seeds so far.
    ranking: Ranking,
    /// The recipe that was compared last with the one that was searched, and whether it differs in more than its seed.
    compared: Option<(Arc<Recipe>, bool)>,
    message: Option<String>,
    /// The seed that the user adopts.
    adopted: Option<u32>,
    thumbnails: Vec<Option<egui::TextureHandle>>,
    fraction: Option<f32>,
}

impl SeedPanel {
    pub(crate) fn start(wake: Wake) -> std::io::Result<Self> {
        Ok(Self {
            searcher: SeedSearcher::start(wake)?,
            count: COUNT,
            wants_start: false,
            wants_cancel: false,
            searched: None,
            ranking: Ranking::default(),
            compared: None,
            message: None,
            adopted: None,
            thumbnails: Vec::new(),
            fraction: None,
        })
    }

    /// The best seeds of the last search.
    #[cfg(test)]
    pub(crate) fn found(&self) -> &[Found] {
        &self.ranking.best
    }

    /// Whether a search is running.
    pub(crate) fn is_searching(&self) -> bool {
        self.fraction.is_some()
    }

    /// Starts and cancels the search as the user wants, takes its results and requests their pictures. Returns the seed
    /// that the user adopts.
    pub(crate) fn update(
        &mut self,
        recipe: &Arc<Recipe>,
        level: &Level,
        water_m: Option<f64>,
        files: &InputFiles,
        export_samples: usize,
        thumbnails: &mut Thumbnails,
    ) -> Option<u32> {
        if std::mem::take(&mut self.wants_cancel) {
            self.searcher.cancel();
        }
        self.fraction = self.searcher.fraction();
        while let Some(result) = self.searcher.take() {
            match result {
                Ok(ranking) => self.ranking = ranking,
                Err(JobError::Cancelled) => self.message = Some("The search was cancelled.".into()),
                Err(error) => self.message = Some(error.to_string()),
            }
        }
        if std::mem::take(&mut self.wants_start) && !self.is_searching() {
            thumbnails.remove(PREFIX);
            (self.ranking, self.message, self.compared) = (Ranking::default(), None, None);
            self.searched = Some((recipe.clone(), level.clone()));
            self.searcher.start_search(SeedSearchRequest {
                recipe: recipe.clone(),
                files: files.clone(),
                level: level.clone(),
                water_m,
                seeds: 1..=self.count,
                samples: SAMPLES,
                final_samples: export_samples.min(MAX_SAMPLES),
                best: BEST,
            });
        }
        if let Some((searched, _)) = &self.searched
            && self.compared.as_ref().is_none_or(|(compared, _)| !Arc::ptr_eq(compared, recipe))
        {
            let mut compared = Recipe { seed: searched.seed, ..(**recipe).clone() };
            if recipe.scatter.is_empty() {
                // Only scattered obstacles depend on the terrain types.
                (compared.texture, compared.light) = (searched.texture.clone(), searched.light.clone());
            }
            let differs = compared != **searched;
            self.compared = Some((recipe.clone(), differs));
        }
        if let Some((searched, _)) = &self.searched {
            // While the list changes, only of seeds that are worth a look.
            let is_searching = self.is_searching();
            for found in self.ranking.best.iter().filter(|found| !is_searching || found.failed() == 0) {
                let key = format!("{PREFIX}{}", found.seed);
                thumbnails.request(&key, || ThumbnailRequest {
                    key: key.clone(),
                    recipe: Arc::new(Recipe { seed: found.seed, ..(**searched).clone() }),
                    files: files.clone(),
                    pixels: PIXELS,
                    style: ThumbnailStyle::Texture,
                });
            }
        }
        let picture = |found: &Found| match thumbnails.get(&format!("{PREFIX}{}", found.seed)) {
            Some(ThumbnailState::Ready(texture)) => Some(texture.clone()),
            Some(ThumbnailState::Pending | ThumbnailState::Failed) | None => None,
        };
        self.thumbnails = self.ranking.best.iter().map(picture).collect();
        self.adopted.take()
    }

    /// Draws the search. `verdicts` are those of the current seed's finished terrain, if they are known.
    pub(super) fn ui(&mut self, ui: &mut Ui, level: &Level, verdicts: Option<&[Result<Verdict, RuleError>]>) {
        ui.add_space(4.0);
        heading(ui, "Find seeds");
        if level.rules.is_empty() {
            ui.weak("Add rules above to search for seeds whose terrain passes them.");
            return;
        }
        let passes = |verdict: &Result<Verdict, RuleError>| verdict.as_ref().is_ok_and(|verdict| verdict.holds);
        let counts =
            verdicts.map(|verdicts| (verdicts.len(), verdicts.iter().filter(|verdict| !passes(verdict)).count()));
        ui.weak(match counts {
            Some((1, 0)) => "The current seed passes the rule.".into(),
            Some((1, _)) => "The current seed fails the rule.".into(),
            Some((2, 0)) => "The current seed passes both rules.".into(),
            Some((count, 0)) => format!("The current seed passes all {count} rules."),
            Some((count, failed)) => format!("The current seed fails {failed} of {count} rules."),
            // Its line stays, so that nothing moves.
            None => " ".into(),
        });
        match self.fraction {
            Some(fraction) => {
                ui.horizontal(|ui| {
                    ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                        self.wants_cancel |= ui.button("Cancel search").clicked();
                        ui.add(ProgressBar::new(fraction).show_percentage());
                    });
                });
                ui.weak(if self.ranking.summary.seeds < self.count as usize {
                    "Comparing all seeds"
                } else {
                    "Checking the best seeds again at a finer resolution"
                });
                ui.ctx().request_repaint_after(std::time::Duration::from_millis(100));
            }
            None => {
                ui.horizontal(|ui| {
                    let name = ui.label("Seeds to try");
                    let field = Quantity::count("Seeds to try", 1..=10_000);
                    field.ui(ui, &mut self.count, |field| field.speed(5.0)).labelled_by(name.id);
                    let tooltip = "Tests seeds 1 to this number against the rules, \
                                   then checks the best again on more samples";
                    self.wants_start |= ui.button("Search").on_hover_text(tooltip).clicked();
                });
            }
        }
        if let Some(message) = &self.message {
            ui.label(message);
        }
        if self.ranking.best.is_empty() {
            return;
        }
        let is_other_level = self.searched.as_ref().is_some_and(|(_, searched)| searched != level);
        if is_other_level || self.compared.as_ref().is_some_and(|(_, differs)| *differs) {
            ui.weak("The terrain, the markers or the rules have changed since; search again.");
        }
        ui.label(self.ranking.summary.to_string());
        let gap = 4.0;
        let side = ((ui.available_width() - gap * (COLUMNS - 1).to_f32()) / COLUMNS.to_f32()).floor().max(16.0);
        for row in (0..self.ranking.best.len()).step_by(COLUMNS) {
            ui.horizontal(|ui| {
                ui.spacing_mut().item_spacing.x = gap;
                for index in row..(row + COLUMNS).min(self.ranking.best.len()) {
                    let seed = self.ranking.best[index].seed;
                    ui.push_id(seed, |ui| ui.vertical(|ui| self.found_ui(ui, index, side)));
                }
            });
        }
        ui.weak("Click one to use its seed; undo to go back.");
    }

    /// A seed with its picture and its results.
    fn found_ui(&mut self, ui: &mut Ui, index: usize, side: f32) {
        let found = &self.ranking.best[index];
        ui.set_width(side);
        let picture = self.thumbnails.get(index).and_then(Option::as_ref);
        let button = match picture {
            Some(texture) => Button::image(Image::new((texture.id(), Vec2::splat(side)))).frame(false),
            None => Button::new(""),
        };
        let rules = found.verdicts.iter().map(|verdict| {
            let state = if verdict.holds { "passes" } else { "fails" };
            format!("{}: {} ({state})", verdict.rule, verdict.found_and_why())
        });
        let rules = rules.collect::<Vec<_>>().join("\n");
        let response = ui.add_sized(Vec2::splat(side), button).on_hover_text(rules);
        let name = format!("Seed {}", found.seed);
        response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Button, true, &name));
        if response.clicked() {
            self.adopted = Some(found.seed);
        }
        let (text, colour): (String, Color32) = match found.failed() {
            0 => (format!("Seed {}\npasses", found.seed), colours(ui).text),
            1 => (format!("Seed {}\n1 rule fails", found.seed), colours(ui).weak),
            failed => (format!("Seed {}\n{failed} rules fail", found.seed), colours(ui).weak),
        };
        ui.label(RichText::new(text).size(11.0).color(colour));
    }
}
