//! TIFF: written as 32-bit floats in metres or as 16-bit integers; read with 8, 16, 32 or 64 bits.

use std::io::{self, Cursor, Seek, Write};
use std::path::Path;

use tiff::ColorType;
use tiff::decoder::{Decoder, DecodingResult, Limits};
use tiff::encoder::colortype::{ColorType as Written, Gray16, Gray32Float};
use tiff::encoder::{TiffEncoder, TiffValue};
use tiff::tags::Tag;

use super::decoded::{Decoded, bit_depth_notes, check_decoded_length, checked_size};
use super::geotiff::{self, GeoTags};
use super::quantiser::Quantiser;
use super::rows::Rows;
use crate::engine::cast::{ToFloat, ToInteger};
use crate::engine::{Progress, Raster, SampleScale};
use crate::files::io::cancellable::{CancellableWriter, cancelled_error};
use crate::files::io::error::FileError;
use crate::files::io::memory::require_memory_for;

/// The maximum number of samples of a file. Offsets have 32 bits; 2 MiB are left for the header and the table of
/// strips.
pub(super) const MAX_SAMPLES: u64 = ((1 << 32) - (1 << 21)) / 4;

/// The minimum number of samples in a strip.
const MIN_STRIP: usize = 1 << 16;

pub(super) fn decode(path: &Path, bytes: &[u8]) -> Result<Decoded, FileError> {
    let broken = |error: tiff::TiffError| match error {
        tiff::TiffError::UnsupportedError(kind) => {
            let cure = "convert it, for example with gdal_translate -co COMPRESS=DEFLATE -co INTERLEAVE=PIXEL";
            FileError::invalid(path, format!("this kind of TIFF is not supported ({kind}); {cure}"))
        }
        tiff::TiffError::IoError(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
            FileError::invalid(path, "this TIFF is cut short; copy it again")
        }
        error => FileError::invalid(path, format!("this TIFF cannot be read ({error}); it may be damaged")),
    };
    let mut decoder = Decoder::new(Cursor::new(bytes)).map_err(broken)?;
    let (width, height) = decoder.dimensions().map_err(broken)?;
    let [width, height] = checked_size(path, bytes.len() as u64, width.into(), height.into())?;
    let tags = GeoTags::read(&mut decoder, height);
    if let Some(refusal) = tags.refusal {
        return Err(FileError::invalid(path, refusal));
    }
    // Bands one after another are decoded one at a time, so the first one is complete.
    let is_planar = decoder.get_tag_unsigned::<u16>(Tag::PlanarConfiguration).is_ok_and(|planar| planar == 2);
    let no_data = decoder.get_tag_ascii_string(Tag::GdalNodata).ok();
    let no_data = no_data.and_then(|text| text.trim_matches(['\0', ' ']).parse::<f64>().ok());
    let colour = decoder.colortype().map_err(broken)?;
    let channels = match colour {
        ColorType::Gray(_) => 1,
        ColorType::GrayA(_) => 2,
        ColorType::RGB(_) => 3,
        ColorType::RGBA(_) => 4,
        ColorType::Multiband { num_samples, .. } => usize::from(num_samples),
        other => {
            let problem = format!("its colour type ({other:?}) is not supported; save it in grey");
            return Err(FileError::invalid(path, problem));
        }
    };
    let decoded_bytes = (width * height * channels) as u64 * u64::from(colour.bit_depth()).div_ceil(8);
    check_decoded_length(path, bytes.len() as u64, decoded_bytes)?;
    require_memory_for(path, decoded_bytes + 4 * (width * height) as u64)?;
    // Sizes are limited by free memory, not by a constant; a strip is no larger than the map.
    let mut limits = Limits::default();
    limits.decoding_buffer_size = usize::try_from(decoded_bytes).unwrap_or(usize::MAX);
    limits.intermediate_buffer_size = limits.decoding_buffer_size.max(1 << 16);
    decoder = decoder.with_limits(limits);

    fn first<Sample: Copy>(all: &[Sample], channels: usize, height: impl Fn(Sample) -> f32) -> Vec<f32> {
        all.iter().step_by(channels.max(1)).map(|sample| height(*sample)).collect()
    }
    let integers = |max_value: f64| SampleScale::Integers { max_value: max_value.to_f32() };
    let mut notes = tags.notes.clone();
    let stride = if is_planar { 1 } else { channels };
    let (mut samples, scale) = match decoder.read_image().map_err(broken)? {
        DecodingResult::U8(all) => {
            notes.extend(bit_depth_notes(true));
            (first(&all, stride, f32::from), integers(255.0))
        }
        DecodingResult::U16(all) => (first(&all, stride, f32::from), integers(65_535.0)),
        DecodingResult::U32(all) => (first(&all, stride, |sample| sample.to_f32()), integers(f64::from(u32::MAX))),
        DecodingResult::U64(all) => (first(&all, stride, |sample| sample.to_f32()), integers(u64::MAX.to_f64())),
        // Elevation models store whole metres, which may be below sea level.
        DecodingResult::I8(all) => (first(&all, stride, f32::from), SampleScale::Metres),
        DecodingResult::I16(all) => (first(&all, stride, f32::from), SampleScale::Metres),
        DecodingResult::I32(all) => (first(&all, stride, |sample| sample.to_f32()), SampleScale::Metres),
        DecodingResult::I64(all) => (first(&all, stride, |sample| sample.to_f32()), SampleScale::Metres),
        DecodingResult::F16(all) => (first(&all, stride, |sample| sample.to_f32()), SampleScale::Metres),
        DecodingResult::F32(all) => (first(&all, stride, |sample| sample), SampleScale::Metres),
        DecodingResult::F64(all) => (first(&all, stride, |sample| sample.to_f32()), SampleScale::Metres),
    };
    if samples.len() != width * height {
        return Err(FileError::invalid(path, "its first channel is subsampled; save it at full resolution"));
    }
    if channels > 1 {
        notes.push(format!("it has {channels} channels; the first is read as height"));
    }
    if let Some(no_data) = no_data {
        samples.iter_mut().filter(|sample| **sample == no_data.to_f32()).for_each(|sample| *sample = f32::NAN);
    }
    let mut raster = Raster { width, height, samples, scale };
    tags.turn(&mut raster);
    Ok(Decoded { notes, georeference: tags.georeference, metres: tags.metres, ..Decoded::of(raster) })
}

