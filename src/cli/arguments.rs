//! What can be typed.

use std::ops::RangeInclusive;
use std::path::PathBuf;

use clap::{Arg, ArgGroup, ArgMatches, Args, Command, FromArgMatches, Parser, ValueEnum, value_parser};

use super::size::{PatchCounts, PictureSize, Pixels, Range, Size, TileCounts, TilePlace};
use crate::engine::texture::AnalysisMap;
use crate::files::heightmap::RawLayout;
use crate::files::texture::TURNTABLE_FRAMES;

/// Raises landscapes by fault formation. Without a subcommand the editor opens.
#[derive(Debug, Parser)]
#[command(name = "upthrust", version, args_conflicts_with_subcommands = true)]
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
    /// Turn one heightmap format into another.
    Convert(ConvertOptions),
    /// Say what a heightmap is like.
    Inspect(InspectOptions),
    /// Krten's own program of 1994: his options, his defaults, his file.
    Fault(FaultOptions),
}

#[derive(Args, Debug)]
pub struct ListOptions {
    /// Print JSON, for programs.
    #[arg(long)]
    pub json: bool,
}

/// Which recipe, and what is changed in it.
#[derive(Args, Debug)]
pub struct SourceOptions {
    /// A project file, or preset:NAME.
    pub source: String,
    #[command(flatten)]
    pub changes: Changes,
}

/// What is changed in a recipe.
#[derive(Args, Clone, Debug)]
pub struct Changes {
    /// Another seed.
    #[arg(long, value_name = "S")]
    pub seed: Option<u32>,
    /// Set any parameter, as in stack.0.count=500; may be given many times.
    #[arg(long, value_name = "PATH=VALUE")]
    pub set: Vec<String>,
}

