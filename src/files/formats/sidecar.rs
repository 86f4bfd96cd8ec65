//! Sidecars: JSON files with the properties of a heightmap that its format cannot store.

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::BYTE_ORDER_MARK;
use super::heightmap::{Encoding, RawLayout, RawSample, RowOrder, Samples, WrittenFormat};
use super::numbers::metres;
use crate::engine::Grid;
use crate::engine::cast::ToInteger;
use crate::engine::heightfield::MAX_HEIGHT_M;
use crate::engine::parameters::Band;
use crate::files::io::error::FileError;
use crate::files::io::read::read_regular;

/// The part of a sidecar that a reader of the heightmap needs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sidecar {
    /// Samples from west to east and from north to south.
    pub size: [usize; 2],
    /// The heights of the smallest and of the largest value.
    pub range_m: Band,
    /// Metres between samples, eastward and southward.
    pub spacing_m: [f64; 2],
    /// Which row of the file comes first.
    pub row_order: RowOrder,
    /// The sample type of a headerless file, if the sidecar contains it.
    pub sample: Option<RawSample>,
}

/// The row orders as written in a sidecar.
const FROM_NORTH: &str = "rows from north to south, each from west to east";
const FROM_SOUTH: &str = "rows from south to north, each from west to east";

/// The maximum length of a sidecar. A longer file is something else.
const MAX_BYTES: u64 = 1 << 20;

/// The path of the sidecar: FILE.json for FILE, including the extension of FILE.
pub fn sidecar_path(path: &Path) -> PathBuf {
    let mut name: OsString = path.as_os_str().into();
    name.push(".json");
    name.into()
}

impl Sidecar {
    /// Reads the sidecar of a heightmap; `None` if there is none. The error explains why it cannot be used.
    pub fn read_for(path: &Path) -> Result<Option<Self>, String> {
        let path = sidecar_path(path);
        match read_regular(&path, MAX_BYTES) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error.to_string()),
            Ok(bytes) => Self::from_json(&String::from_utf8_lossy(&bytes)).map(Some),
        }
    }

    /// Parses a sidecar.
    pub fn from_json(text: &str) -> Result<Self, String> {
        let text = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
        let value: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
        let number = |key: &str| {
            value[key].as_f64().filter(|number| number.is_finite()).ok_or_else(|| format!("it has no number \"{key}\""))
        };
        let side = |key: &str| value[key].as_u64().ok_or_else(|| format!("it has no integer \"{key}\""));
        let range_m = Band { min: number("min_m")?, max: number("max_m")? };
        let spacing_m = [number("spacing_x_m")?, number("spacing_z_m")?];
        let limit = f64::from(MAX_HEIGHT_M);
        if range_m.min < -limit || range_m.max > limit || spacing_m.iter().any(|spacing| *spacing > limit) {
            return Err(format!("its heights or spacings are beyond {limit} m"));
        }
        if range_m.min > range_m.max || spacing_m.iter().any(|spacing| *spacing <= 0.0) {
            return Err("its numbers contradict each other".into());
        }
        let row_order = if value["row_order"] == FROM_SOUTH { RowOrder::SouthFirst } else { RowOrder::NorthFirst };
        let layout = value["sample"].as_str().and_then(|name| name.parse::<RawLayout>().ok());
        let size = [side("width")?.to_usize(), side("height")?.to_usize()];
        Ok(Self { size, range_m, spacing_m, row_order, sample: layout.map(|layout| layout.sample) })
    }
}

/// Everything that a sidecar contains.
#[derive(Clone, Copy, Debug)]
pub struct SidecarContents<'a> {
    /// The heightmap.
    pub path: &'a Path,
    /// The options of its format.
    pub encoding: Encoding,
    /// The grid of its samples.
    pub grid: Grid,
    /// For integers, the heights of 0 and of the largest value; for metres, the lowest and the highest height.
    pub range_m: Band,
    /// Whether heights outside the range were clamped.
    pub is_clamped: bool,
    /// The seed and the name of the recipe, if there is one.
    pub recipe: Option<(u32, &'a str)>,
    /// Import steps for the target program.
    pub steps: &'a [String],
}

