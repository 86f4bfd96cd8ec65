//! The operations: one file each, one line each in the registry below.
//!
//! An operation declares its parameters and says what land it makes. Everything else about it (its card in the
//! stack, its sliders, `--set`, the `operations` listing, the checks of project files) follows from that.

use rayon::prelude::*;
use serde_json::{Map, Value};

use self::bsp_faults::Tree;
use self::drawn_faults::LaidFault;
use super::fault::{Fault, Sums};
use super::heightfield::{Extent, Grid, Heightfield};
use super::inputs::Inputs;
use super::monitor::{Cancelled, Monitor};
use super::parameters::{Group, Parameter, ParameterError, Parameters, nearest_name, table_to_json};
use super::random::Stream;

/// What a step does with the land below it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Makes land of its own, which is added to what is below unless the step says otherwise.
    Raises,
    /// Changes the land below and takes its place.
    Shapes,
}

/// Everything an operation may look at.
#[derive(Clone, Copy, Debug)]
pub struct Site<'a> {
    /// Where the samples lie: what [`Operate::works_on`] answers.
    pub grid: Grid,
    /// The land below the step; `None` is flat land at height 0.
    pub below: Option<&'a Heightfield>,
    /// The step's random numbers.
    pub stream: Stream,
    /// The contents of the files that the recipe names.
    pub inputs: &'a Inputs,
    /// Progress and cancellation.
    pub monitor: &'a Monitor,
}

impl Site<'_> {
    /// A copy of the land below the step.
    pub fn land_below(&self) -> Result<Heightfield, Cancelled> {
        self.below.map_or_else(|| Ok(Heightfield::flat(self.grid)), |below| below.copied(self.monitor))
    }

    /// What was made of the land below on another grid, laid over the land below on this one, so that what lies between
    /// the samples of a coarser grid is kept; resampled from a finer grid.
    pub fn laid_over(&self, made: &Heightfield) -> Result<Heightfield, Cancelled> {
        let (from, to, monitor) = (made.grid(), self.grid, self.monitor);
        let Some(below) = self.below.filter(|_| to.width() > from.width() || to.height() > from.height()) else {
            return made.resampled(to, monitor);
        };
        let below_there = monitor.within(0.0..0.2, || below.resampled(from, monitor))?;
        let change = made.copied(monitor)?.joined(&below_there, |made, below| made - below, monitor)?;
        let change = monitor.within(0.2..1.0, || change.resampled(to, monitor))?;
        change.joined(below, |change, below| below + change, monitor)
    }

    /// The land below with every height changed by a function of itself, its column and its row.
    pub fn reshaped(&self, height: impl Fn(f32, usize, usize) -> f32 + Sync) -> Result<Heightfield, Cancelled> {
        let mut land = Heightfield::flat(self.grid);
        let tally = self.monitor.tally(self.grid.height());
        land.heights_mut().par_chunks_mut(self.grid.width()).enumerate().try_for_each(|(r, row)| {
            if let Some(below) = self.below {
                row.copy_from_slice(below.row(r));
            }
            row.iter_mut().enumerate().for_each(|(c, below)| *below = height(*below, c, r));
            tally.add_one()
        })?;
        Ok(land)
    }
}

/// The land that an operation had made after some of its iterations.
#[derive(Clone, Copy, Debug)]
pub struct Keyframe<'a> {
    /// The iterations done.
    pub iteration: u32,
    /// The operation's own land after them, before blending.
    pub land: &'a Heightfield,
}

/// The faults that an operation draws, one after another.
pub enum Drawn<'a> {
    /// Lines across the whole map.
    Lines(Box<dyn Iterator<Item = Fault> + 'a>),
    /// Trees of lines, one an iteration.
    Trees(Box<dyn Iterator<Item = Tree> + 'a>),
    /// Lines laid by hand.
    Laid(Vec<LaidFault>),
}

impl Drawn<'_> {
    /// The lines across the whole map; none if they are of another kind.
    pub fn into_lines(self) -> Vec<Fault> {
        match self {
            Self::Lines(lines) => lines.collect(),
            Self::Trees(_) | Self::Laid(_) => Vec::new(),
        }
    }
}

/// Land with the exact heights from which it is gone on with, unless it was given up.
pub type ResumableLand = Result<(Heightfield, Sums), Cancelled>;

