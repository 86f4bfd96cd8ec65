//! A raster for the operations that read one: rings of hills around the centre.

use std::sync::Arc;

use upthrust::engine::parameters::FileName;
use upthrust::engine::{Inputs, Raster, SampleScale};

/// The raster under a name, as the input of a recipe.
pub fn inputs(name: &str) -> Inputs {
    const SIDE: usize = 129;
    let centred = |i: usize| (2 * i) as f32 / (SIDE - 1) as f32 - 1.0;
    let brightness = |i: usize| {
        let away = libm::hypotf(centred(i % SIDE), centred(i / SIDE));
        65_535.0 * (0.5 + 0.5 * libm::cosf(12.0 * away)) * (1.0 - 0.6 * away)
    };
    let samples = (0..SIDE * SIDE).map(brightness).collect();
    let raster = Raster { width: SIDE, height: SIDE, samples, scale: SampleScale::Integers { max_value: 65_535.0 } };
    Inputs { rasters: [(FileName(name.into()), Arc::new(raster))].into(), ..Inputs::default() }
}
