//! The operations: one file each, one line each in the registry below.
//!
//! An operation declares its parameters and says what land it makes. Everything else about it (its card in the
//! stack, its sliders, `--set`, the `operations` listing, the checks of project files) follows from that.

use rayon::prelude::*;
use serde_json::{Map, Value};

use self::bsp_faults::Tree;
use self::drawn_faults::PlacedFault;
use super::fault::{Fault, FixedHeights};
use super::heightfield::{Extent, Grid, Heightfield};
use super::inputs::Inputs;
use super::parameters::{Group, Parameter, ParameterError, Parameters, nearest_name, table_to_json};
use super::progress::{Cancelled, Progress};
use super::random::Stream;

/// What a step does with the land below it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Makes land of its own, which is added to what is below unless the step says otherwise.
    Generator,
    /// Changes the land below and takes its place.
    Modifier,
}

/// Everything an operation may look at.
#[derive(Clone, Copy, Debug)]
pub struct EvalContext<'a> {
    /// Where the samples lie: what [`AnyOperation::working_grid`] answers.
    pub grid: Grid,
    /// The land below the step; `None` is flat land at height 0.
    pub below: Option<&'a Heightfield>,
    /// The step's random numbers.
    pub stream: Stream,
    /// The contents of the files that the recipe names.
    pub inputs: &'a Inputs,
    /// Progress and cancellation.
    pub progress: &'a Progress,
}

impl EvalContext<'_> {
    /// A copy of the land below the step.
    pub fn heights_below(&self) -> Result<Heightfield, Cancelled> {
        self.below.map_or_else(|| Ok(Heightfield::flat(self.grid)), |below| below.copied(self.progress))
    }

    /// What was made of the land below on another grid, laid over the land below on this one, so that what lies between
    /// the samples of a coarser grid is kept; resampled from a finer grid.
    pub fn upsample_change(&self, made: &Heightfield) -> Result<Heightfield, Cancelled> {
        let (from, to, progress) = (made.grid(), self.grid, self.progress);
        let Some(below) = self.below.filter(|_| to.width() > from.width() || to.height() > from.height()) else {
            return made.resampled(to, progress);
        };
        let below_there = progress.stage(0.0..0.2, || below.resampled(from, progress))?;
        let change = made.copied(progress)?.joined(&below_there, |made, below| made - below, progress)?;
        let change = progress.stage(0.2..1.0, || change.resampled(to, progress))?;
        change.joined(below, |change, below| below + change, progress)
    }

    /// The land below with every height changed by a function of itself, its column and its row.
    pub fn map_heights(&self, height: impl Fn(f32, usize, usize) -> f32 + Sync) -> Result<Heightfield, Cancelled> {
        let mut terrain = Heightfield::flat(self.grid);
        let counter = self.progress.counter(self.grid.height());
        terrain.heights_mut().par_chunks_mut(self.grid.width()).enumerate().try_for_each(|(r, row)| {
            if let Some(below) = self.below {
                row.copy_from_slice(below.row(r));
            }
            row.iter_mut().enumerate().for_each(|(c, below)| *below = height(*below, c, r));
            counter.add_one()
        })?;
        Ok(terrain)
    }
}

/// The land that an operation had made after some of its iterations.
#[derive(Clone, Copy, Debug)]
pub struct Keyframe<'a> {
    /// The iterations done.
    pub iteration: u32,
    /// The operation's own land after them, before blending.
    pub terrain: &'a Heightfield,
}

/// The faults that an operation draws, one after another.
pub enum FaultSequence<'a> {
    /// Lines across the whole map.
    Lines(Box<dyn Iterator<Item = Fault> + 'a>),
    /// Trees of lines, one an iteration.
    Trees(Box<dyn Iterator<Item = Tree> + 'a>),
    /// Lines laid by hand.
    Placed(Vec<PlacedFault>),
}

impl FaultSequence<'_> {
    /// The lines across the whole map; none if they are of another kind.
    pub fn into_lines(self) -> Vec<Fault> {
        match self {
            Self::Lines(lines) => lines.collect(),
            Self::Trees(_) | Self::Placed(_) => Vec::new(),
        }
    }
}

/// Land with the exact heights from which it is gone on with, unless it was given up.
pub type AccumulatedHeights = Result<(Heightfield, FixedHeights), Cancelled>;