/// Writes strip by strip: integers if there is a quantiser, or else metres.
pub(super) fn write(
    writer: &mut (impl Write + Seek),
    rows: Rows,
    quantiser: Option<&Quantiser>,
    progress: &Progress,
) -> io::Result<()> {
    let writer = CancellableWriter::new(writer, progress);
    match quantiser {
        Some(quantiser) => write_strips::<Gray16>(writer, rows, |height| quantiser.value(height), progress),
        None => write_strips::<Gray32Float>(writer, rows, |height| height, progress),
    }
}

fn write_strips<Kind: Written>(
    writer: impl Write + Seek,
    rows: Rows,
    value: impl Fn(f32) -> Kind::Inner,
    progress: &Progress,
) -> io::Result<()>
where
    [Kind::Inner]: TiffValue,
{
    let strip = (MIN_STRIP / rows.width()).max(1);
    let mut file = TiffEncoder::new(writer).map_err(io::Error::other)?;
    let mut image = file.new_image::<Kind>(rows.width().to_u32(), rows.height().to_u32()).map_err(io::Error::other)?;
    geotiff::write(image.encoder(), rows).map_err(io::Error::other)?;
    image.rows_per_strip(strip.to_u32()).map_err(io::Error::other)?;
    let counter = progress.counter(rows.height().div_ceil(strip));
    for first in (0..rows.height()).step_by(strip) {
        let last = rows.height().min(first + strip);
        let values: Vec<Kind::Inner> = (first..last).flat_map(|r| rows.row(r)).map(|height| value(*height)).collect();
        image.write_strip(&values).map_err(io::Error::other)?;
        counter.add_one().map_err(cancelled_error)?;
    }
    image.finish().map_err(io::Error::other)
}

