//! Heightmaps of other programs, which are read but not written.

use std::path::Path;

use super::decoded::{Decoded, checked_size};
use super::georeference::{Georeference, HorizontalUnit, from_esri_header};
use super::layout::RawSample;
use super::raw::decode_samples;
use crate::engine::cast::{ToFloat, ToInteger};
use crate::engine::{Raster, SampleScale};
use crate::files::io::error::FileError;

/// "No data" in SRTM tiles (NASA, "SRTM Topography", section 2.1.2).
const SRTM_VOID: f32 = -32_768.0;

/// Decodes an SRTM tile, which is named by the degrees of its south-western corner, as in N47E011.hgt (NASA, "SRTM
/// Topography", section 2.1).
pub(super) fn decode_hgt(path: &Path, bytes: &[u8]) -> Result<Decoded, FileError> {
    let side = (bytes.len() / 2).isqrt();
    if 2 * side * side != bytes.len() || side < 2 {
        let problem = format!(
            "an SRTM tile has 1201 × 1201 or 3601 × 3601 samples of 16 bits, but this file has {} bytes; it may be cut \
             short, so copy it again",
            bytes.len()
        );
        return Err(FileError::invalid(path, problem));
    }
    let [width, height] = checked_size(path, bytes.len() as u64, side as u64, side as u64)?;
    let mut samples = decode_samples(RawSample::I16Be, bytes);
    samples.iter_mut().filter(|sample| **sample == SRTM_VOID).for_each(|sample| *sample = f32::NAN);
    let cell = 1.0 / (side - 1).to_f64();
    let georeference = Georeference {
        cell: [cell; 2],
        unit: HorizontalUnit::Angle(1.0),
        middle_y: south_deg(path).map(|south| south + 0.5),
        south_west: None,
        epsg: None,
    };
    let raster = Raster { width, height, samples, scale: SampleScale::Metres };
    Ok(Decoded { georeference: Some(georeference), ..Decoded::of(raster) })
}

/// The southern latitude in the name of an SRTM tile.
fn south_deg(path: &Path) -> Option<f64> {
    let name = path.file_stem()?.to_str()?.to_ascii_uppercase();
    let sign = match name.chars().next()? {
        'N' => 1.0,
        'S' => -1.0,
        _ => return None,
    };
    let degrees: f64 = name.get(1..3)?.parse().ok()?;
    Some(sign * degrees)
}

/// The entries of the header of an Esri binary grid: a key and a value per line (Esri, "BIL, BIP, and BSQ raster files",
/// "Float file").
struct Header<'a>(&'a str);

impl Header<'_> {
    fn text(&self, keys: &[&str]) -> Option<&str> {
        self.0.lines().find_map(|line| {
            let (key, value) = line.trim().split_once(char::is_whitespace)?;
            keys.iter().any(|known| key.eq_ignore_ascii_case(known)).then_some(value.trim())
        })
    }

    fn number(&self, keys: &[&str]) -> Option<f64> {
        self.text(keys)?.replace(',', ".").parse().ok().filter(|number: &f64| number.is_finite())
    }

    fn count(&self, keys: &[&str]) -> Option<u64> {
        self.text(keys)?.parse().ok()
    }
}

