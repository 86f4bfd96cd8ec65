//! Universal Scene Description as text (Pixar, "USD Specifications", openusd.org): a mesh below a transform, and a
//! material whose texture is a second file. The material follows the "UsdPreviewSurface Specification", version 2.6.

use std::ffi::OsStr;
use std::fmt::Write as _;
use std::io;

use super::terrain_mesh::{Mesh, WriteSeek};
use crate::engine::Progress;
use crate::engine::cast::ToFloat;
use crate::engine::progress::ProgressCounter;
use crate::files::io::cancellable::cancelled_error;

/// Vertices or triangles that are formatted between two checks for cancellation.
const BATCH: usize = 1 << 12;

/// The maximum length of everything but the arrays.
const DESCRIPTION_BYTES: u64 = 4096;

/// The maximum length of a number as Rust's `Debug` writes it, which has an exponent from 10¹⁶ on and below 10⁻⁴: a
/// sign, 16 digits and ".0". Between −1 and 1: a sign, "0.000" and nine digits.
const NUMBER_BYTES: u64 = 19;
const FRACTION_BYTES: u64 = 15;

/// The maximum length of a file with this many vertices and twice as many triangles: positions, normals, texture
/// coordinates, and the number of corners and the corners of the triangles, all with brackets, commas and spaces.
pub(crate) fn max_bytes(vertices: u64) -> u64 {
    let vertex = (3 * NUMBER_BYTES + 8) + (3 * FRACTION_BYTES + 8) + (2 * FRACTION_BYTES + 6);
    let triangle = 3 + 3 * (10 + 2);
    vertices * (vertex + 2 * triangle) + DESCRIPTION_BYTES
}

/// How a file refers to another one in its folder. `None` if it cannot: such a path is UTF-8 without control characters,
/// and USD takes a backslash for the separator of folders on every system.
pub(crate) fn asset_path(name: &OsStr) -> Option<String> {
    let name = name.to_str().filter(|name| !name.contains(|c: char| c.is_control() || c == '\\'))?;
    // A path starts with "./" if it is relative to the file that contains it. There are no escapes but for @@@.
    Some(match name.contains('@') {
        true => format!("@@@./{}@@@", name.replace("@@@", r"\@@@")),
        false => format!("@./{name}@"),
    })
}

/// Writes a mesh; `texture` is the asset path of its texture.
pub(crate) fn write(
    writer: &mut dyn WriteSeek,
    mesh: &Mesh,
    texture: Option<&str>,
    progress: &Progress,
) -> io::Result<()> {
    let (vertices, triangles) = (&mesh.triangulation.vertices, &mesh.triangulation.triangles);
    let counter = progress.counter(3 * vertices.len().div_ceil(BATCH) + 2 * triangles.len().div_ceil(BATCH));
    writer.write_all(HEADER.as_bytes())?;
    if texture.is_some() {
        writer.write_all(BINDING_SCHEMA.as_bytes())?;
    }
    writer.write_all(MESH.as_bytes())?;
    if texture.is_some() {
        writer.write_all(BINDING.as_bytes())?;
    }
    write_vertices(writer, mesh, &counter)?;
    write!(writer, "        int[] faceVertexCounts = [")?;
    write_items(writer, triangles, &counter, |text, _| text.push('3'))?;
    write!(writer, "]\n        int[] faceVertexIndices = [")?;
    write_items(writer, triangles, &counter, |text, [a, b, c]| {
        let _ = write!(text, "{a}, {b}, {c}");
    })?;
    writeln!(writer, "]\n    }}")?;
    if let Some(texture) = texture {
        write_material(writer, texture)?;
    }
    writeln!(writer, "}}")
}

/// Begins the transform and the mesh.
const HEADER: &str = concat!(
    r#"#usda 1.0
(
    defaultPrim = "Terrain"
    doc = "Upthrust "#,
    env!("CARGO_PKG_VERSION"),
    r#"; metres, y is up, north is -z"
    metersPerUnit = 1
    upAxis = "Y"
)

def Xform "Terrain" (
    kind = "component"
)
{
    def Mesh "Terrain""#
);

/// Follows the name of a mesh that has a material.
const BINDING_SCHEMA: &str = r#" (
        prepend apiSchemas = ["MaterialBindingAPI"]
    )"#;

