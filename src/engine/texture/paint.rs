//! From weights to colours: a row of pixels at a time.

use std::ops::Range;
use std::sync::Arc;

use rayon::prelude::*;

use super::cover::{Cover, LEVEL, ONE, STRETCH, Space, Texels, lies, stretches};
use super::points::{Lattice, Lines, PixelRegion, Points, Walk};
use super::weigh::{GroundRow, Palette};
use super::{RequiredMaps, SurfaceMaps, TerrainType, TextureRecipe, TypeBlend, height_range_m};
use crate::engine::heightfield::{Grid, Heightfield};
use crate::engine::image::{Image, encode, linear_from_srgb};
use crate::engine::inputs::Inputs;
use crate::engine::light::Light;
use crate::engine::parameters::{Band, Colour};
use crate::engine::progress::{Cancelled, Progress};
use crate::engine::simd::{refill, simd};

/// The colour of land without any terrain type, in linear light.
const BARE: [f32; 3] = [0.25; 3];

/// How far below the highest relief another type's relief still shows, where types join by relief: chosen by eye.
const RELIEF_DEPTH: f32 = 0.25;

/// The most texels of textures that are made ready for a painting.
const MOST_TEXELS: usize = 1 << 20;

/// The most bytes that they take.
pub const MAX_PREPARED_BYTES: u64 = (MOST_TEXELS * size_of::<[u16; 4]>()) as u64;

/// Everything that a painting is made from.
#[derive(Clone, Copy, Debug)]
pub struct PaintInput<'a> {
    /// The heights.
    pub terrain: &'a Heightfield,
    /// What else there is to know of the land; see [`SurfaceMaps::of`].
    pub surface_maps: &'a SurfaceMaps,
    /// The terrain types.
    pub recipe: &'a TextureRecipe,
    /// The range of heights that percent are taken of; `None`: the land's own.
    pub fixed_range_m: Option<Band>,
    /// The pictures that types name.
    pub inputs: &'a Inputs,
}

/// A painted land.
#[derive(Clone, Debug, PartialEq)]
pub struct PaintedTexture {
    /// The texture.
    pub picture: Image,
    /// Its colours before light fell on them, where somebody asked for both.
    pub albedo: Option<Image>,
    /// The share of the land that each active type takes, in their order.
    pub shares: Vec<f32>,
    /// The share of the land that no type covers.
    pub uncovered: f32,
}

/// The weights of the active terrain types at every point.
#[derive(Clone, Debug, PartialEq)]
pub struct Weights {
    /// Points from west to east and from north to south.
    pub size: [usize; 2],
    /// A map for each active type, in their order. Those of the types that cover ground sum to the full weight at
    /// every point.
    pub maps: Vec<Vec<u16>>,
}

/// How the land reflects light: factors on a linear colour.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lighting {
    towards: [f32; 3],
    direct: [f32; 3],
    ambient: [f32; 3],
    /// How much of the sun and of the sky the land takes away where it hides them.
    shadows: f32,
    occlusion: f32,
}

impl Lighting {
    pub(super) fn new(light: &Light) -> Self {
        let scaled = |colour: Colour, strength: f64| colour.0.map(|c| linear_from_srgb(c) * strength as f32);
        Self {
            towards: light.towards_sun(),
            direct: scaled(light.direct_colour, light.direct),
            ambient: scaled(light.ambient_colour, light.ambient),
            shadows: light.shadows as f32,
            occlusion: light.occlusion as f32,
        }
    }
}

/// How an active type colours the ground.
#[derive(Clone, Debug)]
struct Paint {
    colour: [f32; 3],
    laid: Option<Laid>,
    blend: TypeBlend,
}

/// The texture of a type.
#[derive(Clone, Copy, Debug)]
struct Laid {
    /// Its place among the covers; types of one picture at one scale share theirs.
    cover: usize,
    /// From steps to linear light in its tint.
    scale: [f32; 3],
}

impl Laid {
    /// What it shows of a channel, from 0 to 1.
    #[inline(always)]
    fn light(scale: f32, steps: u16) -> f32 {
        let light = scale * f32::from(steps);
        if light < 1.0 { light } else { 1.0 }
    }
}

impl Paint {
    /// Pictures that are not among the covers yet join them.
    fn new(ground: &TerrainType, inputs: &Inputs, lattice: Lattice, covers: &mut Vec<Cover>) -> Self {
        let colour = ground.colour.0.map(linear_from_srgb);
        let laid = ground.texture.as_ref().and_then(|name| inputs.swatch(name)).map(|swatch| {
            let cover = Cover::new(swatch.clone(), ground.repeat_m, lattice);
            let scale = cover.tint(ground.tint as f32, colour).map(|tint| tint / ONE);
            let known = covers.iter().position(|known| *known == cover);
            let cover = known.unwrap_or_else(|| {
                covers.push(cover);
                covers.len() - 1
            });
            Laid { cover, scale }
        });
        Self { colour, laid, blend: ground.blend }
    }
}

/// What is kept of the points of a picture from one painting to the next: what textures show there, which does not depend
/// on the land, and where types lie, as long as the land stays.
#[derive(Debug, Default)]
pub struct PaintCache {
    /// The points and the grid of the land on which they lie.
    place: Option<(Points, Grid)>,
    covers: Vec<Cover>,
    /// Whether the land was painted before. Most lands are painted once: only what is painted again is worth keeping.
    is_painted: bool,
    /// What the weights follow from beside the land and the covers: the limits of the types, and how they join.
    weighed: Option<(Palette, Joins)>,
    rows: Vec<KeptRow>,
}

/// How each type joins the others, and the place of its texture among the covers.
type Joins = Vec<(TypeBlend, Option<usize>)>;

