//! The lakes that are drawn as pads, as water over the finished terrain.

use super::cast::{ToFloat, ToInteger};
use super::heightfield::Heightfield;
use super::operations::AnyOperation;
use super::operations::pads::{PadKind, Pads};
use super::outline::Outline;
use super::recipe::Recipe;

/// The places on the shore of a lake whose median height is the level of its water.
const SHORE_PLACES: usize = 64;

/// The depth of the drawn lakes of a recipe on its finished terrain, metres, 0 where there is none: row by row at so many
/// places from west to east and from north to south, with places on the corners. `None` without lakes.
///
/// The water stands as high as the shore that was laid around it: where steps above have changed that, the level follows.
pub fn lake_depths(recipe: &Recipe, terrain: &Heightfield, [columns, rows]: [usize; 2]) -> Option<Vec<f32>> {
    let lakes: Vec<(Outline, f64)> = recipe.active_steps().flat_map(|(_, step)| outlines(&step.operation)).collect();
    if lakes.is_empty() || columns < 2 || rows < 2 {
        return None;
    }
    let extent = terrain.grid().extent();
    let (across_m, down_m) = (extent.width_m / (columns - 1).to_f64(), extent.depth_m / (rows - 1).to_f64());
    let mut depths = vec![0.0; columns * rows];
    for (lake, shore_m) in &lakes {
        let level_m = shore_height(lake, *shore_m, terrain);
        let [west, north, east, south] = lake.bounds();
        let range = |from: f64, to: f64, spacing_m: f64, count: usize| {
            let first = (from / spacing_m).ceil().max(0.0).to_usize();
            first..((to / spacing_m).floor().max(-1.0) + 1.0).to_usize().min(count)
        };
        for r in range(north, south, down_m, rows) {
            for c in range(west, east, across_m, columns) {
                let at = [c.to_f64() * across_m, r.to_f64() * down_m];
                if lake.nearest(at).is_none() {
                    let depth_m = (level_m - f64::from(terrain.height_at(at[0], at[1]))).to_f32();
                    let known = &mut depths[r * columns + c];
                    *known = f32::max(*known, depth_m);
                }
            }
        }
    }
    Some(depths)
}

/// The depth of all water at every sample of a terrain, metres, row by row, 0 where it is dry: that of the drawn lakes, and
/// below a water level if there is one. `None` if there is no water.
pub fn water_depths(recipe: &Recipe, water_m: Option<f64>, terrain: &Heightfield) -> Option<Vec<f32>> {
    let grid = terrain.grid();
    let lakes = lake_depths(recipe, terrain, [grid.width(), grid.height()]);
    let Some(level_m) = water_m.map(ToFloat::to_f32) else { return lakes };
    let mut depths = lakes.unwrap_or_else(|| vec![0.0; grid.samples()]);
    for (depth, height) in depths.iter_mut().zip(terrain.heights()) {
        *depth = depth.max(level_m - height);
    }
    Some(depths)
}

/// The outlines of the lakes of a step, and the widths of their shores.
fn outlines(operation: &AnyOperation) -> Vec<(Outline, f64)> {
    match operation {
        AnyOperation::Pads(Pads { pads }) => {
            let lakes = pads.iter().filter(|pad| pad.kind == PadKind::Lake);
            lakes.filter_map(|lake| Some((lake.outline()?, lake.shore_m))).collect()
        }
        _ => Vec::new(),
    }
}

/// The median height of the terrain along the middle of a shore.
fn shore_height(lake: &Outline, shore_m: f64, terrain: &Heightfield) -> f64 {
    let [west, north, east, south] = lake.bounds();
    let (middle, radius_m) = ([0.5 * (west + east), 0.5 * (north + south)], (east - west) + (south - north));
    let place = |i: usize| {
        let (sin, cos) = libm::sincos(std::f64::consts::TAU * i.to_f64() / SHORE_PLACES.to_f64());
        let outside = [middle[0] + radius_m * cos, middle[1] + radius_m * sin];
        let edge = lake.nearest(outside).unwrap_or(outside);
        let away = [outside[0] - edge[0], outside[1] - edge[1]];
        let share = 0.5 * shore_m / libm::hypot(away[0], away[1]);
        [edge[0] + share * away[0], edge[1] + share * away[1]]
    };
    let height = |[x_m, z_m]: [f64; 2]| f64::from(terrain.height_at(x_m, z_m));
    let mut heights: Vec<f64> = (0..SHORE_PLACES).map(place).map(height).collect();
    heights.sort_by(f64::total_cmp);
    heights[SHORE_PLACES / 2]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::heightfield::Grid;
    use crate::inputs::Inputs;
    use crate::operations::noise::Noise;
    use crate::operations::pads::{Pad, Shape};
    use crate::parameters::Point;
    use crate::progress::Progress;
    use crate::stack::evaluate;
    use crate::step::Step;

    #[test]
    fn drawn_lakes_have_their_water_within_their_outline() {
        let lake = Pad {
            kind: PadKind::Lake,
            depth_m: 12.0,
            shore_m: 60.0,
            shape: Shape::Ellipse,
            size_m: Point { x_m: 600.0, z_m: 400.0 },
            ..Pad::default()
        };
        let base = Step::new(Noise { amplitude_m: 100.0, ..Noise::default() });
        let mut recipe = Recipe { stack: vec![base], ..Recipe::default() };
        let terrain = |recipe: &Recipe| {
            let grid = Grid::new(recipe.world.extent(), 257, 257);
            evaluate(recipe, grid, None, &Inputs::default(), &Progress::new()).expect("not cancelled")
        };
        assert_eq!(lake_depths(&recipe, &terrain(&recipe), [65, 65]), None);
        let dry = terrain(&recipe);
        assert_eq!(water_depths(&recipe, None, &dry), None);
        let [low_m, high_m] = dry.min_max();
        let level_m = 0.5 * (low_m + high_m);
        let sea = water_depths(&recipe, Some(level_m.into()), &dry).expect("water");
        let expected = dry.heights().iter().map(|height_m| (level_m - height_m).max(0.0));
        assert!(sea.iter().zip(expected).all(|(found, depth_m)| (found - depth_m).abs() < 1e-3));
        recipe.stack.push(Step::new(Pads { pads: vec![lake.clone()].into() }));
        let depths = lake_depths(&recipe, &terrain(&recipe), [129, 129]).expect("a lake");
        let deepest = depths.iter().copied().fold(0.0, f32::max);
        assert!((deepest - 12.0).abs() < 0.5, "{deepest}");
        // The centre is at 2048 m; 300 m and 200 m from it is the shore.
        let at = |x_m: f64, z_m: f64| depths[(z_m / 32.0) as usize * 129 + (x_m / 32.0) as usize];
        assert!(at(2048.0, 2048.0) > 11.0 && at(2048.0 + 320.0, 2048.0) == 0.0 && at(2048.0, 2048.0 - 224.0) == 0.0);
        let wet = depths.iter().filter(|depth| **depth > 0.0).count();
        assert!((120..=220).contains(&wet), "{wet} places of 184");
        recipe.stack[1].settings.enabled = false;
        assert_eq!(lake_depths(&recipe, &terrain(&recipe), [65, 65]), None);
    }
}
