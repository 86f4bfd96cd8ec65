//! Where a map lies and how far apart its samples are, as georeferencing files specify it.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::engine::Origin;
use crate::engine::cast::ToFloat;
use crate::engine::parameters::{Group as _, Value};
use crate::files::io::error::FileError;
use crate::files::io::read::read_regular;

/// The cells of a map in the units of its coordinate system.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Georeference {
    /// Units between samples, eastward and southward.
    pub(super) cell: [f64; 2],
    pub(super) unit: HorizontalUnit,
    /// The northing or the latitude of the middle of the map, in units, if it is known.
    pub(super) middle_y: Option<f64>,
    /// The coordinates of the south-western sample, in units.
    pub(super) south_west: Option<[f64; 2]>,
    /// The EPSG code of the coordinate system.
    pub(super) epsg: Option<u32>,
}

/// The south-western corner of grids that are not georeferenced.
const UNREFERENCED_CORNER: [f64; 2] = [0.0; 2];

/// The unit of horizontal coordinates.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum HorizontalUnit {
    /// A length: metres per unit.
    Length(f64),
    /// A length, but nothing says which; metres are assumed.
    UnknownLength,
    /// Angles: degrees per unit.
    Angle(f64),
    /// Nothing says which.
    Unknown,
}

/// Cells up to this size, in a map whose place is between the poles in degrees, are degrees rather than metres: the
/// coordinates of a survey in metres are large numbers.
const MAX_LIKELY_DEGREES: f64 = 0.2;

/// Cells below this size are degrees rather than metres even if the map is not georeferenced: no survey is so fine.
const MIN_LIKELY_CELL_M: f64 = 0.01;

/// The latitude that is assumed for a map in degrees that does not say where it lies.
const UNKNOWN_LATITUDE_DEG: f64 = 45.0;

/// The largest world file or description of a coordinate system that is read, bytes.
const MAX_TEXT_BYTES: u64 = 1 << 16;

impl Georeference {
    /// Where the map lies, if its coordinates are metres.
    pub(super) fn origin(&self) -> Option<Origin> {
        let is_in_metres = match self.unit {
            HorizontalUnit::Length(metres) => metres == 1.0,
            HorizontalUnit::UnknownLength => true,
            HorizontalUnit::Angle(_) => false,
            HorizontalUnit::Unknown => !self.seems_in_degrees(),
        };
        let [easting_m, northing_m] =
            self.south_west.filter(|corner| is_in_metres && *corner != UNREFERENCED_CORNER)?;
        let mut origin = Origin { epsg: self.epsg, ..Origin::default() };
        let set = |origin: &mut Origin, key, value| origin.set(key, &Value::Number(value)).is_ok();
        let is_possible = set(&mut origin, "easting_m", easting_m) && set(&mut origin, "northing_m", northing_m);
        is_possible.then_some(origin)
    }

    fn seems_in_degrees(&self) -> bool {
        let is_between_poles = self.middle_y.is_some_and(|y| y.abs() <= 90.0);
        self.cell.iter().all(|cell| cell.abs() <= MAX_LIKELY_DEGREES) && is_between_poles
    }

    /// Metres between samples, eastward and southward, and what the user should know about them; `None` if the cells
    /// make no sense.
    pub(super) fn spacing_m(&self) -> Option<([f64; 2], Option<String>)> {
        let [x, z] = self.cell.map(f64::abs);
        let (spacing_m, note) = match self.unit {
            HorizontalUnit::Length(metres) => ([x * metres, z * metres], None),
            HorizontalUnit::UnknownLength => ([x, z], Some(self.assumption())),
            HorizontalUnit::Angle(degrees) => self.in_metres([x * degrees, z * degrees], degrees, "degrees"),
            HorizontalUnit::Unknown if self.seems_in_degrees() => self.in_metres([x, z], 1.0, "probably degrees"),
            HorizontalUnit::Unknown if x.min(z) < MIN_LIKELY_CELL_M => ([x, z], Some(tiny_cells_note(x.min(z)))),
            HorizontalUnit::Unknown => ([x, z], None),
        };
        let is_possible = spacing_m.iter().all(|spacing| spacing.is_finite() && *spacing > 0.0);
        is_possible.then_some((spacing_m, note))
    }