/// What is kept of a row.
#[derive(Debug, Default)]
struct KeptRow {
    /// The texels of each cover.
    texels: Vec<Texels>,
    /// Whether the rest holds.
    is_weighed: bool,
    weights: Vec<Vec<f32>>,
    sums: Vec<f32>,
    gradients: [Vec<f32>; 2],
    uncovered: usize,
}

impl KeptRow {
    /// Takes what is kept to work on it, or gives it back; where types lie only if that is kept.
    fn exchange(&mut self, row: &mut Row, keeps_weights: bool) {
        std::mem::swap(&mut self.texels, &mut row.texels);
        if !keeps_weights {
            return;
        }
        std::mem::swap(&mut self.weights, &mut row.weights);
        std::mem::swap(&mut self.sums, &mut row.sums);
        let [east, south] = &mut self.gradients;
        std::mem::swap(east, &mut row.ground.east);
        std::mem::swap(south, &mut row.ground.south);
        std::mem::swap(&mut self.uncovered, &mut row.uncovered);
    }
}

impl PaintCache {
    /// The most bytes that are kept of the points; larger pictures are worked out anew each time.
    const MOST_BYTES: usize = 128 << 20;

    /// Another land comes: where types lie on it is not known.
    pub fn invalidate_terrain(&mut self) {
        self.weighed = None;
        self.is_painted = false;
    }

    /// What was laid over the points that a painter looks at.
    fn covers_of(&self, painter: &Painter) -> &[Cover] {
        if self.place == Some(painter.place()) { &self.covers } else { &[] }
    }

    /// Forgets all that is not asked for any more. Whether it is worth keeping where types lie.
    fn prepare(&mut self, painter: &Painter) -> bool {
        let place = Some(painter.place());
        let [width, height] = painter.walk.size;
        let weighed_bytes = (painter.paints.len() + 3) * size_of::<f32>() * width;
        let fits = height * (painter.covers.len() * Texels::bytes(width) + weighed_bytes) <= Self::MOST_BYTES;
        if self.place != place || !fits {
            *self = Self { place, ..Self::default() };
        }
        if !fits {
            return false;
        }
        let is_painted = std::mem::replace(&mut self.is_painted, true);
        let joins: Joins =
            painter.paints.iter().map(|paint| (paint.blend, paint.laid.map(|laid| laid.cover))).collect();
        let weighed = Some((painter.palette.clone(), joins));
        if self.weighed != weighed || self.covers != painter.covers {
            self.rows.iter_mut().for_each(|row| row.is_weighed = false);
            self.weighed = weighed;
        }
        if self.covers == painter.covers && self.rows.len() == height {
            return is_painted;
        }
        let known: Vec<Option<usize>> =
            painter.covers.iter().map(|cover| self.covers.iter().position(|known| known == cover)).collect();
        self.rows.resize_with(height, KeptRow::default);
        for KeptRow { texels, .. } in &mut self.rows {
            let kept = |at: &Option<usize>| at.map(|at| std::mem::take(&mut texels[at])).unwrap_or_default();
            *texels = known.iter().map(kept).collect();
        }
        self.covers.clone_from(&painter.covers);
        is_painted
    }
}

/// A scene made ready to be walked through row by row.
pub(super) struct Painter<'a> {
    input: PaintInput<'a>,
    walk: Walk<'a>,
    palette: Palette,
    paints: Vec<Paint>,
    covers: Vec<Cover>,
    by_relief: bool,
}

/// What is worked out for a row of points, kept from one row to the next.
#[derive(Default)]
pub(super) struct Row {
    pub(super) ground: GroundRow,
    pub(super) weights: Vec<Vec<f32>>,
    /// What the weights of the covering types sum to before they are shared out: 0 where none of them lies.
    pub(super) sums: Vec<f32>,
    /// What each cover shows.
    texels: Vec<Texels>,
    spaces: Vec<Space>,
    /// Sunlight and open sky.
    sunlight: Vec<f32>,
    sky: Vec<f32>,
    uncovered: usize,
    lines: Lines,
    /// The types that lie in a stretch.
    lying: Vec<usize>,
}

/// The sum of a row, in sixteen parts side by side.
#[inline(always)]
fn sum_of(values: &[f32]) -> f32 {
    let (blocks, rest) = values.as_chunks::<16>();
    let mut parts = [0.0; 16];
    for block in blocks {
        parts.iter_mut().zip(block).for_each(|(part, value)| *part += value);
    }
    parts.iter().chain(rest).sum()
}

/// What becomes of the colours before light falls on them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Plain {
    Kept,
    Dropped,
}

/// A row of colours in linear light, channel by channel.
pub(super) type Colours = [Vec<f32>; 3];

impl<'a> Painter<'a> {
    fn new(input: PaintInput<'a>, points: Points, progress: &Progress) -> Result<Self, Cancelled> {
        let (lattice, _) = points.lattice(input.terrain.grid());
        let mut covers = Vec::new();
        let paint = |ground| Paint::new(ground, input.inputs, lattice, &mut covers);
        let paints: Vec<Paint> = input.recipe.active().map(paint).collect();
        Ok(Self {
            input,
            walk: Walk::new(input.terrain, points),
            palette: Palette::new(input.recipe, height_range_m(input.terrain, input.fixed_range_m, progress)?),
            by_relief: paints.iter().any(|paint| paint.blend == TypeBlend::Height),
            paints,
            covers,
        })
    }

    fn place(&self) -> (Points, Grid) {
        (self.walk.points, self.input.terrain.grid())
    }

