//! The parameters of a scatter layer.

use crate::mask::Mask;
use crate::parameters::{Band, Colour, List, Spec, choices, parameters};
use crate::texture::TextureRecipe;

choices! {
    /// The direction that instances face.
    pub enum Turn {
        /// A random direction for each.
        Random = "random", "Random";
        /// Down the slope.
        Downhill = "downhill", "Downhill";
        /// The same direction for all.
        Bearing = "bearing", "Bearing";
    }
}

choices! {
    /// The placeholder shape of instances in the views and in meshes.
    pub enum Shape {
        /// A conifer: a cone.
        Cone = "cone", "Cone";
        /// A broad-leaved tree or a bush: a ball.
        Ball = "ball", "Ball";
        /// A rock or a house: a box.
        Box = "box", "Box";
        /// A post, a trunk or grass: a pillar.
        Pillar = "pillar", "Pillar";
    }
}

parameters! {
    /// The density of a layer on a terrain type.
    pub struct TypeShare {
        /// The name of the terrain type.
        name: String = String::new(), Spec::new("Terrain type");
        /// Density on this type: the fraction of possible positions that are used.
        share: f64 = 1.0, Spec::number("Density", 0.0, 1.0);
    }
}

parameters! {
    /// The distance that a layer keeps from another one.
    pub struct Avoid {
        /// The name of the other layer, which must be above this one in the list.
        layer: String = String::new(), Spec::new("Layer");
        /// Minimum distance between the centres.
        distance_m: f64 = 4.0, Spec::number("Distance", 0.0, 10_000.0).slider(0.0, 50.0).unit("m");
    }
}

parameters! {
    /// A layer of instances, such as trees or rocks, that are scattered over the terrain.
    pub struct ScatterLayer {
        /// The name, which is also in the exported files.
        name: String = "Trees".into(), Spec::new("Name");
        /// Whether the layer is used.
        enabled: bool = true, Spec::new("Enabled");
        /// Minimum distance between two instances of the layer, from centre to centre.
        spacing_m: f64 = 8.0, Spec::number("Spacing", 0.05, 10_000.0).slider(0.5, 100.0).unit("m").logarithmic();
        /// Density: the fraction of possible positions that are used. At the maximum the layer is as dense as the
        /// spacing allows.
        amount: f64 = 1.0, Spec::number("Amount", 0.0, 1.0).percent();
        /// Where instances are placed. Empty: everywhere.
        mask: List<Mask> = List::default(), Spec::new("Mask").unwrapped().sparse();
        /// Terrain types on which instances are placed. Empty: all types.
        types: List<TypeShare> = List::default(), Spec::new("Terrain types").sparse();
        /// Other layers to keep a distance from.
        avoid: List<Avoid> = List::default(), Spec::new("Keep away from").sparse();
        /// Range of the random scale factor.
        scale: Band = Band { min: 0.8, max: 1.2 }, Spec::number("Scale", 0.001, 1000.0).slider(0.1, 3.0);
        /// Direction that instances face.
        turn: Turn = Turn::Random, Spec::new("Facing");
        /// Compass direction that the front faces, clockwise from north.
        bearing_deg: f64 = 0.0, Spec::number("Bearing", -360.0, 360.0).slider(0.0, 360.0).unit("°").when("turn", &["bearing"]);
        /// How far instances tilt with the slope: 0 keeps them upright, 1 aligns them with the terrain normal.
        align: f64 = 0.0, Spec::number("Align to slope", 0.0, 1.0);
        /// How deep instances are sunk into the terrain.
        sink_m: f64 = 0.0, Spec::number("Sink", -1000.0, 1000.0).slider(0.0, 2.0).unit("m");
        /// Placeholder shape of the instances in the views and in meshes.
        shape: Shape = Shape::Cone, Spec::new("Shape");
        /// Radius of the shape, and of the obstacle.
        radius_m: f64 = 2.0, Spec::number("Radius", 0.01, 10_000.0).slider(0.1, 20.0).unit("m").logarithmic();
        /// Height of the shape.
        height_m: f64 = 8.0, Spec::number("Height", 0.01, 10_000.0).slider(0.1, 50.0).unit("m").logarithmic();
        /// Colour of the shape, in sRGB.
        colour: Colour = Colour([0x3f, 0x6b, 0x35]), Spec::new("Colour");
        /// Whether instances are obstacles that agents walk around.
        blocks: bool = false, Spec::new("Blocks agents");
        /// Height up to which instances block the line of sight. 0: they do not block it.
        sight_m: f64 = 0.0, Spec::number("Blocks line of sight up to", 0.0, 10_000.0).slider(0.0, 30.0).unit("m");
        /// Selects the random numbers of the layer.
        seed: u32 = 0, Spec::number("Seed", 0.0, 4_294_967_295.0).slider(0.0, 1000.0);
    }
}

impl ScatterLayer {
    /// Whether nothing is placed because none of the layer's terrain types covers terrain: they are in other climate sets,
    /// disabled or missing, or only blend with the types below.
    pub fn lacks_types(&self, texture: &TextureRecipe) -> bool {
        !self.types.is_empty() && !self.types.iter().any(|one| texture.has_covering(&one.name))
    }
}
