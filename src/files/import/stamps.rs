//! Terrain that recipes use as heightmaps: imported heightmaps, the terrain of other projects, and the stamps that ship
//! with the program, which are projects too.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use crate::engine::parameters::FileName;
use crate::engine::{Grid, Inputs, Progress, Raster, SampleScale, stack};
use crate::files::formats::heightmap::decode as decode_heightmap;
use crate::files::io::error::FileError;
use crate::project::{Project, ProjectFile};

macro_rules! shipped {
    ($($name:literal),+ $(,)?) => {
        [$((
            concat!("assets/stamps/", $name, ".upthrust.json"),
            include_bytes!(concat!("../../../assets/stamps/", $name, ".upthrust.json")),
        )),+]
    };
}

/// The stamps that ship with the program, by the names that recipes use: project files.
pub static SHIPPED_STAMPS: [(&str, &[u8]); 13] = shipped![
    "hill",
    "crater",
    "caldera",
    "mesa",
    "butte",
    "sea-stack",
    "terraces",
    "cirque",
    "u-valley",
    "moraine",
    "fan",
    "sinkhole",
    "dune-field",
];

/// The samples along the longer side of the terrain of a project that is used as a heightmap.
const SAMPLES: usize = 513;

/// The project of a stamp that ships with the program: its name, its description and its size.
pub fn shipped_stamp_project(name: &FileName) -> Result<ProjectFile, FileError> {
    let Some((key, bytes)) = SHIPPED_STAMPS.iter().find(|(key, _)| *key == name.0) else {
        let known = SHIPPED_STAMPS.map(|(key, _)| key).join(", ");
        let problem = format!("there is no built-in stamp with this name; available: {known}");
        return Err(FileError::invalid(Path::new(&name.0), problem));
    };
    read_project(Path::new(key), bytes)
}

/// The terrain of a stamp that ships with the program, evaluated once per process.
pub fn shipped_stamp(name: &FileName, progress: &Progress) -> Result<Arc<Raster>, FileError> {
    static EVALUATED: Mutex<BTreeMap<FileName, Arc<Raster>>> = Mutex::new(BTreeMap::new());
    if let Some(raster) = lock(&EVALUATED).get(name) {
        return Ok(raster.clone());
    }
    let project = shipped_stamp_project(name)?.project;
    // Not while the map is locked: another thread could wait for it inside the evaluation.
    let raster = evaluated(Path::new(&name.0), &project, progress)?;
    // If two threads evaluated it, both use the raster of the first one.
    Ok(lock(&EVALUATED).entry(name.clone()).or_insert(raster).clone())
}

/// The contents of a file that a recipe uses as a heightmap.
pub(super) fn decode_raster(
    name: &FileName,
    bytes: &Arc<Vec<u8>>,
    progress: &Progress,
) -> Result<Arc<Raster>, FileError> {
    let path = Path::new(&name.0);
    if name.is_project() { project_raster(path, bytes, progress) } else { decode_imported(path, bytes) }
}

fn decode_imported(path: &Path, bytes: &[u8]) -> Result<Arc<Raster>, FileError> {
    Ok(Arc::new(decode_heightmap(path, bytes, None)?.raster))
}

/// The terrain of a project. It is evaluated once for the same bytes while anything holds them: previews, thumbnails and
/// exports share it.
fn project_raster(path: &Path, bytes: &Arc<Vec<u8>>, progress: &Progress) -> Result<Arc<Raster>, FileError> {
    type Evaluated = Vec<(Weak<Vec<u8>>, Arc<Raster>)>;
    static EVALUATED: Mutex<Evaluated> = Mutex::new(Evaluated::new());
    let known = |evaluated: &Evaluated| {
        let is_same = |(of, _): &&(Weak<Vec<u8>>, Arc<Raster>)| of.as_ptr() == Arc::as_ptr(bytes);
        evaluated.iter().find(is_same).map(|(_, raster)| raster.clone())
    };
    if let Some(raster) = known(&lock(&EVALUATED)) {
        return Ok(raster);
    }
    let project = read_project(path, bytes)?.project;
    let raster = evaluated(path, &project, progress)?;
    let mut evaluated = lock(&EVALUATED);
    evaluated.retain(|(of, _)| of.strong_count() > 0);
    if let Some(raster) = known(&evaluated) {
        return Ok(raster);
    }
    evaluated.push((Arc::downgrade(bytes), raster.clone()));
    Ok(raster)
}

/// Reads the bytes of a project.
pub(super) fn read_project(path: &Path, bytes: &[u8]) -> Result<ProjectFile, FileError> {
    ProjectFile::from_bytes(bytes).map_err(|error| FileError::invalid(path, error.to_string()))
}