    /// Makes ready what textures are looked up in; `known` covers were laid over the same points.
    fn prepare(&mut self, known: &[Cover], progress: &Progress) -> Result<(), Cancelled> {
        // To make a texel ready takes as long as to find it where it is looked at, and some nobody looks at: so it stays a
        // small share of the painting.
        let points = self.walk.size[0].saturating_mul(self.walk.size[1]);
        let most_texels = MOST_TEXELS.min(points / 2) / self.covers.len().max(1);
        self.covers.iter_mut().try_for_each(|cover| cover.prepare(known, most_texels, progress))
    }

    /// Works out the weights of row `j`, and what they come from.
    #[inline(always)]
    fn look(&self, j: usize, row: &mut Row) {
        let Row { ground, lines, .. } = row;
        self.walk.read(self.input.terrain, j, lines, &mut ground.height_m);
        self.walk.read_gradients(j, lines, [&mut ground.east, &mut ground.south]);
        ground.find_slopes(self.palette.slope_mode, self.palette.is_skewed);
        let SurfaceMaps { humidity, shade, .. } = self.input.surface_maps;
        self.read_maps(j, lines, [(humidity, &mut ground.humidity), (shade, &mut ground.shade)]);
        row.uncovered = self.palette.weigh(&row.ground, &mut row.weights, &mut row.sums);
        if self.by_relief {
            self.lay_textures(j, row);
            self.join_by_relief(row);
        }
    }

    /// Finds how much of the sun and of the sky each point of row `j` sees.
    #[inline(always)]
    fn look_up(&self, j: usize, Row { lines, sunlight: sun, sky: open, .. }: &mut Row) {
        let SurfaceMaps { sunlight, sky, .. } = self.input.surface_maps;
        self.read_maps(j, lines, [(sunlight, sun), (sky, open)]);
    }

    /// Reads a row of maps; what nobody asked for shades and hides nothing.
    #[inline(always)]
    fn read_maps(&self, j: usize, lines: &mut Lines, maps: [(&Option<Arc<Heightfield>>, &mut Vec<f32>); 2]) {
        for (map, values) in maps {
            match map {
                Some(map) => self.walk.read(map, j, lines, values),
                None => refill(values, std::iter::repeat_n(1.0, self.walk.size[0])),
            }
        }
    }

    /// Looks up the texels of every type where it has some weight.
    #[inline(always)]
    fn lay_textures(&self, j: usize, row: &mut Row) {
        let points = self.walk.row(j);
        row.texels.resize_with(self.covers.len(), Texels::default);
        row.spaces.resize_with(self.covers.len(), Space::default);
        for (paint, weights) in self.paints.iter().zip(&row.weights) {
            if let Some(Laid { cover, .. }) = paint.laid.filter(|_| lies(weights)) {
                self.covers[cover].lay(points, weights, &mut row.texels[cover], &mut row.spaces[cover]);
            }
        }
    }

    /// Where types join by relief, the highest of the ground's reliefs, each raised by its weight, comes out on top
    /// (A. Mishkinis, "Advanced Terrain Texture Splatting", 2013). Other types have a level relief.
    ///
    /// All points of a stretch go through the same steps, so that neighbouring ones go through the vector lanes together;
    /// where no type joins by relief, the weights are taken as they were.
    #[inline(always)]
    fn join_by_relief(&self, row: &mut Row) {
        let Row { weights, texels, lying, .. } = row;
        let count = self.walk.size[0];
        for start in (0..count).step_by(STRETCH) {
            let stretch = start..count.min(start + STRETCH);
            lying.clear();
            lying.extend(
                (0..self.paints.len())
                    .filter(|&at| self.paints[at].blend.covers() && lies(&weights[at][stretch.clone()])),
            );
            let by_relief = |at: usize| self.paints[at].blend == TypeBlend::Height;
            if lying.len() < 2 || !lying.iter().any(|&at| by_relief(at)) {
                continue;
            }
            let reliefs = |at: usize| match &self.paints[at] {
                Paint { blend: TypeBlend::Height, laid: Some(laid), .. } => {
                    &texels[laid.cover].steps[3][stretch.clone()]
                }
                _ => &[LEVEL; STRETCH][..stretch.len()],
            };
            // The highest of the raised reliefs, and 1 where one of the types that lie there joins by relief.
            let mut highest = [f32::NEG_INFINITY; STRETCH];
            let (mut joins, mut sums) = ([0.0_f32; STRETCH], [0.0_f32; STRETCH]);
            for &at in &*lying {
                let (weights, joining) = (&weights[at][stretch.clone()], if by_relief(at) { 1.0_f32 } else { 0.0 });
                for (((highest, joins), weight), relief) in
                    highest.iter_mut().zip(&mut joins).zip(weights).zip(reliefs(at))
                {
                    // Worked out first and chosen after, so that there is no branch in the way of the vector lanes.
                    let raised = weight + f32::from(*relief) * (1.0 / ONE);
                    let raised = if *weight > 0.0 { raised } else { f32::NEG_INFINITY };
                    *highest = if raised > *highest { raised } else { *highest };
                    let joining = if *weight > 0.0 { joining } else { 0.0 };
                    *joins = if joining > *joins { joining } else { *joins };
                }
            }
            for &at in &*lying {
                let places = weights[at][stretch.clone()].iter_mut().zip(&mut sums).zip(reliefs(at));
                for (((weight, sum), relief), (highest, joins)) in places.zip(highest.iter().zip(&joins)) {
                    let raised = *weight + f32::from(*relief) * (1.0 / ONE) - highest + RELIEF_DEPTH;
                    let raised = if raised > 0.0 { raised } else { 0.0 };
                    let joined = if *weight > 0.0 { raised } else { 0.0 };
                    *weight = if *joins > 0.0 { joined } else { *weight };
                    *sum += *weight;
                }
            }
            for &at in &*lying {
                for ((weight, sum), joins) in weights[at][stretch.clone()].iter_mut().zip(&sums).zip(&joins) {
                    *weight = if *joins > 0.0 { *weight / sum } else { *weight };
                }
            }
        }
    }

