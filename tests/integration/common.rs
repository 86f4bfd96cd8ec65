//! What the tests of every operation share.

use std::sync::{Arc, LazyLock};

use serde_json::Value;
use upthrust::engine::operations::faults::Faults;
use upthrust::engine::parameters::{FileName, Kind, TextureName};
use upthrust::engine::texture::{Swatch, TextureRecipe};
use upthrust::engine::{AnyOperation, Image, Inputs, Raster, SampleScale, Step};

/// The picture in [`inputs`].
const GRASS: &str = "assets/grass.jpg";

/// One raster named "hills", for the operations that read files, and a picture of grass. Always the very same ones: an
/// evaluator forgets everything when its inputs are others.
pub fn inputs() -> &'static Inputs {
    static INPUTS: LazyLock<Inputs> = LazyLock::new(|| {
        let samples = (0..35).map(|i| (i * i % 17) as f32).collect();
        let raster = Raster { width: 7, height: 5, samples, scale: SampleScale::Metres };
        let pixel = |i: usize| [(i * 31 % 251) as u8, (i * 7 % 199) as u8, (i / 128 * 13 % 255) as u8, 255];
        let grass = Image { width: 128, height: 96, pixels: (0..128 * 96).map(pixel).collect() };
        Inputs {
            rasters: [(FileName("hills".into()), Arc::new(raster))].into(),
            swatches: [(TextureName(GRASS.into()), Arc::new(Swatch::new(&grass)))].into(),
        }
    });
    &INPUTS
}

/// The same types in textures, each repeated after metres of its own.
pub fn textured(recipe: &TextureRecipe, repeat_m: f64) -> TextureRecipe {
    let mut recipe = recipe.clone();
    for (ground, repeats) in recipe.types.iter_mut().zip([1.0, 2.3, 9.1].into_iter().cycle()) {
        (ground.texture, ground.repeat_m) = (Some(TextureName(GRASS.into())), repeats * repeat_m);
    }
    recipe
}

/// Every operation with its default parameters; those that read a file read the one in [`inputs`].
pub fn operations() -> Vec<AnyOperation> {
    let mut operations = AnyOperation::all();
    for operation in &mut operations {
        for parameter in operation.table().iter().filter(|parameter| matches!(parameter.kind, Kind::File)) {
            operation.group_mut().set(parameter.key, &Value::from("hills")).expect("the name of a file");
        }
    }
    operations
}

/// The operation as a step on land that so many faults have raised.
pub fn on_fault_terrain(operation: AnyOperation, count: u32) -> Vec<Step> {
    let mut step = Step::new(operation);
    step.settings.seed = 1;
    vec![Step::new(Faults { count, ..Default::default() }), step]
}
