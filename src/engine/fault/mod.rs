//! Straight faults and their sum over a grid.
//!
//! The faults of a step are summed over rows of differences: a straight step fault changes a row at one place, so a row
//! costs one crossing per fault and one running sum. Where a fault has a transition zone, the samples between its two
//! crossings are evaluated one by one. Displacements are multiples of 2⁻²⁰ m and added as integers, so the order of
//! adding cannot matter.

mod fixed_point;
mod line;
mod profile;
mod sum;

pub use fixed_point::{FixedHeights, quantized_displacement, to_exact_metres, to_metres, to_units};
pub use line::{Fault, add_fault, column_positions};
pub use profile::Profile;
pub use sum::{FaultSum, sum_of_faults};
