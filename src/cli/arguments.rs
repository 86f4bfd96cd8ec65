//! The command-line arguments.

use std::ffi::OsString;
use std::ops::RangeInclusive;
use std::path::PathBuf;

use clap::{Arg, ArgGroup, ArgMatches, Args, Command, CommandFactory, FromArgMatches, Parser, ValueEnum, value_parser};

use super::values::{PatchCounts, Range, RenderSize, SeedRange, Size, Source, TextureSize, TileCounts, TileIndex};
use crate::engine::texture::AnalysisMap;
use crate::files::formats::heightmap::RawLayout;
use crate::files::formats::image::TURNTABLE_FRAMES;

/// Terrain editor and generator. Without a subcommand, opens the editor.
#[derive(Debug, Parser)]
#[command(name = "upthrust", version, args_conflicts_with_subcommands = true, subcommand_value_name = "COMMAND")]
pub struct Arguments {
    #[command(subcommand)]
    pub subcommand: Option<Subcommand>,
    /// A project to open, or a heightmap to import.
    pub file: Option<PathBuf>,
}

#[derive(Debug, clap::Subcommand)]
pub enum Subcommand {
    /// Evaluate a recipe and write files.
    Build(Box<BuildOptions>),
    /// List the presets that ship with the program.
    Presets(ListOptions),
    /// List every operation and parameter.
    Operations(ListOptions),
    /// Print the fault lines that a step draws, as JSON.
    Faults(FaultsOptions),
    /// Convert a heightmap to another format.
    Convert(ConvertOptions),
    /// Print statistics of a heightmap.
    Inspect(InspectOptions),
    /// Measure a level: where players can go, how long it takes, what they see and whether it is fair.
    Play(PlayOptions),
    /// Find the seeds whose terrain best meets the rules of a level.
    Search(SearchOptions),
    /// Run Krten's fault program of 1994, with its options, defaults and file format.
    Fault(FaultOptions),
    /// Write man pages, shell completions or the schema of project files into a folder, for packages.
    #[command(hide = true)]
    Generate(GenerateOptions),
}

/// Parses the arguments, the first of which is the name of the program. Negative numbers are values of any option, so that
/// the messages are about these.
pub fn parse(arguments: impl IntoIterator<Item = OsString>) -> Result<Arguments, clap::Error> {
    let with_negative = |arg: Arg| if arg.get_action().takes_values() { arg.allow_negative_numbers(true) } else { arg };
    let mut command = Arguments::command().mut_subcommands(|subcommand| subcommand.mut_args(with_negative));
    let matches = command.try_get_matches_from_mut(arguments)?;
    Arguments::from_arg_matches(&matches).map_err(|error| error.format(&mut command))
}

/// The command line without the hidden subcommands, which completions would offer.
pub fn public_command() -> Command {
    let command = Arguments::command();
    let subcommands = command.get_subcommands().filter(|subcommand| !subcommand.is_hide_set()).cloned();
    let public = Command::new("upthrust").version(env!("CARGO_PKG_VERSION"));
    let public = public.args_conflicts_with_subcommands(true).subcommand_value_name("COMMAND");
    let public = public.args(command.get_arguments().cloned()).subcommands(subcommands.collect::<Vec<_>>());
    command.get_about().cloned().into_iter().fold(public, Command::about)
}