    /// The colour of the active type at `at` at point `i` of a row, in linear light, where it has some weight.
    pub(super) fn colour_of(&self, at: usize, row: &Row, i: usize) -> [f32; 3] {
        let Paint { colour, laid, .. } = &self.paints[at];
        let of = |laid: &Laid, c: usize| Laid::light(laid.scale[c], row.texels[laid.cover].steps[c][i]);
        std::array::from_fn(|c| laid.as_ref().map_or(colour[c], |laid| of(laid, c)))
    }

    /// The colours of a row, in linear light, not lit: a channel at a time, so that neighbouring points go through the
    /// vector lanes together.
    #[inline(always)]
    fn colour(&self, row: &Row, colours: &mut Colours) {
        let covers = |paint: &Paint| paint.blend.covers();
        let covered = self.paints.iter().any(covers);
        for (channel, bare) in colours.iter_mut().zip(BARE) {
            channel.clear();
            channel.resize(self.walk.size[0], if covered { 0.0 } else { bare });
        }
        // What changes the ground comes after all that covers it, wherever it stands in the list.
        let all = || self.paints.iter().zip(&row.weights);
        for (paint, weights) in
            all().filter(|(paint, _)| covers(paint)).chain(all().filter(|(paint, _)| !covers(paint)))
        {
            let joined = |below: f32, own: f32| match paint.blend {
                TypeBlend::Normal | TypeBlend::Height => below,
                TypeBlend::Multiply => below * own,
                TypeBlend::Overlay if below < 0.5 => 2.0 * below * own,
                TypeBlend::Overlay => 1.0 - 2.0 * (1.0 - below) * (1.0 - own),
            };
            for stretch in stretches(weights) {
                let weights = &weights[stretch.clone()];
                for (c, channel) in colours.iter_mut().enumerate() {
                    let points = channel[stretch.clone()].iter_mut().zip(weights);
                    match (covers(paint), paint.laid) {
                        (true, None) => points.for_each(|(sum, weight)| *sum += weight * paint.colour[c]),
                        (true, Some(Laid { cover, scale })) => {
                            let steps = &row.texels[cover].steps[c][stretch.clone()];
                            points.zip(steps).for_each(|((sum, weight), steps)| {
                                *sum += weight * Laid::light(scale[c], *steps);
                            });
                        }
                        (false, None) => points.for_each(|(below, weight)| {
                            *below += weight * (joined(*below, paint.colour[c]) - *below);
                        }),
                        (false, Some(Laid { cover, scale })) => {
                            let steps = &row.texels[cover].steps[c][stretch.clone()];
                            points.zip(steps).for_each(|((below, weight), steps)| {
                                *below += weight * (joined(*below, Laid::light(scale[c], *steps)) - *below);
                            });
                        }
                    }
                }
            }
        }
    }

    fn rows(&self) -> Range<usize> {
        0..self.walk.size[1]
    }
}

impl Lighting {
    /// Lights a row: direct · max(0, n·L) · sunlight + ambient · sky; both shares fade with the light's settings.
    #[inline(always)]
    pub(super) fn light(&self, row: &Row, [red, green, blue]: &mut Colours) {
        let Row { ground: GroundRow { east, south, .. }, sunlight, sky, .. } = row;
        let [x, y, z] = self.towards;
        let ground = east.iter().zip(south).zip(sunlight.iter().zip(sky));
        let channels = red.iter_mut().zip(green).zip(blue);
        for (((red, green), blue), ((east, south), (sunlight, sky))) in channels.zip(ground) {
            let up = 1.0 / (1.0 + east * east + south * south).sqrt();
            let cosine = ((y - east * x - south * z) * up).max(0.0);
            let sun = cosine * (1.0 - self.shadows * (1.0 - sunlight));
            let sky = 1.0 - self.occlusion * (1.0 - sky);
            *red *= self.direct[0] * sun + self.ambient[0] * sky;
            *green *= self.direct[1] * sun + self.ambient[1] * sky;
            *blue *= self.direct[2] * sun + self.ambient[2] * sky;
        }
    }
}

/// Paints the land at all points, lit where a light is given.
pub fn paint(
    input: PaintInput,
    light: Option<&Light>,
    points: Points,
    progress: &Progress,
) -> Result<PaintedTexture, Cancelled> {
    match light.map(Lighting::new) {
        None => paint_by(None, Plain::Dropped, input, points, progress, |_, _, _| ()),
        Some(lighting) => paint_by(
            None,
            Plain::Dropped,
            input,
            points,
            progress,
            #[inline(always)]
            |_, row, colours| lighting.light(row, colours),
        ),
    }
}