    /// The note about an unknown unit of length.
    fn assumption(&self) -> String {
        let system = self.epsg.map_or(String::new(), |epsg| format!(" (EPSG {epsg})"));
        format!(
            "its file does not name the unit of its coordinate system{system}; metres are assumed. If it is feet, convert \
             the map to a metric system first (gdalwarp does), or correct its size when you import it"
        )
    }

    fn in_metres(&self, cell_deg: [f64; 2], degrees_per_unit: f64, unit: &str) -> ([f64; 2], Option<String>) {
        let known = self.middle_y.map(|y| y * degrees_per_unit);
        let latitude_deg = known.unwrap_or(UNKNOWN_LATITUDE_DEG).clamp(-89.0, 89.0);
        let [east_m, north_m] = metres_per_degree(latitude_deg);
        let place = if known.is_some() { "its latitude" } else { "an assumed latitude" };
        let note = format!("its coordinates are {unit}, converted to metres at {place} of {latitude_deg:.2}°");
        ([cell_deg[0] * east_m, cell_deg[1] * north_m], Some(note))
    }
}

/// The note about cells that are too small to be metres.
fn tiny_cells_note(cell: f64) -> String {
    format!(
        "its cells are {cell:.3e} units wide, so they are probably degrees, but they are used as metres; put the .prj of its \
         coordinate system beside it, or correct its size when you import it"
    )
}

/// The georeference of an Esri grid whose header has these numbers: the south-western cell's corner or middle, of cells
/// of this size. A grid whose corner is the origin, or that has none, is not georeferenced.
pub(super) fn from_esri_header(number: impl Fn(&str) -> Option<f64>, cell: [f64; 2], height: usize) -> Georeference {
    let [centers, corners] = [["xllcenter", "yllcenter"], ["xllcorner", "yllcorner"]].map(|keys| keys.map(&number));
    let is_referenced = centers.into_iter().chain(corners).flatten().any(|coordinate| coordinate != 0.0);
    // The corner of a cell is half a cell from its middle.
    let middle = |axis: usize| centers[axis].or(corners[axis].map(|corner| corner + 0.5 * cell[axis]));
    let [west, south] = [0, 1].map(|axis| middle(axis).filter(|_| is_referenced));
    Georeference {
        cell,
        unit: HorizontalUnit::Unknown,
        middle_y: south.map(|south| south + 0.5 * cell[1] * (height - 1).to_f64()),
        south_west: west.zip(south).map(Into::into),
        epsg: None,
    }
}

/// Metres per degree of longitude and of latitude on the WGS 84 ellipsoid: the radii of curvature of the parallel and of
/// the meridian (Snyder, "Map Projections: A Working Manual", 1987, equations 4-18 to 4-21).
fn metres_per_degree(latitude_deg: f64) -> [f64; 2] {
    const MAJOR_AXIS_M: f64 = 6_378_137.0;
    const ECCENTRICITY_2: f64 = 0.006_694_379_990_14;
    let (sin, cos) = (libm::sin(latitude_deg.to_radians()), libm::cos(latitude_deg.to_radians()));
    let root = (1.0 - ECCENTRICITY_2 * sin * sin).sqrt();
    let parallel = MAJOR_AXIS_M * cos / root;
    let meridian = MAJOR_AXIS_M * (1.0 - ECCENTRICITY_2) / (root * root * root);
    [parallel.to_radians(), meridian.to_radians()]
}