/// What an operation is.
pub trait Operation: Parameters {
    /// The name in files and on the command line.
    const KEY: &'static str;
    /// The name in the editor.
    const LABEL: &'static str;

    /// What it does with the land below.
    fn role(&self) -> Role {
        Role::Generator
    }

    /// Whether its own land follows from the land below, so that a change there is a change of its own land.
    fn reads_below(&self) -> bool {
        self.role() == Role::Modifier
    }

    /// How many iterations it takes on the timeline; 0: none, it acts at once on whatever there is.
    fn iterations(&self) -> u32 {
        0
    }

    /// Whether a later iteration follows from the land of an earlier one, so that keyframes save work.
    fn is_resumable(&self) -> bool {
        false
    }

    /// The grid on which it works when land is asked for on `grid`: another one where what it does goes from sample to
    /// sample and would otherwise depend on how many there are. Site, keyframes and own land lie on that grid; the
    /// result is [upsample](Self::carried) over. Where the result is to be changed after that, as a coastline's heights are bent only once
    /// the coast is where it belongs, the operation resamples by itself and leaves this alone.
    fn working_grid(&self, grid: Grid) -> Grid {
        grid
    }

    /// The grid on which it works when only a sketch of the land is asked for: a coarser one than it [works
    /// on](Self::works_on) where that shows much the same land in less time.
    fn preview_grid(&self, grid: Grid) -> Grid {
        self.working_grid(grid)
    }

    /// The operation's own land after `until` iterations on the grid of the site, from that on the grid on which it
    /// [works](Self::works_on): resampled, unless it has more to say where samples are closer.
    fn upsample(&self, terrain: &Heightfield, context: &EvalContext, _until: u32) -> Result<Heightfield, Cancelled> {
        terrain.resampled(context.grid, context.progress)
    }

    /// How many maps of heights it holds at once on a grid on which it works: at the least its own land and the land
    /// below. Files are built only where there is memory for them.
    fn peak_maps(&self, _grid: Grid) -> f64 {
        2.0
    }

    /// How many maps of heights it holds at once on the grid of the site where it [works](Self::works_on) on another one:
    /// at the least the land below and the result.
    fn upsample_peak_maps(&self, _grid: Grid) -> f64 {
        2.0
    }

    /// Whether its land at a sample follows from the place and the land below at that sample alone, whatever others
    /// there are: then a part of a grid is computed by itself, to the same bits.
    fn is_pointwise(&self) -> bool {
        false
    }

    /// The faults that it draws, in the order of its iterations, each drawn when it is asked for; `None` if it draws
    /// no faults.
    fn faults(&self, extent: Extent, stream: Stream) -> Option<FaultSequence<'_>> {
        self.faults_from(1, extent, stream)
    }

    /// The same from an iteration on, without drawing those before it.
    fn faults_from(&self, _first: u32, _extent: Extent, _stream: Stream) -> Option<FaultSequence<'_>> {
        None
    }

    /// For land that is an exact sum of what each iteration adds: the land after `until` iterations with its exact
    /// heights, reached from those after fewer or more iterations, or from none; to the bit what [`Self::evaluate`]
    /// makes. `None`: the land is no such sum.
    fn accumulate(
        &self,
        _site: &EvalContext,
        _until: u32,
        _from: Option<(u32, FixedHeights)>,
    ) -> Option<AccumulatedHeights> {
        None
    }

    /// The operation's own land after `until` iterations (at most [`Self::iterations`]), before blending. If
    /// [`Self::is_resumable`], it may start from a keyframe, and the result must be the same to the bit.
    fn evaluate(&self, context: &EvalContext, until: u32, resume: Option<Keyframe>) -> Result<Heightfield, Cancelled>;
}

