//! glTF 2.0 in its binary form (Khronos Group, "glTF 2.0 Specification", 2021): a header, the description as JSON, then
//! positions, normals, texture coordinates, triangles and the texture as a PNG.

use std::io::{self, SeekFrom};

use serde_json::{Value, json};

use super::{Mesh, WriteInto, WriteSeek};
use crate::engine::Progress;
use crate::files::watched::stopped;

/// The most vertices whose bytes, and those of twice as many triangles, can be counted in the 32 bits of the header,
/// with an eighth left for the texture.
pub(super) const MOST_VERTICES: u64 = (u32::MAX as u64) / 8 * 7 / (32 + 24);

/// Bytes kept for the description, which is written last and filled up with spaces.
const DESCRIPTION: usize = 4096;

/// Header, head of the description, description, head of the numbers.
const NUMBERS_AT: usize = 12 + 8 + DESCRIPTION + 8;

const FLOAT: u32 = 5126;
const UNSIGNED_SHORT: u32 = 5123;
const UNSIGNED_INT: u32 = 5125;
const ARRAY_BUFFER: u32 = 34_962;
const ELEMENT_ARRAY_BUFFER: u32 = 34_963;
const LINEAR: u32 = 9729;
const LINEAR_MIPMAP_LINEAR: u32 = 9987;
const CLAMP_TO_EDGE: u32 = 33_071;

/// Vertices that are put into bytes between two looks at the monitor.
const AT_ONCE: usize = 1 << 14;

pub(super) fn write(
    mut writer: &mut dyn WriteSeek,
    mesh: &Mesh,
    png: Option<WriteInto>,
    progress: &Progress,
) -> io::Result<()> {
    let net = &mesh.net;
    writer.write_all(&[0; NUMBERS_AT])?;
    let counter = progress.counter((3 * net.vertices.len() + net.triangles.len()).div_ceil(AT_ONCE) + 4);
    let [mut low, mut high] = [[f32::INFINITY; 3], [f32::NEG_INFINITY; 3]];
    for places in net.vertices.chunks(AT_ONCE) {
        let mut bytes = Vec::with_capacity(12 * places.len());
        for position in places.iter().map(|place| mesh.position_m(*place)) {
            for axis in 0..3 {
                low[axis] = low[axis].min(position[axis]);
                high[axis] = high[axis].max(position[axis]);
            }
            bytes.extend(position.iter().flat_map(|along| along.to_le_bytes()));
        }
        writer.write_all(&bytes)?;
        counter.add_one().map_err(stopped)?;
    }
    for places in net.vertices.chunks(AT_ONCE) {
        let normals = places.iter().flat_map(|place| mesh.normal(*place));
        writer.write_all(&normals.flat_map(f32::to_le_bytes).collect::<Vec<u8>>())?;
        counter.add_one().map_err(stopped)?;
    }
    for places in net.vertices.chunks(AT_ONCE) {
        // The first pixel of the texture, in the north-west, is (0, 0).
        let shares = places.iter().flat_map(|place| mesh.shares(*place)).map(|share| share as f32);
        writer.write_all(&shares.flat_map(f32::to_le_bytes).collect::<Vec<u8>>())?;
        counter.add_one().map_err(stopped)?;
    }
    // The greatest number that 16 bits hold says that a strip begins anew, and is no vertex.
    let short = net.vertices.len() <= usize::from(u16::MAX);
    for triangles in net.triangles.chunks(AT_ONCE) {
        let numbers = triangles.iter().flatten();
        let bytes: Vec<u8> = match short {
            true => numbers.flat_map(|number| (*number as u16).to_le_bytes()).collect(),
            false => numbers.flat_map(|number| number.to_le_bytes()).collect(),
        };
        writer.write_all(&bytes)?;
        counter.add_one().map_err(stopped)?;
    }
    let indices = net.triangles.len() * 3 * if short { 2 } else { 4 };
    pad(writer)?;
    let geometry_end = writer.stream_position()?;
    if let Some(png) = png {
        png(&mut writer)?;
    }
    let picture = writer.stream_position()? - geometry_end;
    pad(writer)?;
    let length = writer.stream_position()?;
    let too_large = |_| io::Error::other("a binary glTF ends at 4 GiB; ask for fewer vertices or a smaller texture");
    let header_length = u32::try_from(length).map_err(too_large)?;

    let worn = png.is_some().then_some(picture as usize);
    let description = describe(mesh, [low, high], indices, short, worn, length as usize - NUMBERS_AT).to_string();
    let mut bytes = Vec::with_capacity(NUMBERS_AT);
    bytes.extend(b"glTF");
    bytes.extend(2_u32.to_le_bytes());
    bytes.extend(header_length.to_le_bytes());
    bytes.extend((DESCRIPTION as u32).to_le_bytes());
    bytes.extend(b"JSON");
    bytes.extend(description.as_bytes());
    bytes.resize(20 + DESCRIPTION, b' ');
    bytes.extend((header_length - NUMBERS_AT as u32).to_le_bytes());
    bytes.extend(b"BIN\0");
    if bytes.len() != NUMBERS_AT {
        return Err(io::Error::other("the description is longer than its place"));
    }
    writer.seek(SeekFrom::Start(0))?;
    writer.write_all(&bytes)?;
    writer.seek(SeekFrom::Start(length))?;
    Ok(())
}

