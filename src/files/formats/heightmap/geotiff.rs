//! What GeoTIFF files say besides their samples (OGC 19-008, "GeoTIFF Standard"; GDAL, "GTiff -- GeoTIFF File Format").

use std::io::{Cursor, Seek, Write};

use tiff::TiffResult;
use tiff::decoder::Decoder;
use tiff::encoder::{DirectoryEncoder, TiffKind};
use tiff::tags::Tag;

use super::georeference::{Georeference, HorizontalUnit};
use super::rows::Rows;
use crate::engine::Raster;
use crate::engine::cast::{ToFloat, ToInteger};

/// GDAL's own metadata, as XML.
const GDAL_METADATA: Tag = Tag::Unknown(42_112);

/// What the tags of a file say.
#[derive(Debug, Default, PartialEq)]
pub(super) struct GeoTags {
    pub(super) georeference: Option<Georeference>,
    /// The factor and the offset in metres of values that are not already metres.
    pub(super) metres: Option<[f64; 2]>,
    /// Whether the first row is the southern one.
    pub(super) is_south_up: bool,
    /// How the rows and columns are stored (TIFF 6.0, "Orientation").
    pub(super) orientation: u16,
    pub(super) notes: Vec<String>,
    /// Why the map cannot be used, and what to do about it.
    pub(super) refusal: Option<&'static str>,
}

/// Why a rotated map is refused.
const ROTATED: &str =
    "it is rotated or mirrored, so its rows do not run from west to east; gdalwarp writes it north up";

/// The codes of registered coordinate systems.
const MIN_SYSTEM: u16 = 1024;
const MAX_SYSTEM: u16 = 32_766;

/// Keys of the GeoKey directory, and their values.
mod keys {
    pub(super) const MODEL_TYPE: u16 = 1024;
    pub(super) const PROJECTED_MODEL: u16 = 1;
    pub(super) const GEOGRAPHIC_MODEL: u16 = 2;
    pub(super) const RASTER_TYPE: u16 = 1025;
    /// The coordinates are those of points; otherwise those of the north-western corners of cells.
    pub(super) const POINTS: u16 = 2;
    pub(super) const ANGULAR_UNITS: u16 = 2054;
    pub(super) const PROJECTED_SYSTEM: u16 = 3072;
    pub(super) const PROJECTED_UNITS: u16 = 3076;
    pub(super) const VERTICAL_UNITS: u16 = 4099;
}