#[derive(Args, Debug)]
pub struct ListOptions {
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

/// A project or preset, and changes to its recipe.
#[derive(Args, Debug)]
pub struct SourceOptions {
    /// A project file, a heightmap, or preset:NAME.
    pub source: Source,
    #[command(flatten)]
    pub changes: Changes,
}

/// Changes to a recipe.
#[derive(Args, Clone, Debug)]
pub struct Changes {
    /// Use another seed.
    #[arg(long, value_name = "S")]
    pub seed: Option<u32>,
    /// Set any parameter, for example stack.1.count=500; repeatable.
    #[arg(long, value_name = "PATH=VALUE")]
    pub set: Vec<String>,
}

#[derive(Args, Clone, Debug)]
#[command(group(ArgGroup::new("uplift").args(["frames", "animation"]).multiple(true)))]
pub struct BuildOptions {
    /// A project file, a heightmap, or preset:NAME.
    #[arg(required_unless_present = "target")]
    pub source: Option<Source>,
    #[command(flatten)]
    pub changes: Changes,
    /// Export for another program, in its sizes and formats, into the folder of -o; "list" prints all targets. The
    /// sidecars contain the values to enter there.
    #[arg(long = "for", id = "target", value_name = "TARGET")]
    pub target: Option<String>,
    /// The output folder, for height.png, texture.png and scattered instances, or for the files of the target.
    #[arg(short, long, value_name = "DIR")]
    pub output: Option<PathBuf>,
    /// Samples along the longer side, or of both sides [default: the project's].
    #[arg(long, value_name = "N|WxH")]
    pub size: Option<Size>,
    /// Stop after K iterations of the timeline.
    #[arg(long, value_name = "K")]
    pub iterations: Option<u32>,
    /// Write a heightmap; the file extension selects the format.
    #[arg(long, value_name = "FILE")]
    pub heightmap: Option<PathBuf>,
    /// Write a texture; the file extension selects the format.
    #[arg(long, value_name = "FILE")]
    pub texture: Option<PathBuf>,
    /// Pixels along the longer side of the texture, or of both sides; with --patches, of every patch. Maps have the
    /// size of the texture. Default: the project's; with --for an engine that streams textures, the next power of two.
    #[arg(long, value_name = "N|WxH")]
    pub texture_size: Option<TextureSize>,
    /// Cut the texture into columns and rows of files; NAME_x0_y0.png is the north-western one.
    #[arg(long, value_name = "CxR", allow_hyphen_values = true)]
    pub patches: Option<PatchCounts>,
    /// Show the full terrain in every patch, mirrored in odd columns and rows, so that borders match and the terrain
    /// repeats seamlessly.
    #[arg(long, requires = "patches")]
    pub mirror: bool,
    /// Write the weights of the terrain types: weight_NN_NAME.png for each active type, and weights_RGBA_N.png packs of
    /// four types that cover the surface.
    #[arg(long, value_name = "DIR")]
    pub weights: Option<PathBuf>,
    /// Write a mesh: .glb with an embedded texture, .obj with material and texture files, .usda with a texture file, or
    /// .stl with a closed base, 200 mm long, for 3-D printing.
    #[arg(long, value_name = "FILE", conflicts_with = "tile")]
    pub mesh: Option<PathBuf>,
    /// The maximum number of vertices [default: one million, unless --mesh-error is given].
    #[arg(long, value_name = "N", requires = "mesh", value_parser = value_parser!(u32).range(4..))]
    pub mesh_vertices: Option<u32>,
    /// Use the fewest vertices that keep every height within M metres.
    #[arg(long, value_name = "M", requires = "mesh", conflicts_with = "mesh_vertices", value_parser = metres)]
    pub mesh_error: Option<f64>,
    /// Write the mesh without a texture.
    #[arg(long, requires = "mesh")]
    pub mesh_bare: bool,
    /// Write the texture during the iterations as frame_00000.png and so on.
    #[arg(long, value_name = "DIR", conflicts_with = "tile")]
    pub frames: Option<PathBuf>,
    /// Write the frames as an animated .gif.
    #[arg(long, value_name = "FILE", conflicts_with = "tile")]
    pub animation: Option<PathBuf>,
    /// The number of iterations between frames.
    #[arg(long, value_name = "N", default_value_t = 1, requires = "uplift", value_parser = value_parser!(u32).range(1..))]
    pub every: u32,
    /// Build once for each size, into subfolders of -o such as size_513.
    #[arg(long, value_name = "N,…", value_delimiter = ',', conflicts_with = "size", requires = "output")]
    pub sizes: Vec<Size>,
    /// Build once for each seed, into subfolders of -o such as seed_7; with --sizes, seed_7_size_513.
    #[arg(long, value_name = "S,…", value_delimiter = ',', conflicts_with = "seed", requires = "output")]
    pub seeds: Vec<u32>,
    /// The points at which weights are written.
    #[arg(long, value_enum, default_value_t = WeightsAt::Pixels, requires = "weights")]
    pub weights_at: WeightsAt,
    #[command(flatten)]
    pub maps: AnalysisMapOptions,
    /// Write the rivers as polylines in a JSON file. They end at the project's water level, if it has one.
    #[arg(long, value_name = "FILE", conflicts_with = "tile")]
    pub river_lines: Option<PathBuf>,
    /// The smallest catchment area of a river in km² [default: a thousandth of the world].
    #[arg(long, value_name = "KM2", requires = "river_lines", value_parser = river_area)]
    pub river_area: Option<f64>,
    /// Write the scattered instances of all layers: .csv, .json, or .glb with placeholder shapes; repeatable.
    #[arg(long, value_name = "FILE", conflicts_with = "tile")]
    pub scatter: Vec<PathBuf>,
    /// Write a density map for each scatter layer: density_NN_NAME.png.
    #[arg(long, value_name = "DIR", conflicts_with = "tile")]
    pub scatter_density: Option<PathBuf>,
    /// Render the terrain in 3-D, with the recipe's light and the project's water. Requires a graphics adapter,
    /// possibly a software one, but no display.
    #[arg(long, value_name = "FILE", conflicts_with = "tile")]
    pub render: Option<PathBuf>,
    /// Width and height of the 3-D render in pixels.
    #[arg(long, value_name = "WxH", default_value = "1280x800", requires = "render")]
    pub render_size: RenderSize,
    /// Render N images around the terrain instead of one, beginning with FILE_000.png.
    #[arg(long, value_name = "N", requires = "render", value_parser = value_parser!(u32).range(turntable_frames()))]
    pub turntable: Option<u32>,
    /// The direction of green in the normal map.
    #[arg(long, value_enum, default_value_t = NormalsY::Up, requires = "normals")]
    pub normals_y: NormalsY,
    /// Bits per channel of weights, normals and the other maps; packs always have 8. With 16, a TIFF heightmap is
    /// written as 16-bit integers instead of floats.
    #[arg(long, value_name = "BITS", value_enum, default_value_t = DepthOption::Eight)]
    pub depth: DepthOption,
    /// The height range in metres of integer heightmaps; heights outside are clamped [default: the project's fixed
    /// range, else the terrain's minimum and maximum].
    #[arg(long, value_name = "LOW,HIGH", allow_hyphen_values = true)]
    pub range: Option<Range>,
    /// Cut all maps into columns and rows of tiles; NAME_x0_y0.png is the north-western one. Neighbouring heightmap
    /// tiles share their border samples, and all have the same height range.
    #[arg(long, value_name = "CxR", conflicts_with = "patches", allow_hyphen_values = true)]
    pub tiles: Option<TileCounts>,
    /// Write only one tile, given by its column and row counted from the north-western one, however the files are
    /// named.
    #[arg(long, value_name = "C,R", requires = "tiles", allow_hyphen_values = true)]
    pub tile: Option<TileIndex>,
    /// Keep the height range, and the terrain of large maps with rivers, in this folder, for other tiles and for later builds of
    /// the same terrain. It takes 65 MB and 4 to 5 bytes per sample for each terrain, and can be deleted at any time.
    #[arg(long, value_name = "DIR", conflicts_with = "watch")]
    pub cache: Option<PathBuf>,
    /// Build again whenever the project or a file that it reads is saved, until interrupted. Later builds replace the
    /// files that earlier ones of this run have written, and no others without --force; those that would not change are
    /// left alone.
    #[arg(long, conflicts_with_all = ["seeds", "sizes"])]
    pub watch: bool,
    /// The number of threads, which does not change the result [default: all cores].
    #[arg(long, value_name = "N", value_parser = value_parser!(u16).range(1..=1024))]
    pub threads: Option<u16>,
    /// How to show progress.
    #[arg(long, value_enum, default_value_t = ProgressKind::Auto)]
    pub progress: ProgressKind,
    /// Overwrite existing files.
    #[arg(long)]
    pub force: bool,
}

/// The points at which weights are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum WeightsAt {
    /// The pixels of the texture.
    Pixels,
    /// The samples of the heightmap, for engines that paint vertices, such as Unreal.
    Samples,
}

