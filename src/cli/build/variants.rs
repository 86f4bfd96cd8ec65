//! The builds for several seeds and sizes.

use crate::cli::arguments::BuildOptions;

/// The options of each build: a single one, or one for each combination of seed and size, in its own subfolder.
pub fn variants(options: &BuildOptions) -> Vec<BuildOptions> {
    let (seeds, sizes) = (&options.seeds, &options.sizes);
    if seeds.is_empty() && sizes.is_empty() {
        return vec![options.clone()];
    }
    let indices = |count: usize| if count == 0 { vec![None] } else { (0..count).map(Some).collect::<Vec<_>>() };
    let variant = |(seed, size): (Option<usize>, Option<usize>)| {
        let mut variant = options.clone();
        let mut name = Vec::new();
        if let Some(&seed) = seed.and_then(|i| seeds.get(i)) {
            variant.changes.seed = Some(seed);
            name.push(format!("seed_{seed}"));
        }
        if let Some(&size) = size.and_then(|i| sizes.get(i)) {
            variant.size = Some(size);
            name.push(format!("size_{size}"));
        }
        move_into_subfolder(&mut variant, &name.join("_"));
        variant
    };
    let sizes = indices(sizes.len());
    let pairs = indices(seeds.len()).into_iter().flat_map(|seed| sizes.iter().map(move |size| (seed, *size)));
    pairs.map(variant).collect()
}

/// Moves the output folder and all relative paths into a subfolder of the output folder.
fn move_into_subfolder(variant: &mut BuildOptions, name: &str) {
    let folder = variant.output.clone().unwrap_or_default().join(name);
    let BuildOptions { heightmap, texture, weights, mesh, frames, animation, render, maps, river_lines, .. } = variant;
    let BuildOptions { scatter, scatter_density, .. } = variant;
    let files = [heightmap, texture, weights, mesh, frames, animation, render, river_lines, scatter_density];
    let files = files.into_iter().flatten().chain(maps.0.iter_mut().map(|(_, path)| path)).chain(scatter);
    files.for_each(|path| *path = folder.join(&path));
    variant.output = Some(folder);
}