/// Locks a map that is consistent after every statement, so a panic elsewhere cannot have corrupted it.
fn lock<T>(map: &Mutex<T>) -> MutexGuard<'_, T> {
    map.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The terrain of a project as a map of heights.
fn evaluated(path: &Path, project: &Project, progress: &Progress) -> Result<Arc<Raster>, FileError> {
    let (recipe, grid) = (&project.recipe, grid(project));
    let inputs = inputs_of(path, project, progress)?;
    // The steps of the recipe that uses it make up the whole progress.
    let terrain = progress.stage(0.0..0.0, || stack::evaluate(recipe, grid, None, &inputs, progress))?;
    let (width, height) = (grid.width(), grid.height());
    Ok(Arc::new(Raster { width, height, samples: terrain.heights().to_vec(), scale: SampleScale::Metres }))
}

/// The grid on which a project is evaluated.
fn grid(project: &Project) -> Grid {
    Grid::fitted(project.recipe.world.extent(), SAMPLES)
}

/// The files of a project whose terrain is used as a heightmap; an error if it needs what it does not contain.
pub(super) fn inputs_of(path: &Path, project: &Project, progress: &Progress) -> Result<Inputs, FileError> {
    let Project { recipe, files, .. } = project;
    let refused = |problem: String| FileError::invalid(path, problem);
    let mut inputs = Inputs::default();
    for name in recipe.heightmaps() {
        progress.check()?;
        let raster = if name.is_shipped() {
            shipped_stamp(&name, progress)?
        } else if name.is_project() {
            return Err(refused(format!(
                "its terrain is made of another project, \"{}\"; export its heights, and use those instead",
                name.0
            )));
        } else if let Some(bytes) = files.get(&name) {
            decode_imported(Path::new(&name.0), bytes)?
        } else {
            return Err(refused(format!(
                "it uses the file \"{}\", which it does not contain; open it in Upthrust, save it, and choose it again",
                name.0
            )));
        };
        inputs.rasters.insert(name, raster);
    }
    let checked = recipe.check(grid(project)).and_then(|()| recipe.check_inputs(&inputs));
    checked.map_err(|error| refused(error.to_string())).map(|()| inputs)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::operations::stamps::{Stamp, Stamps};
    use crate::engine::{Recipe, Step};
    use crate::files::export::load_inputs;

    fn file(name: &str) -> FileName {
        FileName(name.into())
    }

    fn shipped() -> impl Iterator<Item = FileName> {
        SHIPPED_STAMPS.iter().map(|(name, _)| file(name))
    }

    /// A project with one stamp of this file.
    fn project(name: &str) -> Project {
        let stamps = Stamps { stamps: vec![Stamp { file: file(name), ..Default::default() }].into() };
        Project { recipe: Recipe { stack: vec![Step::new(stamps)], ..Default::default() }, ..Default::default() }
    }

    fn inputs(project: &Project) -> Result<Inputs, String> {
        load_inputs(&project.recipe, &project.files).map_err(|error| error.to_string())
    }

    /// A project with a hill, as the bytes of its file.
    fn hill() -> Vec<u8> {
        let text = r#"{"format": 1, "recipe": {"world": {"width_m": 300, "depth_m": 150}, "stack": [
            {"operation": "sculpt", "strokes": [{"points_m": [[150, 75]], "radius_m": 50, "strength_m": 40}]}]}}"#;
        text.into()
    }

    #[test]
    fn every_shipped_stamp_is_evaluated_once_and_has_a_level_border() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/assets/stamps");
        assert_eq!(std::fs::read_dir(folder).expect("stamps").count(), SHIPPED_STAMPS.len());
        for name in shipped() {
            let file = shipped_stamp_project(&name).expect("readable");
            assert!(name.is_shipped() && file.project.recipe.heightmaps().is_empty(), "{name:?} needs files");
            assert!(!file.project.name.is_empty() && !file.project.description.is_empty());
            assert_eq!(file.terrain_changes(|_| None), None, "{name:?}");
            let raster = shipped_stamp(&name, &Progress::new()).expect("evaluated");
            assert!(Arc::ptr_eq(&raster, &shipped_stamp(&name, &Progress::new()).expect("evaluated")));
            let at = |c: usize, r: usize| raster.samples[r * raster.width + c];
            let (right, bottom) = (raster.width - 1, raster.height - 1);
            let rows = (0..=bottom).flat_map(|r| [at(0, r), at(right, r)]);
            let border: Vec<f32> = (0..=right).flat_map(|c| [at(c, 0), at(c, bottom)]).chain(rows).collect();
            let [[low, high], [lowest, highest]] = [&border, &raster.samples].map(|heights| {
                heights.iter().fold([f32::INFINITY, f32::NEG_INFINITY], |[low, high], h| [low.min(*h), high.max(*h)])
            });
            assert!(high - low <= 0.03 * (highest - lowest), "{name:?}: {low} to {high} m at the border");
            assert!(low.abs().max(high.abs()) <= 0.03 * (highest - lowest), "{name:?}: the border is not at 0");
        }
        let unknown = file("assets/stamps/krater.upthrust.json");
        let error = shipped_stamp(&unknown, &Progress::new()).expect_err("unknown").to_string();
        assert!(error.contains("assets/stamps/crater.upthrust.json"), "{error}");
    }

    #[test]
    fn shipped_stamps_are_no_files_of_the_project() {
        let project = project(SHIPPED_STAMPS[0].0);
        assert!(project.recipe.files().is_empty());
        let inputs = inputs(&project).expect("complete");
        assert_eq!(inputs.rasters.keys().cloned().collect::<Vec<_>>(), [file(SHIPPED_STAMPS[0].0)]);
    }

    #[test]
    fn a_project_as_a_stamp_travels_inside_the_project() {
        let folder = tempfile::tempdir().expect("folder");
        let path = |name: &str| folder.path().join(name);
        std::fs::write(path("hill.upthrust.json"), hill()).expect("written");
        std::fs::write(path("a.json"), ProjectFile::new(project("hill.upthrust.json")).to_json()).expect("written");
        let opened = ProjectFile::open(&path("a.json")).expect("readable");
        std::fs::remove_file(path("hill.upthrust.json")).expect("removed");
        std::fs::write(path("a.json"), opened.to_json()).expect("written");
        let opened = ProjectFile::open(&path("a.json")).expect("the hill is inside").project;
        let first = inputs(&opened).expect("complete");
        let raster = first.get(&file("hill.upthrust.json")).expect("evaluated");
        assert_eq!((raster.width, raster.height, raster.scale), (513, 257, SampleScale::Metres));
        assert_eq!((raster.samples[128 * 513 + 256], raster.samples[0]), (40.0, 0.0));
        // Evaluated once for the same bytes.
        assert!(inputs(&opened).expect("complete").same_rasters(&first));
        let stopped = Progress::new();
        stopped.cancel();
        let bytes = Arc::new(hill());
        assert_eq!(decode_raster(&file("b.json"), &bytes, &stopped), Err(FileError::Cancelled));
    }

    #[test]
    fn projects_that_need_what_they_lack_are_refused() {
        let mut outer = project("inner.upthrust.json");
        let mut check = |inner: Vec<u8>, message: &str| {
            outer.files.insert(file("inner.upthrust.json"), Arc::new(inner));
            let error = inputs(&outer).expect_err(message);
            assert!(error.starts_with("inner.upthrust.json: ") && error.contains(message), "{error}");
        };
        let of = |stack: &str| format!(r#"{{"format": 1, "recipe": {{"stack": [{stack}]}}}}"#).into_bytes();
        check(b"{".to_vec(), "this is not a project");
        check(of(r#"{"operation": "hills"}"#), "recipe.stack.0.operation");
        check(of(r#"{"operation": "heightmap", "file": "a.png"}"#), "\"a.png\", which it does not contain");
        check(of(r#"{"operation": "stamps", "stamps": [{"file": "a.upthrust.json"}]}"#), "another project");
        check(
            of(r#"{"operation": "stamps", "stamps": [{"file": ""}]}"#),
            "stack.0.stamps.0.file: the stamp has no file",
        );
        check(of(r#"{"operation": "pads", "pads": [{"shape": "polygon"}]}"#), "stack.0.pads.0.points_m");
        // Shipped stamps and files that it contains are no obstacle.
        let mut inner = project(SHIPPED_STAMPS[0].0);
        let name =
            inner.import_file("a.r32", [0.0_f32, 1.0, 2.0, 3.0].into_iter().flat_map(f32::to_le_bytes).collect());
        inner.recipe.stack.extend(project(&name.0).recipe.stack);
        let bytes = ProjectFile::new(inner).to_json().into_bytes();
        outer.files.insert(file("inner.upthrust.json"), Arc::new(bytes));
        assert!(inputs(&outer).is_ok());
        outer.files.clear();
        let error = inputs(&outer).expect_err("missing");
        assert!(error.starts_with("stack.0.stamps.0.file: the project does not contain"), "{error}");
    }
}
