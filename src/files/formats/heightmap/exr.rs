//! OpenEXR: heights as 32-bit floats in metres, written to one channel Y or to red, green and blue alike.

use std::io::{self, Cursor, Seek, Write};
use std::path::Path;

use exr::prelude::{
    Encoding, FlatSamples, Image, Layer, LayerAttributes, MetaData, ReadChannels, ReadLayers, SpecificChannels, Vec2,
    WritableImage, read,
};

use super::decoded::{Decoded, check_decoded_length, checked_size};
use super::rows::Rows;
use crate::engine::cast::ToFloat;
use crate::engine::{Grid, Progress, Raster, SampleScale};
use crate::files::io::cancellable::CancellableWriter;
use crate::files::io::error::FileError;
use crate::files::io::guard::guard_decoder;
use crate::files::io::memory::require_memory_for;

/// The names of channels with heights, in order of preference. Depth (Z) is a height only without colours beside it, and a
/// name may follow the name of its layer.
const HEIGHTS: [&str; 6] = ["height", "displacement", "elevation", "Y", "R", "Z"];

/// The channel with the heights, by its name.
fn height_channel(names: &[String]) -> Option<usize> {
    let last = |name: &String| name.rsplit('.').next().unwrap_or(name).to_lowercase();
    let is_colour = |name: &String| {
        let layers = name.rsplit_once('.').map_or("", |(layers, _)| layers).to_lowercase();
        layers.split('.').any(|layer| ["albedo", "diffuse", "basecolor", "normal", "normals"].contains(&layer))
    };
    let of_name = |wanted: &&str| {
        let is_wanted = |name: &String| last(name) == wanted.to_lowercase() && !is_colour(name);
        // The main layer first.
        names.iter().position(|name| is_wanted(name) && !name.contains('.')).or(names.iter().position(is_wanted))
    };
    HEIGHTS
        .iter()
        .find_map(of_name)
        .or_else(|| (0..names.len()).find(|at| last(&names[*at]) != "a" && !is_colour(&names[*at])))
}

/// The names of the channels of the first flat layer, and the one that probably has the heights; empty if the file cannot
/// be read.
pub(crate) fn channels(bytes: &[u8]) -> (Vec<String>, String) {
    let meta = guard_decoder(Path::new(""), || {
        let broken = |_| FileError::invalid(Path::new(""), "this EXR cannot be read");
        MetaData::read_from_buffered(Cursor::new(bytes), false).map_err(broken)
    });
    let flat = meta.ok().and_then(|meta| meta.headers.into_iter().find(|header| !header.deep));
    let names: Vec<String> =
        flat.map_or(Vec::new(), |flat| flat.channels.list.iter().map(|channel| channel.name.to_string()).collect());
    let chosen = height_channel(&names).map(|at| names[at].clone()).unwrap_or_default();
    (names, chosen)
}

/// Decodes the channel with this name, or else the one that probably has the heights.
pub(super) fn decode(path: &Path, bytes: &[u8], channel: Option<&str>) -> Result<Decoded, FileError> {
    let broken = |error: exr::error::Error| {
        FileError::invalid(path, format!("this EXR cannot be read ({error}); it may be damaged"))
    };
    let meta = MetaData::read_from_buffered(Cursor::new(bytes), false).map_err(broken)?;
    let flat = meta
        .headers
        .iter()
        .find(|header| !header.deep)
        .ok_or_else(|| FileError::invalid(path, "this EXR contains only deep data; save it as a flat image"))?;
    let size = flat.layer_size;
    checked_size(path, bytes.len() as u64, size.0 as u64, size.1 as u64)?;
    let channels = flat.channels.list.len() as u64;
    // All channels are decoded, four bytes per sample, before one of them is selected.
    check_decoded_length(path, bytes.len() as u64, 2 * channels * size.area() as u64)?;
    require_memory_for(path, 4 * (channels + 1) * size.area() as u64)?;

    let read = read().no_deep_data().largest_resolution_level().all_channels().first_valid_layer();
    let image = read.all_attributes().non_parallel().from_buffered(Cursor::new(bytes)).map_err(broken)?;
    let Layer { channel_data, size: Vec2(width, height), .. } = image.layer_data;
    let [width, height] = checked_size(path, bytes.len() as u64, width as u64, height as u64)?;
    let mut list = channel_data.list;
    let names: Vec<String> = list.iter().map(|channel| channel.name.to_string()).collect();
    let chosen = channel.and_then(|channel| names.iter().position(|name| name == channel));
    let Some(found) = chosen.or_else(|| height_channel(&names)) else {
        let problem = format!("none of its channels ({}) can be a height; name one \"height\"", names.join(", "));
        return Err(FileError::invalid(path, problem));
    };
    let mut notes = Vec::new();
    if names.len() > 1 {
        notes.push(format!("it has {} channels; \"{}\" is read as height", names.len(), names[found]));
    }
    let samples = match list.swap_remove(found).sample_data {
        FlatSamples::F16(samples) => {
            notes.push(
                "it has 16-bit floats: heights above 1024 m are rounded to whole metres, and above 2048 m to 2 m or more"
                    .into(),
            );
            samples.into_iter().map(|sample| sample.to_f32()).collect()
        }
        FlatSamples::F32(samples) => samples,
        FlatSamples::U32(samples) => samples.into_iter().map(|sample| sample.to_f32()).collect(),
    };
    if samples.len() != width * height {
        return Err(FileError::invalid(path, "the channel of the heights is subsampled; save it at full resolution"));
    }
    let raster = Raster { width, height, samples, scale: SampleScale::Metres };
    Ok(Decoded { notes, ..Decoded::of(raster) })
}