/// What an operation is.
pub trait Operate: Parameters {
    /// The name in files and on the command line.
    const KEY: &'static str;
    /// The name in the editor.
    const LABEL: &'static str;

    /// What it does with the land below.
    fn role(&self) -> Role {
        Role::Raises
    }

    /// Whether its own land follows from the land below, so that a change there is a change of its own land.
    fn reads_below(&self) -> bool {
        self.role() == Role::Shapes
    }

    /// How many iterations it takes on the timeline; 0: none, it acts at once on whatever there is.
    fn iterations(&self) -> u32 {
        0
    }

    /// Whether a later iteration follows from the land of an earlier one, so that keyframes save work.
    fn resumes(&self) -> bool {
        false
    }

    /// The grid on which it works when land is asked for on `grid`: another one where what it does goes from sample to
    /// sample and would otherwise depend on how many there are. Site, keyframes and own land lie on that grid; the
    /// result is [carried](Self::carried) over. Where the result is to be changed after that, as a coastline's heights are bent only once
    /// the coast is where it belongs, the operation resamples by itself and leaves this alone.
    fn works_on(&self, grid: Grid) -> Grid {
        grid
    }

    /// The grid on which it works when only a sketch of the land is asked for: a coarser one than it [works
    /// on](Self::works_on) where that shows much the same land in less time.
    fn sketches_on(&self, grid: Grid) -> Grid {
        self.works_on(grid)
    }

    /// The operation's own land after `until` iterations on the grid of the site, from that on the grid on which it
    /// [works](Self::works_on): resampled, unless it has more to say where samples are closer.
    fn carried(&self, land: &Heightfield, site: &Site, _until: u32) -> Result<Heightfield, Cancelled> {
        land.resampled(site.grid, site.monitor)
    }

    /// How many maps of heights it holds at once on a grid on which it works: at the least its own land and the land
    /// below. Files are built only where there is memory for them.
    fn maps_held(&self, _grid: Grid) -> f64 {
        2.0
    }

    /// How many maps of heights it holds at once on the grid of the site where it [works](Self::works_on) on another one:
    /// at the least the land below and the result.
    fn maps_carried(&self, _grid: Grid) -> f64 {
        2.0
    }

    /// Whether its land at a sample follows from the place and the land below at that sample alone, whatever others
    /// there are: then a part of a grid is computed by itself, to the same bits.
    fn can_be_cut(&self) -> bool {
        false
    }

    /// The faults that it draws, in the order of its iterations, each drawn when it is asked for; `None` if it draws
    /// no faults.
    fn faults(&self, extent: Extent, stream: Stream) -> Option<Drawn<'_>> {
        self.faults_from(1, extent, stream)
    }

    /// The same from an iteration on, without drawing those before it.
    fn faults_from(&self, _first: u32, _extent: Extent, _stream: Stream) -> Option<Drawn<'_>> {
        None
    }

    /// For land that is an exact sum of what each iteration adds: the land after `until` iterations with its exact
    /// heights, reached from those after fewer or more iterations, or from none; to the bit what [`Self::evaluate`]
    /// makes. `None`: the land is no such sum.
    fn add_up(&self, _site: &Site, _until: u32, _from: Option<(u32, Sums)>) -> Option<ResumableLand> {
        None
    }

    /// The operation's own land after `until` iterations (at most [`Self::iterations`]), before blending. If
    /// [`Self::resumes`], it may start from a keyframe, and the result must be the same to the bit.
    fn evaluate(&self, site: &Site, until: u32, resume: Option<Keyframe>) -> Result<Heightfield, Cancelled>;
}