/// Decodes an Esri binary grid (.bil or .flt) with its header (.hdr).
pub(super) fn decode_esri(path: &Path, bytes: &[u8], header: &str) -> Result<Decoded, FileError> {
    let header = Header(header);
    let refused = |problem: String| FileError::invalid(path, problem);
    let side = |keys: &[&str]| {
        header.count(keys).ok_or_else(|| refused(format!("its header (.hdr) has no {}", keys[0].to_uppercase())))
    };
    let [width, height] = checked_size(path, bytes.len() as u64, side(&["ncols"])?, side(&["nrows"])?)?;
    let bands = header.count(&["nbands"]).unwrap_or(1);
    if bands != 1 {
        return Err(refused(format!("it has {bands} bands; write a file with one (gdal_translate -b 1 does)")));
    }
    let is_float = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("flt"))
        || header.text(&["pixeltype"]).is_some_and(|kind| kind.eq_ignore_ascii_case("float"));
    let no_data = header.number(&["nodata", "nodata_value"]);
    // Many headers leave the type out; a negative number for "no data" says it.
    let is_signed = header
        .text(&["pixeltype"])
        .map_or_else(|| no_data.is_some_and(|no_data| no_data < 0.0), |kind| kind.eq_ignore_ascii_case("signedint"));
    let order = header.text(&["byteorder"]).unwrap_or("I").to_ascii_uppercase();
    let is_big = order.starts_with('M');
    let bits = header.count(&["nbits"]).unwrap_or(if is_float { 32 } else { 8 });
    let sample = match (bits, is_float, is_signed, is_big) {
        (32, true, _, false) => RawSample::F32Le,
        (32, true, _, true) => RawSample::F32Be,
        (16, false, true, false) => RawSample::I16Le,
        (16, false, true, true) => RawSample::I16Be,
        (16, false, false, false) => RawSample::U16Le,
        (16, false, false, true) => RawSample::U16Be,
        (8, false, false, _) => RawSample::U8,
        _ => {
            let problem = format!(
                "samples of {bits} bits are not supported here; convert it to 32-bit floats with gdal_translate"
            );
            return Err(refused(problem));
        }
    };
    let row = width as u64 * sample.bytes();
    let skipped = header.count(&["skipbytes"]).unwrap_or(0);
    let stride = header.count(&["bandrowbytes", "totalrowbytes"]).unwrap_or(row).max(row);
    let expected = skipped.saturating_add(stride.saturating_mul(height as u64 - 1)).saturating_add(row);
    if (bytes.len() as u64) < expected {
        return Err(refused(format!(
            "its header describes {expected} bytes, but it has {}; copy it again",
            bytes.len()
        )));
    }
    let row_of = |r: usize| {
        let start = (skipped + stride * r as u64).to_usize();
        &bytes[start..start + row.to_usize()]
    };
    let mut samples: Vec<f32> = (0..height).flat_map(|r| decode_samples(sample, row_of(r))).collect();
    if let Some(no_data) = no_data {
        let no_data = no_data.to_f32();
        samples.iter_mut().filter(|value| **value == no_data).for_each(|value| *value = f32::NAN);
    }
    let cell = header.number(&["cellsize"]);
    let cells = [header.number(&["xdim"]).or(cell), header.number(&["ydim"]).or(cell)];
    let number = |key: &str| header.number(&[key]);
    let georeference = cells[0].zip(cells[1]).map(|(x, z)| {
        let georeference = from_esri_header(number, [x, z], height);
        // Other headers have the middle of the north-western cell.
        let Some((west, north)) = number("ulxmap").zip(number("ulymap")) else { return georeference };
        let depth = z * (height - 1).to_f64();
        let (middle_y, south_west) = (Some(north - 0.5 * depth), Some([west, north - depth]));
        Georeference { middle_y, south_west, ..georeference }
    });
    // The numbers of a grid are metres, whatever their type.
    let raster = Raster { width, height, samples, scale: SampleScale::Metres };
    Ok(Decoded { georeference, ..Decoded::of(raster) })
}

/// What the first bytes of a Terragen file are, and metres per unit of a file that does not say it (Planetside,
/// "Terragen .TER file format").
const TERRAGEN: &[u8; 16] = b"TERRAGENTERRAIN ";
const TERRAGEN_UNIT_M: f64 = 30.0;

