//! Meshes read back independently of the writers.

use std::collections::HashMap;
use std::path::Path;

use upthrust::engine::operations::faults::Faults;
use upthrust::engine::recipe::World;
use upthrust::engine::{Grid, Progress, Recipe, Step, stack};
use upthrust::files::export::{MeshDetail, MeshOrder, Order, Plan, build};

fn order(path: &Path, detail: MeshDetail, texture: Option<[usize; 2]>) -> Order {
    let stack = vec![Step::new(Faults { count: 60, ..Default::default() })];
    let world = World { width_m: 3000.0, depth_m: 2000.0, ..Default::default() };
    let recipe = Recipe { stack, world, ..Default::default() };
    let grid = Grid::fitted(recipe.world.extent(), 97);
    Order { mesh: Some(MeshOrder { path: path.into(), detail, texture }), ..Order::new("Test", recipe, grid) }
}

/// The cross product of two sides: a normal with the length of twice the area.
fn doubled_area([a, b, c]: [[f32; 3]; 3]) -> [f32; 3] {
    let to = |p: [f32; 3]| [0, 1, 2].map(|axis| p[axis] - a[axis]);
    let ([bx, by, bz], [cx, cy, cz]) = (to(b), to(c));
    [by * cz - bz * cy, bz * cx - bx * cz, bx * cy - by * cx]
}

#[test]
fn gltf_has_the_heights_normals_and_texture() {
    let folder = tempfile::tempdir().expect("folder");
    for (name, detail, texture) in [
        ("full.glb", MeshDetail::Vertices(usize::MAX), Some([48, 32])),
        ("coarse.glb", MeshDetail::Vertices(500), None),
        ("by-error.glb", MeshDetail::ErrorM(2.0), Some([33, 21])),
    ] {
        let path = folder.path().join(name);
        let order = order(&path, detail, texture);
        let built = build(&order, &Progress::new()).expect("built");
        assert_eq!((built.files.len(), built.notes.len()), (1, 1), "{:?}", built.notes);
        let terrain =
            stack::evaluate(&order.recipe, order.grid, None, &order.inputs, &Progress::new()).expect("not cancelled");

        let gltf = gltf::Gltf::open(&path).expect("valid glTF");
        let blob = gltf.blob.clone().expect("numbers");
        let mesh = gltf.meshes().next().expect("a mesh");
        let primitive = mesh.primitives().next().expect("a primitive");
        let reader = primitive.reader(|_| Some(&blob));
        let positions: Vec<[f32; 3]> = reader.read_positions().expect("positions").collect();
        let normals: Vec<[f32; 3]> = reader.read_normals().expect("normals").collect();
        let shares: Vec<[f32; 2]> = reader.read_tex_coords(0).expect("coordinates").into_f32().collect();
        let indices: Vec<u32> = reader.read_indices().expect("triangles").into_u32().collect();
        let bounds = primitive.bounding_box();
        for axis in 0..3 {
            let along = || positions.iter().map(|position| position[axis]);
            assert_eq!(along().fold(f32::INFINITY, f32::min), bounds.min[axis]);
            assert_eq!(along().fold(f32::NEG_INFINITY, f32::max), bounds.max[axis]);
        }
        assert_eq!((bounds.min[0], bounds.max[2]), (-1500.0, 1000.0));
        for ((position, normal), [u, v]) in positions.iter().zip(&normals).zip(&shares) {
            let (c, r) = ((u * 96.0).round() as usize, (v * 64.0).round() as usize);
            assert_eq!(position[1], terrain[(c, r)]);
            assert!(
                (position[0] + 1500.0 - u * 3000.0).abs() < 1e-2 && (position[2] + 1000.0 - v * 2000.0).abs() < 1e-2
            );
            assert!((normal.iter().map(|along| along * along).sum::<f32>() - 1.0).abs() < 1e-5 && normal[1] > 0.0);
        }
        for triangle in indices.as_chunks::<3>().0 {
            assert!(doubled_area(triangle.map(|index| positions[index as usize]))[1] > 0.0, "triangles face up");
        }
        for view in gltf.views() {
            assert!(view.offset() % 4 == 0 && view.offset() + view.length() <= blob.len());
        }
        let image = gltf.images().next();
        assert_eq!(image.is_some(), texture.is_some());
        if let (Some(image), Some(size)) = (image, texture) {
            let gltf::image::Source::View { view, mime_type } = image.source() else { panic!("not embedded") };
            assert_eq!(mime_type, "image/png");
            let png = image::load_from_memory(&blob[view.offset()..][..view.length()]).expect("an image");
            assert_eq!([png.width() as usize, png.height() as usize], size);
        }
        match detail {
            MeshDetail::Vertices(max) => assert!(positions.len() <= max),
            MeshDetail::ErrorM(_) => assert!(positions.len() < order.grid.samples()),
        }
    }
}