/// Turns the list of operations into modules, the enum [`Operation`] and its dispatch.
macro_rules! registry {
    ($( $module:ident: $name:ident, )+) => {
        $( pub mod $module; )+

        /// Any of the operations, with its parameters.
        #[derive(Clone, Debug, PartialEq)]
        pub enum Operation {
            $( #[doc = concat!("See [`", stringify!($module), "`].")] $name($module::$name), )+
        }

        $( impl From<$module::$name> for Operation {
            fn from(operation: $module::$name) -> Self {
                Self::$name(operation)
            }
        } )+

        impl Operation {
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
            pub fn resumes(&self) -> bool {
                match self { $( Self::$name(operation) => operation.resumes(), )+ }
            }

            /// The grid on which it works; see [`Operate::works_on`].
            pub fn works_on(&self, grid: Grid) -> Grid {
                match self { $( Self::$name(operation) => operation.works_on(grid), )+ }
            }

            /// The grid on which it works for a sketch; see [`Operate::sketches_on`].
            pub fn sketches_on(&self, grid: Grid) -> Grid {
                match self { $( Self::$name(operation) => operation.sketches_on(grid), )+ }
            }

            /// Its land brought to the grid of the site; see [`Operate::carried`].
            pub fn carried(&self, land: &Heightfield, site: &Site, until: u32) -> Result<Heightfield, Cancelled> {
                match self { $( Self::$name(operation) => operation.carried(land, site, until), )+ }
            }

            /// How many maps of heights it holds at once; see [`Operate::maps_held`].
            pub fn maps_held(&self, grid: Grid) -> f64 {
                match self { $( Self::$name(operation) => operation.maps_held(grid), )+ }
            }

            /// How many maps of heights it holds at once to carry its land; see [`Operate::maps_carried`].
            pub fn maps_carried(&self, grid: Grid) -> f64 {
                match self { $( Self::$name(operation) => operation.maps_carried(grid), )+ }
            }

            /// Whether a part of a grid is computed by itself; see [`Operate::can_be_cut`].
            pub fn can_be_cut(&self) -> bool {
                match self { $( Self::$name(operation) => operation.can_be_cut(), )+ }
            }

            /// The faults that it draws, if it draws faults; see [`Operate::faults`].
            pub fn faults(&self, extent: Extent, stream: Stream) -> Option<Drawn<'_>> {
                match self { $( Self::$name(operation) => operation.faults(extent, stream), )+ }
            }

            /// The same from an iteration on; see [`Operate::faults_from`].
            pub fn faults_from(&self, first: u32, extent: Extent, stream: Stream) -> Option<Drawn<'_>> {
                match self { $( Self::$name(operation) => operation.faults_from(first, extent, stream), )+ }
            }

            /// Its land where that is an exact sum; see [`Operate::add_up`].
            pub fn add_up(&self, site: &Site, until: u32, from: Option<(u32, Sums)>) -> Option<ResumableLand> {
                match self { $( Self::$name(operation) => operation.add_up(site, until, from), )+ }
            }

            /// The operation's own land after `until` iterations; see [`Operate::evaluate`].
            pub fn evaluate(
                &self,
                site: &Site,
                until: u32,
                resume: Option<Keyframe>,
            ) -> Result<Heightfield, Cancelled> {
                match self { $( Self::$name(operation) => operation.evaluate(site, until, resume), )+ }
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

impl Operation {
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
    use super::{Keyframe, Operate, Site};
    use crate::engine::heightfield::{Extent, Grid, Heightfield};
    use crate::engine::inputs::Inputs;
    use crate::engine::monitor::Monitor;
    use crate::engine::random::Stream;

    /// The random numbers of tests that ask for no others.
    pub(super) fn stream() -> Stream {
        Stream::new(3, 4)
    }

    /// What an operation makes with these random numbers, on the land below it if there is any, in so many iterations.
    pub(super) fn made(
        operation: &impl Operate,
        stream: Stream,
        grid: Grid,
        below: Option<&Heightfield>,
        until: u32,
        resume: Option<Keyframe>,
    ) -> Heightfield {
        let (inputs, monitor) = (Inputs::default(), Monitor::new());
        let site = Site { grid, below, stream, inputs: &inputs, monitor: &monitor };
        operation.evaluate(&site, until, resume).expect("not cancelled")
    }

    /// What an operation makes on the land below it, if there is any, in so many iterations.
    pub(super) fn raised(operation: &impl Operate, grid: Grid, below: Option<&Heightfield>, until: u32) -> Heightfield {
        made(operation, stream(), grid, below, until, None)
    }

    /// What an operation that raises on flat land goes on to from an earlier iteration.
    pub(super) fn resumed(operation: &impl Operate, from: Keyframe, until: u32) -> Heightfield {
        made(operation, stream(), from.land.grid(), None, until, Some(from))
    }

    /// What an operation that shapes makes of the land below it.
    pub(super) fn shaped(operation: &impl Operate, below: &Heightfield) -> Heightfield {
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
