//! `upthrust build`.

use std::path::{Path, PathBuf};

use serde_json::json;

use super::arguments::{BuildOptions, ProgressKind};
use super::error::CliError;
use super::size::{Pixels, Size};
use super::{interrupt, print, progress, source};
use crate::files::build::{HeightmapOrder, Order, TextureOrder, build, load_inputs};
use crate::project::Project;

/// Evaluates a recipe and writes files.
pub fn run(options: &BuildOptions) -> Result<(), CliError> {
    if options.output.is_none() && options.heightmap.is_none() && options.texture.is_none() {
        let problem = "nothing to write is asked for; name a folder with -o DIR, or a file with --heightmap FILE or \
                       --texture FILE";
        return Err(CliError::Usage(problem.into()));
    }
    let order = order(source::open(&options.source)?, options)?;
    let monitor = interrupt::monitor();
    let folder = options.output.as_deref().map(NewFolder::make).transpose()?;
    let work = || progress::show_while(options.progress, &monitor, || build(&order, &monitor));
    let written = match options.threads {
        None => work(),
        Some(threads) => {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads.into()).build();
            pool.map_err(|error| CliError::Threads(error.to_string()))?.install(work)
        }
    }?;
    if let Some(folder) = folder {
        folder.keep();
    }
    if options.progress == ProgressKind::Json {
        let files: Vec<_> = written.iter().map(|path| path.to_string_lossy()).collect();
        print::say(&json!({"done": true, "files": files}).to_string());
    } else {
        print::say_all(written.iter().map(|path| format!("wrote {}", path.display())));
    }
    Ok(())
}

fn order(project: Project, options: &BuildOptions) -> Result<Order, CliError> {
    let used = project.recipe.files();
    let files = project.files.into_iter().filter(|(name, _)| used.contains(name)).collect();
    let inputs =
        load_inputs(&project.recipe, &files).map_err(|error| CliError::FileOf(options.source.source.clone(), error))?;
    let extent = project.recipe.world.extent();
    let path_of = |own: &Option<PathBuf>, name: &str| {
        own.clone().or_else(|| options.output.as_ref().map(|folder| folder.join(name)))
    };
    let heightmap = path_of(&options.heightmap, "height.png");
    let pixels = options.texture_size.unwrap_or(Pixels::longer(project.export.texture_pixels));
    let texture = path_of(&options.texture, "texture.png");
    Ok(Order {
        name: project.name,
        grid: options.size.unwrap_or(Size::longer(project.export.samples)).grid(extent),
        recipe: project.recipe,
        position: options.iterations,
        inputs,
        heightmaps: heightmap.map(|path| HeightmapOrder { path, raw: None }).into_iter().collect(),
        texture: texture.map(|path| TextureOrder { path, size: pixels.size(extent) }),
        overwrite: options.force,
    })
}

/// A folder that is made for the output, and removed again if nothing comes to lie in it.
struct NewFolder {
    /// The folders that were not there before, innermost first.
    made: Vec<PathBuf>,
}

impl NewFolder {
    fn make(path: &Path) -> Result<Self, CliError> {
        let missing = path.ancestors().filter(|folder| !folder.as_os_str().is_empty());
        let made = missing.take_while(|folder| !folder.exists()).map(Path::to_path_buf).collect();
        std::fs::create_dir_all(path).map_err(|error| CliError::Folder(path.to_path_buf(), error.to_string()))?;
        Ok(Self { made })
    }

    fn keep(mut self) {
        self.made.clear();
    }
}

impl Drop for NewFolder {
    fn drop(&mut self) {
        for folder in &self.made {
            // Fails where something lies in it, and then it stays.
            let _ = std::fs::remove_dir(folder);
        }
    }
}