impl SidecarContents<'_> {
    /// The contents of the file.
    pub fn to_json(&self) -> Result<Value, FileError> {
        let format = WrittenFormat::from_path(self.path)?;
        let samples = format.samples(self.encoding);
        let (bits, byte_order) = match samples {
            Samples::Integers { bits, byte_order, .. } => (Some(bits), byte_order),
            Samples::Metres { bits, byte_order } => (bits, byte_order),
        };
        let row_order = match format {
            WrittenFormat::Krten => "columns from west to east, each from north to south",
            WrittenFormat::Png
            | WrittenFormat::Raw16
            | WrittenFormat::Raw32
            | WrittenFormat::Asc
            | WrittenFormat::Pgm
            | WrittenFormat::Bmp
            | WrittenFormat::Jpg
            | WrittenFormat::Tga
            | WrittenFormat::Exr
            | WrittenFormat::Tiff => match self.encoding.row_order {
                RowOrder::NorthFirst => FROM_NORTH,
                RowOrder::SouthFirst => FROM_SOUTH,
            },
        };
        Ok(json!({
            "file": self.path.file_name().map(|name| name.to_string_lossy()),
            "format": format.name(self.path),
            "width": self.grid.width(),
            "height": self.grid.height(),
            "bits": bits,
            "byte_order": byte_order.map(|order| order.name()),
            "min_m": self.range_m.min,
            "max_m": self.range_m.max,
            "spacing_x_m": self.grid.spacing_x_m(),
            "spacing_z_m": self.grid.spacing_z_m(),
            "sample": format.raw_sample(self.encoding.raw).map(RawSample::name),
            "row_order": row_order,
            "seed": self.recipe.map(|(seed, _)| seed),
            "recipe": self.recipe.map(|(_, name)| name),
            "upthrust": env!("CARGO_PKG_VERSION"),
            "import": self.import_steps(samples),
        }))
    }

    /// Import steps for any program, after those for the target.
    fn import_steps(&self, samples: Samples) -> Vec<String> {
        let (grid, extent, range) = (self.grid, self.grid.extent(), self.range_m);
        let corner = match self.encoding.row_order {
            RowOrder::NorthFirst => "north-west",
            RowOrder::SouthFirst => "south-west",
        };
        let (width, height) = (grid.width(), grid.height());
        let mut steps = self.steps.to_vec();
        steps.push(format!("The map has {width} × {height} samples, starting at the {corner} corner."));
        match samples {
            Samples::Integers { max_value, bits, byte_order } => {
                let order = byte_order.map_or(String::new(), |order| format!(", {}", order.name()));
                steps.push(format!("The samples are unsigned {bits}-bit integers{order}."));
                steps.push(format!(
                    "The value 0 is a height of {} m and the value {max_value} a height of {} m: set the height of the \
                     terrain to {} m and its base to {} m.",
                    metres(range.min),
                    metres(range.max),
                    metres(range.max - range.min),
                    metres(range.min)
                ));
            }
            Samples::Metres { bits, byte_order } => {
                let bits = bits.map_or("text".into(), |bits| format!("{bits} bits"));
                let order = byte_order.map_or(String::new(), |order| format!(", {}", order.name()));
                steps.push(format!("The samples are metres, stored as {bits}{order}; import them without scaling."));
            }
        }
        if self.is_clamped {
            steps.push("Heights outside this range were clamped.".into());
        }
        steps.push(format!("The map is {} m wide and {} m deep.", metres(extent.width_m), metres(extent.depth_m)));
        steps
    }

    /// Writes the sidecar.
    pub fn write(&self, writer: &mut impl Write) -> Result<(), FileError> {
        let path = sidecar_path(self.path);
        writeln!(writer, "{:#}", self.to_json()?).map_err(|error| FileError::writing(&path, &error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::heightfield::Extent;

    fn description(path: &Path) -> SidecarContents<'_> {
        let grid = Grid::new(Extent { width_m: 4096.0, depth_m: 2048.0 }, 1025, 513);
        let range_m = Band { min: -12.5, max: 1743.1 };
        SidecarContents {
            path,
            encoding: Encoding::default(),
            grid,
            range_m,
            is_clamped: false,
            recipe: Some((7, "Fjord")),
            steps: &[],
        }
    }

    #[test]
    fn a_sidecar_round_trips_and_has_every_key() {
        let json = description(Path::new("/tmp/x/height.png")).to_json().expect("known extension");
        let keys: Vec<&str> = json.as_object().expect("object").keys().map(String::as_str).collect();
        let expected = "file format width height bits byte_order min_m max_m spacing_x_m spacing_z_m sample \
                        row_order seed recipe upthrust import";
        assert_eq!(keys, expected.split_whitespace().collect::<Vec<_>>());
        assert_eq!((&json["file"], &json["bits"], &json["seed"]), (&json!("height.png"), &json!(16), &json!(7)));
        let read = Sidecar::from_json(&json.to_string()).expect("readable");
        let range_m = Band { min: -12.5, max: 1743.1 };
        assert_eq!(
            read,
            Sidecar {
                size: [1025, 513],
                range_m,
                spacing_m: [4.0, 4.0],
                row_order: RowOrder::NorthFirst,
                sample: None
            }
        );
    }

    #[test]
    fn byte_orders_follow_the_layout() {
        let order = |name: &str, raw: Option<&str>| {
            let path = Path::new(name);
            let encoding = raw.map(|raw| raw.parse().expect("valid")).into();
            SidecarContents { encoding, ..description(path) }.to_json().expect("known")["byte_order"].clone()
        };
        assert_eq!(order("a.r16", None), "little-endian");
        assert_eq!(order("a.raw", Some("u16be")), "big-endian");
        assert_eq!(order("a.bmp", None), Value::Null);
    }

    #[test]
    fn headerless_formats_are_named_by_their_extension() {
        let format = |name: &str, raw: Option<&str>| {
            let path = Path::new(name);
            let encoding = raw.map(|raw| raw.parse().expect("valid")).into();
            let json = SidecarContents { encoding, ..description(path) }.to_json().expect("known");
            (json["format"].clone(), json["bits"].clone())
        };
        assert_eq!(format("a.RAW", Some("f32le")), (json!("raw"), json!(32)));
        assert_eq!(format("a.r16", None), (json!("r16"), json!(16)));
        assert_eq!(format("a.jpeg", None), (json!("jpg"), json!(8)));
    }

    #[test]
    fn invalid_sidecars_are_refused() {
        for text in
            ["", "3", "{}", r#"{"min_m": 5, "max_m": 1, "spacing_x_m": 1, "spacing_z_m": 1, "width": 2, "height": 2}"#]
        {
            assert!(Sidecar::from_json(text).is_err(), "{text}");
        }
    }

    #[test]
    fn the_path_keeps_the_full_file_name() {
        assert_eq!(sidecar_path(Path::new("a/height.png")), Path::new("a/height.png.json"));
    }
}
