//! Builds of large maps: estimated and measured memory, and the time of each stage.
//!
//! Memory and wall time are measured on the program, run as a child process. The stages are timed in this process with
//! the same functions.

use std::hint::black_box;
use std::io::{self, Cursor, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use upthrust::engine::fault::Profile;
use upthrust::engine::light::Light;
use upthrust::engine::operations::faults::Faults;
use upthrust::engine::operations::recursive_filter::RecursiveFilter;
use upthrust::engine::parameters::Band;
use upthrust::engine::stack::evaluate;
use upthrust::engine::texture::{
    PaintInput, PaintOnce, PixelRegion, Points, RequiredMaps, SurfaceMaps, TextureRecipe, paint, paint_once,
};
use upthrust::engine::{Grid, Heightfield, Image, Inputs, Progress, Recipe, Step};
use upthrust::files::export::{HeightmapOrder, MeshDetail, MeshOrder, Order, Plan, TextureOrder, memory_needed};
use upthrust::files::formats::heightmap::{Encoding, Rows};
use upthrust::files::formats::{heightmap, image};
use upthrust::project::{Project, ProjectFile, presets};

use super::{milliseconds, row, rugged, square};

const MB: f64 = 1e6;

/// A run of the program.
struct Run {
    seconds: f64,
    /// The peak memory; `None` if the system does not report it.
    peak_mb: Option<f64>,
}

fn run(source: &Path, options: &[&str]) -> Run {
    let mut program = Command::new(env!("CARGO_BIN_EXE_upthrust"));
    program.arg("build").arg(source).args(["--progress", "none", "--force"]).args(options).stdout(Stdio::null());
    let begun = Instant::now();
    let mut child = program.spawn().expect("the program starts");
    let status_file = format!("/proc/{}/status", child.id());
    let mut peak_mb = None;
    loop {
        if let Some(status) = child.try_wait().expect("a child") {
            assert!(status.success(), "{} {options:?}", source.display());
            return Run { seconds: begun.elapsed().as_secs_f64(), peak_mb };
        }
        // The peak never decreases, and can be read only while the process exists.
        peak_mb = peak_memory_mb(&status_file).or(peak_mb);
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// `VmHWM` of a Linux process.
fn peak_memory_mb(status_file: &str) -> Option<f64> {
    let status = std::fs::read_to_string(status_file).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.trim().trim_end_matches("kB").trim().parse::<f64>().ok()? * 1024.0 / MB)
}

/// A build to measure.
struct Case<'a> {
    name: String,
    project: Project,
    side: usize,
    painted: bool,
    /// The file name of the heightmap.
    height: &'static str,
    /// The file name of the mesh.
    mesh: Option<&'static str>,
    folder: &'a Path,
}

impl Case<'_> {
    fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    fn run(&self) -> Run {
        let source = self.path("source.upthrust.json");
        std::fs::write(&source, ProjectFile::new(self.project.clone()).to_json()).expect("written");
        let [side, pixels] = [self.side, self.side - 1].map(|side| side.to_string());
        let (height, texture) = (self.path(self.height), self.path("albedo.png"));
        let mesh = self.mesh.map(|name| self.path(name));
        let mut options = vec!["--size", &side, "--heightmap", height.to_str().expect("a plain name")];
        if self.painted {
            options.extend(["--texture", texture.to_str().expect("a plain name"), "--texture-size", &pixels]);
        }
        if let Some(mesh) = &mesh {
            options.extend(["--mesh", mesh.to_str().expect("a plain name"), "--mesh-bare"]);
        }
        run(&source, &options)
    }

    /// The order that the program builds.
    fn order(&self) -> Order {
        let recipe = self.project.recipe.clone();
        let size = [self.side - 1; 2];
        let grid = Grid::fitted(recipe.world.extent(), self.side);
        let mut order = Order {
            heightmaps: vec![HeightmapOrder::new(self.path(self.height))],
            texture: self.painted.then(|| TextureOrder::new(self.path("albedo.png"), size)),
            mesh: self.mesh.map(|name| MeshOrder {
                path: self.path(name),
                detail: MeshDetail::Vertices(MeshDetail::DEFAULT_VERTICES),
                texture: None,
            }),
            overwrite: true,
            ..Order::new(self.name.clone(), recipe, grid)
        };
        order.load_inputs(&self.project.files, &Progress::new()).expect("readable");
        order
    }
}