/// Decodes a Terragen file: chunks of four letters with their values, of which ALTW has the heights from the southern row
/// on.
pub(super) fn decode_terragen(path: &Path, bytes: &[u8]) -> Result<Decoded, FileError> {
    let refused = |problem: &str| FileError::invalid(path, problem.to_string());
    let incomplete = || refused("this Terragen file is incomplete; copy it again");
    let mut rest = bytes.strip_prefix(TERRAGEN).ok_or_else(|| refused("this is not a Terragen terrain"))?;
    let (mut size, mut scale) = ([None; 2], [TERRAGEN_UNIT_M; 3]);
    loop {
        let (chunk, after) = rest.split_first_chunk::<4>().ok_or_else(incomplete)?;
        let i16_at = |at: usize| after.get(at..at + 2).map(|two| i16::from_le_bytes([two[0], two[1]]));
        let side = || i16_at(0).map(|side| u64::from(side.cast_unsigned())).ok_or_else(incomplete);
        let length = match chunk {
            b"SIZE" => {
                let side = side()? + 1;
                size = size.map(|known| known.or(Some(side)));
                4
            }
            b"XPTS" => {
                size[0] = Some(side()?);
                4
            }
            b"YPTS" => {
                size[1] = Some(side()?);
                4
            }
            b"SCAL" => {
                let floats = after.get(..12).ok_or_else(incomplete)?;
                for (axis, float) in floats.as_chunks::<4>().0.iter().enumerate() {
                    scale[axis] = f64::from(f32::from_le_bytes(*float));
                }
                12
            }
            b"CRAD" | b"CRVM" => 4,
            b"ALTW" => {
                let [Some(width), Some(height)] = size else { return Err(incomplete()) };
                let [width, height] = checked_size(path, bytes.len() as u64, width, height)?;
                let (factor, base) = i16_at(0).zip(i16_at(2)).ok_or_else(incomplete)?;
                let samples = after.get(4..4 + 2 * width * height).ok_or_else(incomplete)?;
                let metres = |value: f32| {
                    let units = f64::from(base) + f64::from(value) * f64::from(factor) / 65_536.0;
                    (units * scale[2]).to_f32()
                };
                let rows = samples.chunks_exact(2 * width).rev();
                let samples = rows.flat_map(|row| decode_samples(RawSample::I16Le, row)).map(metres).collect();
                let georeference = Georeference {
                    cell: [scale[0], scale[1]],
                    unit: HorizontalUnit::Length(1.0),
                    middle_y: None,
                    south_west: None,
                    epsg: None,
                };
                let raster = Raster { width, height, samples, scale: SampleScale::Metres };
                return Ok(Decoded { georeference: Some(georeference), ..Decoded::of(raster) });
            }
            _ => return Err(refused("this Terragen file has a part that is not known, or no heights")),
        };
        rest = after.get(length..).ok_or_else(incomplete)?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_srtm_tile_has_a_degree_and_voids() {
        let heights = [1000_i16, -5, -32_768, 7];
        let bytes: Vec<u8> = heights.iter().flat_map(|height| height.to_be_bytes()).collect();
        let decoded = decode_hgt(Path::new("a/s13w072.hgt"), &bytes).expect("readable");
        assert_eq!((decoded.raster.width, decoded.raster.samples[0], decoded.raster.samples[1]), (2, 1000.0, -5.0));
        assert!(decoded.raster.samples[2].is_nan());
        let georeference = decoded.georeference.expect("a degree");
        assert_eq!((georeference.cell, georeference.middle_y), ([1.0; 2], Some(-12.5)));
        assert!(decode_hgt(Path::new("a.hgt"), &bytes[..6]).is_err());
    }

    #[test]
    fn esri_headers_describe_the_samples() {
        let header = "NROWS 2\r\nNCOLS  3\nNBITS 16\nPIXELTYPE SIGNEDINT\nBYTEORDER M\nSKIPBYTES 1\nBANDROWBYTES 8\nNODATA -7\n\
                      ULXMAP 5\nULYMAP 100\nXDIM 10\nYDIM 20\n";
        let mut bytes = vec![9];
        for row in [[1_i16, 2, -7, 99], [-4, 5, 6, 99]] {
            bytes.extend(row.iter().flat_map(|value| value.to_be_bytes()));
        }
        let decoded = decode_esri(Path::new("a.bil"), &bytes, header).expect("readable");
        assert_eq!(decoded.raster.samples[..2], [1.0, 2.0]);
        assert!(decoded.raster.samples[2].is_nan());
        assert_eq!(decoded.raster.samples[3..], [-4.0, 5.0, 6.0]);
        let georeference = decoded.georeference.expect("cells");
        assert_eq!((georeference.cell, georeference.middle_y), ([10.0, 20.0], Some(90.0)));
        let float = "ncols 1\nnrows 2\nxllcorner 0\nyllcorner 30\ncellsize 2,5\nbyteorder LSBFIRST\n";
        let bytes: Vec<u8> = [1.5_f32, -2.25].iter().flat_map(|value| value.to_le_bytes()).collect();
        // A side of one sample is no map.
        assert!(decode_esri(Path::new("a.flt"), &bytes, float).is_err());
        let wide = float.replace("ncols 1", "ncols 2");
        let doubled = [bytes.clone(), bytes].concat();
        let decoded = decode_esri(Path::new("a.flt"), &doubled, &wide).expect("readable");
        assert_eq!(decoded.raster.samples, [1.5, -2.25, 1.5, -2.25]);
        assert!(
            decode_esri(Path::new("a.flt"), &doubled[..9], &wide)
                .is_err_and(|error| error.to_string().contains("16 bytes"))
        );
        assert!(decode_esri(Path::new("a.bil"), &doubled, "NROWS 2").is_err());
        // The middle of the south-western cell, in degrees.
        let centred = wide.replace("xllcorner 0", "xllcenter 10").replace("yllcorner 30", "yllcenter 60");
        let decoded = decode_esri(Path::new("a.flt"), &doubled, &centred.replace("2,5", "0.1")).expect("readable");
        let georeference = decoded.georeference.expect("cells");
        assert_eq!((georeference.south_west, georeference.middle_y), (Some([10.0, 60.0]), Some(60.05)));
        assert!(georeference.spacing_m().is_some_and(|(_, note)| note.is_some_and(|note| note.contains("degrees"))));
        let bytes: Vec<u8> = [-9999_i16, -19, 5, 6].iter().flat_map(|value| value.to_be_bytes()).collect();
        let header = "NROWS 2\nNCOLS 2\nNBITS 16\nBYTEORDER M\nNODATA -9999\n";
        let decoded = decode_esri(Path::new("a.bil"), &bytes, header).expect("readable");
        assert!(decoded.raster.samples[0].is_nan() && decoded.raster.samples[1] == -19.0);
    }

    #[test]
    fn terragen_heights_have_a_base_and_a_scale() {
        let mut bytes = TERRAGEN.to_vec();
        bytes.extend(b"SIZE\x01\x00\x00\x00XPTS\x03\x00\x00\x00YPTS\x02\x00\x00\x00SCAL");
        bytes.extend([10.0_f32, 20.0, 2.0].iter().flat_map(|scale| scale.to_le_bytes()));
        bytes.extend(b"ALTW");
        // A base of 5 units and 1/4 of a unit per 16384 of the values.
        for value in [1_i16, 5, 0, 16_384, -16_384, 3, 2, 1] {
            bytes.extend(value.to_le_bytes());
        }
        let decoded = decode_terragen(Path::new("a.ter"), &bytes).expect("readable");
        assert_eq!((decoded.raster.width, decoded.raster.height), (3, 2));
        let expected = [3.0, 2.0, 1.0, 0.0, 16_384.0, -16_384.0].map(|value: f32| 2.0 * (5.0 + value / 65_536.0));
        assert_eq!(decoded.raster.samples, expected, "the northern row comes last in the file");
        assert_eq!(decoded.georeference.map(|found| found.cell), Some([10.0, 20.0]));
        for end in 0..bytes.len() {
            assert!(decode_terragen(Path::new("a.ter"), &bytes[..end]).is_err(), "{end}");
        }
    }
}