impl GeoTags {
    pub(super) fn read(decoder: &mut Decoder<Cursor<&[u8]>>, height: usize) -> Self {
        let scale = decoder.get_tag_f64_vec(Tag::ModelPixelScaleTag).ok();
        let tiepoint = decoder.get_tag_f64_vec(Tag::ModelTiepointTag).ok();
        let matrix = decoder.get_tag_f64_vec(Tag::ModelTransformationTag).ok().filter(|matrix| matrix.len() >= 8);
        let directory = decoder.get_tag_u16_vec(Tag::GeoKeyDirectoryTag).unwrap_or_default();
        let metadata = decoder.get_tag_ascii_string(GDAL_METADATA).unwrap_or_default();
        let orientation = decoder.get_tag_unsigned::<u16>(Tag::Orientation).unwrap_or(1);
        let key = |wanted: u16| {
            // Four numbers per key; the value is in the directory itself if the second one is 0.
            let entries = directory.get(4..).unwrap_or_default().chunks_exact(4);
            entries.filter(|entry| entry[0] == wanted && entry[1] == 0).map(|entry| entry[3]).next()
        };
        let mut notes = Vec::new();
        let rows = (height - 1).to_f64();
        let mut is_rotated = false;
        // The cell eastward and southward, the coordinates of the first sample, and whether rows go north.
        let placed = match (&matrix, scale.as_deref()) {
            (Some(m), _) => {
                is_rotated = m[1] != 0.0 || m[4] != 0.0 || m[0] < 0.0;
                Some(([m[0].abs(), m[5].abs()], Some([m[3], m[7]]), m[5] > 0.0))
            }
            (None, Some([x, y, ..])) => {
                is_rotated = *x < 0.0;
                let first = tiepoint.as_ref().filter(|point| point.len() >= 6);
                let first = first.map(|point| [point[3] - point[0] * x, point[4] + point[1] * y]);
                Some(([x.abs(), y.abs()], first, *y < 0.0))
            }
            (None, _) => None,
        };
        let unit = match key(keys::MODEL_TYPE) {
            Some(keys::GEOGRAPHIC_MODEL) => HorizontalUnit::Angle(match key(keys::ANGULAR_UNITS) {
                Some(9101) => 1.0_f64.to_degrees(),
                Some(9103) => 1.0 / 60.0,
                Some(9104) => 1.0 / 3600.0,
                Some(9105) => 0.9,
                _ => 1.0,
            }),
            Some(keys::PROJECTED_MODEL) => projected_unit(key(keys::PROJECTED_UNITS), key(keys::PROJECTED_SYSTEM)),
            _ => HorizontalUnit::Unknown,
        };
        let is_south_up = placed.is_some_and(|(_, _, is_south_up)| is_south_up);
        let is_point = key(keys::RASTER_TYPE) == Some(keys::POINTS);
        let is_system = |code: &u16| (MIN_SYSTEM..=MAX_SYSTEM).contains(code);
        let georeference = placed.map(|(cell, first, is_south_up)| {
            let southward = if is_south_up { -cell[1] } else { cell[1] };
            let middle = if is_point { 0.0 } else { 0.5 };
            let first = first.map(|[west, north]| [west + middle * cell[0], north - middle * southward]);
            let last_y = |north: f64| north - southward * rows;
            // Orientations from 5 on have rows and columns exchanged; where the others lie depends on the writer.
            let cell = if (5..=8).contains(&orientation) { [cell[1], cell[0]] } else { cell };
            Georeference {
                cell,
                unit,
                middle_y: first.map(|[_, north]| 0.5 * (north + last_y(north))),
                south_west: first.filter(|_| orientation == 1).map(|[west, north]| [west, north.min(last_y(north))]),
                epsg: key(keys::PROJECTED_SYSTEM).filter(is_system).map(u32::from),
            }
        });
        let [factor, offset] = ["scale", "offset"].map(|role| item(&metadata, role).and_then(|text| text.parse().ok()));
        let unit_m = match item(&metadata, "unittype").map(str::to_ascii_lowercase).as_deref() {
            Some("ft" | "feet" | "foot") => Some(0.3048),
            Some("us-ft" | "ftus" | "us_ft" | "us survey foot") => Some(1200.0 / 3937.0),
            Some("m" | "metre" | "meter" | "metres" | "meters") => Some(1.0),
            _ => key(keys::VERTICAL_UNITS).and_then(metres_of),
        };
        if unit_m.is_some_and(|unit_m| unit_m != 1.0) {
            notes.push("its heights are converted to metres".into());
        }
        let is_plain = factor.is_none() && offset.is_none() && unit_m.is_none_or(|unit_m| unit_m == 1.0);
        let unit_m = unit_m.unwrap_or(1.0);
        let metres = (!is_plain).then(|| [factor.unwrap_or(1.0) * unit_m, offset.unwrap_or(0.0) * unit_m]);
        let metres = metres.filter(|numbers| numbers.iter().all(|number| number.is_finite()));
        let refusal = is_rotated.then_some(ROTATED);
        Self { georeference, metres, is_south_up, orientation, notes, refusal }
    }