fn project(stack: Vec<Step>) -> Project {
    Project { recipe: Recipe { stack, ..Default::default() }, ..Default::default() }
}

fn faults(count: u32) -> Step {
    Step::new(Faults { count, profile: Profile::Step, ..Default::default() })
}

fn preset(name: &str) -> Project {
    let found = presets().iter().find(|preset| preset.name == name).expect("a preset");
    found.project().expect("it is valid")
}

/// The estimated memory, by which builds are refused, and the measured memory.
pub fn memory(_: &str) {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    let case = |name: &str, project: Project, side, painted| {
        let (name, height, mesh) = (name.into(), "height.png", None);
        Case { name, project, side, painted, height, mesh, folder }
    };
    let Some(own_mb) = case("nothing", project(Vec::new()), 33, false).run().peak_mb else {
        println!("memory of builds: this system does not report peak memory");
        return;
    };
    println!("memory of builds, without the {own_mb:.0} MB of an empty one\n");
    println!("{:<44} {:>11} {:>9} {:>7} {:>7}", "build", "estimate MB", "peak MB", "ratio", "maps");
    let filter = || Step::new(RecursiveFilter { k: 0.4, passes: 2, ..Default::default() });
    let mut bright = project(vec![faults(500)]);
    bright.recipe.light = Light { bake: true, shadows: 1.0, occlusion: 1.0, ..Default::default() };
    let mut cases = vec![
        case("500 faults, 4097²", project(vec![faults(500)]), 4097, false),
        case("500 faults, 4097²", project(vec![faults(500)]), 4097, true),
        case("500 faults in baked light, 4097²", bright, 4097, true),
        case("500 faults and a filter, 4097²", project(vec![faults(500), filter()]), 4097, false),
        case("agents-island, 2049²", preset("agents-island"), 2049, false),
    ];
    // Most operations that need more than their own heights and the heights below.
    for name in ["krten-wind", "traagen-bsp", "midpoint-range", "agents-island", "canyon", "alpine-range"] {
        cases.push(case(&format!("{name}, 2049²"), preset(name), 2049, true));
    }
    for (name, height, mesh) in [
        ("500 faults as EXR, 4097²", "height.exr", None),
        ("500 faults as TIFF, 4097²", "height.tif", None),
        ("500 faults as a mesh, 4097²", "height.r32", Some("terrain.glb")),
    ] {
        cases.push(Case { height, mesh, ..case(name, project(vec![faults(500)]), 4097, false) });
    }
    for case in cases {
        let taken_mb = case.run().peak_mb.unwrap_or_default() - own_mb;
        let order = case.order();
        let estimate_mb = memory_needed(&Plan::new(order.clone()).expect("possible")) as f64 / MB;
        println!(
            "{:<44} {estimate_mb:>11.1} {taken_mb:>9.1} {:>7.2} {:>7.2}",
            if case.painted { format!("{}, painted", case.name) } else { case.name.clone() },
            estimate_mb / taken_mb,
            (taken_mb * MB - order.inputs.bytes() as f64) / (4 * order.grid.samples()) as f64
        );
    }
    println!();
}