#[test]
fn obj_names_its_material_and_its_triangles_face_up() {
    let folder = tempfile::tempdir().expect("folder");
    let path = folder.path().join("land.obj");
    let built = build(&order(&path, MeshDetail::Vertices(300), Some([24, 16])), &Progress::new()).expect("built");
    let names: Vec<_> = built.files.iter().filter_map(|path| path.file_name()).collect();
    assert_eq!(names, ["land.obj", "land.mtl", "land.png"]);
    let text = std::fs::read_to_string(&path).expect("text");
    assert!(text.contains("mtllib land.mtl"));
    assert!(std::fs::read_to_string(folder.path().join("land.mtl")).expect("text").contains("map_Kd land.png"));
    assert_eq!(image::open(folder.path().join("land.png")).expect("an image").width(), 24);
    let lines_of = |kind: &str| -> Vec<Vec<f32>> {
        let lines = text.lines().filter_map(|line| line.strip_prefix(kind)?.strip_prefix(' '));
        lines.map(|line| line.split(' ').map(|word| word.parse().expect("a number")).collect()).collect()
    };
    let (vertices, shares) = (lines_of("v"), lines_of("vt"));
    assert!(vertices.len() <= 300 && vertices.len() == shares.len() && vertices.len() == lines_of("vn").len());
    // v points north.
    let north_west = vertices.iter().position(|v| v[0] == -1500.0 && v[2] == -1000.0).expect("a corner");
    assert_eq!(shares[north_west], [0.0, 1.0]);
    let triangles: Vec<[usize; 3]> = text
        .lines()
        .filter_map(|line| line.strip_prefix("f "))
        .map(|line| {
            let numbers: Vec<usize> =
                line.split(' ').map(|word| word.split('/').next().and_then(|n| n.parse().ok()).expect("n")).collect();
            [numbers[0] - 1, numbers[1] - 1, numbers[2] - 1]
        })
        .collect();
    for triangle in &triangles {
        let corners = triangle.map(|at| [vertices[at][0], vertices[at][1], vertices[at][2]]);
        assert!(doubled_area(corners)[1] > 0.0);
    }
}

#[test]
fn usda_has_the_heights_and_names_its_texture() {
    let folder = tempfile::tempdir().expect("folder");
    for (name, texture, asset) in [
        ("land.usda", Some([24, 16]), Some("@./land.png@")),
        ("my@land.usda", Some([24, 16]), Some("@@@./my@land.png@@@")),
        ("bare.usda", None, None),
    ] {
        let path = folder.path().join(name);
        let order = order(&path, MeshDetail::Vertices(300), texture);
        let built = build(&order, &Progress::new()).expect("built");
        let expected: Vec<_> =
            [Some(path.clone()), texture.map(|_| path.with_extension("png"))].into_iter().flatten().collect();
        assert_eq!(built.files, expected);
        let text = std::fs::read_to_string(&path).expect("text");
        let found = text.lines().find_map(|line| line.trim().strip_prefix("asset inputs:file = "));
        assert_eq!(found, asset);
        if let Some([width, height]) = texture {
            let image = image::open(path.with_extension("png")).expect("an image");
            assert_eq!([image.width() as usize, image.height() as usize], [width, height]);
        }

        let terrain =
            stack::evaluate(&order.recipe, order.grid, None, &order.inputs, &Progress::new()).expect("not cancelled");
        let numbers = |property: &str| -> Vec<f32> {
            let line = text.lines().find_map(|line| line.trim().strip_prefix(property)?.strip_prefix(" = ["));
            let items = line.and_then(|line| line.split(']').next()).expect("an array");
            let words = items.split([',', '(', ')', ' ']).filter(|word| !word.is_empty());
            words.map(|word| word.parse().expect("a number")).collect()
        };
        let (points, normals) = (numbers("point3f[] points"), numbers("normal3f[] normals"));
        let (points, normals) = (points.as_chunks::<3>().0, normals.as_chunks::<3>().0);
        let coordinates = numbers("texCoord2f[] primvars:st");
        let coordinates = coordinates.as_chunks::<2>().0;
        assert!(points.len() <= 300 && points.len() == normals.len() && points.len() == coordinates.len());
        for ((point, normal), [u, v]) in points.iter().zip(normals).zip(coordinates) {
            // v points north.
            let (c, r) = ((u * 96.0).round() as usize, ((1.0 - v) * 64.0).round() as usize);
            assert_eq!(point[1], terrain[(c, r)]);
            assert!((point[0] + 1500.0 - u * 3000.0).abs() < 1e-2 && (1000.0 - point[2] - v * 2000.0).abs() < 1e-2);
            assert!((normal.iter().map(|along| along * along).sum::<f32>() - 1.0).abs() < 1e-5 && normal[1] > 0.0);
        }
        let corners: Vec<usize> = numbers("int[] faceVertexIndices").into_iter().map(|index| index as usize).collect();
        assert_eq!(numbers("int[] faceVertexCounts"), vec![3.0; corners.len() / 3]);
        for triangle in corners.as_chunks::<3>().0 {
            assert!(doubled_area(triangle.map(|index| points[index]))[1] > 0.0, "triangles face up");
        }
        let area: f32 =
            corners.as_chunks::<3>().0.iter().map(|corners| doubled_area(corners.map(|index| points[index]))[1]).sum();
        assert!((area / 2.0 - 3000.0 * 2000.0).abs() < 100.0, "{area}");
    }
}