    /// Brings the samples into rows from north to south, each from west to east.
    pub(super) fn turn(&self, raster: &mut Raster) {
        // The first row is at the top for 1 and 2, the first column at the left for 1 and 4; 5 to 8 have rows and columns
        // exchanged.
        if self.orientation >= 5 && self.orientation <= 8 {
            let (width, height) = (raster.width, raster.height);
            let turned = (0..width * height).map(|at| raster.samples[(at % height) * width + at / height]).collect();
            *raster = Raster { width: height, height: width, samples: turned, scale: raster.scale };
        }
        let is_mirrored = matches!(self.orientation, 2 | 3 | 6 | 7);
        let is_upside_down = matches!(self.orientation, 3 | 4 | 7 | 8);
        if is_mirrored {
            raster.samples.chunks_exact_mut(raster.width).for_each(<[f32]>::reverse);
        }
        if is_upside_down != self.is_south_up {
            let width = raster.width;
            let rows: Vec<f32> = raster.samples.chunks_exact(width).rev().flatten().copied().collect();
            raster.samples = rows;
        }
    }
}

/// Writes the size of the cells, the place of the first sample and the coordinate system.
pub(super) fn write<W: Write + Seek, K: TiffKind>(tags: &mut DirectoryEncoder<'_, W, K>, rows: Rows) -> TiffResult<()> {
    let Some([east_m, north_m]) = rows.first_m() else { return Ok(()) };
    let [dx, dz] = rows.spacing_m();
    tags.write_tag(Tag::ModelPixelScaleTag, &[dx, dz, 0.0][..])?;
    tags.write_tag(Tag::ModelTiepointTag, &[0.0, 0.0, 0.0, east_m, north_m, 0.0][..])?;
    // Projected, samples are points, and coordinates are metres. Keys are in ascending order.
    let system = rows.epsg().map(|epsg| (keys::PROJECTED_SYSTEM, epsg.to_u16()));
    let points = [(keys::MODEL_TYPE, keys::PROJECTED_MODEL), (keys::RASTER_TYPE, keys::POINTS)];
    let entries: Vec<_> = points.into_iter().chain(system).chain([(keys::PROJECTED_UNITS, METRE)]).collect();
    // Version 1.1.0, and the number of keys; their values are in the directory itself.
    let header = [1, 1, 0, entries.len().to_u16()];
    let directory: Vec<u16> =
        header.into_iter().chain(entries.into_iter().flat_map(|(key, value)| [key, 0, 1, value])).collect();
    tags.write_tag(Tag::GeoKeyDirectoryTag, &directory[..])
}

/// The EPSG code of the metre.
const METRE: u16 = 9001;

/// Metres per unit of length, by its EPSG code.
fn metres_of(code: u16) -> Option<f64> {
    match code {
        METRE => Some(1.0),
        9002 => Some(0.3048),
        9003 => Some(1200.0 / 3937.0),
        9036 => Some(1000.0),
        _ => None,
    }
}

/// The unit of projected coordinates, from its code or from that of the coordinate system.
fn projected_unit(unit: Option<u16>, system: Option<u16>) -> HorizontalUnit {
    match unit.map(metres_of) {
        Some(Some(metres)) => HorizontalUnit::Length(metres),
        None if system.is_some_and(is_metric) => HorizontalUnit::Length(1.0),
        Some(None) | None => HorizontalUnit::UnknownLength,
    }
}

/// Whether the unit of a registered coordinate system is certainly the metre: UTM zones, and the systems of many
/// countries (EPSG Geodetic Parameter Dataset). Others can be in feet, such as those of US states.
fn is_metric(system: u16) -> bool {
    matches!(
        system,
        // UTM on WGS 84, ETRS89, ED50, NAD83 and SIRGAS 2000.
        32_601..=32_660
            | 32_701..=32_760
            | 25_828..=25_838
            | 23_028..=23_038
            | 26_901..=26_923
            | 31_965..=31_985
            // Web Mercator, and the polar and European systems.
            | 3395 | 3857 | 3034 | 3035 | 3413 | 3031 | 3995 | 3996 | 32_661 | 32_761
            // Australia, New Zealand and Japan.
            | 28_348..=28_358 | 7846..=7859 | 3577 | 2193 | 2443..=2461 | 6669..=6687
            // Great Britain, Ireland, France, Switzerland, Austria, Germany and the Netherlands.
            | 27_700 | 2157 | 29_903 | 2154 | 3942..=3950 | 2056 | 21_781 | 31_254..=31_259 | 31_287 | 31_466..=31_469 | 28_992
            // Belgium, Italy, Poland, Sweden, Finland and the contiguous United States.
            | 31_370 | 3812 | 3003 | 3004 | 2176..=2180 | 3006 | 3067 | 5070
    )
}

