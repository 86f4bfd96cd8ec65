//! Round trips through JSON, and the messages of refused values.

use serde_json::{Value as Json, json};

use super::*;

choices! {
    /// A choice for the tests.
    pub enum Side {
        /// Towards the west.
        Left = "left", "Left";
        /// Towards the east.
        Right = "right", "Right";
    }
}

parameters! {
    /// A group for the tests.
    pub struct Inner {
        /// A share.
        k: f64 = 0.5, Spec::number("Share", 0.0, 1.0);
    }
}

parameters! {
    /// An outer group
    /// of two lines.
    pub struct Outer {
        /// A count.
        count: u32 = 3, Spec::number("Count", 0.0, 10.0);
        /// A side.
        side: Side = Side::Left, Spec::new("Side");
        /// An inner group or none.
        inner: Option<Inner> = None, Spec::new("Inner");
        /// Sizes and weights.
        sizes: List<Weighted> = vec![Weighted { value: 1.0, weight: 2.0 }].into(), Spec::number("Sizes", 0.0, 100.0);
        /// A list of groups.
        inners: List<Inner> = List::default(), Spec::new("Inners");
        /// A place.
        place: Point = Point::default(), Spec::number("Place", -10.0, 10.0);
        /// A matrix.
        matrix: Matrix = Matrix::three([[0.0; 3]; 3]), Spec::number("Matrix", -5.0, 5.0);
    }
}

fn check_refused(value: &Json, message: &str) {
    let error = group_from_json::<Outer>(value).expect_err("must be refused");
    assert_eq!(error.to_string(), message);
}

#[test]
fn groups_round_trip_through_json() {
    let value = json!({
        "count": 7, "side": "right", "inner": {"k": 0.25}, "sizes": [[3.5, 1.0]], "inners": [{"k": 0.5}, {"k": 1.0}],
        "place": [-3.0, 4.5], "matrix": [[0.0, 1.0, 0.0], [2.0, 3.0, 2.0], [0.0, -1.0, 0.0]],
    });
    let outer: Outer = group_from_json(&value).expect("valid");
    assert_eq!((outer.count, outer.side, outer.inner.clone()), (7, Side::Right, Some(Inner { k: 0.25 })));
    assert_eq!(Json::Object(group_to_json(&outer)), value);
    assert_eq!(Outer::DOC, "An outer group of two lines.");
}

#[test]
fn errors_name_the_path_and_the_valid_values() {
    check_refused(&json!({"cuont": 7}), "cuont: there is no such key; did you mean \"count\"?");
    check_refused(&json!({"count": 11}), "count: Count must be from 0 to 10, not 11");
    check_refused(&json!({"count": 1.5}), "count: Count must be a whole number, not 1.5");
    check_refused(&json!({"side": "up"}), "side: Side must be one of left, right, not \"up\"");
    check_refused(&json!({"inner": {"k": 2.0}}), "inner.k: Share must be from 0 to 1, not 2");
    check_refused(
        &json!({"sizes": [[1.0, -1.0]]}),
        "sizes.0: Sizes must be a pair [value, weight] with weight ≥ 0, not [1.0,-1.0]",
    );
    check_refused(&json!({"inners": [{"k": 1.0}, {"k": 2.0}]}), "inners.1.k: Share must be from 0 to 1, not 2");
    check_refused(&json!({"inners": [3]}), "inners.0: it must be an object { … }, not 3");
    check_refused(&json!({"place": [1.0, 11.0]}), "place: Place must be from -10 to 10, not 11");
    check_refused(
        &json!({"matrix": [[1.0, 2.0, 3.0], [1.0, 2.0, 3.0]]}),
        "matrix: Matrix must be 3 rows of 3 numbers or 5 rows of 5, not [[1.0,2.0,3.0],[1.0,2.0,3.0]]",
    );
    check_refused(&json!([]), ": it must be an object { … }, not []");
}