/// Completes the georeference of a map from the files beside it: a world file and the description of the coordinate
/// system (`.prj`).
pub(super) fn read_beside(
    path: &Path,
    height: usize,
    known: Option<Georeference>,
) -> Result<Option<Georeference>, FileError> {
    let text = |extension: &str| {
        let bytes = read_regular(&path.with_extension(extension), MAX_TEXT_BYTES).ok()?;
        Some(String::from_utf8_lossy(&bytes).into_owned())
    };
    let found = match known {
        Some(known) => Some(known),
        None => match world_file_extensions(path).iter().find_map(|extension| text(extension)) {
            Some(world) => from_world_file(path, &world, height)?,
            None => None,
        },
    };
    let Some(mut found) = found else { return Ok(None) };
    let is_unknown = matches!(found.unit, HorizontalUnit::Unknown | HorizontalUnit::UnknownLength);
    if let Some(unit) = text("prj").and_then(|prj| unit_of_system(&prj)).filter(|_| is_unknown) {
        found.unit = unit;
    }
    if found.epsg.is_none() {
        let metadata = read_regular(&metadata_path(path), MAX_TEXT_BYTES).ok();
        found.epsg = metadata.and_then(|bytes| system_of_metadata(&String::from_utf8_lossy(&bytes)));
    }
    Ok(Some(found))
}

/// The path of GDAL's metadata about a map: FILE.aux.xml for FILE (GDAL, "PAM: Persistent Auxiliary Metadata").
pub(crate) fn metadata_path(path: &Path) -> PathBuf {
    let mut name: OsString = path.as_os_str().into();
    name.push(".aux.xml");
    name.into()
}

/// The metadata that names the coordinate system of a map.
pub(crate) fn metadata_of_system(epsg: u32) -> String {
    format!("<PAMDataset>\n  <SRS>EPSG:{epsg}</SRS>\n</PAMDataset>\n")
}

/// The coordinate system that metadata names by its code.
fn system_of_metadata(text: &str) -> Option<u32> {
    let (_, rest) = text.split_once("<SRS>EPSG:")?;
    rest.split_once('<')?.0.parse().ok()
}

/// The path of the world file of a map: the first and the last letter of its extension and a w. For a portable graymap,
/// GDAL reads `.wld` only.
pub(crate) fn world_file_path(path: &Path) -> PathBuf {
    let is_graymap = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("pgm"));
    path.with_extension(if is_graymap { "wld".into() } else { world_file_extensions(path).swap_remove(0) })
}

/// A world file with the size of the cells and the coordinates of the middle of the north-western one, metres.
pub(crate) fn world_file([x, z]: [f64; 2], [east_m, north_m]: [f64; 2]) -> String {
    format!("{x}\n0\n0\n{}\n{east_m}\n{north_m}\n", -z)
}

/// The files beside a map that can say where it lies, the world file that is used first.
pub(crate) fn paths_beside(path: &Path) -> Vec<PathBuf> {
    let extensions = world_file_extensions(path).into_iter().chain(["prj".into()]);
    extensions.map(|extension| path.with_extension(extension)).collect()
}

/// The extensions of world files: the first and the last letter of the map's extension and a w, the whole extension and a
/// w, or wld.
fn world_file_extensions(path: &Path) -> Vec<String> {
    let extension = path.extension().unwrap_or_default().to_string_lossy().to_lowercase();
    let (first, last) = (extension.chars().next(), extension.chars().last());
    let short: Option<String> = first.zip(last).map(|(first, last)| format!("{first}{last}w"));
    short.into_iter().chain([format!("{extension}w"), "wld".into()]).collect()
}

/// A world file has six lines: the cell eastward, two rotations, the cell northward (negative if north is up), and the
/// coordinates of the middle of the north-western cell.
fn from_world_file(path: &Path, text: &str, height: usize) -> Result<Option<Georeference>, FileError> {
    let numbers: Vec<f64> = text.split_whitespace().map_while(|word| word.replace(',', ".").parse().ok()).collect();
    let [x, turn_x, turn_y, y, west, north] = numbers[..] else { return Ok(None) };
    if turn_x != 0.0 || turn_y != 0.0 || y > 0.0 || x < 0.0 {
        let problem = "its world file turns or mirrors it; write it with north at the top first (gdalwarp does)";
        return Err(FileError::invalid(path, problem));
    }
    let rows = (height - 1).to_f64();
    Ok(Some(Georeference {
        cell: [x, -y],
        unit: HorizontalUnit::Unknown,
        middle_y: Some(north + 0.5 * y * rows),
        south_west: Some([west, north + y * rows]),
        epsg: None,
    }))
}

