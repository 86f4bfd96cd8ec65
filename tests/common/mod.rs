//! What the tests of every operation share.

use std::sync::{Arc, LazyLock};

use serde_json::Value;
use upthrust::engine::operations::faults::Faults;
use upthrust::engine::parameters::{FileName, Kind};
use upthrust::engine::{Inputs, Operation, Raster, SampleScale, Step};

/// One raster named "hills", for the operations that read files. Always the very same one: an evaluator forgets
/// everything when its inputs are others.
pub fn inputs() -> &'static Inputs {
    static INPUTS: LazyLock<Inputs> = LazyLock::new(|| {
        let samples = (0..35).map(|i| (i * i % 17) as f32).collect();
        let raster = Raster { width: 7, height: 5, samples, scale: SampleScale::Metres };
        Inputs { rasters: [(FileName("hills".into()), Arc::new(raster))].into(), ..Default::default() }
    });
    &INPUTS
}

/// Every operation with its default parameters; those that read a file read the one in [`inputs`].
pub fn operations() -> Vec<Operation> {
    let mut operations = Operation::all();
    for operation in &mut operations {
        for parameter in operation.table().iter().filter(|parameter| matches!(parameter.kind, Kind::File)) {
            operation.group_mut().set(parameter.key, &Value::from("hills")).expect("the name of a file");
        }
    }
    operations
}

/// The operation as a step on land that so many faults have raised.
pub fn on_fault_land(operation: Operation, count: u32) -> Vec<Step> {
    let mut step = Step::new(operation);
    step.settings.seed = 1;
    vec![Step::new(Faults { count, ..Default::default() }), step]
}