#[derive(Args, Clone, Debug)]
#[command(group(ArgGroup::new("uplift").args(["frames", "animation"]).multiple(true)))]
pub struct BuildOptions {
    /// A project file, or preset:NAME.
    #[arg(required_unless_present = "target")]
    pub source: Option<String>,
    #[command(flatten)]
    pub changes: Changes,
    /// Write what a program takes, in its sizes, into the folder of -o; list: print what there is. The sidecars say
    /// what to type there.
    #[arg(long = "for", id = "target", value_name = "TARGET")]
    pub target: Option<String>,
    /// The folder for maps without a path of their own: height.png and texture.png, or the files of the target.
    #[arg(short, long, value_name = "DIR")]
    pub output: Option<PathBuf>,
    /// Samples along the longer side, or of both sides; the project's own where not given.
    #[arg(long, value_name = "N|WxH")]
    pub size: Option<Size>,
    /// Stop the uplift after K iterations of the stack's iterating steps.
    #[arg(long, value_name = "K")]
    pub iterations: Option<u32>,
    /// Write a heightmap; the ending chooses the format.
    #[arg(long, value_name = "FILE")]
    pub heightmap: Option<PathBuf>,
    /// Write a texture; the ending chooses the format.
    #[arg(long, value_name = "FILE")]
    pub texture: Option<PathBuf>,
    /// Pixels along the longer side of the texture, or of both sides; of every patch where there are some. The maps
    /// have the size of the texture.
    #[arg(long, value_name = "N|WxH")]
    pub texture_size: Option<Pixels>,
    /// Cut the texture into columns and rows of files, NAME_x0_y0.png the north-western one.
    #[arg(long, value_name = "CxR")]
    pub patches: Option<PatchCounts>,
    /// Let every patch be the whole land, turned over in odd columns and rows: equal borders meet, and the land goes on
    /// for ever.
    #[arg(long, requires = "patches")]
    pub mirror: bool,
    /// Write the weights of the terrain types: weight_NN_NAME.png for each type that takes part, and packs of four of
    /// those that cover ground, weights_RGBA_N.png.
    #[arg(long, value_name = "DIR")]
    pub weights: Option<PathBuf>,
    /// Write a mesh: .glb with its texture inside, .obj with material and texture beside it, .stl closed by a base,
    /// 200 mm long, for printing.
    #[arg(long, value_name = "FILE")]
    pub mesh: Option<PathBuf>,
    /// At most so many vertices; a million where neither this nor an error is given.
    #[arg(long, value_name = "N", requires = "mesh", value_parser = value_parser!(u32).range(4..))]
    pub mesh_vertices: Option<u32>,
    /// As few vertices as leave no height off by more metres.
    #[arg(long, value_name = "M", requires = "mesh", conflicts_with = "mesh_vertices", value_parser = metres)]
    pub mesh_error: Option<f64>,
    /// Leave the texture of the mesh out.
    #[arg(long, requires = "mesh")]
    pub mesh_bare: bool,
    /// Write the texture of the uplift as it rises, frame_00000.png and so on.
    #[arg(long, value_name = "DIR")]
    pub frames: Option<PathBuf>,
    /// Write the same as an animation, which ends in .gif.
    #[arg(long, value_name = "FILE")]
    pub animation: Option<PathBuf>,
    /// The iterations from one picture of the uplift to the next.
    #[arg(long, value_name = "N", default_value_t = 1, requires = "uplift", value_parser = value_parser!(u32).range(1..))]
    pub every: u32,
    /// Build once for each of these sizes, into folders of -o: size_513.
    #[arg(long, value_name = "N,…", value_delimiter = ',', conflicts_with = "size", requires = "output")]
    pub sizes: Vec<Size>,
    /// Build once for each of these seeds, into folders of -o: seed_7; with sizes too, seed_7_size_513.
    #[arg(long, value_name = "S,…", value_delimiter = ',', conflicts_with = "seed", requires = "output")]
    pub seeds: Vec<u32>,
    /// Where the weights are taken.
    #[arg(long, value_enum, default_value_t = WeightsAt::Pixels, requires = "weights")]
    pub weights_at: WeightsAt,
    #[command(flatten)]
    pub charts: AnalysisMapOptions,
    /// Write the rivers as lines, a JSON file. They end at the project's water, if it has any.
    #[arg(long, value_name = "FILE")]
    pub river_lines: Option<PathBuf>,
    /// The land in km² that drains through a river at the least; a thousandth of the world where not given.
    #[arg(long, value_name = "KM2", requires = "river_lines", value_parser = river_area)]
    pub river_area: Option<f64>,
    /// Write an image of the terrain in 3-D, under the recipe's sun and with the project's water. It needs a graphics
    /// adapter, which may be a software renderer, but no display.
    #[arg(long, value_name = "FILE")]
    pub render: Option<PathBuf>,
    /// Pixels of the picture in 3-D.
    #[arg(long, value_name = "WxH", default_value = "1280x800", requires = "render")]
    pub render_size: PictureSize,
    /// Write so many pictures in 3-D in place of one, once around the land: FILE_000.png the first.
    #[arg(long, value_name = "N", requires = "render", value_parser = value_parser!(u32).range(turntable_frames()))]
    pub turntable: Option<u32>,
    /// Which way on the map green counts in the normals.
    #[arg(long, value_enum, default_value_t = NormalsY::Up, requires = "normals")]
    pub normals_y: NormalsY,
    /// The bits of a channel of weights, normals and the other maps; packs have 8. With 16 a TIFF heightmap has whole
    /// numbers of 16 bits in place of floats.
    #[arg(long, value_name = "BITS", value_enum, default_value_t = DepthOption::Eight)]
    pub depth: DepthOption,
    /// The heights in metres that the whole numbers of heightmaps span; the project's fixed range, else the land's own,
    /// where not given. What lies outside is cut off.
    #[arg(long, value_name = "LOW,HIGH", allow_hyphen_values = true)]
    pub range: Option<Range>,
    /// Cut all maps into columns and rows of files, NAME_x0_y0.png the north-western one; heightmaps share the samples
    /// on their edges, and all of them have one height range.
    #[arg(long, value_name = "CxR", conflicts_with = "patches")]
    pub tiles: Option<TileCounts>,
    /// Write one tile alone, by its column and row, counted from the north-western one whatever the names of files.
    #[arg(long, value_name = "C,R", requires = "tiles")]
    pub tile: Option<TilePlace>,
    /// How many threads work; all cores where not given. The result is the same.
    #[arg(long, value_name = "N", value_parser = value_parser!(u16).range(1..=1024))]
    pub threads: Option<u16>,
    /// How progress is shown.
    #[arg(long, value_enum, default_value_t = ProgressKind::Auto)]
    pub progress: ProgressKind,
    /// Allow overwriting.
    #[arg(long)]
    pub force: bool,
}

/// Where weights are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum WeightsAt {
    /// At the pixels of the texture.
    Pixels,
    /// At the samples of the heightmap, for engines that paint vertices, such as Unreal.
    Samples,
}

/// Which way on the map green counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum NormalsY {
    /// Up the map, as OpenGL, Unity, Godot and Blender have it.
    Up,
    /// Down the map, as Direct3D and Unreal have it.
    Down,
}

/// The bits of a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum DepthOption {
    /// 8 bits.
    #[value(name = "8")]
    Eight,
    /// 16 bits.
    #[value(name = "16")]
    Sixteen,
}

/// An area that is more than nothing.
fn river_area(text: &str) -> Result<f64, String> {
    let area = text.parse::<f64>().ok().filter(|area| area.is_finite() && *area > 0.0);
    area.ok_or_else(|| "not an area; name one in km² such as 0.5".into())
}

