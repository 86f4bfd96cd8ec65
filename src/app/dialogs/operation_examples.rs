//! Example recipes for the thumbnails of operations.

use std::sync::Arc;

use crate::engine::cast::ToInteger;
use crate::engine::fault::Profile;
use crate::engine::operations::Role;
use crate::engine::operations::faults::{Decay, Faults};
use crate::engine::operations::stamps::{Stamp, Stamps};
use crate::engine::parameters::{FileName, Point};
use crate::engine::recipe::World;
use crate::engine::{AnyOperation, Recipe, Step};
use crate::worker::{InputFiles, ThumbnailRequest, ThumbnailStyle};

/// The request for the thumbnail of an operation: its example, after the base terrain if it is a modifier.
pub(crate) fn example_request(operation: &AnyOperation, pixels: usize, aspect: f32) -> ThumbnailRequest {
    thumbnail_request(operation.key(), operation.role(), example_steps(operation), pixels, aspect)
}

/// The request for the thumbnail of the terrain before a modifier.
pub(crate) fn base_request(key: &str, pixels: usize, aspect: f32) -> ThumbnailRequest {
    thumbnail_request(key, Role::Modifier, base_steps(), pixels, aspect)
}

/// A thumbnail of the default world, which is cropped; of a modifier, of a world with the thumbnail's aspect ratio
/// (height to width), because its effect at the border must be visible.
fn thumbnail_request(
    key: &str,
    role: Role,
    (mut stack, files): (Vec<Step>, InputFiles),
    pixels: usize,
    aspect: f32,
) -> ThumbnailRequest {
    for (step, seed) in stack.iter_mut().zip(0..) {
        step.settings.seed = seed;
    }
    let mut world = World::default();
    if role == Role::Modifier {
        world.depth_m = world.width_m * f64::from(aspect);
    }
    let recipe = Recipe { seed: 5, world, stack, ..Default::default() };
    let style = ThumbnailStyle::Relief;
    ThumbnailRequest { key: key.into(), recipe: Arc::new(recipe), files, pixels, style }
}

/// The steps that show what an operation does: the operation alone, or a modifier after the base terrain.
fn example_steps(operation: &AnyOperation) -> (Vec<Step>, InputFiles) {
    let (mut steps, mut files) = match operation.role() {
        Role::Generator => (Vec::new(), InputFiles::new()),
        Role::Modifier => base_steps(),
    };
    let mut operation = operation.clone();
    if let AnyOperation::Heightmap(heightmap) = &mut operation {
        // Its default names no file.
        let name = FileName("mountain.pgm".into());
        heightmap.file = name.clone();
        files.insert(name, Arc::new(mountain_pgm()));
    }
    if let AnyOperation::Stamps(Stamps { stamps }) = &mut operation {
        // Its default is in the middle of a square world.
        let point = |x_m, z_m| Point { x_m, z_m };
        *stamps =
            vec![Stamp { centre_m: point(2048.0, 1100.0), size_m: point(1800.0, 1800.0), ..Default::default() }].into();
    }
    steps.push(Step::new(operation));
    (steps, files)
}

/// Terrain on which every modifier has a visible effect: broad hills and hollows with cracks in them.
fn base_steps() -> (Vec<Step>, InputFiles) {
    let hills = Faults {
        count: 120,
        displacement_m: 60.0,
        decay: Decay::Constant,
        profile: Profile::Cosine,
        zone_m: 700.0,
        ..Default::default()
    };
    let cracks = Faults { count: 250, displacement_m: 4.0, decay: Decay::Constant, ..Default::default() };
    (vec![Step::new(hills), Step::new(cracks)], InputFiles::new())
}

/// A mountain with a crater, as a grey image.
fn mountain_pgm() -> Vec<u8> {
    const SIDE: u8 = 64;
    let mut bytes = format!("P5 {SIDE} {SIDE} 255\n").into_bytes();
    for z in 0..SIDE {
        for x in 0..SIDE {
            let centred = |i: u8| (f64::from(i) + 0.5) / f64::from(SIDE) * 2.0 - 1.0;
            let (x, z) = (1.5 * centred(x), centred(z));
            let (distance, direction) = ((x * x + z * z).sqrt(), libm::atan2(z, x));
            let ribs = 1.0 + 0.1 * libm::sin(7.0 * direction + 3.0 * libm::sin(5.0 * distance)) * distance.min(1.0);
            let slope = libm::exp(-1.4 * distance * ribs);
            let crater = 0.55 * libm::exp(-40.0 * distance * distance);
            bytes.push((255.0 * (slope - crater).clamp(0.0, 1.0)).to_u8());
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_example_has_its_operation_and_its_files() {
        for operation in AnyOperation::all() {
            let request = example_request(&operation, 16, 0.5);
            assert_eq!(request.recipe.stack.last().map(|step| step.operation.key()), Some(operation.key()));
            assert!(request.recipe.files().iter().all(|name| request.files.contains_key(name)));
        }
    }
}