/// The direction of green in the normal map.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum NormalsY {
    /// North is positive, as in OpenGL, Unity, Godot and Blender.
    Up,
    /// South is positive, as in Direct3D and Unreal.
    Down,
}

/// Bits per channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum DepthOption {
    /// 8 bits.
    #[value(name = "8")]
    Eight,
    /// 16 bits.
    #[value(name = "16")]
    Sixteen,
}

/// Parses an area above 0.
fn river_area(text: &str) -> Result<f64, String> {
    let area = text.parse::<f64>().ok().filter(|area| area.is_finite() && *area > 0.0);
    area.ok_or_else(|| "expected an area in km² above 0, for example 0.5".into())
}

/// The requested analysis maps and their files: one option for each map of the engine.
#[derive(Clone, Debug)]
pub struct AnalysisMapOptions(pub Vec<(AnalysisMap, PathBuf)>);

impl Args for AnalysisMapOptions {
    fn augment_args(command: Command) -> Command {
        command.args(AnalysisMap::ALL.map(|map| {
            let help = format!("Write a PNG. {}", map.doc());
            Arg::new(map.key()).long(map.key()).value_name("FILE").value_parser(value_parser!(PathBuf)).help(help)
        }))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for AnalysisMapOptions {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let chosen = |map: AnalysisMap| Some((map, matches.get_one::<PathBuf>(map.key())?.clone()));
        Ok(Self(AnalysisMap::ALL.into_iter().filter_map(chosen).collect()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// How to show progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ProgressKind {
    /// A bar on a terminal, nothing otherwise.
    Auto,
    /// A bar on standard error.
    Bar,
    /// One JSON object per line on standard output.
    Json,
    /// Nothing.
    None,
}

#[derive(Args, Debug)]
pub struct FaultsOptions {
    #[command(flatten)]
    pub source: SourceOptions,
    /// The step's index in the stack, from 0 [default: the first step with faults].
    #[arg(long, value_name = "N")]
    pub step: Option<usize>,
}

#[derive(Args, Debug)]
pub struct ConvertOptions {
    /// The heightmap to read.
    #[arg(value_name = "IN")]
    pub input: PathBuf,
    /// The heightmap to write.
    #[arg(value_name = "OUT")]
    pub output: PathBuf,
    /// The layout of a headerless input, for example u16le,1025x1025; +128 at its end skips 128 bytes.
    #[arg(long, value_name = "LAYOUT")]
    pub raw: Option<RawLayout>,
    /// The layout of a headerless output, for example u16be.
    #[arg(long, value_name = "LAYOUT")]
    pub out_raw: Option<RawLayout>,
    /// With 16, write a TIFF as 16-bit integers instead of floats.
    #[arg(long, value_name = "BITS", value_enum)]
    pub depth: Option<DepthOption>,
    /// The height in metres of value 0 in an integer format.
    #[arg(long, value_name = "M", requires = "high")]
    pub low: Option<f64>,
    /// The height in metres of the largest value in an integer format.
    #[arg(long, value_name = "M", requires = "low")]
    pub high: Option<f64>,
    /// Overwrite existing files.
    #[arg(long)]
    pub force: bool,
}

#[derive(Args, Debug)]
pub struct InspectOptions {
    /// The heightmap to read.
    pub file: PathBuf,
    /// The layout of a headerless file, for example u16le,1025x1025; +128 at its end skips 128 bytes.
    #[arg(long, value_name = "LAYOUT")]
    pub raw: Option<RawLayout>,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

#[derive(Args, Debug)]
pub struct PlayOptions {
    #[command(flatten)]
    pub source: SourceOptions,
    /// Samples along the longer side, or of both sides [default: the project's].
    #[arg(long, value_name = "N|WxH")]
    pub size: Option<Size>,
    /// Check a rule besides those of the project, for example 'path(red, blue) <= 90 s'; repeatable. Status 3 if one is
    /// broken.
    #[arg(long, value_name = "RULE")]
    pub require: Vec<String>,
    /// Write every measure that has a map as a PNG into a folder.
    #[arg(long, value_name = "DIR")]
    pub maps: Option<PathBuf>,
    /// Overwrite existing files.
    #[arg(short, long, requires = "maps")]
    pub force: bool,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

#[derive(Args, Debug)]
pub struct SearchOptions {
    #[command(flatten)]
    pub source: SourceOptions,
    /// The seeds to try.
    #[arg(long, value_name = "FROM..TO", default_value = "1..200")]
    pub seeds: SeedRange,
    /// How many of the best seeds to print.
    #[arg(long, value_name = "N", default_value_t = 9, value_parser = value_parser!(u32).range(1..=10_000))]
    pub best: u32,
    /// Samples along the longer side at which all seeds are compared.
    #[arg(long, value_name = "N", default_value_t = 257, value_parser = value_parser!(u32).range(17..=4097))]
    pub coarse: u32,
    /// Samples along the longer side, or of both sides, at which the best are checked again [default: the project's].
    #[arg(long, value_name = "N|WxH")]
    pub size: Option<Size>,
    /// Require a rule besides those of the project, for example 'path(red, blue) <= 90 s'; repeatable.
    #[arg(long, value_name = "RULE")]
    pub require: Vec<String>,
    /// The kind of progress output.
    #[arg(long, value_enum, default_value_t = ProgressKind::Auto)]
    pub progress: ProgressKind,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

#[derive(Args, Debug)]
pub struct FaultOptions {
    /// The number of faults.
    #[arg(short = 'n', value_name = "N", default_value_t = 100, value_parser = value_parser!(u32).range(0..=1_000_000))]
    pub count: u32,
    /// Samples from west to east.
    #[arg(short = 'x', value_name = "X", default_value_t = 256, value_parser = value_parser!(u32).range(2..=65_537))]
    pub width: u32,
    /// Samples from north to south.
    #[arg(short = 'y', value_name = "Y", default_value_t = 256, value_parser = value_parser!(u32).range(2..=65_537))]
    pub height: u32,
    /// The strength k of the filter; has no effect without -p or -w.
    #[arg(short = 'f', value_name = "K", default_value_t = 0.5, value_parser = strength)]
    pub k: f64,
    /// The number of sweeps of the averaged filter.
    #[arg(short = 'F', value_name = "2|4", default_value_t = 4, value_parser = sweeps)]
    pub sweeps: u8,
    /// Filter once, after the last fault.
    #[arg(short = 'p')]
    pub after_last: bool,
    /// Filter after every fault.
    #[arg(short = 'w')]
    pub after_each: bool,
    /// The random seed.
    #[arg(long, value_name = "S", default_value_t = 1994)]
    pub seed: u32,
    /// Overwrite existing files.
    #[arg(long)]
    pub force: bool,
    /// The file to write, with the extension .xy.
    #[arg(value_name = "OUT.xy")]
    pub output: PathBuf,
}

#[derive(Args, Debug)]
pub struct GenerateOptions {
    /// What to write.
    pub what: Generated,
    /// The folder, whose files are replaced.
    #[arg(value_name = "DIR")]
    pub folder: PathBuf,
}

/// What is generated from the declaration of the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Generated {
    /// A man page for the program and one for each subcommand.
    Man,
    /// Completions for bash, zsh, fish and PowerShell.
    Completions,
    /// The JSON Schema of project files.
    Schema,
}

/// Parses the strength of the filter: at 1 nothing would be left of the terrain.
fn strength(text: &str) -> Result<f64, String> {
    let k = text.parse::<f64>().ok().filter(|k| (0.0..=0.9999).contains(k));
    k.ok_or_else(|| "expected a number from 0 to 0.9999".into())
}

fn turntable_frames() -> RangeInclusive<i64> {
    i64::from(*TURNTABLE_FRAMES.start())..=i64::from(*TURNTABLE_FRAMES.end())
}

/// Parses a length of at least 0.
fn metres(text: &str) -> Result<f64, String> {
    let metres = text.parse::<f64>().ok().filter(|metres| metres.is_finite() && *metres >= 0.0);
    metres.ok_or_else(|| "expected a number of metres, at least 0".into())
}

fn sweeps(text: &str) -> Result<u8, String> {
    match text {
        "2" => Ok(2),
        "4" => Ok(4),
        _ => Err("expected 2 or 4".into()),
    }
}
