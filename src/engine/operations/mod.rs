//! The operations of a recipe's stack: each has its own file and one line in the list below.
//!
//! An operation declares its parameters and implements [`Operation`]. Its card in the stack, its sliders, `--set`, the
//! `operations` listing and the validation of project files are derived from that.

mod blocks;
mod bsp_tree;
mod fault_erosion;
mod fault_evaluation;
mod fault_sequence;
mod faults_with_rivers;
mod local_blur;
mod operation;
mod refinement_grids;
mod report;
mod river_rock;
mod rock_variation;
#[macro_use]
mod registry;
mod stream_power;
mod stream_power_refinement;
#[cfg(test)]
mod testing;
mod thermal_refinement;
mod thermal_units;

use serde_json::{Map, Value};

pub use self::fault_erosion::FaultRivers;
pub use self::fault_sequence::{FaultSequence, PlacedFault, Segment, Tree};
pub use self::operation::{AccumulatedHeights, EvalContext, Keyframe, KeyframeSink, Operation, Role, TerrainOnGrid};
pub(super) use self::report::symmetry_report;
pub use self::report::{LinePoint, PartLine, PartReport};
use super::blend::Blend;
use super::fault::FixedHeights;
use super::heightfield::{Extent, Grid, Heightfield};
use super::parameters::{Group, List, Parameter, ParameterError, Parameters, Problem, nearest_name, table_to_json};
use super::progress::Cancelled;
use super::random::Stream;
use super::rock::{RockChange, RockEffect};

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
    sculpt: Sculpt,
    clamp: Clamp,
    levels: Levels,
    edge_fade: EdgeFade,
    island: Island,
    terrace: Terrace,
    paths: Paths,
    gaussian_blur: GaussianBlur,
    box_blur: BoxBlur,
    finite_filter: FiniteFilter,
    band_filter: BandFilter,
    kernel_filter: KernelFilter,
    symmetry: Symmetry,
    pads: Pads,
    stamps: Stamps,
    group: StepGroup,
}

impl AnyOperation {
    /// The operation with the given key, with its default parameters.
    pub fn from_key(key: &str) -> Result<Self, ParameterError> {
        let all = Self::all();
        let choices: Vec<&'static str> = all.iter().map(Self::key).collect();
        all.into_iter().find(|operation| operation.key() == key).ok_or_else(|| ParameterError {
            path: "operation".into(),
            problem: Problem::UnknownChoice {
                label: "Operation",
                found: match nearest_name(key, choices.iter().copied()) {
                    Some(nearest) => format!("\"{key}\" (did you mean \"{nearest}\"?)"),
                    None => format!("\"{key}\""),
                },
                choices,
            },
        })
    }

    /// The blend mode of a new step: generators are added, modifiers replace the terrain below.
    pub fn default_blend(&self) -> Blend {
        match self.role() {
            Role::Generator => Blend::Add,
            Role::Modifier => Blend::Replace,
        }
    }

    /// The operation before anything was drawn in it. Operations without shapes are returned unchanged.
    pub fn emptied(&self) -> Self {
        match self {
            Self::Sculpt(_) => sculpt::Sculpt { strokes: List::default() }.into(),
            Self::Paths(_) => paths::Paths { paths: List::default() }.into(),
            Self::Pads(_) => pads::Pads { pads: List::default() }.into(),
            Self::Stamps(_) => stamps::Stamps { stamps: List::default() }.into(),
            Self::DrawnFaults(_) => drawn_faults::DrawnFaults { faults: List::default() }.into(),
            other => other.clone(),
        }
    }

    /// The number of shapes that were drawn in it.
    pub fn shapes(&self) -> usize {
        match self {
            Self::Sculpt(sculpt) => sculpt.strokes.len(),
            Self::Paths(paths) => paths.paths.len(),
            Self::Pads(pads) => pads.pads.len(),
            Self::Stamps(stamps) => stamps.stamps.len(),
            Self::DrawnFaults(faults) => faults.faults.len(),
            _ => 0,
        }
    }

    /// The table of the operation's parameters.
    pub fn table(&self) -> &'static [Parameter] {
        self.group().table()
    }

    /// The operation's entry in the `operations` listing.
    pub fn to_json(&self) -> Value {
        let mut row = Map::new();
        row.insert("key".into(), self.key().into());
        row.insert("label".into(), self.label().into());
        row.insert("doc".into(), self.doc().into());
        row.insert("blend".into(), self.default_blend().key().into());
        row.insert("parameters".into(), table_to_json(self.table()));
        Value::Object(row)
    }
}