/// The text of the first band's item with a role in GDAL's metadata:
/// `<Item name="SCALE" sample="0" role="scale">0.1</Item>`. Without `sample`, an item applies to all bands.
fn item<'a>(metadata: &'a str, role: &str) -> Option<&'a str> {
    let role = format!("role=\"{role}\"");
    metadata.split("<Item").find_map(|item| {
        let (attributes, rest) = item.split_once('>')?;
        let is_of_first_band = !attributes.contains("sample=") || attributes.contains("sample=\"0\"");
        let (text, _) = rest.split_once('<').filter(|_| is_of_first_band && attributes.contains(&role))?;
        Some(text.trim())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::SampleScale;

    #[test]
    fn every_orientation_is_turned_to_north_up() {
        // The map 1 2 3 / 4 5 6, stored in each orientation.
        let stored: [(u16, usize, [f32; 6]); 8] = [
            (1, 3, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]),
            (2, 3, [3.0, 2.0, 1.0, 6.0, 5.0, 4.0]),
            (3, 3, [6.0, 5.0, 4.0, 3.0, 2.0, 1.0]),
            (4, 3, [4.0, 5.0, 6.0, 1.0, 2.0, 3.0]),
            (5, 2, [1.0, 4.0, 2.0, 5.0, 3.0, 6.0]),
            (6, 2, [3.0, 6.0, 2.0, 5.0, 1.0, 4.0]),
            (7, 2, [6.0, 3.0, 5.0, 2.0, 4.0, 1.0]),
            (8, 2, [4.0, 1.0, 5.0, 2.0, 6.0, 3.0]),
        ];
        for (orientation, width, samples) in stored {
            let scale = SampleScale::Metres;
            let mut raster = Raster { width, height: 6 / width, samples: samples.to_vec(), scale };
            GeoTags { orientation, ..GeoTags::default() }.turn(&mut raster);
            assert_eq!((raster.width, raster.height), (3, 2), "{orientation}");
            assert_eq!(raster.samples, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0], "{orientation}");
        }
    }

    #[test]
    fn items_of_metadata_are_found_by_their_role() {
        let text = r#"<GDALMetadata><Item name="OFFSET" sample="0" role="offset">-100</Item>
            <Item name="SCALE" sample="0" role="scale">0.1</Item></GDALMetadata>"#;
        assert_eq!(
            (item(text, "scale"), item(text, "offset"), item(text, "unittype")),
            (Some("0.1"), Some("-100"), None)
        );
    }

    #[test]
    fn items_of_other_bands_are_ignored() {
        let text = r#"<GDALMetadata><Item name="SCALE" sample="1" role="scale">0.5</Item>
            <Item name="OFFSET" sample="10" role="offset">7</Item><Item role="unittype">ft</Item></GDALMetadata>"#;
        let found = ["scale", "offset", "unittype"].map(|role| item(text, role));
        assert_eq!(found, [None, None, Some("ft")]);
    }

    #[test]
    fn the_unit_of_a_projected_system_is_known_or_said_to_be_assumed() {
        let unit = |unit, system| projected_unit(unit, system);
        assert_eq!(unit(Some(9003), Some(2263)), HorizontalUnit::Length(1200.0 / 3937.0));
        assert_eq!(unit(None, Some(32_632)), HorizontalUnit::Length(1.0));
        assert_eq!(unit(None, Some(2263)), HorizontalUnit::UnknownLength);
        assert_eq!(unit(Some(9005), Some(32_632)), HorizontalUnit::UnknownLength, "Clarke's feet");
        assert_eq!(unit(None, None), HorizontalUnit::UnknownLength);
    }
}