/// Peak memory, wall time and the time of each stage for maps of 8193².
pub fn large(_: &str) {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    println!(
        "{:<44} {:>7} {:>8} {:>6} {:>9} {:>9} {:>9} {:>9}",
        "build", "wall s", "peak MB", "÷ map", "heights s", "paint s", "encode s", "write s"
    );
    let of_faults = project(vec![faults(10_000)]);
    for (name, project, painted) in [
        ("10,000 step faults, 8193²", of_faults.clone(), false),
        ("10,000 step faults, 8193², texture 8192²", of_faults, true),
        ("alpine-range, 8193², texture 8192²", preset("alpine-range"), true),
    ] {
        let (name_of, height, mesh) = (name.into(), "height.png", None);
        let case = Case { name: name_of, project, side: 8193, painted, height, mesh, folder };
        let Run { seconds, peak_mb } = case.run();
        let order = case.order();
        let map_mb = (4 * order.grid.samples()) as f64 / MB;
        let [terrain, painting, encoding, writing] = parts(&order, folder);
        println!(
            "{name:<44} {seconds:>7.2} {:>8} {:>6} {terrain:>9.2} {painting:>9.2} {encoding:>9.2} {writing:>9.2}",
            peak_mb.map_or("?".into(), |peak| format!("{peak:.0}")),
            peak_mb.map_or("?".into(), |peak| format!("{:.2}", peak / map_mb)),
        );
    }
    let from = vec![1.0_f32; 8193 * 8193];
    let mut to = vec![0.0_f32; 8193 * 8193];
    let copying = milliseconds(&mut || black_box(&mut to).copy_from_slice(black_box(&from))) / 1e3;
    let writing = written_seconds(folder, from.len() * size_of::<f32>());
    println!("{:<44} {copying:>7.2}", "baseline: copy of a map of 8193²");
    println!("{:<44} {writing:>7.2}\n", "baseline: write and sync of its bytes");
}

/// Seconds to evaluate, paint, encode, and write the same number of bytes to the disk.
fn parts(order: &Order, folder: &Path) -> [f64; 4] {
    let progress = Progress::new();
    let mut terrain = None;
    let evaluating = milliseconds(&mut || {
        terrain = evaluate(&order.recipe, order.grid, None, &order.inputs, &progress).ok();
    });
    let terrain = terrain.expect("not cancelled");
    let range_m = range_of(&terrain);
    let mut sink = Counted::default();
    let mut encoding = milliseconds(&mut || {
        let path = Path::new("a.png");
        heightmap::write(&mut sink, path, Rows::all(&terrain), range_m, Encoding::default(), &progress)
            .expect("written");
    });
    let mut painting = 0.0;
    if let Some(TextureOrder { size, .. }) = order.texture {
        let light = Some(&order.recipe.light).filter(|light| light.bake);
        let surface_maps = &SurfaceMaps::of(&terrain, RequiredMaps::of(&order.recipe.texture, light), &progress)
            .expect("not cancelled");
        let (recipe, inputs) = (&order.recipe.texture, &order.inputs);
        let input = PaintInput { terrain: &terrain, surface_maps, recipe, fixed_range_m: Some(range_m), inputs };
        let strip = |rows: Range<usize>| {
            let part = PixelRegion { full_size: size, origin: [0, rows.start], size: [size[0], rows.len()] };
            paint(input, light, Points::PixelRegion(part), &progress).map(|painted| painted.image)
        };
        painting = milliseconds(&mut || {
            for first in (0..size[1]).step_by(256) {
                drop(black_box(strip(first..size[1].min(first + 256))));
            }
        });
        let both = milliseconds(&mut || {
            image::paint_and_write(&mut sink, Path::new("a.png"), size, None, strip, &progress).expect("written");
        });
        encoding += both - painting;
    }
    drop(terrain);
    [evaluating / 1e3, painting / 1e3, encoding / 1e3, written_seconds(folder, sink.bytes)]
}

fn range_of(terrain: &Heightfield) -> Band {
    let [min, max] = terrain.min_max().map(f64::from);
    Band { min, max }
}

/// Discards and counts the written bytes.
#[derive(Default)]
struct Counted {
    bytes: usize,
}

