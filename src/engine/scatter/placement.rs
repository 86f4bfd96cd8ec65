//! Which places are used, and how the instances there are rotated and scaled.

use rayon::prelude::*;

use super::bins::Bins;
use super::layer::{Avoid, ScatterLayer, Turn};
use super::orbit::Orbit;
use super::packing::{self, Place, Region, joined, mixed, places};
use crate::cast::{ToFloat, ToInteger};
use crate::heightfield::{Extent, Grid, Heightfield};
use crate::inputs::Inputs;
use crate::operations::symmetry::Isometry;
use crate::progress::{Cancelled, Progress};
use crate::recipe::Recipe;
use crate::texture::{MaskScope, PaintInput, Points, RequiredMaps, SurfaceMaps, mask_weights, weight_maps};

/// A scattered instance, such as a tree.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Instance {
    /// Metres east, up and south of the north-western corner at height 0.
    pub at_m: [f64; 3],
    /// Rotation from north, clockwise seen from above, degrees from 0 to 360.
    pub yaw_deg: f64,
    /// Then about its own axis to the east: positive lifts its front, which faces north without rotation.
    pub pitch_deg: f64,
    /// Then about its own axis to the south: positive lifts its right side.
    pub roll_deg: f64,
    /// Its size as a factor.
    pub scale: f64,
}

impl Instance {
    /// Its rotation as a quaternion x, y, z, w about the axes east, up and south: first the roll, then the pitch, then the
    /// yaw.
    pub fn rotation(&self) -> [f64; 4] {
        let half = |degrees: f64| libm::sincos(0.5 * degrees.to_radians());
        // The yaw is clockwise seen from above, which is a negative rotation about the axis upward.
        let ((sy, cy), (sp, cp), (sr, cr)) = (half(-self.yaw_deg), half(self.pitch_deg), half(self.roll_deg));
        [
            cy * sp * cr + sy * cp * sr,
            sy * cp * cr - cy * sp * sr,
            cy * cp * sr - sy * sp * cr,
            cy * cp * cr + sy * sp * sr,
        ]
    }
}

/// The instances of a layer on a terrain.
#[derive(Clone, Debug, PartialEq)]
pub struct Scattered {
    /// The index of the layer in the recipe.
    pub layer: usize,
    /// The instances: in blocks from north to south, each followed by its images on symmetric terrain.
    pub instances: Vec<Instance>,
}

/// The most places that a layer can have in a world, about.
pub fn most_places(layer: &ScatterLayer, extent: Extent) -> f64 {
    packing::density_per_m2(layer.spacing_m) * extent.width_m * extent.depth_m
}

/// The memory that [`scatter`] needs at most, its result included, bytes.
pub fn memory_bytes(layers: &[ScatterLayer], grid: Grid) -> u64 {
    let enabled = || layers.iter().filter(|layer| layer.enabled);
    let kept = enabled().map(|layer| most_places(layer, grid.extent()) * layer.amount);
    // Those of all layers, and those of one again while they are put into one list.
    let instances = 2.0 * kept.sum::<f64>() * (size_of::<Instance>() as u64).to_f64();
    let world = world_of(grid.extent());
    let packing = enabled().map(|layer| packing::memory_bytes(layer.spacing_m, &world)).max().unwrap_or_default();
    // The terrain, the weights and the maps that types and masks need, at four bytes a sample.
    instances.to_u64() + packing + 12 * 4 * grid.samples() as u64
}

fn world_of(extent: Extent) -> Region {
    Region { from_m: [0.0; 2], to_m: [extent.width_m, extent.depth_m] }
}