/// Turns the list of operations into modules, the enum [`AnyOperation`] and its dispatch.
macro_rules! registry {
    ($( $module:ident: $name:ident, )+) => {
        $( pub mod $module; )+

        /// Any of the operations, with its parameters.
        #[derive(Clone, Debug, PartialEq)]
        pub enum AnyOperation {
            $( #[doc = concat!("See [`", stringify!($module), "`].")] $name($module::$name), )+
        }

        $( impl From<$module::$name> for AnyOperation {
            fn from(operation: $module::$name) -> Self {
                Self::$name(operation)
            }
        } )+

        impl AnyOperation {
            /// Every operation with its default parameters, in the order in which menus show them.
            pub fn all() -> Vec<Self> {
                vec![ $( Self::$name($module::$name::default()), )+ ]
            }

            /// The name in files and on the command line.
            pub fn key(&self) -> &'static str {
                match self { $( Self::$name(_) => $module::$name::KEY, )+ }
            }

            /// The name in the editor.
            pub fn label(&self) -> &'static str {
                match self { $( Self::$name(_) => $module::$name::LABEL, )+ }
            }

            /// A sentence that says what it does to the land.
            pub fn doc(&self) -> &'static str {
                match self { $( Self::$name(_) => $module::$name::DOC, )+ }
            }

            /// What it does with the land below.
            pub fn role(&self) -> Role {
                match self { $( Self::$name(operation) => operation.role(), )+ }
            }

            /// Whether its own land follows from the land below.
            pub fn reads_below(&self) -> bool {
                match self { $( Self::$name(operation) => operation.reads_below(), )+ }
            }

            /// How many iterations it takes on the timeline.
            pub fn iterations(&self) -> u32 {
                match self { $( Self::$name(operation) => operation.iterations(), )+ }
            }

            /// Whether keyframes save work.
            pub fn is_resumable(&self) -> bool {
                match self { $( Self::$name(operation) => operation.is_resumable(), )+ }
            }

            /// The grid on which it works; see [`AnyOperation::working_grid`].
            pub fn working_grid(&self, grid: Grid) -> Grid {
                match self { $( Self::$name(operation) => operation.working_grid(grid), )+ }
            }

            /// The grid on which it works for a sketch; see [`AnyOperation::preview_grid`].
            pub fn preview_grid(&self, grid: Grid) -> Grid {
                match self { $( Self::$name(operation) => operation.preview_grid(grid), )+ }
            }

            /// Its land brought to the grid of the site; see [`AnyOperation::upsample`].
            pub fn upsample(&self, terrain: &Heightfield, context: &EvalContext, until: u32) -> Result<Heightfield, Cancelled> {
                match self { $( Self::$name(operation) => operation.upsample(terrain, context, until), )+ }
            }

            /// How many maps of heights it holds at once; see [`AnyOperation::peak_maps`].
            pub fn peak_maps(&self, grid: Grid) -> f64 {
                match self { $( Self::$name(operation) => operation.peak_maps(grid), )+ }
            }

            /// How many maps of heights it holds at once to carry its land; see [`AnyOperation::upsample_peak_maps`].
            pub fn upsample_peak_maps(&self, grid: Grid) -> f64 {
                match self { $( Self::$name(operation) => operation.upsample_peak_maps(grid), )+ }
            }

            /// Whether a part of a grid is computed by itself; see [`AnyOperation::is_pointwise`].
            pub fn is_pointwise(&self) -> bool {
                match self { $( Self::$name(operation) => operation.is_pointwise(), )+ }
            }

            /// The faults that it draws, if it draws faults; see [`AnyOperation::faults`].
            pub fn faults(&self, extent: Extent, stream: Stream) -> Option<FaultSequence<'_>> {
                match self { $( Self::$name(operation) => operation.faults(extent, stream), )+ }
            }

            /// The same from an iteration on; see [`AnyOperation::faults_from`].
            pub fn faults_from(&self, first: u32, extent: Extent, stream: Stream) -> Option<FaultSequence<'_>> {
                match self { $( Self::$name(operation) => operation.faults_from(first, extent, stream), )+ }
            }

            /// Its land where that is an exact sum; see [`AnyOperation::accumulate`].
            pub fn accumulate(&self, context: &EvalContext, until: u32, from: Option<(u32, FixedHeights)>) -> Option<AccumulatedHeights> {
                match self { $( Self::$name(operation) => operation.accumulate(context, until, from), )+ }
            }

            /// The operation's own land after `until` iterations; see [`AnyOperation::evaluate`].
            pub fn evaluate(
                &self,
                context: &EvalContext,
                until: u32,
                resume: Option<Keyframe>,
            ) -> Result<Heightfield, Cancelled> {
                match self { $( Self::$name(operation) => operation.evaluate(context, until, resume), )+ }
            }

            /// The parameters, seen without the operation's type.
            pub fn group(&self) -> &dyn Group {
                match self { $( Self::$name(operation) => operation, )+ }
            }

            /// The parameters, to be changed.
            pub fn group_mut(&mut self) -> &mut dyn Group {
                match self { $( Self::$name(operation) => operation, )+ }
            }
        }
    };
}