/// The maximum number of bytes that [`write`] needs: a row of pixels and the table of row offsets.
pub(super) fn bytes_written(grid: Grid) -> u64 {
    (8 * grid.height() + 2 * 16 * grid.width()) as u64
}

/// Writes row by row without compression, which every reader supports.
pub(super) fn write(writer: &mut (impl Write + Seek), rows: Rows, as_rgb: bool, progress: &Progress) -> io::Result<()> {
    let height = |Vec2(c, r): Vec2<usize>| rows.row(r)[c];
    let writer = CancellableWriter::new(writer, progress);
    let size = Vec2(rows.width(), rows.height());
    let attributes = LayerAttributes::default;
    let written = if as_rgb {
        let channels = SpecificChannels::build().with_channel("R").with_channel("G").with_channel("B");
        let channels = channels.with_pixel_fn(|place| (height(place), height(place), height(place)));
        let image = Image::from_layer(Layer::new(size, attributes(), Encoding::UNCOMPRESSED, channels));
        image.write().non_parallel().to_buffered(writer)
    } else {
        let channels = SpecificChannels::build().with_channel("Y").with_pixel_fn(|place| (height(place),));
        let image = Image::from_layer(Layer::new(size, attributes(), Encoding::UNCOMPRESSED, channels));
        image.write().non_parallel().to_buffered(writer)
    };
    written.map_err(io::Error::other)
}

#[cfg(test)]
mod tests {
    use exr::prelude::f16;

    use super::*;
    use crate::engine::Heightfield;
    use crate::engine::heightfield::Extent;

    fn terrain() -> Heightfield {
        let grid = Grid::new(Extent { width_m: 60.0, depth_m: 40.0 }, 7, 5);
        Heightfield::from_fn(grid, |c, r| if (c, r) == (0, 0) { 1234.567 } else { c as f32 * 0.1 - r as f32 })
    }

    #[test]
    fn rgb_channels_repeat_the_heights() {
        let (terrain, mut bytes) = (terrain(), Cursor::new(Vec::new()));
        write(&mut bytes, Rows::all(&terrain), true, &Progress::new()).expect("written");
        let image = read().no_deep_data().largest_resolution_level().all_channels().first_valid_layer();
        let image = image.all_attributes().non_parallel().from_buffered(Cursor::new(bytes.get_ref())).expect("read");
        let channels: Vec<String> =
            image.layer_data.channel_data.list.iter().map(|channel| channel.name.to_string()).collect();
        assert_eq!(channels, ["B", "G", "R"]);
        for channel in image.layer_data.channel_data.list {
            assert!(matches!(channel.sample_data, FlatSamples::F32(samples) if samples == terrain.heights()));
        }
        let decoded = decode(Path::new("a.exr"), bytes.get_ref(), None).expect("readable");
        assert_eq!(decoded.raster.samples, terrain.heights());
        assert!(decoded.notes[0].contains("3 channels; \"R\""), "{:?}", decoded.notes);
    }

    #[test]
    fn heights_are_found_among_other_channels() {
        for (names, expected) in [
            (&["A", "B", "G", "R"][..], Some("R")),
            (&["B", "G", "R", "Z"], Some("R")),
            (&["Z"], Some("Z")),
            (&["A", "R", "height"], Some("height")),
            (&["albedo.B", "albedo.G", "albedo.R", "terrain.Displacement"], Some("terrain.Displacement")),
            (&["A", "elevation.Y"], Some("elevation.Y")),
            (&["A", "land"], Some("land")),
            (&["NormalizedHeight"], Some("NormalizedHeight")),
            (&["albedo.R", "A"], None),
            (&[], None),
        ] {
            let names: Vec<String> = names.iter().map(|name| (*name).into()).collect();
            assert_eq!(height_channel(&names).map(|at| names[at].as_str()), expected, "{names:?}");
        }
    }

    #[test]
    fn half_floats_and_compressed_files_are_read() {
        let terrain = terrain();
        for encoding in [Encoding::SMALL_LOSSLESS, Encoding::FAST_LOSSLESS] {
            let half = |Vec2(c, r): Vec2<usize>| (f16::from_f32(terrain[(c, r)]),);
            let channels = SpecificChannels::build().with_channel("Y").with_pixel_fn(half);
            let mut bytes = Cursor::new(Vec::new());
            let image = Image::from_layer(Layer::new((7, 5), LayerAttributes::default(), encoding, channels));
            image.write().non_parallel().to_buffered(&mut bytes).expect("written");
            let decoded = decode(Path::new("a.exr"), bytes.get_ref(), None).expect("readable");
            let expected: Vec<f32> = terrain.heights().iter().map(|height| f16::from_f32(*height).to_f32()).collect();
            assert_eq!(decoded.raster.samples, expected);
            assert!(decoded.notes[0].contains("16-bit floats"), "{:?}", decoded.notes);
        }
    }
}