/// The instances of all enabled layers on a finished terrain.
///
/// The possible places depend only on the layer's spacing and seed and on the terrain's symmetry. Masks, terrain types
/// and slopes are sampled about a spacing apart, so finer terrains of the same recipe use the same places. Heights are
/// those of the terrain. On terrain with a symmetry, the instances of one part are copied to the others.
pub fn scatter(
    recipe: &Recipe,
    terrain: &Heightfield,
    inputs: &Inputs,
    progress: &Progress,
) -> Result<Vec<Scattered>, Cancelled> {
    let extent = terrain.grid().extent();
    let orbit = Orbit::of_terrain(recipe, terrain.grid());
    let scope = recipe.mask_scope(inputs);
    let enabled: Vec<usize> = (0..recipe.scatter.len()).filter(|i| recipe.scatter[*i].enabled).collect();
    let mut scattered: Vec<Scattered> = Vec::with_capacity(enabled.len());
    let share = 1.0 / enabled.len().max(1).to_f32();
    for (i, layer) in enabled.iter().map(|i| &recipe.scatter[*i]).enumerate() {
        let (from, layer_index) = (i.to_f32() * share, enabled[i]);
        let found = progress.stage(from..from + 0.5 * share, || {
            places(layer.spacing_m, seed(recipe.seed, layer), world_of(extent), progress)
        })?;
        let ground = progress
            .stage(from + 0.5 * share..from + 0.9 * share, || Ground::new(recipe, layer, terrain, &scope, progress))?;
        let avoided = avoided(recipe, layer, &scattered, extent);
        let taken = |random: u64, (isometry, at_m): (Isometry, [f64; 2])| {
            let mut random = Random(random);
            let is_taken =
                random.unit() < layer.amount * ground.share(at_m) && avoided.iter().all(|bins| !bins.any_near(at_m));
            is_taken.then(|| ground.instance(at_m, isometry, &mut random))
        };
        let of_chunk = |chunk: &[Place]| {
            progress.check()?;
            let begun = chunk.iter().filter(|place| orbit.begins_at(place, layer.spacing_m));
            let images = begun.flat_map(|place| orbit.of(place.at_m).map(|image| (place.random, image)));
            Ok(images.filter_map(|(random, image)| taken(random, image)).collect::<Vec<_>>())
        };
        let chunks: Vec<Vec<Instance>> = found.par_chunks(CHUNK).map(of_chunk).collect::<Result<_, _>>()?;
        drop(found);
        progress.report(from + share);
        scattered.push(Scattered { layer: layer_index, instances: joined(&chunks, progress)? });
    }
    Ok(scattered)
}

/// The instances that a layer avoids.
fn avoided(recipe: &Recipe, layer: &ScatterLayer, scattered: &[Scattered], extent: Extent) -> Vec<Bins> {
    let bins = |Avoid { layer: name, distance_m }: &Avoid| {
        let other = scattered.iter().find(|other| recipe.scatter[other.layer].name == *name)?;
        let points = other.instances.iter().map(|one| [one.at_m[0], one.at_m[2]]);
        Some(Bins::new(points, [extent.width_m, extent.depth_m], *distance_m))
    };
    layer.avoid.iter().filter_map(bins).collect()
}

/// The density of a layer at the centres of so many pixels from west to east and from north to south: the share of its
/// places that are used, from 0 to 255, row by row. `scattered` has the instances of the layers above it.
pub fn density_map(
    recipe: &Recipe,
    layer: usize,
    terrain: &Heightfield,
    inputs: &Inputs,
    scattered: &[Scattered],
    [width, height]: [usize; 2],
    progress: &Progress,
) -> Result<Vec<u8>, Cancelled> {
    let (layer, extent) = (&recipe.scatter[layer], terrain.grid().extent());
    let ground = Ground::new(recipe, layer, terrain, &recipe.mask_scope(inputs), progress)?;
    let avoided = avoided(recipe, layer, scattered, extent);
    let mut densities = vec![0; width * height];
    densities.par_chunks_exact_mut(width).enumerate().try_for_each(|(j, row)| {
        for (i, density) in row.iter_mut().enumerate() {
            let along = |at: usize, count: usize, side_m: f64| (at.to_f64() + 0.5) / count.to_f64() * side_m;
            let at_m = [along(i, width, extent.width_m), along(j, height, extent.depth_m)];
            if !avoided.iter().any(|bins| bins.any_near(at_m)) {
                *density = (255.0 * layer.amount * ground.share(at_m)).round().to_u8();
            }
        }
        progress.check()
    })?;
    Ok(densities)
}

/// Places per parallel task, after which cancellation is checked.
const CHUNK: usize = 1 << 13;

/// The seed of a layer's places in a recipe. Layers with the same seed and another spacing are not alike.
fn seed(recipe_seed: u32, layer: &ScatterLayer) -> u64 {
    mixed(u64::from(recipe_seed) << 32 | u64::from(layer.seed)) ^ layer.spacing_m.to_bits()
}

