//! Lists of parameters.

use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use super::group::Field;
use super::table::Kind;
use super::value::{Item, Items, Value};

/// A vector that its copies share until one of them changes.
///
/// Copying a list, comparing it with its copy and taking its value take the same time however long it is. The editor
/// does all three in every frame.
pub struct List<T>(Arc<Vec<T>>);

impl<T> List<T> {
    /// Whether both share their items: equal lists that were made separately do not.
    pub fn shares_with(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl<T> Clone for List<T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<T> Default for List<T> {
    fn default() -> Self {
        Vec::new().into()
    }
}

impl<T: fmt::Debug> fmt::Debug for List<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<T: PartialEq> PartialEq for List<T> {
    fn eq(&self, other: &Self) -> bool {
        self.shares_with(other) || self.0 == other.0
    }
}

impl<T> From<Vec<T>> for List<T> {
    fn from(items: Vec<T>) -> Self {
        Self(Arc::new(items))
    }
}

impl<T> FromIterator<T> for List<T> {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        items.into_iter().collect::<Vec<T>>().into()
    }
}

impl<T> Deref for List<T> {
    type Target = Vec<T>;

    fn deref(&self) -> &Vec<T> {
        &self.0
    }
}

/// Copies the items if another list shares them.
impl<T: Clone> DerefMut for List<T> {
    fn deref_mut(&mut self) -> &mut Vec<T> {
        Arc::make_mut(&mut self.0)
    }
}

impl<'a, T> IntoIterator for &'a List<T> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<'a, T: Clone> IntoIterator for &'a mut List<T> {
    type Item = &'a mut T;
    type IntoIter = std::slice::IterMut<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter_mut()
    }
}

impl<F: Field + Clone + PartialEq + fmt::Debug + Send + Sync + 'static> Item for F {
    fn to_item(&self) -> Value {
        self.to_value()
    }
    fn from_item(value: &Value) -> Option<Self> {
        Self::from_value(value)
    }
}

impl<T: Field + Clone + PartialEq + fmt::Debug + Send + Sync + 'static> Field for List<T> {
    const KIND: Kind = Kind::List(&T::KIND);

    fn to_value(&self) -> Value {
        Value::List(Items::new(self.0.clone()))
    }

    fn from_value(value: &Value) -> Option<Self> {
        let Value::List(items) = value else { return None };
        items.stored().map(Self).or_else(|| items.iter().map(|item| T::from_value(&item)).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parameters::Weighted;

    fn list(numbers: &[f64]) -> List<Weighted> {
        numbers.iter().map(|&value| Weighted { value, weight: 1.0 }).collect()
    }

    fn items(numbers: &[f64]) -> Items {
        let Value::List(items) = list(numbers).to_value() else { unreachable!("a list") };
        items
    }

    #[test]
    fn copies_share_their_items_until_one_changes() {
        let first = list(&[1.0, 2.0]);
        let mut second = List::from_value(&first.to_value()).expect("a list");
        assert!(Arc::ptr_eq(&first.0, &second.0), "through its value too");
        second[0].value = 3.0;
        assert_eq!((first, second), (list(&[1.0, 2.0]), list(&[3.0, 2.0])));
    }

    #[test]
    fn a_value_is_changed_without_its_type() {
        let (mut items, whole) = (items(&[1.0, 2.0, 3.0]), |value| Value::Weighted(Weighted { value, weight: 1.0 }));
        items.splice(1..2, &[whole(8.0), whole(9.0)]);
        items.splice(0..1, &[]);
        items.splice(3..3, &[whole(4.0)]);
        let expected = list(&[8.0, 9.0, 3.0, 4.0]);
        assert_eq!(List::from_value(&Value::List(items.clone())), Some(expected.clone()));
        items.splice(0..1, &[Value::Boolean(true)]);
        items.splice(3..9, &[]);
        assert_eq!(List::from_value(&Value::List(items)), Some(expected), "neither is possible");
    }

    #[test]
    fn differences_are_found_between_lists_of_any_type() {
        let untyped = |numbers: &[f64]| Items::from(items(numbers).iter().collect::<Vec<Value>>());
        for (a, b, expected) in [
            (&[1.0, 2.0, 3.0][..], &[1.0, 2.0, 3.0][..], [3..3, 3..3]),
            (&[1.0, 2.0, 3.0], &[1.0, 5.0, 3.0], [1..2, 1..2]),
            (&[1.0, 2.0, 3.0], &[1.0, 3.0], [1..2, 1..1]),
            (&[1.0, 1.0], &[1.0, 1.0, 1.0], [2..2, 2..3]),
            (&[], &[4.0], [0..0, 0..1]),
        ] {
            assert_eq!(items(a).difference(&items(b)), expected);
            assert_eq!(items(a).difference(&untyped(b)), expected);
            assert_eq!(untyped(a).difference(&items(b)), expected);
            assert_eq!(items(a) == untyped(b), a == b);
        }
    }
}