/// The unit of the horizontal coordinate system in well-known text (OGC 01-009), which may have a vertical one beside it:
/// that of the projected system, or else of the geographic one. A system's own unit is the last one in its brackets.
fn unit_of_system(text: &str) -> Option<HorizontalUnit> {
    let text = text.to_ascii_uppercase();
    let start = |keys: &[&str]| keys.iter().filter_map(|key| text.find(key)).min();
    let factor = |start: usize| {
        let system = bracketed(&text[start..]);
        let unit = ["ANGLEUNIT[", "LENGTHUNIT[", "UNIT["].iter().filter_map(|key| system.rfind(key)).max()?;
        let factor = system[unit..].split(',').nth(1)?.trim();
        let factor: String = factor.chars().take_while(|c| c.is_ascii_digit() || ".E-+".contains(*c)).collect();
        factor.parse::<f64>().ok().filter(|factor| factor.is_finite() && *factor > 0.0)
    };
    match (start(&["PROJCS[", "PROJCRS["]), start(&["GEOGCS[", "GEOGCRS[", "GEODCRS["])) {
        (Some(projected), _) => factor(projected).map(HorizontalUnit::Length),
        (None, Some(geographic)) => {
            Some(HorizontalUnit::Angle(factor(geographic).map_or(1.0, |radians| tidy(radians.to_degrees()))))
        }
        (None, None) => None,
    }
}

/// Exactly 1 for the rounded factor of a degree.
fn tidy(degrees: f64) -> f64 {
    if (degrees - 1.0).abs() < 1e-6 { 1.0 } else { degrees }
}