registry! {
    faults: Faults,
    drawn_faults: DrawnFaults,
    bsp_faults: BspFaults,
    circles: Circles,
    midpoint: Midpoint,
    noise: Noise,
    particles: Particles,
    coastline: Coastline,
    mountains: Mountains,
    fluvial_erosion: FluvialErosion,
    hydraulic_erosion: HydraulicErosion,
    thermal_erosion: ThermalErosion,
    recursive_filter: RecursiveFilter,
    heightmap: Heightmap,
    clamp: Clamp,
    levels: Levels,
    edge_fade: EdgeFade,
    island: Island,
    terrace: Terrace,
    gaussian_blur: GaussianBlur,
    box_blur: BoxBlur,
    finite_filter: FiniteFilter,
    band_filter: BandFilter,
    kernel_filter: KernelFilter,
}

impl AnyOperation {
    /// The operation of that name, with its default parameters.
    pub fn from_key(key: &str) -> Result<Self, ParameterError> {
        let all = Self::all();
        let nearest = nearest_name(key, all.iter().map(Self::key));
        let keys: Vec<&'static str> = all.iter().map(Self::key).collect();
        all.into_iter().find(|operation| operation.key() == key).ok_or_else(|| ParameterError {
            path: "operation".into(),
            problem: super::parameters::Problem::UnknownChoice {
                label: "Operation",
                found: match nearest {
                    Some(nearest) => format!("\"{key}\" (did you mean \"{nearest}\"?)"),
                    None => format!("\"{key}\""),
                },
                choices: keys,
            },
        })
    }

    /// The table of the operation's parameters.
    pub fn table(&self) -> &'static [Parameter] {
        self.group().table()
    }

    /// The operation as the `operations` listing prints it.
    pub fn to_json(&self) -> Value {
        let mut row = Map::new();
        row.insert("key".into(), self.key().into());
        row.insert("label".into(), self.label().into());
        row.insert("doc".into(), self.doc().into());
        row.insert("parameters".into(), table_to_json(self.table()));
        Value::Object(row)
    }
}

#[cfg(test)]
mod testing {
    use super::{EvalContext, Keyframe, Operation};
    use crate::engine::heightfield::{Extent, Grid, Heightfield};
    use crate::engine::inputs::Inputs;
    use crate::engine::progress::Progress;
    use crate::engine::random::Stream;

    /// The random numbers of tests that ask for no others.
    pub(super) fn stream() -> Stream {
        Stream::new(3, 4)
    }

    /// What an operation makes with these random numbers, on the land below it if there is any, in so many iterations.
    pub(super) fn made(
        operation: &impl Operation,
        stream: Stream,
        grid: Grid,
        below: Option<&Heightfield>,
        until: u32,
        resume: Option<Keyframe>,
    ) -> Heightfield {
        let (inputs, progress) = (Inputs::default(), Progress::new());
        let context = EvalContext { grid, below, stream, inputs: &inputs, progress: &progress };
        operation.evaluate(&context, until, resume).expect("not cancelled")
    }

    /// What an operation makes on the land below it, if there is any, in so many iterations.
    pub(super) fn raised(
        operation: &impl Operation,
        grid: Grid,
        below: Option<&Heightfield>,
        until: u32,
    ) -> Heightfield {
        made(operation, stream(), grid, below, until, None)
    }

    /// What an operation that raises on flat land goes on to from an earlier iteration.
    pub(super) fn resumed(operation: &impl Operation, from: Keyframe, until: u32) -> Heightfield {
        made(operation, stream(), from.terrain.grid(), None, until, Some(from))
    }

    /// What an operation that shapes makes of the land below it.
    pub(super) fn shaped(operation: &impl Operation, below: &Heightfield) -> Heightfield {
        raised(operation, below.grid(), Some(below), 0)
    }

    /// Two metres from column to column, three from row to row.
    pub(super) fn uneven_grid(width: usize, height: usize) -> Grid {
        let extent = Extent { width_m: 2.0 * (width - 1) as f64, depth_m: 3.0 * (height - 1) as f64 };
        Grid::new(extent, width, height)
    }

    /// Land without any order, up to 1008 m high.
    pub(super) fn rough(grid: Grid) -> Heightfield {
        Heightfield::from_fn(grid, |c, r| ((c * 7919 + r * 104_729 + c * r * 31) % 1009) as f32)
    }
}
