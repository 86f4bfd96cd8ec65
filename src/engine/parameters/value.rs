//! The value of a parameter without its Rust type.

use std::any::Any;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use serde_json::{Map, Value as Json};

use super::types::{Band, Colour, Limits, Matrix, Point, Weighted};

/// The value of a parameter, typed by its kind.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// An optional parameter that is not set.
    None,
    /// A whole number.
    Integer(u32),
    /// A real number.
    Number(f64),
    /// True or false.
    Boolean(bool),
    /// Free text, or the name of a file or texture.
    Text(String),
    /// A colour.
    Colour(Colour),
    /// The key of a choice.
    Choice(&'static str),
    /// An interval.
    Band(Band),
    /// An interval that fades out.
    Limits(Limits),
    /// A value with a weight.
    Weighted(Weighted),
    /// A position on the map.
    Point(Point),
    /// A kernel of numbers.
    Matrix(Matrix),
    /// Any number of values of one kind.
    List(Items),
    /// The parameters of a struct.
    Group(Values),
}

impl Value {
    /// Whether an optional parameter is not set.
    pub fn is_none(&self) -> bool {
        matches!(self, Self::None)
    }

    /// The number, also of a whole number.
    pub fn as_number(&self) -> Option<f64> {
        match self {
            Self::Number(number) => Some(*number),
            Self::Integer(number) => Some(f64::from(*number)),
            _ => None,
        }
    }

    /// The text, or the name of a file or texture.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The name that [conditions](super::Parameter::when) compare with: the key of a choice, or `true` or `false`.
    pub(super) fn switch_name(&self) -> Option<&'static str> {
        match self {
            Self::Choice(key) => Some(key),
            Self::Boolean(true) => Some("true"),
            Self::Boolean(false) => Some("false"),
            _ => None,
        }
    }

    /// The value as written to a project.
    pub fn to_json(&self) -> Json {
        match self {
            Self::None => Json::Null,
            Self::Integer(number) => Json::from(*number),
            Self::Number(number) => Json::from(*number),
            Self::Boolean(on) => Json::from(*on),
            Self::Text(text) => Json::from(text.as_str()),
            Self::Colour(colour) => Json::from(colour.to_string()),
            // A number where the choices are numbers.
            Self::Choice(key) => key.parse::<u32>().map_or_else(|_| Json::from(*key), Json::from),
            Self::Band(Band { min, max }) => Json::from(vec![*min, *max]),
            Self::Limits(Limits { min, max, release }) => Json::from(vec![*min, *max, *release]),
            Self::Weighted(Weighted { value, weight }) => Json::from(vec![*value, *weight]),
            Self::Point(Point { x_m, z_m }) => Json::from(vec![*x_m, *z_m]),
            Self::Matrix(matrix) => matrix.rows().map(|row| Json::from(row.to_vec())).collect(),
            Self::List(items) => items.iter().map(|item| item.to_json()).collect(),
            Self::Group(values) => Json::Object(values.to_json()),
        }
    }
}

impl From<u32> for Value {
    fn from(number: u32) -> Self {
        Self::Integer(number)
    }
}

impl From<f64> for Value {
    fn from(number: f64) -> Self {
        Self::Number(number)
    }
}

impl From<bool> for Value {
    fn from(on: bool) -> Self {
        Self::Boolean(on)
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Text(text.into())
    }
}

impl From<Point> for Value {
    fn from(point: Point) -> Self {
        Self::Point(point)
    }
}

/// The values of a struct's parameters by key, in the order of its table.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Values(Vec<(&'static str, Value)>);

impl Values {
    /// The value of a parameter; `None` if no parameter has that key.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.0.iter().find(|(known, _)| *known == key).map(|(_, value)| value)
    }

    /// The value of a parameter, to be changed in place; `None` if no parameter has that key.
    pub fn get_mut(&mut self, key: &str) -> Option<&mut Value> {
        self.0.iter_mut().find(|(known, _)| *known == key).map(|(_, value)| value)
    }

    /// The keys and their values.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, &Value)> {
        self.0.iter().map(|(key, value)| (*key, value))
    }

    /// The values as written to a project.
    pub fn to_json(&self) -> Map<String, Json> {
        self.iter().map(|(key, value)| (key.to_string(), value.to_json())).collect()
    }
}

impl FromIterator<(&'static str, Value)> for Values {
    fn from_iter<I: IntoIterator<Item = (&'static str, Value)>>(values: I) -> Self {
        Self(values.into_iter().collect())
    }
}