#[cfg(test)]
mod tests {
    use tiff::encoder::colortype::{Gray8, GrayI16, RGB8};
    use tiff::encoder::{DirectoryEncoder, TiffKindStandard};

    use super::*;
    use crate::engine::heightfield::Extent;
    use crate::engine::parameters::Band;
    use crate::engine::{Grid, Heightfield};
    use crate::files::formats::heightmap::layout::Samples;

    fn encoded<Kind: Written>(width: u32, height: u32, data: &[Kind::Inner], no_data: Option<&str>) -> Vec<u8>
    where
        [Kind::Inner]: TiffValue,
    {
        let mut bytes = Cursor::new(Vec::new());
        let mut file = TiffEncoder::new(&mut bytes).expect("begun");
        let mut image = file.new_image::<Kind>(width, height).expect("begun");
        if let Some(text) = no_data {
            image.encoder().write_tag(Tag::GdalNodata, text).expect("written");
        }
        image.write_data(data).expect("written");
        bytes.into_inner()
    }

    #[test]
    fn integers_are_written_in_strips_with_the_mark_in_the_north_west() {
        let grid = Grid::new(Extent { width_m: 60.0, depth_m: 40.0 }, 400, 331);
        let terrain = Heightfield::from_fn(grid, |c, r| if (c, r) == (0, 0) { 65_535.0 } else { (c + 100 * r) as f32 });
        let samples = Samples::Integers { max_value: 65_535, bits: 16, byte_order: None };
        let quantiser = Quantiser::new(samples, Band { min: 0.0, max: 65_535.0 });
        let mut bytes = Cursor::new(Vec::new());
        write(&mut bytes, Rows::all(&terrain), Some(&quantiser), &Progress::new()).expect("written");
        let read = decode(Path::new("a.tif"), bytes.get_ref()).expect("readable");
        let spacing = read.georeference.and_then(|found| found.spacing_m()).expect("georeferenced").0;
        assert!((spacing[0] - grid.spacing_x_m()).abs() < 1e-12 && (spacing[1] - grid.spacing_z_m()).abs() < 1e-12);
        let mut decoder = Decoder::new(Cursor::new(bytes.get_ref())).expect("a TIFF");
        assert_eq!(decoder.colortype().ok(), Some(ColorType::Gray(16)));
        assert!(decoder.strip_count().is_ok_and(|count| count > 1));
        let DecodingResult::U16(found) = decoder.read_image().expect("whole") else { panic!("not 16 bits") };
        assert_eq!((found[0], found[1], found[400]), (65_535, 1, 100));
        assert!(found.iter().zip(terrain.heights()).all(|(found, height)| f32::from(*found) == *height));
    }

    #[test]
    fn files_of_other_programs_are_read() {
        let read = |bytes: &[u8]| decode(Path::new("a.tif"), bytes).expect("readable");
        let eight = read(&encoded::<Gray8>(3, 2, &[0, 1, 2, 3, 4, 255], None));
        assert_eq!(eight.raster.scale, SampleScale::Integers { max_value: 255.0 });
        assert!(eight.notes[0].contains("8 bits"));
        let metres = read(&encoded::<GrayI16>(2, 2, &[-5, 300, -9999, 8], Some("-9999")));
        assert_eq!((metres.raster.scale, metres.raster.samples[0]), (SampleScale::Metres, -5.0));
        assert!(metres.raster.samples[2].is_nan());
        let colours = read(&encoded::<RGB8>(2, 2, &[9, 1, 1, 8, 1, 1, 7, 1, 1, 6, 1, 1], None));
        assert_eq!(colours.raster.samples, [9.0, 8.0, 7.0, 6.0]);
        assert!(colours.notes[1].contains("3 channels"), "{:?}", colours.notes);
    }