#[test]
fn usda_refuses_names_that_it_cannot_refer_to() {
    let folder = tempfile::tempdir().expect("folder");
    let path = folder.path().join("a\nb.usda");
    let textured = order(&path, MeshDetail::Vertices(300), Some([24, 16]));
    let error = build(&textured, &Progress::new()).expect_err("a line break in the name of the texture");
    assert!(error.to_string().contains("control characters"), "{error}");
    assert_eq!(std::fs::read_dir(folder.path()).expect("there").count(), 0);
    // Without a texture, any name will do.
    if cfg!(unix) {
        build(&order(&path, MeshDetail::Vertices(300), None), &Progress::new()).expect("built");
    }
}

#[test]
fn files_are_no_longer_than_planned() {
    let folder = tempfile::tempdir().expect("folder");
    for name in ["land.glb", "land.obj", "world.usda", "land.stl"] {
        let path = folder.path().join(name);
        let order = Order { overwrite: true, ..order(&path, MeshDetail::ErrorM(0.0), Some([24, 16])) };
        build(&order, &Progress::new()).expect("built");
        for file in Plan::new(order).expect("possible").files() {
            let length = std::fs::metadata(&file.path).expect("written").len();
            assert!(file.max_bytes.is_none_or(|max| length <= max), "{}: {length} bytes", file.path.display());
            assert!(file.max_bytes.is_some() || name == "land.obj", "{}", file.path.display());
        }
    }
}

#[test]
fn stl_is_closed() {
    let folder = tempfile::tempdir().expect("folder");
    for detail in [MeshDetail::Vertices(400), MeshDetail::ErrorM(0.0)] {
        let path = folder.path().join("land.stl");
        let order = Order { overwrite: true, ..order(&path, detail, Some([24, 16])) };
        build(&order, &Progress::new()).expect("built");
        let bytes = std::fs::read(&path).expect("there");
        let count = u32::from_le_bytes(bytes[80..84].try_into().expect("four")) as usize;
        assert_eq!(bytes.len(), 84 + 50 * count);
        let mut edges: HashMap<[[u32; 3]; 2], i32> = HashMap::new();
        let mut volume = 0.0;
        let mut longest = [f32::INFINITY, f32::NEG_INFINITY];
        for facet in bytes[84..].chunks_exact(50) {
            let numbers: Vec<f32> = facet[..48].as_chunks::<4>().0.iter().map(|n| f32::from_le_bytes(*n)).collect();
            let corner = |at: usize| [numbers[3 * at], numbers[3 * at + 1], numbers[3 * at + 2]];
            let corners = [corner(1), corner(2), corner(3)];
            for (from, to) in [(0, 1), (1, 2), (2, 0)] {
                // −0 and 0 are the same position.
                let key = |at: usize| corners[at].map(|along| (along + 0.0).to_bits());
                *edges.entry([key(from), key(to)]).or_default() += 1;
            }
            let area = doubled_area(corners);
            volume += (0..3).map(|axis| f64::from(area[axis]) * f64::from(corners[0][axis])).sum::<f64>() / 6.0;
            let dot: f32 = (0..3).map(|axis| area[axis] * numbers[axis]).sum();
            assert!(dot >= 0.0, "the normal follows the winding");
            longest = corners.iter().fold(longest, |[a, b], corner| [a.min(corner[0]), b.max(corner[0])]);
        }
        assert!(edges.values().all(|times| *times == 1));
        assert!(
            edges.keys().all(|[from, to]| edges.contains_key(&[*to, *from])),
            "every edge has a twin in the other direction"
        );
        assert!(volume > 200.0 * 133.0 * 3.0, "{volume} mm³");
        assert!((longest[1] - longest[0] - 200.0).abs() < 1e-3);
    }
}
