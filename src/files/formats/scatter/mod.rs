//! Scattered instances: as a table, as JSON, or as meshes of placeholder shapes in a binary glTF.

mod contents;
mod glb;

use std::io::{self, Write};
use std::path::Path;

use serde_json::json;

use self::contents::BATCH;
pub use self::contents::ScatterContents;

use crate::engine::Progress;
use crate::engine::scatter::Instance;
use crate::files::io::cancellable::cancelled_error;
use crate::files::io::error::FileError;

/// A format of scattered instances.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScatterFormat {
    /// A table with a line for each instance.
    Csv,
    /// A list of layers, each with its instances.
    Json,
    /// Placeholder shapes, instanced by EXT_mesh_gpu_instancing.
    Glb,
}

impl ScatterFormat {
    /// Every format with its extension, without the dot.
    const ALL: [(Self, &'static str); 3] = [(Self::Csv, "csv"), (Self::Json, "json"), (Self::Glb, "glb")];

    /// The format of a file by its extension, case-insensitively.
    pub fn from_path(path: &Path) -> Result<Self, FileError> {
        let extension = path.extension().unwrap_or_default();
        let found = Self::ALL.into_iter().find(|(_, known)| extension.eq_ignore_ascii_case(known));
        let known = || Self::ALL.map(|(_, known)| format!(".{known}")).join(" ") + " (scatter)";
        found
            .map(|(format, _)| format)
            .ok_or_else(|| FileError::UnknownExtension { path: path.to_path_buf(), known: known() })
    }
}

/// The axes and units of a table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ScatterAxes {
    /// x east, y up, z south, metres.
    #[default]
    Metres,
    /// Those of Unreal: X east, Y south, Z up, centimetres; angles about its axes, in its order; a first column with a
    /// name for each row.
    Unreal,
}

/// Writes instances in a format.
pub(crate) fn write(
    writer: &mut dyn Write,
    format: ScatterFormat,
    axes: ScatterAxes,
    contents: ScatterContents,
    progress: &Progress,
) -> io::Result<()> {
    match format {
        ScatterFormat::Csv => write_csv(writer, axes, contents, progress),
        ScatterFormat::Json => write_json(writer, contents, progress),
        ScatterFormat::Glb => glb::write(writer, contents, progress),
    }
}

fn write_csv(
    writer: &mut dyn Write,
    axes: ScatterAxes,
    contents: ScatterContents,
    progress: &Progress,
) -> io::Result<()> {
    let counter = progress.counter(contents.batches());
    writer.write_all(match axes {
        ScatterAxes::Metres => b"layer,x_m,y_m,z_m,yaw_deg,pitch_deg,roll_deg,scale\n",
        ScatterAxes::Unreal => b"---,Layer,X,Y,Z,Yaw,Pitch,Roll,Scale\n",
    })?;
    let mut row = 0_u64;
    for (layer, instances) in contents.layers() {
        let name = quoted(&layer.name);
        for batch in instances.chunks(BATCH) {
            for one in batch {
                let ([x, y, z], Instance { yaw_deg, pitch_deg, roll_deg, scale, .. }) = (one.at_m, *one);
                match axes {
                    ScatterAxes::Metres => writeln!(
                        writer,
                        "{name},{x:.4},{y:.4},{z:.4},{yaw_deg:.3},{pitch_deg:.3},{roll_deg:.3},{scale:.4}"
                    )?,
                    // Its yaw begins at its X axis, which is east; its roll lowers the right side.
                    ScatterAxes::Unreal => writeln!(
                        writer,
                        "{row},{name},{:.2},{:.2},{:.2},{:.3},{pitch_deg:.3},{:.3},{scale:.4}",
                        100.0 * x,
                        100.0 * z,
                        100.0 * y,
                        yaw_deg - 90.0,
                        -roll_deg
                    )?,
                }
                row += 1;
            }
            counter.add_one().map_err(cancelled_error)?;
        }
    }
    Ok(())
}

/// A field of a table: in quotes if it has a comma, a quote or a line break (RFC 4180).
fn quoted(text: &str) -> String {
    let is_plain = !text.contains([',', '"', '\n', '\r']);
    if is_plain { text.into() } else { format!("\"{}\"", text.replace('"', "\"\"")) }
}

/// Writes one line per instance, so that large files can be read and compared.
fn write_json(writer: &mut dyn Write, contents: ScatterContents, progress: &Progress) -> io::Result<()> {
    let counter = progress.counter(contents.batches());
    let extent = contents.recipe.world.extent();
    let head = json!({
        "upthrust": env!("CARGO_PKG_VERSION"),
        "width_m": extent.width_m,
        "depth_m": extent.depth_m,
        "fields": ["x_m", "y_m", "z_m", "yaw_deg", "pitch_deg", "roll_deg", "scale"],
    });
    write!(writer, "{},\n\"layers\": [", head.to_string().trim_end_matches('}'))?;
    for (i, (layer, instances)) in contents.layers().enumerate() {
        let about = json!({
            "name": layer.name,
            "shape": layer.shape.key(),
            "radius_m": layer.radius_m,
            "height_m": layer.height_m,
            "color": layer.colour.to_string(),
            "blocks": layer.blocks,
            "sight_m": layer.sight_m,
        });
        let comma = if i > 0 { "," } else { "" };
        write!(writer, "{comma}\n{},\n\"instances\": [", about.to_string().trim_end_matches('}'))?;
        for (j, batch) in instances.chunks(BATCH).enumerate() {
            for (k, one) in batch.iter().enumerate() {
                let ([x, y, z], Instance { yaw_deg, pitch_deg, roll_deg, scale, .. }) = (one.at_m, *one);
                let comma = if j + k > 0 { "," } else { "" };
                write!(writer, "{comma}\n[{x:.4},{y:.4},{z:.4},{yaw_deg:.3},{pitch_deg:.3},{roll_deg:.3},{scale:.4}]")?;
            }
            counter.add_one().map_err(cancelled_error)?;
        }
        write!(writer, "\n]}}")?;
    }
    writeln!(writer, "\n]}}")
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use serde_json::Value;

    use super::*;
    use crate::engine::Recipe;
    use crate::engine::scatter::{ScatterLayer, Scattered};

    fn written(format: ScatterFormat, axes: ScatterAxes, scattered: &[Scattered]) -> Vec<u8> {
        let layer = |name: &str| ScatterLayer { name: name.into(), ..ScatterLayer::default() };
        let recipe = Recipe { scatter: vec![layer("Pines, \"old\""), layer("Rocks")].into(), ..Recipe::default() };
        let mut bytes = Vec::new();
        let contents = ScatterContents { recipe: &recipe, scattered };
        write(&mut bytes, format, axes, contents, &Progress::new()).expect("written");
        bytes
    }

    fn instances() -> Vec<Scattered> {
        let one = Instance { at_m: [10.0, 20.5, 30.25], yaw_deg: 90.0, pitch_deg: 5.0, roll_deg: -2.0, scale: 1.5 };
        let other = Instance { at_m: [4000.0, -1.0, 0.0], yaw_deg: 0.0, pitch_deg: 0.0, roll_deg: 0.0, scale: 1.0 };
        vec![Scattered { layer: 0, instances: vec![one, other] }, Scattered { layer: 1, instances: vec![one] }]
    }

    #[test]
    fn tables_have_a_line_for_each_thing_in_the_axes_of_the_program() {
        let text = |axes| String::from_utf8(written(ScatterFormat::Csv, axes, &instances())).expect("text");
        assert_eq!(
            text(ScatterAxes::Metres),
            "layer,x_m,y_m,z_m,yaw_deg,pitch_deg,roll_deg,scale\n\
             \"Pines, \"\"old\"\"\",10.0000,20.5000,30.2500,90.000,5.000,-2.000,1.5000\n\
             \"Pines, \"\"old\"\"\",4000.0000,-1.0000,0.0000,0.000,0.000,0.000,1.0000\n\
             Rocks,10.0000,20.5000,30.2500,90.000,5.000,-2.000,1.5000\n"
        );
        let unreal = text(ScatterAxes::Unreal);
        // East is X, and something that faces east is not turned.
        assert!(unreal.ends_with("2,Rocks,1000.00,3025.00,2050.00,0.000,5.000,2.000,1.5000\n"), "{unreal}");
    }

    #[test]
    fn json_has_the_things_of_each_layer() {
        let bytes = written(ScatterFormat::Json, ScatterAxes::Metres, &instances());
        let value: Value = serde_json::from_slice(&bytes).expect("JSON");
        assert_eq!(value["layers"][0]["name"], "Pines, \"old\"");
        assert_eq!(value["layers"][1]["shape"], "cone");
        assert_eq!(value["layers"][0]["instances"][1], json!([4000.0, -1.0, 0.0, 0.0, 0.0, 0.0, 1.0]));
        let none = written(ScatterFormat::Json, ScatterAxes::Metres, &[]);
        assert_eq!(serde_json::from_slice::<Value>(&none).expect("JSON")["layers"], json!([]));
    }

    #[test]
    fn instances_are_read_by_an_independent_reader() {
        let bytes = written(ScatterFormat::Glb, ScatterAxes::Metres, &instances());
        let file = gltf::Gltf::from_reader_without_validation(Cursor::new(&bytes)).expect("glTF");
        let json = file.document.as_json();
        assert_eq!(json.extensions_required, ["EXT_mesh_gpu_instancing"]);
        let nodes: Vec<_> = file.nodes().collect();
        let description: Value = serde_json::from_slice(&bytes[20..20 + u32_at(&bytes, 12)]).expect("JSON");
        let names: Vec<_> = (0..nodes.len()).map(|node| &description["nodes"][node]["name"]).collect();
        assert_eq!(names, ["Pines, \"old\"", "Rocks", "Scatter"]);
        // A cone of eight sides.
        let mesh = nodes[0].mesh().expect("a mesh");
        let primitive = mesh.primitives().next().expect("a primitive");
        let blob = file.blob.as_deref().expect("binary data");
        let reader = primitive.reader(|_| Some(blob));
        assert_eq!(reader.read_positions().expect("positions").count(), 48);
        assert!(
            reader.read_normals().expect("normals").all(|n| (n.iter().map(|a| a * a).sum::<f32>() - 1.0).abs() < 1e-5)
        );
        let attributes = &description["nodes"][0]["extensions"]["EXT_mesh_gpu_instancing"]["attributes"];
        let accessor = attributes["TRANSLATION"].as_u64().expect("an index") as usize;
        let view = file.views().nth(accessor).expect("a view");
        let place: Vec<f32> = blob[view.offset()..view.offset() + 12]
            .chunks_exact(4)
            .map(|bytes| f32::from_le_bytes(bytes.try_into().expect("four bytes")))
            .collect();
        assert_eq!(place, [-2038.0, 20.5, -2017.75], "the middle of the world is at the origin");
        // But for the extension, which the reader does not know, it is valid.
        let known = String::from_utf8_lossy(&bytes[20..20 + u32_at(&bytes, 12)])
            .replace("extensionsRequired", "extensionsIgnored_");
        let mut plain = bytes.clone();
        plain[20..20 + known.len()].copy_from_slice(known.as_bytes());
        gltf::Gltf::from_slice(&plain).expect("valid");
        // Without instances there is a valid file, too.
        let empty = written(ScatterFormat::Glb, ScatterAxes::Metres, &[]);
        gltf::Gltf::from_slice(&empty).expect("a valid glTF");
    }

    fn u32_at(bytes: &[u8], at: usize) -> usize {
        u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes")) as usize
    }

    #[test]
    fn unknown_extensions_are_refused_with_those_that_are_known() {
        assert_eq!(ScatterFormat::from_path(Path::new("a.CSV")), Ok(ScatterFormat::Csv));
        let error = ScatterFormat::from_path(Path::new("a.txt")).expect_err("unknown").to_string();
        assert_eq!(error, "a.txt: unknown file extension; supported: .csv .json .glb (scatter)");
    }
}