/// Random numbers of a place.
struct Random(u64);

impl Random {
    /// Uniform in [0, 1), with 53 random bits.
    fn unit(&mut self) -> f64 {
        self.0 = mixed(self.0);
        (self.0 >> 11).to_f64() / (1_u64 << 53).to_f64()
    }
}

/// The terrain on which a layer is placed.
struct Ground<'a> {
    layer: &'a ScatterLayer,
    terrain: &'a Heightfield,
    /// The terrain at samples about a spacing apart.
    coarse: Heightfield,
    mask: Option<Heightfield>,
    /// The share that the terrain types let the layer take.
    types: Option<Heightfield>,
}

impl<'a> Ground<'a> {
    fn new(
        recipe: &Recipe,
        layer: &'a ScatterLayer,
        terrain: &'a Heightfield,
        scope: &MaskScope,
        progress: &Progress,
    ) -> Result<Self, Cancelled> {
        let coarse = coarse(terrain, layer.spacing_m, progress)?;
        let mask = match layer.mask.as_slice() {
            [] => None,
            mask => Some(mask_weights(&coarse, mask, scope, progress)?),
        };
        let types = match layer.types.as_slice() {
            [] => None,
            _ => Some(type_shares(recipe, layer, &coarse, scope, progress)?),
        };
        Ok(Self { layer, terrain, coarse, mask, types })
    }

    /// The share of the places that are taken around one, before the layer's amount.
    fn share(&self, [x_m, z_m]: [f64; 2]) -> f64 {
        let maps = [&self.mask, &self.types].into_iter().flatten();
        maps.map(|map| f64::from(map.height_at(x_m, z_m))).product()
    }

    /// What stands at a place. It is turned like the image of something else under an isometry.
    fn instance(&self, [x_m, z_m]: [f64; 2], isometry: Isometry, random: &mut Random) -> Instance {
        let layer = self.layer;
        let grid = self.coarse.grid();
        let along = |axis: usize| grid.interpolated([x_m, z_m], |c, r| f64::from(self.coarse.gradient(c, r)[axis]));
        let needs_slope = layer.align > 0.0 || layer.turn == Turn::Downhill;
        let slope = if needs_slope { [along(0), along(1)] } else { [0.0; 2] };
        let steepness = (slope[0] * slope[0] + slope[1] * slope[1]).sqrt();
        let (turned, sized) = (random.unit(), random.unit());
        let scale = layer.scale.min + sized * (layer.scale.max - layer.scale.min);
        let yaw_deg = match layer.turn {
            Turn::Downhill if steepness > 0.0 => libm::atan2(-slope[0], slope[1]).to_degrees().rem_euclid(360.0),
            Turn::Random | Turn::Downhill => isometry.azimuth_deg(360.0 * turned),
            Turn::Bearing => isometry.azimuth_deg(layer.bearing_deg.rem_euclid(360.0)),
        };
        let height_m = f64::from(self.terrain.height_at(x_m, z_m)) - layer.sink_m * scale;
        let [pitch_deg, roll_deg] = lean_deg(slope, steepness, layer.align, yaw_deg);
        Instance { at_m: [x_m, height_m, z_m], yaw_deg, pitch_deg, roll_deg, scale }
    }
}

/// The pitch and roll that tilt an instance by a share of the terrain's slope.
fn lean_deg(slope: [f64; 2], steepness: f64, align: f64, yaw_deg: f64) -> [f64; 2] {
    if steepness == 0.0 || align == 0.0 {
        return [0.0; 2];
    }
    // The direction up from what stands there: leaning downhill, which is against the gradient.
    let lean = align * libm::atan(steepness);
    let outward = libm::sin(lean) / steepness;
    let [east, up, south] = [-slope[0] * outward, libm::cos(lean), -slope[1] * outward];
    // Seen along its own axes after the turn: right is at the yaw's right hand, front where the yaw points.
    let (sin, cos) = libm::sincos(yaw_deg.to_radians());
    let (right, front) = (east * cos + south * sin, east * sin - south * cos);
    // Turning about the right axis by the pitch and then about its own back axis by the roll moves the up direction to
    // (−sin roll, cos pitch · cos roll, sin pitch · cos roll) along right, up and back.
    let roll = -libm::asin(right.clamp(-1.0, 1.0));
    let pitch = libm::atan2(-front, up);
    [pitch.to_degrees(), roll.to_degrees()]
}

