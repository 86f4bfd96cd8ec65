//! Binary glTF 2.0 (Khronos Group, "glTF 2.0 Specification", 2021): a header, the JSON description, then positions,
//! normals, texture coordinates, triangles and the texture as a PNG.

use std::io::{self, SeekFrom};

use serde_json::{Value, json};

use super::terrain_mesh::{Mesh, WriteInto, WriteSeek};
use crate::engine::Progress;
use crate::engine::cast::{ToFloat, ToInteger};
use crate::engine::progress::ProgressCounter;
use crate::files::io::cancellable::cancelled_error;

/// The maximum number of vertices of a file: their bytes and those of twice as many triangles have to fit into 32 bits,
/// with an eighth left for the texture.
pub(super) const MAX_VERTICES: u64 = (u32::MAX as u64) / 8 * 7 / (32 + 24);

/// Bytes reserved for the JSON description, which is written last and padded with spaces.
const DESCRIPTION_BYTES: usize = 4096;

/// The offset of the binary data: file header, chunk header, description, chunk header.
const BINARY_OFFSET: usize = 12 + 8 + DESCRIPTION_BYTES + 8;

const FLOAT: u32 = 5126;
const UNSIGNED_SHORT: u32 = 5123;
const UNSIGNED_INT: u32 = 5125;
const ARRAY_BUFFER: u32 = 34_962;
const ELEMENT_ARRAY_BUFFER: u32 = 34_963;
const LINEAR: u32 = 9729;
const LINEAR_MIPMAP_LINEAR: u32 = 9987;
const CLAMP_TO_EDGE: u32 = 33_071;

/// Vertices or triangles that are converted to bytes between two checks for cancellation.
const BATCH: usize = 1 << 14;

pub(crate) fn write(
    mut writer: &mut dyn WriteSeek,
    mesh: &Mesh,
    png: Option<WriteInto>,
    progress: &Progress,
) -> io::Result<()> {
    let (vertices, triangles) = (&mesh.triangulation.vertices, &mesh.triangulation.triangles);
    writer.write_all(&[0; BINARY_OFFSET])?;
    let counter = progress.counter((3 * vertices.len() + triangles.len()).div_ceil(BATCH) + 4);
    let limits = write_vertices(writer, mesh, &counter)?;
    // The largest 16-bit number is the primitive restart index, so no vertex can have it.
    let is_short = vertices.len() <= usize::from(u16::MAX);
    write_triangles(writer, triangles, is_short, &counter)?;
    let index_bytes = triangles.len() * 3 * if is_short { 2 } else { 4 };
    pad(writer)?;
    let geometry_end = writer.stream_position()?;
    if let Some(png) = png {
        png(&mut writer)?;
    }
    let image_bytes = png.is_some().then_some((writer.stream_position()? - geometry_end).to_usize());
    pad(writer)?;
    let length = writer.stream_position()?;
    let description = describe(mesh, limits, index_bytes, is_short, image_bytes, length.to_usize() - BINARY_OFFSET);
    write_header(writer, &description, length)
}

/// Writes positions, normals and texture coordinates; returns the minimum and maximum coordinates.
fn write_vertices(writer: &mut dyn WriteSeek, mesh: &Mesh, counter: &ProgressCounter) -> io::Result<[[f32; 3]; 2]> {
    let vertices = &mesh.triangulation.vertices;
    let [mut low, mut high] = [[f32::INFINITY; 3], [f32::NEG_INFINITY; 3]];
    for samples in vertices.chunks(BATCH) {
        let mut bytes = Vec::with_capacity(12 * samples.len());
        for position in samples.iter().map(|sample| mesh.position_m(*sample)) {
            for axis in 0..3 {
                low[axis] = low[axis].min(position[axis]);
                high[axis] = high[axis].max(position[axis]);
            }
            bytes.extend(position.iter().flat_map(|along| along.to_le_bytes()));
        }
        writer.write_all(&bytes)?;
        counter.add_one().map_err(cancelled_error)?;
    }
    for samples in vertices.chunks(BATCH) {
        let normals = samples.iter().flat_map(|sample| mesh.normal(*sample));
        writer.write_all(&normals.flat_map(f32::to_le_bytes).collect::<Vec<u8>>())?;
        counter.add_one().map_err(cancelled_error)?;
    }
    for samples in vertices.chunks(BATCH) {
        // (0, 0) is the first pixel of the texture, in the north-west.
        let fractions = samples.iter().flat_map(|sample| mesh.fractions(*sample)).map(|fraction| fraction.to_f32());
        writer.write_all(&fractions.flat_map(f32::to_le_bytes).collect::<Vec<u8>>())?;
        counter.add_one().map_err(cancelled_error)?;
    }
    Ok([low, high])
}

