//! Terrain at the points of a mesh, given that of another with half the resolution.

use std::sync::Arc;

use rayon::prelude::*;

use super::location::RowOfPoints;
use super::mesh::{Location, Mesh};
use crate::heightfield::Heightfield;
use crate::progress::{Cancelled, Progress};

/// Where the points of a mesh are on another one with half the resolution.
#[derive(Clone, Debug)]
pub(crate) struct FinerPoints {
    places: Arc<Vec<Location>>,
}

impl FinerPoints {
    /// Peak memory in maps of the finer mesh: the places, and a map.
    pub const MAPS: f64 = 13.0;

    /// Finds the points of `finer`, whose grid has twice the resolution of that of `mesh`.
    pub fn new(finer: &Mesh, mesh: &Mesh, progress: &Progress) -> Result<Self, Cancelled> {
        let find = || RowOfPoints::locate_all(mesh, finer, progress);
        let places = match finer.places_on_coarser(find)? {
            Some(places) => places,
            None => Arc::new(find()?),
        };
        Ok(Self { places })
    }

    /// Adds a map of the coarser mesh to one of the finer mesh, interpolated within the triangles.
    pub fn add_to(&self, finer: &mut Heightfield, map: &Heightfield, progress: &Progress) -> Result<(), Cancelled> {
        let width = finer.grid().width();
        let rows = finer.heights_mut().par_chunks_exact_mut(width).zip(self.places.par_chunks_exact(width));
        rows.with_min_len(8).try_for_each(|(row, places)| {
            for (height, place) in row.iter_mut().zip(places) {
                *height += place.value(map);
            }
            progress.check()
        })
    }

    /// Terrain at the points of the finer mesh, with the detail of the sources, which are the terrain at the points of
    /// either mesh before it was eroded.
    pub fn refined(
        &self,
        terrain: &Heightfield,
        source: &Heightfield,
        mut finer_source: Heightfield,
        progress: &Progress,
    ) -> Result<Heightfield, Cancelled> {
        let change = terrain.copied(progress)?.combined(source, |terrain, source| terrain - source, progress)?;
        self.add_to(&mut finer_source, &change, progress)?;
        Ok(finer_source)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::mesh;
    use super::*;
    use crate::cast::ToFloat;

    /// A plane at the points of a mesh with so many spacings of the finer one between its points.
    fn plane(mesh: &Mesh, spacing: f32) -> Heightfield {
        Heightfield::from_fn(mesh.grid(), |c, r| {
            let [east, south] = mesh.offset(c, r);
            spacing * (3.0 * (c.to_f32() + east) - 2.0 * (r.to_f32() + south))
        })
    }

    #[test]
    fn a_plane_stays_plane_and_sources_give_detail() {
        let ([finer, coarser], progress) = ([mesh(33, 21), mesh(17, 11)], Progress::new());
        let points = FinerPoints::new(&finer, &coarser, &progress).expect("not cancelled");
        let mut interpolated = Heightfield::flat(finer.grid());
        points.add_to(&mut interpolated, &plane(&coarser, 2.0), &progress).expect("not cancelled");
        let expected = plane(&finer, 1.0);
        let mut pairs = interpolated.heights().iter().zip(expected.heights());
        assert!(pairs.all(|(found, expected)| (found - expected).abs() < 1e-3));
        let of = |mesh: &Mesh| Heightfield::from_fn(mesh.grid(), |c, r| ((31 * c + 17 * r) % 23) as f32);
        let [source, coarse] = [of(&finer), of(&coarser)];
        let refined = |terrain: &Heightfield| points.refined(terrain, &coarse, source.clone(), &progress);
        assert_eq!(refined(&coarse), Ok(source.clone()), "detail is kept where nothing was eroded");
        let lower = Heightfield::from_fn(coarse.grid(), |c, r| coarse[(c, r)] - 4.0);
        let lower = refined(&lower).expect("not cancelled");
        let mut changes = lower.heights().iter().zip(source.heights()).map(|(after, before)| after - before);
        assert!(changes.all(|change| (change + 4.0).abs() < 1e-4));
    }
}