/// The terrain at samples about a spacing apart: 2ⁿ cells along each side, or its own samples if these are farther apart.
fn coarse(terrain: &Heightfield, spacing_m: f64, progress: &Progress) -> Result<Heightfield, Cancelled> {
    let grid = terrain.grid();
    let cells = |side_m: f64, samples: usize| {
        let needed = (side_m / spacing_m).ceil().max(1.0);
        if needed >= (samples - 1).to_f64() {
            samples - 1
        } else {
            needed.to_usize().next_power_of_two().min(samples - 1)
        }
    };
    let extent = grid.extent();
    let (columns, rows) = (cells(extent.width_m, grid.width()), cells(extent.depth_m, grid.height()));
    let coarse = Grid::new(extent, columns + 1, rows + 1);
    if coarse == grid {
        return terrain.copied(progress);
    }
    let mut heights = Heightfield::flat(coarse);
    heights.heights_mut().par_chunks_mut(coarse.width()).enumerate().try_for_each(|(r, row)| {
        for (c, height) in row.iter_mut().enumerate() {
            *height = terrain.height_at(coarse.x_m(c), coarse.z_m(r));
        }
        progress.check()
    })?;
    Ok(heights)
}

/// The density that a layer's terrain types give it, at every sample.
fn type_shares(
    recipe: &Recipe,
    layer: &ScatterLayer,
    terrain: &Heightfield,
    scope: &MaskScope,
    progress: &Progress,
) -> Result<Heightfield, Cancelled> {
    let texture = &recipe.texture;
    let maps = SurfaceMaps::of(terrain, RequiredMaps::of(texture, None), progress)?;
    let surface_maps = &maps.with_type_masks(terrain, texture, scope, progress)?;
    let fixed_range_m = recipe.world.height_range_m;
    let input = PaintInput { terrain, surface_maps, recipe: texture, fixed_range_m, inputs: scope.inputs };
    let weights = weight_maps(input, Points::Samples, u16::MAX, progress)?;
    let mut shares = Heightfield::flat(terrain.grid());
    for (terrain_type, map) in texture.active().zip(&weights.maps) {
        let named = layer.types.iter().find(|one| one.name == terrain_type.name);
        let Some(share) = named.filter(|_| terrain_type.covers()).map(|one| one.share) else { continue };
        let factor = (share / f64::from(u16::MAX)).to_f32();
        shares.heights_mut().par_iter_mut().zip(map).for_each(|(own, weight)| *own += factor * f32::from(*weight));
        progress.check()?;
    }
    Ok(shares)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mask::{Mask, MaskSource};
    use crate::operations::box_blur::BoxBlur;
    use crate::operations::faults::Faults;
    use crate::operations::symmetry::{Kind, Symmetry};
    use crate::parameters::{Band, List};
    use crate::recipe::{Step, World};
    use crate::scatter::TypeShare;
    use crate::stack::evaluate;
    use crate::texture::{TerrainType, TextureRecipe};

    const WORLD: Extent = Extent { width_m: 1000.0, depth_m: 500.0 };

    fn recipe(layers: Vec<ScatterLayer>) -> Recipe {
        let world = World { width_m: WORLD.width_m, depth_m: WORLD.depth_m, ..World::default() };
        Recipe { world, scatter: layers.into(), ..Recipe::default() }
    }

    fn scattered(recipe: &Recipe, terrain: &Heightfield) -> Vec<Scattered> {
        scatter(recipe, terrain, &Inputs::default(), &Progress::new()).expect("not cancelled")
    }

    /// A plane that rises to the east by a height in metres per metre, and to the south by another.
    fn plane([east, south]: [f64; 2], samples: usize) -> Heightfield {
        let grid = Grid::fitted(WORLD, samples);
        Heightfield::from_fn(grid, |c, r| (100.0 + east * grid.x_m(c) + south * grid.z_m(r)) as f32)
    }

    fn slope_mask(min: f64, max: f64) -> List<Mask> {
        let mask =
            Mask { source: MaskSource::Slope, slope_deg: Band { min, max }, feather_deg: 0.0, ..Mask::default() };
        vec![mask].into()
    }

    /// Turns a direction, as a quaternion x, y, z, w does.
    fn turned([x, y, z, w]: [f64; 4], v: [f64; 3]) -> [f64; 3] {
        let cross = |a: [f64; 3], b: [f64; 3]| {
            [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
        };
        let t = cross([x, y, z], v).map(|along| 2.0 * along);
        let u = cross([x, y, z], t);
        std::array::from_fn(|axis| v[axis] + w * t[axis] + u[axis])
    }

    fn close(a: [f64; 3], b: [f64; 3]) -> bool {
        a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-6)
    }

    #[test]
    fn aligned_things_stand_at_right_angles_to_the_slope_and_face_where_they_should() {
        let slope = [0.5, -0.25];
        let terrain = plane(slope, 129);
        let length = (1.0 + slope[0] * slope[0] + slope[1] * slope[1]).sqrt();
        let normal = [-slope[0] / length, 1.0 / length, -slope[1] / length];
        let layer = |turn, align| ScatterLayer { turn, align, bearing_deg: 90.0, ..ScatterLayer::default() };
        for turn in [Turn::Random, Turn::Downhill, Turn::Bearing] {
            for instance in &scattered(&recipe(vec![layer(turn, 1.0)]), &terrain)[0].instances {
                let up = turned(instance.rotation(), [0.0, 1.0, 0.0]);
                assert!(close(up, normal), "{up:?} {instance:?}");
            }
        }
        let upright = scattered(&recipe(vec![layer(Turn::Bearing, 0.0)]), &terrain);
        // The front is north when it is not turned; a bearing of 90° is east.
        let front = turned(upright[0].instances[0].rotation(), [0.0, 0.0, -1.0]);
        assert!(close(front, [1.0, 0.0, 0.0]), "{front:?}");
        let downhill = scattered(&recipe(vec![layer(Turn::Downhill, 0.0)]), &terrain);
        let front = turned(downhill[0].instances[0].rotation(), [0.0, 0.0, -1.0]);
        let steepness = libm::hypot(slope[0], slope[1]);
        assert!(close(front, [-slope[0] / steepness, 0.0, -slope[1] / steepness]), "{front:?}");
        // Half of the lean.
        let half = scattered(&recipe(vec![layer(Turn::Random, 0.5)]), &terrain);
        let up = turned(half[0].instances[0].rotation(), [0.0, 1.0, 0.0])[1];
        assert!((libm::acos(up) - 0.5 * libm::atan(steepness)).abs() < 1e-6);
        // Positive angles lift the front and the right side.
        let lifted = |pitch_deg, roll_deg, v: [f64; 3]| {
            let instance = Instance { at_m: [0.0; 3], yaw_deg: 30.0, pitch_deg, roll_deg, scale: 1.0 };
            turned(instance.rotation(), v)[1]
        };
        assert!(lifted(10.0, 0.0, [0.0, 0.0, -1.0]) > 0.1 && lifted(0.0, 10.0, [1.0, 0.0, 0.0]) > 0.1);
    }

    #[test]
    fn things_stand_on_the_ground_as_deep_as_they_sink() {
        let terrain = plane([0.1, 0.2], 65);
        let scale = Band { min: 0.5, max: 2.0 };
        let layer = ScatterLayer { sink_m: 3.0, scale, ..ScatterLayer::default() };
        let found = &scattered(&recipe(vec![layer]), &terrain)[0].instances;
        let mut scales: Vec<f64> = found.iter().map(|one| one.scale).collect();
        scales.sort_by(f64::total_cmp);
        assert!(scales[0] < 0.55 && scales[scales.len() - 1] > 1.95 && scales[0] >= 0.5);
        for Instance { at_m: [x, y, z], scale, .. } in found {
            let ground = 100.0 + 0.1 * x + 0.2 * z;
            assert!((y + 3.0 * scale - ground).abs() < 1e-3, "{y} on {ground}");
        }
    }

    #[test]
    fn amount_mask_and_types_decide_how_many_places_are_taken() {
        let terrain = plane([0.0; 2], 129);
        let all = most_places(&ScatterLayer::default(), WORLD);
        let share = |layer: ScatterLayer| {
            let types = vec![
                TerrainType { name: "grass".into(), ..TerrainType::default() },
                TerrainType { name: "rock".into(), slope_deg: Band { min: 60.0, max: 90.0 }, ..TerrainType::default() },
            ];
            let texture = TextureRecipe { types: types.into(), ..TextureRecipe::starter() };
            let recipe = Recipe { texture, ..recipe(vec![layer]) };
            scattered(&recipe, &terrain)[0].instances.len().to_f64() / all
        };
        let plain = ScatterLayer::default();
        assert!((share(plain.clone()) - 1.0).abs() < 0.03);
        assert!((share(ScatterLayer { amount: 0.25, ..plain.clone() }) - 0.25).abs() < 0.03);
        assert!((share(ScatterLayer { mask: slope_mask(0.0, 10.0), ..plain.clone() }) - 1.0).abs() < 0.03);
        assert_eq!(share(ScatterLayer { mask: slope_mask(20.0, 90.0), ..plain.clone() }), 0.0);
        let of = |name: &str, share| vec![TypeShare { name: name.into(), share }].into();
        let on_grass = share(ScatterLayer { types: of("grass", 0.5), ..plain.clone() });
        assert!((on_grass - 0.5).abs() < 0.03, "{on_grass}");
        assert_eq!(share(ScatterLayer { types: of("rock", 1.0), ..plain }), 0.0);
    }

    #[test]
    fn layers_on_types_that_are_not_shown_place_nothing() {
        let terrain = plane([0.0; 2], 65);
        let grass =
            |name: &str, set: &str| TerrainType { name: name.into(), set: set.into(), ..TerrainType::default() };
        let types = vec![grass("grass", "Summer"), grass("snow", "Winter")];
        let mut texture = TextureRecipe { types: types.into(), ..TextureRecipe::starter() };
        texture.settings.active_set = Some("Winter".into());
        let on = |names: &[&str]| {
            let types = names.iter().map(|name| TypeShare { name: (*name).into(), share: 1.0 }).collect::<Vec<_>>();
            ScatterLayer { types: types.into(), ..ScatterLayer::default() }
        };
        for (names, is_placed) in [(&["grass"][..], false), (&["gone"], false), (&["grass", "snow"], true), (&[], true)]
        {
            let layer = on(names);
            assert_eq!(layer.lacks_types(&texture), !is_placed, "{names:?}");
            let recipe = Recipe { texture: texture.clone(), ..recipe(vec![layer]) };
            assert_eq!(!scattered(&recipe, &terrain)[0].instances.is_empty(), is_placed, "{names:?}");
        }
    }

    #[test]
    fn the_same_places_are_taken_on_finer_terrains() {
        let hill = |samples| {
            let grid = Grid::fitted(WORLD, samples);
            Heightfield::from_fn(grid, |c, r| {
                let [x, z] = [grid.x_m(c) - 500.0, grid.z_m(r) - 250.0];
                (200.0 * libm::exp(-(x * x + z * z) / 40_000.0)) as f32
            })
        };
        let layer =
            ScatterLayer { mask: slope_mask(5.0, 90.0), spacing_m: 10.0, align: 1.0, ..ScatterLayer::default() };
        let recipe = recipe(vec![layer]);
        let places = |samples| {
            let found = scattered(&recipe, &hill(samples));
            found[0].instances.iter().map(|one| ([one.at_m[0], one.at_m[2]], one.pitch_deg)).collect::<Vec<_>>()
        };
        let [coarse, fine] = [129, 1025].map(places);
        assert!(coarse == fine && coarse.len() > 500, "{} and {} places", coarse.len(), fine.len());
    }

    #[test]
    fn layers_keep_their_distance_from_those_above() {
        let trees = ScatterLayer { name: "trees".into(), spacing_m: 30.0, ..ScatterLayer::default() };
        let avoid = vec![Avoid { layer: "trees".into(), distance_m: 9.0 }].into();
        let rocks = ScatterLayer { name: "rocks".into(), spacing_m: 6.0, avoid, seed: 1, ..ScatterLayer::default() };
        let off = ScatterLayer { enabled: false, ..trees.clone() };
        let terrain = plane([0.0; 2], 65);
        let recipe = recipe(vec![off, trees, rocks]);
        let found = scattered(&recipe, &terrain);
        assert_eq!(found.iter().map(|layer| layer.layer).collect::<Vec<_>>(), [1, 2]);
        let near = |a: &Instance, b: &Instance| libm::hypot(a.at_m[0] - b.at_m[0], a.at_m[2] - b.at_m[2]) < 9.0;
        assert!(found[1].instances.iter().all(|rock| found[0].instances.iter().all(|tree| !near(rock, tree))));
        // Between the trees there is room.
        assert!(found[1].instances.len() > 2000, "{} rocks", found[1].instances.len());
        let size = [100, 50];
        let density = density_map(&recipe, 2, &terrain, &Inputs::default(), &found, size, &Progress::new());
        let density = density.expect("not cancelled");
        assert_eq!(density.len(), 5000);
        let dense = density.iter().filter(|value| **value == 255).count();
        assert!(dense > 3000 && dense + density.iter().filter(|value| **value == 0).count() == 5000, "{dense}");
    }

    #[test]
    fn symmetric_maps_have_the_same_things_in_all_parts() {
        let symmetry = |kind, again_at_end| Step::new(Symmetry { kind, again_at_end, ..Symmetry::default() });
        let layer =
            ScatterLayer { amount: 0.6, mask: slope_mask(0.0, 25.0), spacing_m: 12.0, ..ScatterLayer::default() };
        for kind in [Kind::BothMirrors, Kind::Rotate2] {
            let faults = Step::new(Faults { displacement_m: 20.0, count: 100, ..Faults::default() });
            let filter = Step::new(BoxBlur::default());
            let stack = vec![faults, symmetry(kind, true), filter];
            let recipe = Recipe { stack, ..recipe(vec![layer.clone()]) };
            let terrain = evaluate(&recipe, Grid::fitted(WORLD, 129), None, &Inputs::default(), &Progress::new());
            let found = scattered(&recipe, &terrain.expect("not cancelled"))[0].instances.clone();
            assert!((300..3000).contains(&found.len()), "{}", found.len());
            for isometry in kind.isometries() {
                let is_there = |one: &Instance| {
                    let [x_m, z_m] = isometry.place_m([one.at_m[0], one.at_m[2]], WORLD);
                    let is_image = |other: &Instance| {
                        let [x, y, z] = other.at_m;
                        // Heights are interpolated between samples of f32.
                        (x - x_m).abs() < 1e-6 && (z - z_m).abs() < 1e-6 && (y - one.at_m[1]).abs() < 1e-3
                    };
                    let yaw_deg = isometry.azimuth_deg(one.yaw_deg);
                    let is_turned = |other: &Instance| libm::cos((other.yaw_deg - yaw_deg).to_radians()) > 0.999_999;
                    found.iter().any(|other| is_image(other) && is_turned(other) && other.scale == one.scale)
                };
                assert!(found.iter().all(is_there), "{kind:?} {isometry:?}");
            }
        }
        let count = |stack| {
            let recipe = Recipe { stack, ..recipe(vec![ScatterLayer { mask: List::default(), ..layer.clone() }]) };
            scattered(&recipe, &plane([0.0; 2], 65))[0].instances.clone()
        };
        let plain = count(vec![]);
        assert!(count(vec![symmetry(Kind::Rotate2, false)]) != plain, "the last step");
        let filter = || Step::new(BoxBlur::default());
        assert!(count(vec![symmetry(Kind::Rotate2, true), filter()]) != plain, "restored");
        assert!(count(vec![symmetry(Kind::Rotate2, false), filter()]) == plain, "not restored");
        let mut partial = symmetry(Kind::Rotate2, true);
        partial.settings.strength = 0.5;
        assert!(count(vec![partial]) == plain, "not everywhere");
    }

    #[test]
    fn results_do_not_depend_on_the_number_of_threads() {
        let terrain = plane([0.3, 0.1], 257);
        let recipe = recipe(vec![ScatterLayer { spacing_m: 2.0, amount: 0.7, align: 0.5, ..ScatterLayer::default() }]);
        let with = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
            pool.install(|| scattered(&recipe, &terrain))
        };
        assert!(with(1) == with(3));
    }
}