    /// A map of 3 × 2 with these tags.
    fn tagged(
        samples: &[i16; 6],
        write: impl Fn(&mut DirectoryEncoder<'_, &mut Cursor<Vec<u8>>, TiffKindStandard>),
    ) -> Decoded {
        let mut bytes = Cursor::new(Vec::new());
        let mut file = TiffEncoder::new(&mut bytes).expect("begun");
        let mut image = file.new_image::<GrayI16>(3, 2).expect("begun");
        write(image.encoder());
        image.write_data(samples).expect("written");
        decode(Path::new("a.tif"), &bytes.into_inner()).expect("readable")
    }

    #[test]
    fn the_tags_of_geographic_programs_are_understood() {
        let spacing = |decoded: &Decoded| decoded.georeference.and_then(|found| found.spacing_m()).expect("known").0;
        let heights = [1, 2, 3, 4, 5, 6];
        // Projected, in feet, with heights in feet too.
        let feet = tagged(&heights, |tags| {
            tags.write_tag(Tag::ModelPixelScaleTag, &[100.0_f64, 50.0, 0.0][..]).expect("written");
            tags.write_tag(Tag::ModelTiepointTag, &[0.0_f64, 0.0, 0.0, 5e5, 4e6, 0.0][..]).expect("written");
            let keys = [1_u16, 1, 0, 3, 1024, 0, 1, 1, 3076, 0, 1, 9002, 4099, 0, 1, 9002];
            tags.write_tag(Tag::GeoKeyDirectoryTag, &keys[..]).expect("written");
        });
        assert_eq!(spacing(&feet), [30.48, 15.24]);
        assert_eq!((feet.raster.samples[5], feet.metres), (6.0, Some([0.3048, 0.0])));
        // In degrees, one arc second at 60° north, in decimetres above −100 m.
        let degrees = tagged(&heights, |tags| {
            tags.write_tag(Tag::ModelPixelScaleTag, &[1.0 / 3600.0, 1.0 / 3600.0, 0.0][..]).expect("written");
            tags.write_tag(Tag::ModelTiepointTag, &[0.0_f64, 0.0, 0.0, 10.0, 60.0, 0.0][..]).expect("written");
            tags.write_tag(Tag::GeoKeyDirectoryTag, &[1_u16, 1, 0, 1, 1024, 0, 1, 2][..]).expect("written");
            let items = "<Item name=\"SCALE\" sample=\"0\" role=\"scale\">0.1</Item>\
                         <Item name=\"OFFSET\" sample=\"0\" role=\"offset\">-100</Item>";
            tags.write_tag(Tag::Unknown(42_112), items).expect("written");
        });
        let [x, z] = spacing(&degrees);
        assert!((x - 15.5).abs() < 0.01 && (z - 30.95).abs() < 0.01, "{x} {z}");
        assert_eq!((degrees.raster.samples[2], degrees.metres), (3.0, Some([0.1, -100.0])));
        // New York Long Island, in US survey feet, but without a unit.
        let unknown = tagged(&heights, |tags| {
            tags.write_tag(Tag::ModelPixelScaleTag, &[100.0_f64, 100.0, 0.0][..]).expect("written");
            tags.write_tag(Tag::ModelTiepointTag, &[0.0_f64, 0.0, 0.0, 1e6, 2e5, 0.0][..]).expect("written");
            tags.write_tag(Tag::GeoKeyDirectoryTag, &[1_u16, 1, 0, 2, 1024, 0, 1, 1, 3072, 0, 1, 2263][..])
                .expect("written");
        });
        let (spacing_m, note) = unknown.georeference.and_then(|found| found.spacing_m()).expect("known");
        assert_eq!(spacing_m, [100.0; 2]);
        assert!(note.is_some_and(|note| note.contains("EPSG 2263") && note.contains("metres are assumed")));
        // With south at the top.
        let south_up = tagged(&heights, |tags| {
            let matrix = [20.0_f64, 0.0, 0.0, 7.0, 0.0, 20.0, 0.0, 9.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0];
            tags.write_tag(Tag::ModelTransformationTag, &matrix[..]).expect("written");
        });
        assert_eq!(south_up.raster.samples, [4.0, 5.0, 6.0, 1.0, 2.0, 3.0]);
        assert_eq!(spacing(&south_up), [20.0; 2]);
        assert_eq!(tagged(&heights, |_| ()).georeference, None);
    }
}