/// Fills up with zeros to the next multiple of four bytes.
fn pad(writer: &mut dyn WriteSeek) -> io::Result<()> {
    let over = (writer.stream_position()? % 4) as usize;
    writer.write_all(&[0; 4][..(4 - over) % 4])
}

fn describe(
    mesh: &Mesh,
    [low, high]: [[f32; 3]; 2],
    indices: usize,
    short: bool,
    picture: Option<usize>,
    length: usize,
) -> Value {
    let vertices = mesh.net.vertices.len();
    let mut at = 0;
    let mut view = |length: usize, target: Option<u32>| {
        let mut view = json!({"buffer": 0, "byteOffset": at, "byteLength": length});
        if let Some(target) = target {
            view["target"] = target.into();
        }
        at += length.next_multiple_of(4);
        view
    };
    let mut views = vec![
        view(12 * vertices, Some(ARRAY_BUFFER)),
        view(12 * vertices, Some(ARRAY_BUFFER)),
        view(8 * vertices, Some(ARRAY_BUFFER)),
        view(indices, Some(ELEMENT_ARRAY_BUFFER)),
    ];
    views.extend(picture.map(|length| view(length, None)));
    let index = if short { UNSIGNED_SHORT } else { UNSIGNED_INT };
    let mut material =
        json!({"name": "Ground", "pbrMetallicRoughness": {"metallicFactor": 0.0, "roughnessFactor": 1.0}});
    let mut gltf = json!({
        "asset": {"version": "2.0", "generator": concat!("Upthrust ", env!("CARGO_PKG_VERSION"))},
        "scene": 0,
        "scenes": [{"nodes": [0]}],
        "nodes": [{"name": "Land", "mesh": 0}],
        "meshes": [{"name": "Land", "primitives": [{
            "attributes": {"POSITION": 0, "NORMAL": 1, "TEXCOORD_0": 2}, "indices": 3, "material": 0
        }]}],
        "accessors": [
            {"bufferView": 0, "componentType": FLOAT, "count": vertices, "type": "VEC3", "min": low, "max": high},
            {"bufferView": 1, "componentType": FLOAT, "count": vertices, "type": "VEC3"},
            {"bufferView": 2, "componentType": FLOAT, "count": vertices, "type": "VEC2"},
            {"bufferView": 3, "componentType": index, "count": 3 * mesh.net.triangles.len(), "type": "SCALAR"},
        ],
        "bufferViews": views,
        "buffers": [{"byteLength": length}],
    });
    if picture.is_some() {
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
