//! The parameters of a layer of scattered things.

use crate::engine::mask::Mask;
use crate::engine::parameters::{Band, Colour, List, Spec, choices, parameters};

choices! {
    /// Which way scattered things face.
    pub enum Turn {
        /// Every one another way.
        Random = "random", "Random";
        /// Down the slope.
        Downhill = "downhill", "Downhill";
        /// All the same way.
        Bearing = "bearing", "Bearing";
    }
}

choices! {
    /// The simple shape that stands for a scattered thing in the views and in meshes.
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
    /// How much of the ground of a terrain type a layer takes.
    pub struct TypeShare {
        /// The name of the terrain type.
        name: String = String::new(), Spec::new("Terrain type");
        /// The share of the places on its ground that are taken.
        share: f64 = 1.0, Spec::number("Share", 0.0, 1.0);
    }
}

parameters! {
    /// The distance that a layer keeps from another one.
    pub struct Avoid {
        /// The name of the other layer, which must be above this one in the list.
        layer: String = String::new(), Spec::new("Layer");
        /// The least distance between the centres.
        distance_m: f64 = 4.0, Spec::number("Distance", 0.0, 10_000.0).slider(0.0, 50.0).unit("m");
    }
}

parameters! {
    /// A kind of thing that stands on the ground.
    pub struct ScatterLayer {
        /// The name, which is also in the exported files.
        name: String = "Trees".into(), Spec::new("Name");
        /// Whether the layer is used.
        enabled: bool = true, Spec::new("Enabled");
        /// The least distance between the centres of two of them.
        spacing_m: f64 = 8.0, Spec::number("Spacing", 0.05, 10_000.0).slider(0.5, 100.0).unit("m").logarithmic();
        /// The share of the places that are taken: with 1, there is no room for another one.
        amount: f64 = 1.0, Spec::number("Amount", 0.0, 1.0).percent();
        /// Where they stand. Empty: everywhere.
        mask: List<Mask> = List::default(), Spec::new("Mask").unwrapped().sparse();
        /// The terrain types on which they stand. Empty: on all.
        types: List<TypeShare> = List::default(), Spec::new("Terrain types").sparse();
        /// Other layers from which they keep a distance.
        avoid: List<Avoid> = List::default(), Spec::new("Keep away from").sparse();
        /// The range of their sizes, as a factor.
        scale: Band = Band { min: 0.8, max: 1.2 }, Spec::number("Scale", 0.001, 1000.0).slider(0.1, 3.0);
        /// Which way they face.
        turn: Turn = Turn::Random, Spec::new("Facing");
        /// The compass direction that they face, clockwise from north.
        bearing_deg: f64 = 0.0, Spec::number("Bearing", -360.0, 360.0).slider(0.0, 360.0).unit("°").when("turn", &["bearing"]);
        /// How far they lean with the ground: 0 stands upright, 1 is at right angles to the slope.
        align: f64 = 0.0, Spec::number("Align to slope", 0.0, 1.0);
        /// How deep they stand in the ground.
        sink_m: f64 = 0.0, Spec::number("Sink", -1000.0, 1000.0).slider(0.0, 2.0).unit("m");
        /// The shape that stands for them in the views and in meshes.
        shape: Shape = Shape::Cone, Spec::new("Shape");
        /// The radius of the shape, and of the obstacle.
        radius_m: f64 = 2.0, Spec::number("Radius", 0.01, 10_000.0).slider(0.1, 20.0).unit("m").logarithmic();
        /// The height of the shape.
        height_m: f64 = 8.0, Spec::number("Height", 0.01, 10_000.0).slider(0.1, 50.0).unit("m").logarithmic();
        /// The colour of the shape, in sRGB.
        colour: Colour = Colour([0x3f, 0x6b, 0x35]), Spec::new("Colour");
        /// Whether they are obstacles: agents go around them.
        blocks: bool = false, Spec::new("Blocks agents");
        /// Up to which height nobody sees through them; 0: they hide nothing.
        sight_m: f64 = 0.0, Spec::number("Blocks sight up to", 0.0, 10_000.0).slider(0.0, 30.0).unit("m");
        /// Selects the random numbers of the layer.
        seed: u32 = 0, Spec::number("Seed", 0.0, 4_294_967_295.0).slider(0.0, 1000.0);
    }
}