/// Paints every row in the colours, in linear light, that `finish` makes of its own, which are not lit. What textures show
/// is kept on the cache, if there is one.
pub(super) fn paint_by(
    cache: Option<&mut PaintCache>,
    plain: Plain,
    input: PaintInput,
    points: Points,
    progress: &Progress,
    finish: impl Fn(&Painter, &Row, &mut Colours) + Sync,
) -> Result<PaintedTexture, Cancelled> {
    let mut painter = Painter::new(input, points, progress)?;
    painter.prepare(cache.as_ref().map_or(&[], |cache| cache.covers_of(&painter)), progress)?;
    let [width, height] = painter.walk.size;
    let counter = progress.counter(height);
    let mut pixels = vec![[0; 4]; width * height];
    let mut kept: Vec<Option<&mut KeptRow>> = Vec::with_capacity(height);
    let mut keeps_weights = false;
    if let Some(cache) = cache {
        keeps_weights = cache.prepare(&painter);
        kept.extend(cache.rows.iter_mut().map(Some));
    }
    kept.resize_with(height, || None);
    let mut albedo = match plain {
        Plain::Kept => vec![[0; 4]; width * height],
        Plain::Dropped => Vec::new(),
    };
    let mut rows_of_albedo: Vec<Option<&mut [[u8; 4]]>> = albedo.chunks_mut(width.max(1)).map(Some).collect();
    rows_of_albedo.resize_with(height, || None);
    let of_rows: Vec<(usize, Vec<f32>)> = pixels
        .par_chunks_mut(width.max(1))
        .zip(kept)
        .zip(rows_of_albedo)
        .enumerate()
        .map_init(<(Row, Colours)>::default, |(row, colours), (j, ((pixels, mut kept), albedo))| {
            match &mut kept {
                Some(kept) => kept.exchange(row, keeps_weights),
                None => row.texels.iter_mut().for_each(Texels::forget),
            }
            // Only lit ground shows nothing but what is kept.
            let is_weighed = plain == Plain::Kept && kept.as_ref().is_some_and(|kept| kept.is_weighed);
            let sums = simd(
                #[inline(always)]
                || {
                    if !is_weighed {
                        painter.look(j, row);
                        if !painter.by_relief {
                            painter.lay_textures(j, row);
                        }
                    }
                    painter.look_up(j, row);
                    painter.colour(row, colours);
                    if let Some(albedo) = albedo {
                        encode(colours, albedo);
                    }
                    finish(&painter, row, colours);
                    encode(colours, pixels);
                    // A loop of its own: what collecting calls is not inlined.
                    let mut sums = Vec::with_capacity(row.weights.len());
                    for weights in &row.weights {
                        sums.push(sum_of(weights));
                    }
                    sums
                },
            );
            let uncovered = row.uncovered;
            if let Some(kept) = kept {
                kept.exchange(row, keeps_weights);
                kept.is_weighed = keeps_weights;
            }
            counter.add_one().map(|()| (uncovered, sums))
        })
        .collect::<Result<_, _>>()?;
    let whole = 1.0 / pixels.len().max(1) as f64;
    let share = |at: usize| of_rows.iter().map(|(_, sums)| f64::from(sums[at])).sum::<f64>() * whole;
    let uncovered: usize = of_rows.iter().map(|(uncovered, _)| uncovered).sum();
    Ok(PaintedTexture {
        shares: (0..painter.palette.len()).map(|at| share(at) as f32).collect(),
        uncovered: (uncovered as f64 * whole) as f32,
        picture: Image { width, height, pixels },
        albedo: match plain {
            Plain::Kept => Some(Image { width, height, pixels: albedo }),
            Plain::Dropped => None,
        },
    })
}

/// Paints a land that is painted once: its surroundings are worked out and forgotten.
pub fn paint_once(
    terrain: &Heightfield,
    recipe: &TextureRecipe,
    fixed_range_m: Option<Band>,
    inputs: &Inputs,
    light: Option<&Light>,
    size: [usize; 2],
    progress: &Progress,
) -> Result<PaintedTexture, Cancelled> {
    let looking = || SurfaceMaps::of(terrain, RequiredMaps::of(recipe, light), progress);
    let surface_maps = &progress.stage(0.0..0.5, looking)?;
    let input = PaintInput { terrain, surface_maps, recipe, fixed_range_m, inputs };
    progress.stage(0.5..1.0, || paint(input, light, Points::Pixels(size), progress))
}

/// The place, among the active types, of the one that has the most of the ground at a place of the land, metres east
/// and south; places outside are moved to the border. `None` where no type covers ground. Where types join by relief,
/// the stones of one and the gaps of another are one place.
pub fn type_at(input: PaintInput, place_m: [f64; 2]) -> Option<usize> {
    let (grid, extent) = (input.terrain.grid(), input.terrain.grid().extent());
    let whole = [grid.width(), grid.height()];
    let pixel = |axis: usize, side_m: f64| {
        let share = (place_m[axis] / side_m).clamp(0.0, 1.0);
        ((share * whole[axis] as f64) as usize).min(whole[axis] - 1)
    };
    let first = [pixel(0, extent.width_m), pixel(1, extent.depth_m)];
    // Nobody can cancel a monitor that nobody else has.
    let range_m = height_range_m(input.terrain, input.fixed_range_m, &Progress::new()).ok()?;
    let painter = Painter {
        input,
        walk: Walk::new(input.terrain, Points::PixelRegion(PixelRegion { whole, first, size: [1, 1] })),
        palette: Palette::new(input.recipe, range_m),
        paints: Vec::new(),
        covers: Vec::new(),
        by_relief: false,
    };
    let mut row = Row::default();
    painter.look(0, &mut row);
    let covering = input.recipe.active().zip(&row.weights).enumerate().filter(|(_, (ground, _))| ground.covers());
    let heaviest = covering.max_by(|(_, (_, a)), (_, (_, b))| a[0].total_cmp(&b[0]));
    heaviest.filter(|(_, (_, weight))| weight[0] > 0.0).map(|(at, _)| at)
}