#[test]
fn lengths_are_scaled_in_groups_and_lists_too() {
    parameters! {
        /// A group of lengths.
        pub struct Lengths {
            /// In metres.
            long_m: f64 = 1234.5, Spec::number("Long", 0.0, 2000.0).unit("m");
            /// Not in metres.
            angle_deg: f64 = 30.0, Spec::number("Angle", 0.0, 90.0).unit("°");
            /// A band.
            band_m: Option<Band> = Some(Band { min: -8.0, max: 0.5 }), Spec::number("Band", -10.0, 10.0).unit("m");
            /// Sizes and weights.
            sizes: List<Weighted> = vec![Weighted { value: 100.0, weight: 10.0 }].into(),
                Spec::number("Sizes", 0.0, 1e9).unit("m");
            /// Places.
            places: List<Place> = vec![Place { at_m: Point { x_m: 3.0, z_m: 4.0 } }].into(), Spec::new("Places");
        }
    }
    parameters! {
        /// A place.
        pub struct Place {
            /// Where.
            at_m: Point = Point::default(), Spec::number("At", -1e9, 1e9).unit("m");
        }
    }
    let mut values = group_values(&Lengths::default());
    scale_lengths(Lengths::parameters(), &mut values, 0.1);
    let expected = json!({
        "long_m": 123.0, "angle_deg": 30.0, "band_m": [-0.8, 0.05], "sizes": [[10.0, 10.0]],
        "places": [{"at_m": [0.3, 0.4]}],
    });
    assert_eq!(Json::Object(values.to_json()), expected);
    scale_lengths(Lengths::parameters(), &mut values, 1e3);
    let band = Value::Band(Band { min: -10.0, max: 10.0 });
    let found = (values.get("long_m"), values.get("band_m"));
    assert_eq!(found, (Some(&Value::Number(2000.0)), Some(&band)), "clamped to the hard range");
}

#[test]
fn an_invalid_value_changes_nothing() {
    let mut outer = Outer::default();
    assert!(outer.set("count", &Value::Integer(99)).is_err());
    assert_eq!(outer, Outer::default());
}

#[test]
fn typed_values_are_checked_like_json() {
    let mut outer = Outer::default();
    let inner = |k: f64| Value::Group([("k", Value::Number(k))].into_iter().collect());
    for (key, value) in [
        ("count", Value::Integer(7)),
        ("side", Value::Choice("right")),
        ("inner", inner(0.25)),
        ("inner", Value::None),
        ("inners", Value::List(vec![inner(0.5), inner(1.0)].into())),
    ] {
        outer.set(key, &value).expect(key);
        assert_eq!(outer.get(key), Some(value));
    }
    let mut message = |key: &str, value: &Value| outer.set(key, value).expect_err("must be refused").to_string();
    assert_eq!(message("count", &Value::Number(7.0)), "count: Count must be a whole number, not 7.0");
    assert_eq!(message("side", &Value::Choice("up")), "side: Side must be one of left, right, not \"up\"");
    assert_eq!(message("inner", &inner(2.0)), "inner.k: Share must be from 0 to 1, not 2");
    let inners = Value::List(vec![inner(1.0), inner(2.0)].into());
    assert_eq!(message("inners", &inners), "inners.1.k: Share must be from 0 to 1, not 2");
    assert_eq!(message("conut", &Value::None), "conut: there is no such key; did you mean \"count\"?");
}

#[test]
fn matrices_are_resized_around_their_centre() {
    let matrix = Matrix::three([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]]);
    let large = matrix.resized(5);
    assert_eq!(large.rows().nth(1), Some(&[0.0, 1.0, 2.0, 3.0, 0.0][..]));
    assert_eq!(large.resized(3), matrix);
}

#[test]
fn choices_have_names_for_files_and_for_the_editor() {
    assert_eq!([Side::Right.key(), Side::Right.label()], ["right", "Right"]);
}
