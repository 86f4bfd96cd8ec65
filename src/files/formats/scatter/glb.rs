//! Instances in a binary glTF 2.0, by the extension EXT_mesh_gpu_instancing (Khronos Group, 2021).

use std::io::{self, Write};

use serde_json::{Value, json};

use super::contents::{BATCH, ScatterContents};
use crate::engine::Progress;
use crate::engine::cast::{ToFloat, ToInteger};
use crate::engine::heightfield::Extent;
use crate::engine::image::linear_from_srgb;
use crate::engine::scatter::{normal, triangles};
use crate::files::io::cancellable::cancelled_error;

const FLOAT: u32 = 5126;
const ARRAY_BUFFER: u32 = 34_962;

/// Writes a node with instances for each layer. Like the mesh of the terrain, the world is centred on the origin.
pub(super) fn write(writer: &mut dyn Write, contents: ScatterContents, progress: &Progress) -> io::Result<()> {
    let counter = progress.counter(contents.batches());
    // Centred before they are rounded to single precision.
    let Extent { width_m, depth_m } = contents.recipe.world.extent();
    let mut buffer = Buffer::default();
    let (mut nodes, mut meshes, mut materials) = (Vec::new(), Vec::new(), Vec::new());
    // A node without instances would be an accessor without elements, which glTF does not allow.
    for (layer, instances) in contents.layers().filter(|(_, instances)| !instances.is_empty()) {
        let shape = triangles(layer);
        let corners: Vec<[f32; 3]> = shape.iter().flatten().copied().collect();
        let normals: Vec<[f32; 3]> = shape.iter().flat_map(|triangle| [normal(*triangle); 3]).collect();
        let positions = buffer.vectors(&corners, Some(ARRAY_BUFFER), true);
        let normals = buffer.vectors(&normals, Some(ARRAY_BUFFER), false);
        let (mut places, mut turns, mut scales) = (Vec::new(), Vec::new(), Vec::new());
        for batch in instances.chunks(BATCH) {
            let centred = |[x, y, z]: [f64; 3]| [x - 0.5 * width_m, y, z - 0.5 * depth_m].map(ToFloat::to_f32);
            places.extend(batch.iter().map(|one| centred(one.at_m)));
            turns.extend(batch.iter().map(|one| one.rotation().map(ToFloat::to_f32)));
            scales.extend(batch.iter().map(|one| [one.scale.to_f32(); 3]));
            counter.add_one().map_err(cancelled_error)?;
        }
        let attributes = json!({
            "TRANSLATION": buffer.vectors(&places, None, false),
            "ROTATION": buffer.vectors(&turns, None, false),
            "SCALE": buffer.vectors(&scales, None, false),
        });
        let linear = layer.colour.0.map(linear_from_srgb);
        materials.push(json!({
            "name": layer.name,
            "pbrMetallicRoughness": {
                "baseColorFactor": [linear[0], linear[1], linear[2], 1.0], "metallicFactor": 0.0, "roughnessFactor": 1.0
            },
        }));
        let primitive =
            json!({"attributes": {"POSITION": positions, "NORMAL": normals}, "material": materials.len() - 1});
        meshes.push(json!({"name": layer.name, "primitives": [primitive]}));
        nodes.push(json!({
            "name": layer.name,
            "mesh": meshes.len() - 1,
            "extensions": {"EXT_mesh_gpu_instancing": {"attributes": attributes}},
        }));
    }
    let children: Vec<usize> = (0..nodes.len()).collect();
    let mut root = json!({"name": "Scatter"});
    let mut gltf = json!({
        "asset": {"version": "2.0", "generator": concat!("Upthrust ", env!("CARGO_PKG_VERSION"))},
        "scene": 0,
        "scenes": [{"nodes": [nodes.len()]}],
    });
    // Lists must not be empty.
    if !nodes.is_empty() {
        root["children"] = json!(children);
        gltf["extensionsUsed"] = json!(["EXT_mesh_gpu_instancing"]);
        gltf["extensionsRequired"] = json!(["EXT_mesh_gpu_instancing"]);
        gltf["meshes"] = meshes.into();
        gltf["materials"] = materials.into();
    }
    nodes.push(root);
    gltf["nodes"] = nodes.into();
    write_container(writer, gltf, buffer)
}

/// The binary data of a file, with its views and accessors.
#[derive(Debug, Default)]
struct Buffer {
    bytes: Vec<u8>,
    views: Vec<Value>,
    accessors: Vec<Value>,
}

impl Buffer {
    /// Appends vectors; returns the index of their accessor.
    fn vectors<const N: usize>(&mut self, vectors: &[[f32; N]], target: Option<u32>, with_limits: bool) -> usize {
        let offset = self.bytes.len();
        self.bytes.extend(vectors.iter().flatten().flat_map(|along| along.to_le_bytes()));
        let mut view = json!({"buffer": 0, "byteOffset": offset, "byteLength": self.bytes.len() - offset});
        if let Some(target) = target {
            view["target"] = target.into();
        }
        let mut accessor = json!({
            "bufferView": self.views.len(), "componentType": FLOAT, "count": vectors.len(), "type": format!("VEC{N}")
        });
        if with_limits {
            let limits = |start: f32, of: fn(f32, f32) -> f32| {
                let along = |axis: usize| vectors.iter().map(|vector| vector[axis]).fold(start, of);
                (0..N).map(along).collect::<Vec<f32>>()
            };
            accessor["min"] = json!(limits(f32::INFINITY, f32::min));
            accessor["max"] = json!(limits(f32::NEG_INFINITY, f32::max));
        }
        self.views.push(view);
        self.accessors.push(accessor);
        self.accessors.len() - 1
    }
}

/// Writes the header, the description and the binary data.
fn write_container(writer: &mut dyn Write, mut gltf: Value, buffer: Buffer) -> io::Result<()> {
    let Buffer { bytes, views, accessors } = buffer;
    if !bytes.is_empty() {
        gltf["accessors"] = accessors.into();
        gltf["bufferViews"] = views.into();
        gltf["buffers"] = json!([{"byteLength": bytes.len()}]);
    }
    let mut description = gltf.to_string().into_bytes();
    description.resize(description.len().next_multiple_of(4), b' ');
    let binary_chunk = if bytes.is_empty() { 0 } else { 8 + bytes.len() };
    let too_large = |_| io::Error::other("a binary glTF is limited to 4 GiB; use fewer instances or another format");
    let length = u32::try_from(12 + 8 + description.len() + binary_chunk).map_err(too_large)?;
    writer.write_all(b"glTF")?;
    writer.write_all(&2_u32.to_le_bytes())?;
    writer.write_all(&length.to_le_bytes())?;
    writer.write_all(&description.len().to_u32().to_le_bytes())?;
    writer.write_all(b"JSON")?;
    writer.write_all(&description)?;
    if !bytes.is_empty() {
        writer.write_all(&bytes.len().to_u32().to_le_bytes())?;
        writer.write_all(b"BIN\0")?;
        writer.write_all(&bytes)?;
    }
    Ok(())
}
