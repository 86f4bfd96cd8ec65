//! The macro that turns the list of operations into modules, the enum `AnyOperation` and its dispatch.

/// Declares the modules of the operations, the enum `AnyOperation` and its methods, which forward to the trait.
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
            /// Every operation with its default parameters, in the order of the menus.
            pub fn all() -> Vec<Self> {
                vec![ $( Self::$name($module::$name::default()), )+ ]
            }

            /// The same operation with its default parameters.
            pub fn with_defaults(&self) -> Self {
                match self { $( Self::$name(_) => Self::$name($module::$name::default()), )+ }
            }

            /// The name in files and on the command line.
            pub fn key(&self) -> &'static str {
                match self { $( Self::$name(_) => $module::$name::KEY, )+ }
            }

            /// The name in the editor.
            pub fn label(&self) -> &'static str {
                match self { $( Self::$name(_) => $module::$name::LABEL, )+ }
            }

            /// Other words for it, under which the search finds it.
            pub fn words(&self) -> &'static str {
                match self { $( Self::$name(_) => $module::$name::WORDS, )+ }
            }

            /// A description of the operation, for tooltips.
            pub fn doc(&self) -> &'static str {
                match self { $( Self::$name(_) => $module::$name::DOC, )+ }
            }

            /// See [`Operation::role`].
            pub fn role(&self) -> Role {
                match self { $( Self::$name(operation) => operation.role(), )+ }
            }

            /// See [`Operation::adapt_to_imported_terrain`].
            pub fn adapt_to_imported_terrain(&mut self) {
                match self { $( Self::$name(operation) => operation.adapt_to_imported_terrain(), )+ }
            }

            /// See [`Operation::reads_below`].
            pub fn reads_below(&self) -> bool {
                match self { $( Self::$name(operation) => operation.reads_below(), )+ }
            }

            /// See [`Operation::check`].
            pub fn check(&self, grid: Grid) -> Result<(), ParameterError> {
                match self { $( Self::$name(operation) => operation.check(grid), )+ }
            }

            /// See [`Operation::warnings`].
            pub fn warnings(&self) -> Vec<ParameterError> {
                match self { $( Self::$name(operation) => operation.warnings(), )+ }
            }

            /// See [`Operation::uses_seed`].
            pub fn uses_seed(&self) -> bool {
                match self { $( Self::$name(operation) => operation.uses_seed(), )+ }
            }

            /// See [`Operation::has_reports`].
            pub fn has_reports(&self) -> bool {
                match self { $( Self::$name(operation) => operation.has_reports(), )+ }
            }

            /// See [`Operation::reports`].
            pub fn reports(&self, context: &EvalContext) -> Result<Vec<PartReport>, Cancelled> {
                match self { $( Self::$name(operation) => operation.reports(context), )+ }
            }

            /// See [`Operation::rock_effect`].
            pub fn rock_effect(&self) -> RockEffect {
                match self { $( Self::$name(operation) => operation.rock_effect(), )+ }
            }

            /// See [`Operation::rock_change`].
            pub fn rock_change(
                &self,
                context: &EvalContext,
                until: u32,
                below: &TerrainOnGrid,
                sediment_m: &Heightfield,
            ) -> Result<Option<RockChange>, Cancelled> {
                match self { $( Self::$name(operation) => operation.rock_change(context, until, below, sediment_m), )+ }
            }

            /// See [`Operation::iterations`].
            pub fn iterations(&self) -> u32 {
                match self { $( Self::$name(operation) => operation.iterations(), )+ }
            }

            /// See [`Operation::is_resumable`].
            pub fn is_resumable(&self) -> bool {
                match self { $( Self::$name(operation) => operation.is_resumable(), )+ }
            }

            /// See [`Operation::working_grid`].
            pub fn working_grid(&self, grid: Grid) -> Grid {
                match self { $( Self::$name(operation) => operation.working_grid(grid), )+ }
            }

            /// See [`Operation::has_own_points`].
            pub fn has_own_points(&self) -> bool {
                match self { $( Self::$name(operation) => operation.has_own_points(), )+ }
            }

            /// Whether the result is brought to the grid from a working grid or from the operation's own points.
            pub fn is_upsampled(&self, grid: Grid) -> bool {
                self.has_own_points() || self.working_grid(grid) != grid
            }

            /// See [`Operation::keyframe_interval`].
            pub fn keyframe_interval(&self) -> u32 {
                match self { $( Self::$name(operation) => operation.keyframe_interval(), )+ }
            }

            /// See [`Operation::preview_grid`].
            pub fn preview_grid(&self, grid: Grid) -> Grid {
                match self { $( Self::$name(operation) => operation.preview_grid(grid), )+ }
            }

            /// See [`Operation::upsample`].
            pub fn upsample(
                &self,
                terrain: &Heightfield,
                context: &EvalContext,
                until: u32,
            ) -> Result<Heightfield, Cancelled> {
                match self { $( Self::$name(operation) => operation.upsample(terrain, context, until), )+ }
            }

            /// See [`Operation::upsamples_parts`].
            pub fn upsamples_parts(&self, grid: Grid) -> bool {
                match self { $( Self::$name(operation) => operation.upsamples_parts(grid), )+ }
            }

            /// See [`Operation::drained_above_m`].
            pub fn drained_above_m(&self, until: u32) -> Option<f64> {
                match self { $( Self::$name(operation) => operation.drained_above_m(until), )+ }
            }

            /// See [`Operation::upsample_with`].
            pub fn upsample_with(
                &self,
                terrain: &Heightfield,
                context: &EvalContext,
                until: u32,
                below: &TerrainOnGrid,
            ) -> Result<Heightfield, Cancelled> {
                match self { $( Self::$name(operation) => operation.upsample_with(terrain, context, until, below), )+ }
            }

            /// See [`Operation::peak_maps`].
            pub fn peak_maps(&self, grid: Grid) -> f64 {
                match self { $( Self::$name(operation) => operation.peak_maps(grid), )+ }
            }

            /// See [`Operation::upsample_peak_maps`].
            pub fn upsample_peak_maps(&self, grid: Grid) -> f64 {
                match self { $( Self::$name(operation) => operation.upsample_peak_maps(grid), )+ }
            }

            /// See [`Operation::is_pointwise`].
            pub fn is_pointwise(&self) -> bool {
                match self { $( Self::$name(operation) => operation.is_pointwise(), )+ }
            }

            /// See [`Operation::faults`].
            pub fn faults(&self, extent: Extent, stream: Stream) -> Option<FaultSequence<'_>> {
                match self { $( Self::$name(operation) => operation.faults(extent, stream), )+ }
            }

            /// See [`Operation::faults_from`].
            pub fn faults_from(&self, first: u32, extent: Extent, stream: Stream) -> Option<FaultSequence<'_>> {
                match self { $( Self::$name(operation) => operation.faults_from(first, extent, stream), )+ }
            }

            /// See [`Operation::accumulate`].
            pub fn accumulate(
                &self,
                context: &EvalContext,
                until: u32,
                from: Option<(u32, FixedHeights)>,
            ) -> Option<AccumulatedHeights> {
                match self { $( Self::$name(operation) => operation.accumulate(context, until, from), )+ }
            }

            /// See [`Operation::added_since`].
            pub fn added_since(
                &self,
                context: &EvalContext,
                from: u32,
                until: u32,
            ) -> Option<Result<Heightfield, Cancelled>> {
                match self { $( Self::$name(operation) => operation.added_since(context, from, until), )+ }
            }

            /// See [`Operation::evaluate`].
            pub fn evaluate(
                &self,
                context: &EvalContext,
                until: u32,
                resume: Option<Keyframe>,
            ) -> Result<Heightfield, Cancelled> {
                match self { $( Self::$name(operation) => operation.evaluate(context, until, resume), )+ }
            }

            /// See [`Operation::evaluate_with_keyframes`].
            pub fn evaluate_with_keyframes(
                &self,
                context: &EvalContext,
                until: u32,
                resume: Option<Keyframe>,
                keyframes: &mut KeyframeSink,
            ) -> Result<Heightfield, Cancelled> {
                match self {
                    $( Self::$name(operation) =>
                        operation.evaluate_with_keyframes(context, until, resume, keyframes), )+
                }
            }

            /// The parameters, without the operation's type.
            pub fn group(&self) -> &dyn Group {
                match self { $( Self::$name(operation) => operation, )+ }
            }

            /// The parameters, without the operation's type, mutably.
            pub fn group_mut(&mut self) -> &mut dyn Group {
                match self { $( Self::$name(operation) => operation, )+ }
            }
        }
    };
}