/// The charts that are asked for, and where they go: an option for each row of the engine's table.
#[derive(Clone, Debug)]
pub struct AnalysisMapOptions(pub Vec<(AnalysisMap, PathBuf)>);

impl Args for AnalysisMapOptions {
    fn augment_args(command: Command) -> Command {
        command.args(AnalysisMap::ALL.map(|analysis_map| {
            let help = format!("Write a map as a PNG. {}", analysis_map.doc());
            Arg::new(analysis_map.key())
                .long(analysis_map.key())
                .value_name("FILE")
                .value_parser(value_parser!(PathBuf))
                .help(help)
        }))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for AnalysisMapOptions {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let chosen =
            |analysis_map: AnalysisMap| Some((analysis_map, matches.get_one::<PathBuf>(analysis_map.key())?.clone()));
        Ok(Self(AnalysisMap::ALL.into_iter().filter_map(chosen).collect()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// How progress is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ProgressKind {
    /// A bar on a terminal, else nothing.
    Auto,
    /// A bar on standard error.
    Bar,
    /// A JSON object a line on standard output.
    Json,
    /// Nothing.
    None,
}

#[derive(Args, Debug)]
pub struct FaultsOptions {
    #[command(flatten)]
    pub source: SourceOptions,
    /// The step's place in the stack, from 0; the first one that draws faults where not given.
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
    /// What is in a headerless input, as in u16le,1025x1025.
    #[arg(long, value_name = "LAYOUT")]
    pub raw: Option<RawLayout>,
    /// What to put into a headerless output, as in u16be.
    #[arg(long, value_name = "LAYOUT")]
    pub out_raw: Option<RawLayout>,
    /// 16: write a TIFF in whole numbers of 16 bits in place of floats.
    #[arg(long, value_name = "BITS", value_enum)]
    pub depth: Option<DepthOption>,
    /// The height in metres of the value 0 of an integer format.
    #[arg(long, value_name = "M", requires = "high", allow_negative_numbers = true)]
    pub low: Option<f64>,
    /// The height in metres of the greatest value of an integer format.
    #[arg(long, value_name = "M", requires = "low", allow_negative_numbers = true)]
    pub high: Option<f64>,
    /// Allow overwriting.
    #[arg(long)]
    pub force: bool,
}

#[derive(Args, Debug)]
pub struct InspectOptions {
    /// The heightmap to read.
    pub file: PathBuf,
    /// What is in a headerless file, as in u16le,1025x1025.
    #[arg(long, value_name = "LAYOUT")]
    pub raw: Option<RawLayout>,
    /// Print JSON, for programs.
    #[arg(long)]
    pub json: bool,
}

#[derive(Args, Debug)]
pub struct FaultOptions {
    /// How many faults.
    #[arg(short = 'n', value_name = "N", default_value_t = 100, value_parser = value_parser!(u32).range(0..=1_000_000))]
    pub count: u32,
    /// Samples from west to east.
    #[arg(short = 'x', value_name = "X", default_value_t = 256, value_parser = value_parser!(u32).range(2..=65_537))]
    pub width: u32,
    /// Samples from north to south.
    #[arg(short = 'y', value_name = "Y", default_value_t = 256, value_parser = value_parser!(u32).range(2..=65_537))]
    pub height: u32,
    /// The strength k of the filter; filters nothing by itself.
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
    /// Chooses among all the landscapes of the same kind.
    #[arg(long, value_name = "S", default_value_t = 1994)]
    pub seed: u32,
    /// Allow overwriting.
    #[arg(long)]
    pub force: bool,
    /// Where the heights go; ends in .xy.
    #[arg(value_name = "OUT.xy")]
    pub output: PathBuf,
}

/// The strengths that the filter takes: at 1 nothing of the land would be left.
fn strength(text: &str) -> Result<f64, String> {
    let k = text.parse::<f64>().ok().filter(|k| (0.0..=0.9999).contains(k));
    k.ok_or_else(|| "k must be a number from 0 to 0.9999".into())
}

fn turntable_frames() -> RangeInclusive<i64> {
    i64::from(*TURNTABLE_FRAMES.start())..=i64::from(*TURNTABLE_FRAMES.end())
}

/// No less than nothing.
fn metres(text: &str) -> Result<f64, String> {
    let metres = text.parse::<f64>().ok().filter(|metres| metres.is_finite() && *metres >= 0.0);
    metres.ok_or_else(|| "an error is a number of metres from 0".into())
}

fn sweeps(text: &str) -> Result<u8, String> {
    match text {
        "2" => Ok(2),
        "4" => Ok(4),
        _ => Err("the averaged filter has 2 or 4 sweeps".into()),
    }
}
