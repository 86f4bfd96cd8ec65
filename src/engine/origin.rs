//! Where a world lies on Earth.

use super::parameters::{Spec, parameters};

parameters! {
    /// The place of a world on Earth. It does not change the terrain: georeferenced files contain it.
    pub struct Origin {
        /// The easting of the south-western corner of the world.
        easting_m: f64 = 0.0, Spec::number("Easting", -MAX_COORDINATE_M, MAX_COORDINATE_M).slider(0.0, 1_000_000.0).unit("m");
        /// The northing of the south-western corner of the world.
        northing_m: f64 = 0.0, Spec::number("Northing", -MAX_COORDINATE_M, MAX_COORDINATE_M).slider(0.0, 10_000_000.0).unit("m");
        /// The EPSG code of the coordinate system, which must be a projected one in metres: 32632 is UTM zone 32 north.
        /// Empty: files do not name a system.
        epsg: Option<u32> = None,
            Spec::number("EPSG code", MIN_EPSG, MAX_EPSG).slider(MIN_EPSG, MAX_EPSG);
    }
}

parameters! {
    /// Whether a world lies on Earth.
    pub struct Place {
        /// Where the world lies on Earth. It does not change the terrain: exported maps contain it, so that GIS programs
        /// show them in their place.
        origin: Option<Origin> = None, Spec::new("Georeferenced");
    }
}

/// The largest coordinate, metres: twice the circumference of Earth.
const MAX_COORDINATE_M: f64 = 80_000_000.0;

/// The EPSG codes that a GeoTIFF can contain (OGC 19-008, "ProjectedCRSGeoKey").
const MIN_EPSG: f64 = 1024.0;
const MAX_EPSG: f64 = 32_766.0;