/// The weights of the active types at every point, `full` standing for the whole ground.
pub fn weigh(input: PaintInput, points: Points, full: u16, progress: &Progress) -> Result<Weights, Cancelled> {
    let mut painter = Painter::new(input, points, progress)?;
    if painter.by_relief {
        painter.prepare(&[], progress)?;
    }
    let [width, height] = painter.walk.size;
    let covers: Vec<bool> = input.recipe.active().map(TerrainType::covers).collect();
    let counter = progress.counter(height);
    let rows: Vec<Vec<u16>> = painter
        .rows()
        .into_par_iter()
        .map_init(Row::default, |row, j| {
            row.texels.iter_mut().for_each(Texels::forget);
            simd(
                #[inline(always)]
                || painter.look(j, row),
            );
            let mut whole = vec![0; covers.len() * width];
            let mut losses = Vec::with_capacity(covers.len());
            for i in 0..width {
                let give = |at, part| whole[at * width + i] = part;
                share_out(|at| row.weights[at][i], &covers, full, &mut losses, give);
            }
            counter.add_one().map(|()| whole)
        })
        .collect::<Result<_, _>>()?;
    let map = |at: usize| {
        let mut map = Vec::with_capacity(width * height);
        for row in &rows {
            map.extend_from_slice(&row[at * width..][..width]);
            progress.check()?;
        }
        Ok(map)
    };
    let maps = (0..covers.len()).into_par_iter().map(map).collect::<Result<_, _>>()?;
    Ok(Weights { size: [width, height], maps })
}

