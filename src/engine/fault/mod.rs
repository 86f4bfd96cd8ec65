//! Straight faults and their sum over a grid.

mod fixed_point;
mod line;
mod profile;
mod sum;

pub use fixed_point::{FixedHeights, quantized_displacement, to_exact_metres, to_metres, to_units};
pub use line::{Fault, add_fault, column_positions};
pub use profile::Profile;
pub use sum::{FaultSum, sum_of_faults};
