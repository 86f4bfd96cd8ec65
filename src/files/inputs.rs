//! The contents of the files that a recipe names, decoded.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use super::error::FileError;
use super::{heightmap, swatches};
use crate::engine::parameters::{FileName, TextureName};
use crate::engine::texture::Swatch;
use crate::engine::{Inputs, Progress, Raster, Recipe};

/// The bytes of the files that a recipe names, as the project holds them.
pub type InputFiles = BTreeMap<FileName, Arc<Vec<u8>>>;

/// Decoded files of one kind by their names, each with the bytes that it was decoded from.
type Known<Name, Content> = BTreeMap<Name, (Arc<Vec<u8>>, Arc<Content>)>;

/// What was decoded last. A file whose bytes are still the very same is not decoded again, and its content stays the
/// very same too: whoever compares contents by their place in memory computes nothing anew.
#[derive(Default)]
pub struct DecodedFiles {
    rasters: Known<FileName, Raster>,
    swatches: Known<TextureName, Swatch>,
}

impl DecodedFiles {
    /// What a recipe draws on: heightmaps by the endings of their names, pictures by their contents. Names that are not
    /// among the files are left out; steps and types that use them do without. What the recipe does not name is
    /// forgotten. A stop takes effect between two files, and costs nothing that was decoded.
    pub fn inputs(&mut self, recipe: &Recipe, files: &InputFiles, progress: &Progress) -> Result<Inputs, FileError> {
        let mut inputs = Inputs::default();
        for name in recipe.heightmaps() {
            progress.check()?;
            if let Some(bytes) = files.get(&name) {
                let decode = || Ok(Arc::new(heightmap::decode(Path::new(&name.0), bytes, None)?.raster));
                inputs.rasters.insert(name.clone(), known(&mut self.rasters, &name, bytes, decode)?);
            }
        }
        for name in recipe.textures() {
            progress.check()?;
            if name.is_shipped() {
                inputs.swatches.insert(name.clone(), swatches::shipped(&name)?);
            } else if let Some(bytes) = files.get(&FileName(name.0.clone())) {
                let decode = || swatches::decode(&name.0, bytes);
                inputs.swatches.insert(name.clone(), known(&mut self.swatches, &name, bytes, decode)?);
            }
        }
        self.rasters.retain(|name, _| inputs.rasters.contains_key(name));
        self.swatches.retain(|name, _| inputs.swatches.contains_key(name));
        Ok(inputs)
    }
}

/// What these bytes were decoded to, now or before.
fn known<Name: Ord + Clone, Content>(
    known: &mut Known<Name, Content>,
    name: &Name,
    bytes: &Arc<Vec<u8>>,
    decode: impl FnOnce() -> Result<Arc<Content>, FileError>,
) -> Result<Arc<Content>, FileError> {
    if let Some((_, content)) = known.get(name).filter(|(seen, _)| Arc::ptr_eq(seen, bytes)) {
        return Ok(content.clone());
    }
    let content = decode()?;
    known.insert(name.clone(), (bytes.clone(), content.clone()));
    Ok(content)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Step;
    use crate::engine::operations::heightmap::Heightmap;

    fn file(name: &str) -> FileName {
        FileName(name.into())
    }

    /// A recipe that draws on these heightmaps and on the picture ground.png.
    fn recipe(heightmaps: &[&str]) -> Recipe {
        let step = |name: &&str| Step::new(Heightmap { file: file(name), ..Default::default() });
        let mut recipe = Recipe { stack: heightmaps.iter().map(step).collect(), ..Default::default() };
        recipe.texture.types.iter_mut().for_each(|ground| ground.texture = None);
        recipe.texture.types[0].texture = Some(TextureName("ground.png".into()));
        recipe
    }

    /// Four heights as the bytes of a file.
    fn heights(heights: [f32; 4]) -> Arc<Vec<u8>> {
        Arc::new(heights.iter().flat_map(|height| height.to_le_bytes()).collect())
    }

    fn picture(grey: u8) -> Arc<Vec<u8>> {
        let mut bytes = std::io::Cursor::new(Vec::new());
        let pixels = image::RgbImage::from_pixel(2, 2, image::Rgb([grey; 3]));
        pixels.write_to(&mut bytes, image::ImageFormat::Png).expect("written");
        Arc::new(bytes.into_inner())
    }

    #[test]
    fn files_are_decoded_by_their_names_and_missing_ones_left_out() {
        let files = [(file("a.r32"), heights([1.0, 2.0, 3.0, 4.0]))].into();
        let inputs = DecodedFiles::default()
            .inputs(&recipe(&["a.r32", "none.png"]), &files, &Progress::new())
            .expect("readable");
        let samples = inputs.rasters.values().map(|raster| raster.samples.clone()).collect::<Vec<_>>();
        assert_eq!(samples, [[1.0, 2.0, 3.0, 4.0]]);
        assert!(inputs.swatches.is_empty());
        let files = [(file("a.png"), Arc::default())].into();
        let error = DecodedFiles::default()
            .inputs(&recipe(&["a.png"]), &files, &Progress::new())
            .expect_err("empty")
            .to_string();
        assert!(error.starts_with("a.png: "), "{error}");
    }

    #[test]
    fn only_files_with_other_bytes_are_decoded_again() {
        let mut decoded = DecodedFiles::default();
        let recipe = recipe(&["a.r32", "b.r32"]);
        let mut files: InputFiles =
            [(file("a.r32"), heights([1.0; 4])), (file("b.r32"), heights([2.0; 4])), (file("ground.png"), picture(10))]
                .into();
        let ground = TextureName("ground.png".into());
        let first = decoded.inputs(&recipe, &files, &Progress::new()).expect("readable");

        files.insert(file("ground.png"), picture(200));
        let repainted = decoded.inputs(&recipe, &files, &Progress::new()).expect("readable");
        assert!(repainted.same_rasters(&first));
        assert_ne!(repainted.swatches[&ground].mean(), first.swatches[&ground].mean());

        files.insert(file("a.r32"), heights([3.0; 4]));
        let raised = decoded.inputs(&recipe, &files, &Progress::new()).expect("readable");
        assert_eq!(raised.rasters[&file("a.r32")].samples, [3.0; 4]);
        assert!(Arc::ptr_eq(&raised.rasters[&file("b.r32")], &first.rasters[&file("b.r32")]));
        assert!(Arc::ptr_eq(&raised.swatches[&ground], &repainted.swatches[&ground]));
    }

    #[test]
    fn a_broken_file_costs_nothing_that_was_decoded_and_what_is_not_named_is_forgotten() {
        let mut decoded = DecodedFiles::default();
        let (both, one) = (recipe(&["a.r32", "b.r32"]), recipe(&["b.r32"]));
        let mut files: InputFiles = [(file("a.r32"), heights([1.0; 4])), (file("b.r32"), heights([2.0; 4]))].into();
        let first = decoded.inputs(&both, &files, &Progress::new()).expect("readable");
        files.insert(file("ground.png"), Arc::default());
        decoded.inputs(&both, &files, &Progress::new()).expect_err("broken");
        files.remove(&file("ground.png"));
        assert!(decoded.inputs(&both, &files, &Progress::new()).expect("readable").same_rasters(&first));
        let stopped = Progress::new();
        stopped.cancel();
        assert_eq!(decoded.inputs(&one, &files, &stopped).map(drop), Err(FileError::Cancelled));
        assert_eq!(decoded.rasters.len(), 2);
        decoded.inputs(&one, &files, &Progress::new()).expect("readable");
        assert_eq!(decoded.rasters.keys().collect::<Vec<_>>(), [&file("b.r32")]);
    }
}