/// Whole parts of `full` by weights that sum to 1 over the types that cover ground: each is rounded down, and what is
/// left goes to those that lost most. The other types' parts are rounded by themselves.
/// `losses` is space to work in, kept from one point to the next.
fn share_out(
    weight: impl Fn(usize) -> f32,
    covers: &[bool],
    full: u16,
    losses: &mut Vec<(f32, usize)>,
    mut give: impl FnMut(usize, u16),
) {
    let exact = |at: usize| weight(at) * f32::from(full);
    let mut left = i32::from(full);
    losses.clear();
    for (at, covers) in covers.iter().enumerate() {
        if *covers {
            let part = (exact(at) as u16).min(full);
            left -= i32::from(part);
            losses.push((exact(at) - f32::from(part), at));
        } else {
            give(at, (exact(at) + 0.5) as u16);
        }
    }
    losses.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    for (place, (_, at)) in losses.iter().enumerate() {
        let part = (exact(*at) as u16).min(full);
        // Rounding leaves less than one part for each type.
        let more = if (place as i32) < left { 1 } else { 0 };
        give(*at, part + more);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::engine::heightfield::{Extent, Grid};
    use crate::engine::image::luminance;
    use crate::engine::parameters::TextureName;
    use crate::engine::texture::{Swatch, TextureSettings, Unit};

    const WORLD: Extent = Extent { width_m: 640.0, depth_m: 640.0 };

    fn ground(name: &str, colour: [u8; 3], [min, max]: [f64; 2]) -> TerrainType {
        TerrainType { name: name.into(), colour: Colour(colour), elevation: Band { min, max }, ..Default::default() }
    }

    fn metres(types: Vec<TerrainType>) -> TextureRecipe {
        TextureRecipe { settings: TextureSettings { unit: Unit::Metres, ..Default::default() }, types }
    }

    fn painted(
        terrain: &Heightfield,
        recipe: &TextureRecipe,
        light: Option<&Light>,
        size: [usize; 2],
    ) -> PaintedTexture {
        paint_once(terrain, recipe, None, &Inputs::default(), light, size, &Progress::new()).expect("not cancelled")
    }

    #[test]
    fn no_pixel_is_black_without_types() {
        let painting = painted(&Heightfield::flat(Grid::new(WORLD, 9, 9)), &metres(vec![]), None, [4, 4]);
        assert!(painting.picture.pixels.iter().all(|pixel| pixel[0] > 100));
        assert_eq!(painting.uncovered, 1.0);
    }

    #[test]
    fn colours_meet_in_linear_light_and_light_is_applied_there() {
        let white = TerrainType { elevation_release: 10.0, ..ground("white", [255; 3], [0.0, 0.0]) };
        let black = TerrainType { colour: Colour([0; 3]), ..white.clone() };
        let terrain = Heightfield::flat(Grid::new(WORLD, 9, 9));
        let light = Light { altitude_deg: 30.0, direct: 0.5, ambient: 0.25, ..Default::default() };
        let recipe = metres(vec![white, black]);
        let pixel = |light| painted(&terrain, &recipe, light, [2, 2]).picture.pixels[0];
        assert_eq!(pixel(None), [188, 188, 188, 255]);
        // Level ground under a sun at 30°: 0.5 · (0.5 · sin 30° + 0.25) = 0.25, which is 137 in sRGB.
        assert_eq!(pixel(Some(&light)), [137, 137, 137, 255]);
        assert_eq!(painted(&terrain, &recipe, None, [2, 2]).shares, [0.5, 0.5]);
    }

    #[test]
    fn pixels_lie_between_samples() {
        // A plane that rises eastward: half-way types meet exactly in the middle of the picture.
        let terrain = Heightfield::from_fn(Grid::new(WORLD, 65, 65), |c, _| c as f32);
        let sharp = |ground: TerrainType| TerrainType { elevation_release: 0.0, ..ground };
        let west = sharp(ground("west", [255, 0, 0], [0.0, 32.0]));
        let east = sharp(ground("east", [0, 0, 255], [32.0, 64.0]));
        let painting = painted(&terrain, &metres(vec![west, east]), None, [10, 6]);
        for row in painting.picture.pixels.chunks(10) {
            assert!(row[..5].iter().all(|pixel| pixel[0] == 255) && row[5..].iter().all(|pixel| pixel[2] == 255));
        }
    }

    #[test]
    fn types_that_multiply_or_overlay_change_what_is_there() {
        let terrain = Heightfield::flat(Grid::new(WORLD, 5, 5));
        let grey = ground("grey", [188; 3], [0.0, 0.0]);
        let dark = |blend| TerrainType { blend, ..ground("dark", [137; 3], [0.0, 0.0]) };
        let pixel =
            |blend| painted(&terrain, &metres(vec![grey.clone(), dark(blend)]), None, [1, 1]).picture.pixels[0][0];
        // 188 is 0.503 and 137 is 0.250 in linear light: their product is 0.126, and 1 − 2·(1 − 0.503)·(1 − 0.25) = 0.254.
        assert_eq!(
            pixel(TypeBlend::Multiply),
            crate::engine::image::srgb_from_linear(linear_from_srgb(188) * linear_from_srgb(137))
        );
        assert!((137..=139).contains(&pixel(TypeBlend::Overlay)), "{}", pixel(TypeBlend::Overlay));
        let weights = |blend| {
            let recipe = metres(vec![grey.clone(), dark(blend)]);
            let (surface_maps, inputs) = (SurfaceMaps::default(), Inputs::default());
            let input = PaintInput {
                terrain: &terrain,
                surface_maps: &surface_maps,
                recipe: &recipe,
                fixed_range_m: None,
                inputs: &inputs,
            };
            weigh(input, Points::Samples, 255, &Progress::new()).expect("not cancelled")
        };
        assert_eq!(weights(TypeBlend::Multiply).maps, [[255; 25], [255; 25]]);
        assert_eq!(weights(TypeBlend::Normal).maps, [[128; 25], [127; 25]]);
    }

    #[test]
    fn parts_sum_to_the_whole_whatever_the_weights() {
        let mut draw = crate::engine::random::Stream::new(4, 4).at(0);
        for _ in 0..2000 {
            let drawn: Vec<f32> = (0..7).map(|_| draw.unit() as f32 * f32::from(u8::from(draw.chance(0.7)))).collect();
            let sum: f32 = drawn.iter().sum();
            if sum > 0.0 {
                for full in [255, 65_535] {
                    let mut total = 0;
                    let mut given = [0; 7];
                    share_out(
                        |at| drawn[at] / sum,
                        &[true; 7],
                        full,
                        &mut Vec::new(),
                        |at, part| {
                            total += u32::from(part);
                            given[at] = part;
                        },
                    );
                    assert_eq!(total, u32::from(full));
                    let off = (0..7).map(|at| (f32::from(given[at]) - drawn[at] / sum * f32::from(full)).abs());
                    assert!(off.fold(0.0, f32::max) < 1.02);
                }
            }
        }
    }

    /// A chessboard whose fields have 8 × 8 texels.
    fn chessboard(height: usize, [bright, dark]: [[u8; 4]; 2]) -> Arc<Swatch> {
        let field = |i: usize| if (i % 64 / 8 + i / 64 / 8).is_multiple_of(2) { bright } else { dark };
        Arc::new(Swatch::new(&Image { width: 64, height, pixels: (0..64 * height).map(field).collect() }))
    }

    const BRIGHT_AND_DARK: [[u8; 4]; 2] = [[220, 220, 220, 255], [40, 60, 20, 255]];

    fn board() -> Inputs {
        let swatch = chessboard(64, BRIGHT_AND_DARK);
        Inputs { swatches: [(TextureName("board".into()), swatch)].into(), ..Default::default() }
    }

    /// A type that wears a picture as it is.
    fn worn(name: &str, repeat_m: f64) -> TerrainType {
        TerrainType { texture: Some(TextureName(name.into())), repeat_m, tint: 0.0, ..ground(name, [0; 3], [0.0, 0.0]) }
    }

    /// Level ground in metres under some types, in linear light.
    fn colours(types: Vec<TerrainType>, inputs: &Inputs, size: [usize; 2]) -> Vec<[f32; 3]> {
        let terrain = Heightfield::flat(Grid::new(WORLD, 9, 9));
        let painting = paint_once(&terrain, &metres(types), None, inputs, None, size, &Progress::new());
        let pixels = painting.expect("not cancelled").picture.pixels;
        pixels.iter().map(|&[red, green, blue, _]| [red, green, blue].map(linear_from_srgb)).collect()
    }

    fn luminances(types: Vec<TerrainType>, inputs: &Inputs, size: [usize; 2]) -> Vec<f32> {
        colours(types, inputs, size).into_iter().map(luminance).collect()
    }

    #[test]
    fn the_highest_relief_comes_out_on_top() {
        // Luminances of 0.305 and 0.003 are reliefs of 0.99 and 0.01, those of 0.223 and 0.188 are 0.54 and 0.46: where
        // the first has a stone it covers all, and where it has a gap, none.
        let names = ["stones", "pebbles"];
        let stones = [[150, 150, 150, 255], [0, 0, 60, 255]];
        let pebbles = [[130, 130, 130, 255], [120, 120, 120, 255]];
        let swatches = names.map(|name| TextureName(name.into())).into_iter();
        let swatches = swatches.zip([stones, pebbles].map(|colours| chessboard(64, colours))).collect();
        let inputs = Inputs { swatches, ..Default::default() };
        let size = [256, 256];
        let stones = colours(vec![worn("stones", 320.0)], &inputs, size);
        let types = names.map(|name| TerrainType { blend: TypeBlend::Height, ..worn(name, 320.0) });
        let (terrain, surface_maps) = (Heightfield::flat(Grid::new(WORLD, 9, 9)), SurfaceMaps::default());
        let recipe = metres(types.into());
        let input = PaintInput {
            terrain: &terrain,
            surface_maps: &surface_maps,
            recipe: &recipe,
            fixed_range_m: None,
            inputs: &inputs,
        };
        let weights = weigh(input, Points::Pixels(size), 255, &Progress::new()).expect("not cancelled");
        let (mut bright, mut dark) = (0, 0);
        for ([red, _, blue], weight) in stones.iter().zip(&weights.maps[0]) {
            // Far structure makes fields brighter or darker, but leaves their hue: stones are grey, gaps are blue.
            if red / blue > 0.98 {
                assert_eq!(*weight, 255, "a stone of {red}, {blue}");
                bright += 1;
            } else if red / blue < 0.3 {
                assert_eq!(*weight, 0, "a gap of {red}, {blue}");
                dark += 1;
            }
        }
        assert!(bright > 5000 && dark > 5000, "{bright} stones, {dark} gaps");
    }

    #[test]
    fn parts_and_threads_change_no_byte_of_a_textured_picture() {
        let terrain = Heightfield::from_fn(Grid::new(WORLD, 33, 33), |c, r| (c * r % 64) as f32);
        // In the whole picture the first is made ready and the second is found, in its parts both are found.
        let types = [64.0, 900.0].map(|repeat_m| TerrainType {
            blend: TypeBlend::Height,
            elevation_release: 64.0,
            ..worn("board", repeat_m)
        });
        let (recipe, inputs, surface_maps) = (metres(types.into()), board(), SurfaceMaps::default());
        let input = PaintInput {
            terrain: &terrain,
            surface_maps: &surface_maps,
            recipe: &recipe,
            fixed_range_m: None,
            inputs: &inputs,
        };
        let [width, height] = [203, 150];
        let painted = |points| paint(input, None, points, &Progress::new()).expect("not cancelled").picture.pixels;
        let on_threads = |count| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(count).build().expect("threads");
            pool.install(|| painted(Points::Pixels([width, height])))
        };
        let whole = on_threads(1);
        assert_eq!(whole, on_threads(3));
        let part = |west: usize, north: usize, size: [usize; 2]| {
            painted(Points::PixelRegion(PixelRegion { whole: [width, height], first: [west, north], size }))
        };
        let strips: Vec<[u8; 4]> = (0..height).step_by(30).flat_map(|north| part(0, north, [width, 30])).collect();
        assert!(whole == strips, "in strips");
        let cut: Vec<[u8; 4]> =
            whole.chunks(width).skip(11).take(50).flat_map(|row| row[37..][..91].to_vec()).collect();
        assert!(cut == part(37, 11, [91, 50]), "a piece");
    }

    #[test]
    fn oblong_pictures_keep_their_proportion() {
        let swatch = chessboard(32, BRIGHT_AND_DARK);
        let inputs = Inputs { swatches: [(TextureName("board".into()), swatch)].into(), ..Default::default() };
        let size = 512;
        let bright: Vec<bool> = luminances(vec![worn("board", 160.0)], &inputs, [size, size])
            .into_iter()
            .map(|luminance| luminance > 0.2)
            .collect();
        // Fields are square on the land: one meets as many of them eastward as southward.
        let changes = |step: usize| bright.iter().zip(&bright[step..]).filter(|(a, b)| a != b).count() as f64;
        let [eastward, southward] = [changes(1), changes(size)];
        assert!((eastward / southward - 1.0).abs() < 0.2, "{eastward} eastward, {southward} southward");
    }

    #[test]
    fn oblong_pixels_blur_by_their_longer_side() {
        let contrast = |size| {
            let found = luminances(vec![worn("board", 64.0)], &board(), size);
            let [low, high] = found.iter().fold([1.0_f32, 0.0], |[low, high], &at| [low.min(at), high.max(at)]);
            high / low
        };
        // Fields of 8 m are there for pixels of 1 m, and not for those that are 16 m long.
        assert!(contrast([640, 640]) > 10.0, "{}", contrast([640, 640]));
        for size in [[640, 40], [40, 640]] {
            assert!(contrast(size) < 6.0, "{}", contrast(size));
        }
    }

    #[test]
    fn a_texture_has_its_own_detail_and_the_mean_of_its_tint() {
        let terrain = Heightfield::flat(Grid::new(WORLD, 9, 9));
        let tiled = TerrainType {
            texture: Some(TextureName("board".into())),
            repeat_m: 64.0,
            ..ground("tiled", [120, 90, 60], [0.0, 0.0])
        };
        let inputs = board();
        let mean = |recipe: &TextureRecipe, size| {
            let painting =
                paint_once(&terrain, recipe, None, &inputs, None, size, &Progress::new()).expect("not cancelled");
            let pixels = &painting.picture.pixels;
            let mean =
                |c: usize| pixels.iter().map(|pixel| linear_from_srgb(pixel[c])).sum::<f32>() / pixels.len() as f32;
            let first = pixels[0];
            ([mean(0), mean(1), mean(2)], pixels.iter().any(|pixel| *pixel != first))
        };
        let tinted = metres(vec![tiled.clone()]);
        for size in [[512, 512], [64, 64]] {
            let (found, varied) = mean(&tinted, size);
            let expected = [120, 90, 60].map(linear_from_srgb);
            assert!(varied);
            for (found, expected) in found.iter().zip(expected) {
                assert!((found / expected - 1.0).abs() < 0.08, "{found}, not {expected} at {size:?}");
            }
        }
        let (own, _) = mean(&metres(vec![TerrainType { tint: 0.0, ..tiled }]), [512, 512]);
        let swatch = inputs.swatch(&TextureName("board".into())).expect("there").mean();
        assert!(own.iter().zip(swatch).all(|(found, expected)| (found / expected - 1.0).abs() < 0.08), "{own:?}");
    }
}