/// The text up to the bracket that closes its first one.
fn bracketed(text: &str) -> &str {
    let mut depth = 0_usize;
    for (at, c) in text.char_indices() {
        match c {
            '[' => depth += 1,
            ']' if depth <= 1 => return &text[..at],
            ']' => depth -= 1,
            _ => {}
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_degree_has_the_lengths_of_published_tables() {
        // National Geospatial-Intelligence Agency, "Length of a degree": metres of longitude and of latitude.
        for (latitude_deg, expected) in
            [(0.0, [111_319.5, 110_574.3]), (45.0, [78_846.8, 111_131.7]), (60.0, [55_800.0, 111_412.2])]
        {
            let found = metres_per_degree(latitude_deg);
            assert!((0..2).all(|i| (found[i] - expected[i]).abs() < 1.0), "{latitude_deg}: {found:?}");
        }
    }

    #[test]
    fn units_are_known_or_guessed() {
        let spacing = |cell: f64, unit, middle_y| {
            Georeference { cell: [cell; 2], unit, middle_y, south_west: None, epsg: None }.spacing_m()
        };
        assert_eq!(spacing(30.0, HorizontalUnit::Unknown, Some(4e6)), Some(([30.0; 2], None)));
        assert_eq!(spacing(100.0, HorizontalUnit::Length(0.3048), None).map(|found| found.0), Some([30.48; 2]));
        let ([x, z], note) = spacing(1.0 / 3600.0, HorizontalUnit::Unknown, Some(60.0)).expect("degrees");
        assert!((x - 15.5).abs() < 0.01 && (z - 30.948).abs() < 0.01, "{x} {z}");
        assert!(note.is_some_and(|note| note.contains("probably degrees") && note.contains("60.00°")));
        // Survey cells of one centimetre are far from the poles' numbers.
        assert_eq!(spacing(0.01, HorizontalUnit::Unknown, Some(5_400_000.0)), Some(([0.01; 2], None)));
        // Nor do maps without coordinates say anything about degrees.
        assert_eq!(spacing(0.03, HorizontalUnit::Unknown, None), Some(([0.03; 2], None)));
        assert_eq!(spacing(0.0, HorizontalUnit::Unknown, None), None);
        // But a cell of a third of a millimetre does.
        let (spacing_m, note) = spacing(1.0 / 3600.0, HorizontalUnit::Unknown, None).expect("a cell");
        assert_eq!(spacing_m, [1.0 / 3600.0; 2]);
        assert!(note.is_some_and(|note| note.contains("2.778e-4") && note.contains("probably degrees")));
    }

    #[test]
    fn world_files_and_coordinate_systems_beside_a_map_are_read() {
        let folder = tempfile::tempdir().expect("folder");
        let path = folder.path().join("alps.png");
        assert_eq!(read_beside(&path, 101, None).expect("nothing there"), None);
        let beside = ["alps.pgw", "alps.pngw", "alps.wld", "alps.prj"].map(|name| folder.path().join(name));
        assert_eq!(paths_beside(&path), beside);
        std::fs::write(folder.path().join("alps.pgw"), "25.0\n0\n0\n-20,0\n600000\n200000\n").expect("written");
        let found = read_beside(&path, 101, None).expect("readable").expect("a world file");
        assert_eq!((found.cell, found.unit, found.middle_y), ([25.0, 20.0], HorizontalUnit::Unknown, Some(199_000.0)));
        assert_eq!(
            found.origin().map(|origin| (origin.easting_m, origin.northing_m, origin.epsg)),
            Some((6e5, 198_000.0, None))
        );
        std::fs::write(metadata_path(&path), metadata_of_system(21781)).expect("written");
        let found = read_beside(&path, 101, None).expect("readable").expect("a world file");
        assert_eq!(found.origin().and_then(|origin| origin.epsg), Some(21781));
        let feet = r#"PROJCS["A",GEOGCS["B",UNIT["degree",0.0174532925199433]],UNIT["Foot_US",0.3048006096012192]]"#;
        std::fs::write(folder.path().join("alps.prj"), feet).expect("written");
        let found = read_beside(&path, 101, None).expect("readable").expect("a world file");
        assert_eq!(found.unit, HorizontalUnit::Length(0.304_800_609_601_219_2));
        std::fs::write(folder.path().join("alps.prj"), r#"GEOGCS["B",UNIT["degree",0.0174532925199433]]"#)
            .expect("written");
        let found = read_beside(&path, 101, None).expect("readable").expect("a world file");
        assert_eq!(found.unit, HorizontalUnit::Angle(1.0));
        std::fs::write(folder.path().join("alps.pgw"), "25\n3\n0\n-25\n0\n0\n").expect("written");
        assert!(read_beside(&path, 101, None).is_err_and(|error| error.to_string().contains("gdalwarp")));
    }

    #[test]
    fn the_unit_is_that_of_the_horizontal_system() {
        let geographic = r#"GEOGCS["B",DATUM["D"],UNIT["degree",0.0174532925199433]]"#;
        let projected = format!(r#"PROJCS["A",{geographic},PROJECTION["P"],UNIT["US survey foot",0.304800609601219]]"#);
        let compound = format!(r#"COMPD_CS["C",{projected},VERT_CS["V",UNIT["metre",1]]]"#);
        let foot = Some(HorizontalUnit::Length(0.304_800_609_601_219));
        assert_eq!([unit_of_system(&projected), unit_of_system(&compound)], [foot; 2]);
        assert_eq!(unit_of_system(geographic), Some(HorizontalUnit::Angle(1.0)));
        let grads = r#"GEOGCS["NTF",DATUM["D"],UNIT["grad",0.01570796326794897]]"#;
        let Some(HorizontalUnit::Angle(degrees)) = unit_of_system(grads) else { panic!("an angle") };
        assert!((degrees - 0.9).abs() < 1e-12);
        assert_eq!(unit_of_system("LOCAL_CS[\"x\"]"), None);
    }
}