/// The properties that do not depend on the terrain.
const MESH: &str = r#"
    {
        uniform bool doubleSided = 1
        uniform token orientation = "rightHanded"
        uniform token subdivisionScheme = "none"
"#;

const BINDING: &str = "        rel material:binding = </Terrain/Material>\n";

/// Writes positions, their minimum and maximum, normals and texture coordinates.
fn write_vertices(writer: &mut dyn WriteSeek, mesh: &Mesh, counter: &ProgressCounter) -> io::Result<()> {
    let vertices = &mesh.triangulation.vertices;
    let [mut low, mut high] = [[f32::INFINITY; 3], [f32::NEG_INFINITY; 3]];
    write!(writer, "        point3f[] points = [")?;
    write_items(writer, vertices, counter, |text, sample| {
        let position = mesh.position_m(*sample);
        for axis in 0..3 {
            low[axis] = low[axis].min(position[axis]);
            high[axis] = high[axis].max(position[axis]);
        }
        push_vector(text, position);
    })?;
    let mut extent = String::new();
    push_vector(&mut extent, low);
    extent.push_str(", ");
    push_vector(&mut extent, high);
    write!(writer, "]\n        float3[] extent = [{extent}]\n        normal3f[] normals = [")?;
    write_items(writer, vertices, counter, |text, sample| push_vector(text, mesh.normal(*sample)))?;
    let vertex = "] (\n            interpolation = \"vertex\"\n        )\n";
    write!(writer, "{vertex}        texCoord2f[] primvars:st = [")?;
    write_items(writer, vertices, counter, |text, sample| {
        let [east, south] = mesh.fractions(*sample).map(|fraction| fraction.to_f32());
        // The first row of the texture is at the top; v runs upward.
        let _ = write!(text, "({east:?}, {:?})", 1.0 - south);
    })?;
    writer.write_all(vertex.as_bytes())
}

/// Writes the items of an array. An array is one line, because simple readers of USD go line by line.
fn write_items<T>(
    writer: &mut dyn WriteSeek,
    items: &[T],
    counter: &ProgressCounter,
    mut push: impl FnMut(&mut String, &T),
) -> io::Result<()> {
    let mut separator = "";
    for batch in items.chunks(BATCH) {
        let mut text = String::new();
        for item in batch {
            text.push_str(separator);
            push(&mut text, item);
            separator = ", ";
        }
        writer.write_all(text.as_bytes())?;
        counter.add_one().map_err(cancelled_error)?;
    }
    Ok(())
}

fn push_vector(text: &mut String, [x, y, z]: [f32; 3]) {
    let _ = write!(text, "({x:?}, {y:?}, {z:?})");
}

/// Writes a matte material with the texture.
fn write_material(writer: &mut dyn WriteSeek, texture: &str) -> io::Result<()> {
    let (start, end) = MATERIAL;
    write!(writer, "{start}{texture}{end}")
}

/// A material, before and after the path of its texture.
const MATERIAL: (&str, &str) = (
    r#"
    def Material "Material"
    {
        token outputs:surface.connect = </Terrain/Material/Surface.outputs:surface>

        def Shader "Surface"
        {
            uniform token info:id = "UsdPreviewSurface"
            color3f inputs:diffuseColor.connect = </Terrain/Material/Texture.outputs:rgb>
            float inputs:metallic = 0
            float inputs:roughness = 1
            token outputs:surface
        }

        def Shader "Texture"
        {
            uniform token info:id = "UsdUVTexture"
            asset inputs:file = "#,
    r#"
            token inputs:sourceColorSpace = "sRGB"
            float2 inputs:st.connect = </Terrain/Material/Coordinates.outputs:result>
            token inputs:wrapS = "clamp"
            token inputs:wrapT = "clamp"
            float3 outputs:rgb
        }

        def Shader "Coordinates"
        {
            uniform token info:id = "UsdPrimvarReader_float2"
            string inputs:varname = "st"
            float2 outputs:result
        }
    }
"#,
);

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;
    use crate::engine::{Extent, Grid, Heightfield};
    use crate::files::formats::mesh::Triangulation;

    /// Writes two triangles over 2 × 2 samples of a world of 20 × 10 m.
    fn written(heights: [f32; 4], texture: Option<&str>) -> String {
        let grid = Grid::new(Extent { width_m: 20.0, depth_m: 10.0 }, 2, 2);
        let heights = Heightfield::from_fn(grid, |column, row| heights[2 * row + column]);
        let vertices = vec![[0, 0], [1, 0], [0, 1], [1, 1]];
        let triangulation = Triangulation { vertices, triangles: vec![[0, 2, 1], [1, 2, 3]], error_m: 0.0 };
        let mut file = Cursor::new(Vec::new());
        write(&mut file, &Mesh { heights: &heights, triangulation }, texture, &Progress::new()).expect("written");
        String::from_utf8(file.into_inner()).expect("text")
    }

    #[test]
    fn a_mesh_without_texture_has_no_material() {
        let expected = r#"def Xform "Terrain" (
    kind = "component"
)
{
    def Mesh "Terrain"
    {
        uniform bool doubleSided = 1
        uniform token orientation = "rightHanded"
        uniform token subdivisionScheme = "none"
        point3f[] points = [(-10.0, 7.5, -5.0), (10.0, 7.5, -5.0), (-10.0, 0.0, 5.0), (10.0, 0.0, 5.0)]
        float3[] extent = [(-10.0, 0.0, -5.0), (10.0, 7.5, 5.0)]
        normal3f[] normals = [(-0.0, 0.8, 0.6), (-0.0, 0.8, 0.6), (-0.0, 0.8, 0.6), (-0.0, 0.8, 0.6)] (
            interpolation = "vertex"
        )
        texCoord2f[] primvars:st = [(0.0, 1.0), (1.0, 1.0), (0.0, 0.0), (1.0, 0.0)] (
            interpolation = "vertex"
        )
        int[] faceVertexCounts = [3, 3]
        int[] faceVertexIndices = [0, 2, 1, 1, 2, 3]
    }
}
"#;
        let text = written([7.5, 7.5, 0.0, 0.0], None);
        assert!(text.starts_with("#usda 1.0\n(\n    defaultPrim = \"Terrain\"\n"), "{text}");
        assert!(text.contains("\n    metersPerUnit = 1\n    upAxis = \"Y\"\n)\n"), "{text}");
        assert_eq!(text.split_once("\n\n").map(|(_, scene)| scene), Some(expected));
    }

    #[test]
    fn a_texture_is_bound_by_a_material() {
        let text = written([0.0; 4], Some("@./land.png@"));
        for part in [
            "def Mesh \"Terrain\" (\n        prepend apiSchemas = [\"MaterialBindingAPI\"]\n    )\n    {\n",
            "\n        rel material:binding = </Terrain/Material>\n",
            "\n    def Material \"Material\"\n",
            "\n            asset inputs:file = @./land.png@\n",
            "\n            token inputs:sourceColorSpace = \"sRGB\"\n",
        ] {
            assert!(text.contains(part), "{part} in {text}");
        }
        // Every path leads to a prim.
        for path in text.split("</Terrain/").skip(1).filter_map(|rest| rest.split(['.', '>']).next()) {
            let name = path.rsplit('/').next().expect("a name");
            assert!(text.contains(&format!("\"{name}\"\n")), "{path} in {text}");
        }
        assert_eq!(text.matches('{').count(), text.matches('}').count());
    }

    #[test]
    fn asset_paths_are_delimited_by_what_the_name_does_not_contain() {
        for (name, expected) in [
            ("land.png", Some("@./land.png@")),
            ("Höhe 1's \"a b\".png", Some("@./Höhe 1's \"a b\".png@")),
            ("a@b.png", Some("@@@./a@b.png@@@")),
            ("a@@@b@@@@.png", Some(r"@@@./a\@@@b\@@@@.png@@@")),
            ("a\nb.png", None),
            ("a\\b.png", None),
            ("a\u{85}b.png", None),
        ] {
            assert_eq!(asset_path(OsStr::new(name)).as_deref(), expected, "{name}");
        }
    }

    #[test]
    fn no_file_is_longer_than_its_limit() {
        for height_m in [-9.999_999e15, f32::MIN, 1.234_567_9e-38, -1.234_567_9e-4] {
            let length = format!("{height_m:?}").len() as u64;
            assert!(length <= NUMBER_BYTES, "{height_m:?}");
            assert!(height_m.abs() > 1.0 || length <= FRACTION_BYTES, "{height_m:?}");
            let text = written([height_m; 4], None);
            assert!(text.len() as u64 <= max_bytes(4), "{}", text.len());
        }
        // The longest name that a file can have.
        let texture = asset_path(OsStr::new(&"@".repeat(255))).expect("a path");
        assert!(written([0.0; 4], Some(&texture)).len() as u64 <= max_bytes(4));
    }
}
