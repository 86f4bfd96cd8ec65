//! The decoded contents of the files that a recipe refers to.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{stamps, textures};
use crate::engine::parameters::{FileName, TextureName};
use crate::engine::texture::Swatch;
use crate::engine::{Inputs, Progress, Raster, Recipe};
use crate::files::io::error::FileError;

/// The bytes of the files that a recipe refers to, as stored in the project.
pub type InputFiles = BTreeMap<FileName, Arc<Vec<u8>>>;

/// Decoded files of one kind by name, each with the bytes that it was decoded from.
type Cache<Name, Content> = BTreeMap<Name, (Arc<Vec<u8>>, Arc<Content>)>;

/// A cache of decoded files. A file is only decoded again when its bytes are replaced; until then the cache returns the
/// same `Arc`, so comparing contents by pointer finds them unchanged.
#[derive(Default)]
pub struct DecodedFiles {
    rasters: Cache<FileName, Raster>,
    swatches: Cache<TextureName, Swatch>,
}

impl DecodedFiles {
    /// Decodes the inputs of a recipe: heightmaps by extension, textures by content. Projects are evaluated. Names that are not in `files` are
    /// skipped, and the steps and terrain types that use them have no input. Files that the recipe does not use leave
    /// the cache. Cancellation is checked between files and keeps what is already decoded.
    pub fn inputs(&mut self, recipe: &Recipe, files: &InputFiles, progress: &Progress) -> Result<Inputs, FileError> {
        let mut inputs = self.heightmaps(recipe, files, progress)?;
        for name in recipe.textures() {
            progress.check()?;
            if name.is_shipped() {
                inputs.swatches.insert(name.clone(), textures::shipped_texture(&name)?);
            } else if let Some(bytes) = files.get(&FileName(name.0.clone())) {
                let decode = || textures::decode_swatch(&name.0, bytes);
                inputs.swatches.insert(name.clone(), decode_cached(&mut self.swatches, &name, bytes, decode)?);
            }
        }
        self.swatches.retain(|name, _| inputs.swatches.contains_key(name));
        Ok(inputs)
    }

    /// As [`Self::inputs`], but without textures: what the terrain needs.
    pub fn heightmaps(
        &mut self,
        recipe: &Recipe,
        files: &InputFiles,
        progress: &Progress,
    ) -> Result<Inputs, FileError> {
        let mut inputs = Inputs::default();
        for name in recipe.heightmaps() {
            progress.check()?;
            if name.is_shipped() {
                inputs.rasters.insert(name.clone(), stamps::shipped_stamp(&name, progress)?);
            } else if let Some(bytes) = files.get(&name) {
                let decode = || stamps::decode_raster(&name, bytes, progress);
                inputs.rasters.insert(name.clone(), decode_cached(&mut self.rasters, &name, bytes, decode)?);
            }
        }
        self.rasters.retain(|name, _| inputs.rasters.contains_key(name));
        Ok(inputs)
    }
}

/// The content of these bytes, from the cache if it has it.
fn decode_cached<Name: Ord + Clone, Content>(
    cache: &mut Cache<Name, Content>,
    name: &Name,
    bytes: &Arc<Vec<u8>>,
    decode: impl FnOnce() -> Result<Arc<Content>, FileError>,
) -> Result<Arc<Content>, FileError> {
    if let Some((_, content)) = cache.get(name).filter(|(decoded_from, _)| Arc::ptr_eq(decoded_from, bytes)) {
        return Ok(content.clone());
    }
    let content = decode()?;
    cache.insert(name.clone(), (bytes.clone(), content.clone()));
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

    /// A recipe that uses these heightmaps and the texture rock.png.
    fn recipe(heightmaps: &[&str]) -> Recipe {
        let step = |name: &&str| Step::new(Heightmap { file: file(name), ..Default::default() });
        let mut recipe = Recipe { stack: heightmaps.iter().map(step).collect(), ..Default::default() };
        recipe.texture.types.iter_mut().for_each(|material| material.texture = None);
        recipe.texture.types[0].texture = Some(TextureName("rock.png".into()));
        recipe
    }

    /// Four heights as the bytes of a file.
    fn heights(heights: [f32; 4]) -> Arc<Vec<u8>> {
        Arc::new(heights.iter().flat_map(|height| height.to_le_bytes()).collect())
    }

    fn image(grey: u8) -> Arc<Vec<u8>> {
        let mut bytes = std::io::Cursor::new(Vec::new());
        let pixels = image::RgbImage::from_pixel(2, 2, image::Rgb([grey; 3]));
        pixels.write_to(&mut bytes, image::ImageFormat::Png).expect("written");
        Arc::new(bytes.into_inner())
    }

    #[test]
    fn files_are_decoded_by_extension_and_missing_ones_are_skipped() {
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
    fn only_files_with_new_bytes_are_decoded_again() {
        let mut decoded = DecodedFiles::default();
        let recipe = recipe(&["a.r32", "b.r32"]);
        let mut files: InputFiles =
            [(file("a.r32"), heights([1.0; 4])), (file("b.r32"), heights([2.0; 4])), (file("rock.png"), image(10))]
                .into();
        let rock = TextureName("rock.png".into());
        let first = decoded.inputs(&recipe, &files, &Progress::new()).expect("readable");

        files.insert(file("rock.png"), image(200));
        let repainted = decoded.inputs(&recipe, &files, &Progress::new()).expect("readable");
        assert!(repainted.same_rasters(&first));
        assert_ne!(repainted.swatches[&rock].mean(), first.swatches[&rock].mean());

        files.insert(file("a.r32"), heights([3.0; 4]));
        let raised = decoded.inputs(&recipe, &files, &Progress::new()).expect("readable");
        assert_eq!(raised.rasters[&file("a.r32")].samples, [3.0; 4]);
        assert!(Arc::ptr_eq(&raised.rasters[&file("b.r32")], &first.rasters[&file("b.r32")]));
        assert!(Arc::ptr_eq(&raised.swatches[&rock], &repainted.swatches[&rock]));
    }

    #[test]
    fn an_invalid_file_does_not_clear_the_cache_but_unused_files_leave_it() {
        let mut decoded = DecodedFiles::default();
        let (both, one) = (recipe(&["a.r32", "b.r32"]), recipe(&["b.r32"]));
        let mut files: InputFiles = [(file("a.r32"), heights([1.0; 4])), (file("b.r32"), heights([2.0; 4]))].into();
        let first = decoded.inputs(&both, &files, &Progress::new()).expect("readable");
        files.insert(file("rock.png"), Arc::default());
        decoded.inputs(&both, &files, &Progress::new()).expect_err("broken");
        files.remove(&file("rock.png"));
        assert!(decoded.inputs(&both, &files, &Progress::new()).expect("readable").same_rasters(&first));
        let stopped = Progress::new();
        stopped.cancel();
        assert_eq!(decoded.inputs(&one, &files, &stopped).map(drop), Err(FileError::Cancelled));
        assert_eq!(decoded.rasters.len(), 2);
        decoded.inputs(&one, &files, &Progress::new()).expect("readable");
        assert_eq!(decoded.rasters.keys().collect::<Vec<_>>(), [&file("b.r32")]);
    }
}
