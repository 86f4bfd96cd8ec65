//! The files beside maps that contain their place on Earth: world files, and GDAL's metadata with the coordinate system.

use std::collections::BTreeMap;
use std::iter;
use std::path::PathBuf;

use super::order::{Order, Patches};
use super::tiles::{PlannedMaps, TileFile};
use crate::engine::cast::ToFloat;
use crate::engine::texture::Points;
use crate::engine::{Grid, Origin};
use crate::files::formats::heightmap::{
    RowOrder, WrittenFormat, metadata_of_system, metadata_path, world_file, world_file_path,
};

/// The files beside the maps of an order, with their contents; none if the world is not georeferenced.
pub(super) fn plan(order: &Order, planned: &PlannedMaps) -> BTreeMap<PathBuf, String> {
    let Some(origin) = &order.origin else { return BTreeMap::new() };
    let mut files = BTreeMap::new();
    let mut add = |tiles: &[TileFile], points: Points| {
        files.extend(tiles.iter().flat_map(|tile| beside(tile, origin, order.grid, points)));
    };
    for (heightmap, tiles) in order.heightmaps.iter().zip(planned.heightmaps) {
        if heightmap.encoding.row_order == RowOrder::NorthFirst {
            add(tiles, Points::Samples);
        }
    }
    if let Some(texture) = &order.texture {
        match texture.patches {
            // Each of them shows the entire world.
            Some(Patches { mirror: true, .. }) => {}
            Some(Patches { columns, rows, mirror: false }) => {
                add(planned.texture, Points::Pixels([columns * texture.size[0], rows * texture.size[1]]));
            }
            None => add(planned.texture, Points::Pixels(texture.size)),
        }
    }
    if let Some(weights) = &order.weights {
        planned.weights.iter().for_each(|tiles| add(tiles, weights.points));
    }
    for (map, tiles) in order.maps.iter().zip(planned.maps) {
        add(tiles, Points::Pixels(map.size));
    }
    files
}

/// The files beside a map of a world with this grid, with their contents.
pub(super) fn beside(tile: &TileFile, origin: &Origin, grid: Grid, points: Points) -> Vec<(PathBuf, String)> {
    let TileFile { path, region, .. } = tile;
    let extent = grid.extent();
    let [column, row] = region.first;
    let (cell_m, [east_m, south_m]) = match points {
        Points::Samples => ([grid.spacing_x_m(), grid.spacing_z_m()], [grid.x_m(column), grid.z_m(row)]),
        Points::Pixels([width, height]) => {
            let cell_m = [extent.width_m / width.to_f64(), extent.depth_m / height.to_f64()];
            (cell_m, [(column.to_f64() + 0.5) * cell_m[0], (row.to_f64() + 0.5) * cell_m[1]])
        }
        Points::PixelRegion(_) => return Vec::new(),
    };
    let first_m = [origin.easting_m + east_m, origin.northing_m + extent.depth_m - south_m];
    let system = origin.epsg.map(|epsg| (metadata_path(path), metadata_of_system(epsg)));
    let world = (world_file_path(path), world_file(cell_m, first_m));
    match WrittenFormat::from_path(path) {
        // Its tags contain the system; world files are for programs that do not read them.
        Ok(WrittenFormat::Tiff) => vec![world],
        Ok(
            WrittenFormat::Png
            | WrittenFormat::Bmp
            | WrittenFormat::Jpg
            | WrittenFormat::Tga
            | WrittenFormat::Pgm
            | WrittenFormat::Exr,
        ) => iter::once(world).chain(system).collect(),
        // The header of an Esri grid contains the place, and programs ignore metadata beside it.
        Ok(WrittenFormat::Asc | WrittenFormat::Raw16 | WrittenFormat::Raw32 | WrittenFormat::Krten) | Err(_) => {
            Vec::new()
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::engine::Recipe;
    use crate::engine::heightfield::Extent;
    use crate::files::export::{HeightmapOrder, Plan, TextureOrder, Tiles};

    #[test]
    fn maps_have_their_place_beside_them() {
        let folder = tempfile::tempdir().expect("folder");
        let grid = Grid::new(Extent { width_m: 400.0, depth_m: 200.0 }, 5, 3);
        let origin = Origin { easting_m: 5e5, northing_m: 4e6, epsg: Some(32632) };
        let mut order = Order { origin: Some(origin), ..Order::new("a", Recipe::default(), grid) };
        order.heightmaps =
            ["h.png", "h.tif", "h.asc", "h.r16"].map(|name| HeightmapOrder::new(folder.path().join(name))).into();
        order.texture = Some(TextureOrder::new(folder.path().join("t.png"), [8, 4]));
        let files = |order: &Order| {
            let plan = Plan::new(order.clone()).expect("possible");
            let name = |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let all = plan.georeference.iter().map(|(path, text)| (name(path), text.clone()));
            all.collect::<BTreeMap<String, String>>()
        };
        let found = files(&order);
        let names: Vec<&str> = found.keys().map(String::as_str).collect();
        assert_eq!(names, ["h.pgw", "h.png.aux.xml", "h.tfw", "t.pgw", "t.png.aux.xml"]);
        // The first sample is the corner of the world; the first pixel lies half a pixel inside.
        assert_eq!(found["h.pgw"], "100\n0\n0\n-100\n500000\n4000200\n");
        assert_eq!(found["t.pgw"], "50\n0\n0\n-50\n500025\n4000175\n");
        assert!(found["t.png.aux.xml"].contains("EPSG:32632"));
        order.tiles = Some(Tiles::new([2, 1]));
        let found = files(&order);
        assert_eq!(found["h_x1_y0.tfw"], "100\n0\n0\n-100\n500200\n4000200\n");
        assert_eq!(found["t_x1_y0.pgw"], "50\n0\n0\n-50\n500225\n4000175\n");
        order.origin = None;
        assert!(files(&order).is_empty());
    }
}