impl Write for Counted {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.bytes += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl io::Seek for Counted {
    fn seek(&mut self, _: io::SeekFrom) -> io::Result<u64> {
        Ok(self.bytes as u64)
    }
}

/// Seconds to write and sync `count` bytes.
fn written_seconds(folder: &Path, count: usize) -> f64 {
    let bytes = vec![0x5A; 1 << 20];
    let mut file = std::fs::File::create(folder.join("floor")).expect("a file");
    milliseconds(&mut || {
        for first in (0..count).step_by(bytes.len()) {
            file.write_all(&bytes[..bytes.len().min(count - first)]).expect("written");
        }
        file.sync_all().expect("synced");
    }) / 1e3
}

/// Encodes heights; the naive implementation is the png crate with default compression on one thread.
pub fn encode_heights(name: &str) {
    let (terrain, progress) = (rugged(square(4096)), Progress::new());
    let range_m = range_of(&terrain);
    let plain_heights = |file: &mut Vec<u8>| {
        let units_per_m = 65_535.0 / (range_m.max - range_m.min);
        plain(file, png::ColorType::Grayscale, png::BitDepth::Sixteen, 4096, |r, bytes| {
            for height in terrain.row(r) {
                let value = ((f64::from(*height) - range_m.min) * units_per_m).round() as u16;
                bytes.extend(value.to_be_bytes());
            }
        });
    };
    let our_heights = |file: &mut Vec<u8>| {
        let (rows, path) = (Rows::all(&terrain), Path::new("a.png"));
        heightmap::write(&mut Cursor::new(file), path, rows, range_m, Encoding::default(), &progress).expect("written");
    };
    compare(name, &plain_heights, &our_heights);
}

/// Encodes a texture, compared with the same naive implementation.
pub fn encode_colours(name: &str) {
    let (terrain, progress) = (rugged(square(4096)), Progress::new());
    let recipe = TextureRecipe::starter();
    let inputs = Inputs::default();
    let paint = PaintOnce::new(&recipe, &inputs, None);
    let painted = paint_once(&terrain, paint, [4096, 4096], &progress);
    let Image { pixels, .. } = &painted.as_ref().expect("not cancelled").image;
    let plain_pixels = |file: &mut Vec<u8>| {
        plain(file, png::ColorType::Rgb, png::BitDepth::Eight, 4096, |j, bytes| {
            pixels[j * 4096..][..4096].iter().for_each(|pixel| bytes.extend(&pixel[..3]));
        });
    };
    let our_pixels = |file: &mut Vec<u8>| {
        let image = &painted.as_ref().expect("not cancelled").image;
        image::write(&mut Cursor::new(file), Path::new("a.png"), image, &progress).expect("written");
    };
    compare(name, &plain_pixels, &our_pixels);
}

fn compare(name: &str, plain: &dyn Fn(&mut Vec<u8>), ours: &(dyn Fn(&mut Vec<u8>) + Sync)) {
    let [mut plain_file, mut our_file] = [const { Vec::new() }; 2];
    let mut naive = || {
        plain_file.clear();
        plain(&mut plain_file);
    };
    let mut encode = || {
        our_file.clear();
        ours(&mut our_file);
    };
    row(name, 1.0, 4096 * 4096, &mut naive, &mut encode);
    let [plain_mb, our_mb] = [&plain_file, &our_file].map(|file| file.len() as f64 / MB);
    println!("{:<44} {our_mb:.2} MB, naive {plain_mb:.2} MB", format!("size of {name}"));
}

fn plain(
    file: &mut Vec<u8>,
    colour: png::ColorType,
    depth: png::BitDepth,
    side: usize,
    fill: impl Fn(usize, &mut Vec<u8>),
) {
    let mut encoder = png::Encoder::new(file, side as u32, side as u32);
    encoder.set_color(colour);
    encoder.set_depth(depth);
    let mut header = encoder.write_header().expect("begun");
    let mut stream = header.stream_writer_with_size(1 << 18).expect("begun");
    let mut bytes = Vec::new();
    for j in 0..side {
        bytes.clear();
        fill(j, &mut bytes);
        stream.write_all(&bytes).expect("written");
    }
    stream.finish().expect("written");
}
