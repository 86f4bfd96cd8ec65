//! The ways of combining heights with those below.

use super::parameters::choices;

choices! {
    /// How the output of a step is combined with the terrain below it.
    pub enum Blend {
        /// The sum of both.
        Add = "add", "Add";
        /// The terrain below minus the step.
        Subtract = "subtract", "Subtract";
        /// The terrain below times the step, whose heights in metres are used as factors.
        Multiply = "multiply", "Multiply";
        /// The higher of both.
        Maximum = "maximum", "Maximum";
        /// The lower of both.
        Minimum = "minimum", "Minimum";
        /// The step alone.
        Replace = "replace", "Replace";
        /// The higher of both, with a rounded transition.
        SmoothMaximum = "smooth_maximum", "Smooth maximum";
        /// The lower of both, with a rounded transition.
        SmoothMinimum = "smooth_minimum", "Smooth minimum";
    }
}