impl IntoIterator for Values {
    type Item = (&'static str, Value);
    type IntoIter = std::vec::IntoIter<Self::Item>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

/// The items of a list, shared by its copies. Copying a list, and comparing it with its copy, takes the same time
/// however long it is.
#[derive(Clone, Debug)]
pub struct Items(Arc<dyn AnyItems>);

impl Items {
    pub(super) fn new<T: 'static>(items: Arc<Vec<T>>) -> Self
    where
        Vec<T>: AnyItems,
    {
        Self(items)
    }

    /// The items as they are stored; `None` if they are stored as another type.
    pub(super) fn stored<T: Any + Send + Sync>(&self) -> Option<Arc<Vec<T>>> {
        self.0.clone().into_any().downcast().ok()
    }

    /// The number of items.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are no items.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The item at `index`; `None` beyond the end.
    pub fn get(&self, index: usize) -> Option<Value> {
        (index < self.len()).then(|| self.0.item(index))
    }

    /// All items in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Value> {
        (0..self.len()).map(|index| self.0.item(index))
    }

    /// Replaces a range of items by others; does nothing if one of these is of another kind than the list's items, or
    /// if the range is beyond the end.
    pub fn splice(&mut self, range: Range<usize>, with: &[Value]) {
        if range.start <= range.end
            && range.end <= self.len()
            && let Some(items) = self.0.spliced(range, with)
        {
            self.0 = items;
        }
    }

    /// The items that differ from those of another list: the range that remains in each without the items that both
    /// begin with and those that both end with. Both ranges are empty if the lists are the same.
    pub fn difference(&self, other: &Self) -> [Range<usize>; 2] {
        let [first, last] = if self.address() == other.address() { [self.len(), 0] } else { self.0.common(&*other.0) };
        [first..self.len() - last, first..other.len() - last]
    }

    /// The memory of the items in bytes, without texts and lists in them.
    pub fn bytes(&self) -> usize {
        self.0.bytes()
    }

    /// The address of the items, which a list has in common with its copies.
    pub fn address(&self) -> usize {
        Arc::as_ptr(&self.0).addr()
    }
}

impl PartialEq for Items {
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len() && self.difference(other)[0].is_empty()
    }
}

impl From<Vec<Value>> for Items {
    fn from(items: Vec<Value>) -> Self {
        Self::new(Arc::new(items))
    }
}

/// A vector of items, for code that does not know their type.
pub(super) trait AnyItems: fmt::Debug + Send + Sync {
    fn len(&self) -> usize;
    /// The item at an index, which must be valid.
    fn item(&self, index: usize) -> Value;
    /// A copy with a range replaced; `None` if a value is of another kind than the items.
    fn spliced(&self, range: Range<usize>, with: &[Value]) -> Option<Arc<dyn AnyItems>>;
    /// The number of items that both lists begin with, and of those after them that both end with.
    fn common(&self, other: &dyn AnyItems) -> [usize; 2];
    /// The memory of the items.
    fn bytes(&self) -> usize;
    fn as_any(&self) -> &dyn Any;
    fn into_any(self: Arc<Self>) -> Arc<dyn Any + Send + Sync>;
}

/// Lists of items that convert to and from values.
pub(super) trait Item: Clone + PartialEq + fmt::Debug + Send + Sync + 'static {
    fn to_item(&self) -> Value;
    /// `None` if `value` is of another kind.
    fn from_item(value: &Value) -> Option<Self>;
}

impl Item for Value {
    fn to_item(&self) -> Value {
        self.clone()
    }
    fn from_item(value: &Value) -> Option<Self> {
        Some(value.clone())
    }
}

impl<T: Item> AnyItems for Vec<T> {
    fn len(&self) -> usize {
        self.len()
    }

    fn item(&self, index: usize) -> Value {
        self[index].to_item()
    }

    fn spliced(&self, range: Range<usize>, with: &[Value]) -> Option<Arc<dyn AnyItems>> {
        let with: Vec<T> = with.iter().map(T::from_item).collect::<Option<_>>()?;
        let items = self[..range.start].iter().chain(&with).chain(&self[range.end..]);
        Some(Arc::new(items.cloned().collect::<Self>()))
    }

    fn common(&self, other: &dyn AnyItems) -> [usize; 2] {
        match other.as_any().downcast_ref::<Self>() {
            Some(other) => common_ends(self, other),
            None => {
                let values = |items: &dyn AnyItems| (0..items.len()).map(|i| items.item(i)).collect::<Vec<_>>();
                common_ends(&values(self), &values(other))
            }
        }
    }

    fn bytes(&self) -> usize {
        size_of_val(&self[..])
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn into_any(self: Arc<Self>) -> Arc<dyn Any + Send + Sync> {
        self
    }
}

/// The number of items that both slices begin with, and of those after them that both end with.
fn common_ends<T: PartialEq>(a: &[T], b: &[T]) -> [usize; 2] {
    let first = a.iter().zip(b).take_while(|(a, b)| a == b).count();
    let last = a[first..].iter().rev().zip(b[first..].iter().rev()).take_while(|(a, b)| a == b).count();
    [first, last]
}