fn write_triangles(
    writer: &mut dyn WriteSeek,
    triangles: &[[u32; 3]],
    is_short: bool,
    counter: &ProgressCounter,
) -> io::Result<()> {
    for batch in triangles.chunks(BATCH) {
        let indices = batch.iter().flatten();
        let bytes: Vec<u8> = match is_short {
            true => indices.flat_map(|index| (*index).to_u16().to_le_bytes()).collect(),
            false => indices.flat_map(|index| index.to_le_bytes()).collect(),
        };
        writer.write_all(&bytes)?;
        counter.add_one().map_err(cancelled_error)?;
    }
    Ok(())
}

/// Writes everything before the binary data of a file of `length` bytes.
fn write_header(writer: &mut dyn WriteSeek, description: &Value, length: u64) -> io::Result<()> {
    let too_large = |_| io::Error::other("a binary glTF is limited to 4 GiB; use fewer vertices or a smaller texture");
    let header_length = u32::try_from(length).map_err(too_large)?;
    let mut bytes = Vec::with_capacity(BINARY_OFFSET);
    bytes.extend(b"glTF");
    bytes.extend(2_u32.to_le_bytes());
    bytes.extend(header_length.to_le_bytes());
    bytes.extend(DESCRIPTION_BYTES.to_u32().to_le_bytes());
    bytes.extend(b"JSON");
    bytes.extend(description.to_string().as_bytes());
    bytes.resize(20 + DESCRIPTION_BYTES, b' ');
    bytes.extend((header_length - BINARY_OFFSET.to_u32()).to_le_bytes());
    bytes.extend(b"BIN\0");
    if bytes.len() != BINARY_OFFSET {
        return Err(io::Error::other("the description does not fit into its reserved space"));
    }
    writer.seek(SeekFrom::Start(0))?;
    writer.write_all(&bytes)?;
    writer.seek(SeekFrom::Start(length))?;
    Ok(())
}

/// Pads with zeros to a multiple of four bytes.
fn pad(writer: &mut dyn WriteSeek) -> io::Result<()> {
    let excess = (writer.stream_position()? % 4) as usize;
    writer.write_all(&[0; 4][..(4 - excess) % 4])
}

/// The JSON description of the geometry and the texture.
fn describe(
    mesh: &Mesh,
    [low, high]: [[f32; 3]; 2],
    index_bytes: usize,
    is_short: bool,
    image: Option<usize>,
    length: usize,
) -> Value {
    let vertices = mesh.triangulation.vertices.len();
    let mut offset = 0;
    let mut view = |length: usize, target: Option<u32>| {
        let mut view = json!({"buffer": 0, "byteOffset": offset, "byteLength": length});
        if let Some(target) = target {
            view["target"] = target.into();
        }
        offset += length.next_multiple_of(4);
        view
    };
    let mut views = vec![
        view(12 * vertices, Some(ARRAY_BUFFER)),
        view(12 * vertices, Some(ARRAY_BUFFER)),
        view(8 * vertices, Some(ARRAY_BUFFER)),
        view(index_bytes, Some(ELEMENT_ARRAY_BUFFER)),
    ];
    views.extend(image.map(|length| view(length, None)));
    let index = if is_short { UNSIGNED_SHORT } else { UNSIGNED_INT };
    let mut material =
        json!({"name": "Terrain", "pbrMetallicRoughness": {"metallicFactor": 0.0, "roughnessFactor": 1.0}});
    let mut gltf = json!({
        "asset": {"version": "2.0", "generator": concat!("Upthrust ", env!("CARGO_PKG_VERSION"))},
        "scene": 0,
        "scenes": [{"nodes": [0]}],
        "nodes": [{"name": "Terrain", "mesh": 0}],
        "meshes": [{"name": "Terrain", "primitives": [{
            "attributes": {"POSITION": 0, "NORMAL": 1, "TEXCOORD_0": 2}, "indices": 3, "material": 0
        }]}],
        "accessors": [
            {"bufferView": 0, "componentType": FLOAT, "count": vertices, "type": "VEC3", "min": low, "max": high},
            {"bufferView": 1, "componentType": FLOAT, "count": vertices, "type": "VEC3"},
            {"bufferView": 2, "componentType": FLOAT, "count": vertices, "type": "VEC2"},
            {"bufferView": 3, "componentType": index, "count": 3 * mesh.triangulation.triangles.len(), "type": "SCALAR"},
        ],
        "bufferViews": views,
        "buffers": [{"byteLength": length}],
    });
    if image.is_some() {
        material["pbrMetallicRoughness"]["baseColorTexture"] = json!({"index": 0});
        gltf["images"] = json!([{"bufferView": 4, "mimeType": "image/png"}]);
        gltf["samplers"] = json!([{
            "magFilter": LINEAR, "minFilter": LINEAR_MIPMAP_LINEAR, "wrapS": CLAMP_TO_EDGE, "wrapT": CLAMP_TO_EDGE
        }]);
        gltf["textures"] = json!([{"sampler": 0, "source": 0}]);
    }
    gltf["materials"] = json!([material]);
    gltf
}
