//! The macros that declare structs of parameters and their choices.

/// Declares a struct and its table of parameters in one place.
///
/// The syntax of a field is `/// doc` `key: type = default, spec;`. The struct implements `Default`, [`Group`],
/// [`Parameters`] and [`Field`] (so that it can be a field of another struct); the doc comments become the tooltips.
///
/// [`Group`]: super::Group
/// [`Parameters`]: super::Parameters
/// [`Field`]: super::Field
#[macro_export]
macro_rules! parameters {
    (
        $(#[doc = $struct_doc:literal])+
        pub struct $name:ident {
            $(
                $(#[doc = $doc:literal])+
                $key:ident: $type:ty = $default:expr, $spec:expr;
            )*
        }
    ) => {
        $(#[doc = $struct_doc])+
        #[derive(Clone, Debug, PartialEq)]
        pub struct $name {
            $( $(#[doc = $doc])+ pub $key: $type, )*
        }

        impl Default for $name {
            fn default() -> Self {
                Self { $( $key: $default, )* }
            }
        }

        impl $crate::parameters::Parameters for $name {
            const DOC: &'static str = concat!($($struct_doc),+).trim_ascii();

            fn parameters() -> &'static [$crate::parameters::Parameter] {
                static TABLE: std::sync::LazyLock<Vec<$crate::parameters::Parameter>> =
                    std::sync::LazyLock::new(|| {
                        let defaults = $name::default();
                        vec![ $( $spec.row(stringify!($key), concat!($($doc),+), &defaults.$key), )* ]
                    });
                &TABLE
            }
        }

        impl $crate::parameters::Group for $name {
            fn table(&self) -> &'static [$crate::parameters::Parameter] {
                <Self as $crate::parameters::Parameters>::parameters()
            }

            fn get(&self, key: &str) -> Option<$crate::parameters::Value> {
                match key {
                    $( stringify!($key) => Some($crate::parameters::Field::to_value(&self.$key)), )*
                    _ => None,
                }
            }

            fn set(
                &mut self,
                key: &str,
                value: &$crate::parameters::Value,
            ) -> Result<(), $crate::parameters::ParameterError> {
                let parameter = $crate::parameters::find_parameter(self.table(), key)?;
                match key {
                    $( stringify!($key) => self.$key = parameter.checked_field(&self.$key, value)?, )*
                    _ => {}
                }
                Ok(())
            }
        }

        impl $crate::parameters::Field for $name {
            const KIND: $crate::parameters::Kind = $crate::parameters::Kind::Group(
                <$name as $crate::parameters::Parameters>::parameters,
            );

            fn to_value(&self) -> $crate::parameters::Value {
                $crate::parameters::Value::Group($crate::parameters::group_values(self))
            }

            fn from_value(value: &$crate::parameters::Value) -> Option<Self> {
                let $crate::parameters::Value::Group(values) = value else { return None };
                Some(Self { $( $key: $crate::parameters::Field::from_value(values.get(stringify!($key))?)?, )* })
            }
        }
    };
}

/// Declares an enum whose variants are the choices of a parameter, in the order of the list in the editor.
#[macro_export]
macro_rules! choices {
    (
        $(#[doc = $enum_doc:literal])+
        pub enum $name:ident {
            $( $(#[doc = $doc:literal])+ $variant:ident = $key:literal, $label:literal; )+
        }
    ) => {
        $(#[doc = $enum_doc])+
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $name {
            $( $(#[doc = $doc])+ $variant, )+
        }

        impl $name {
            /// Every variant, in the order of its declaration.
            pub const ALL: &'static [Self] = &[ $( Self::$variant, )+ ];
            const CHOICES: &'static [$crate::parameters::Choice] = &[ $(
                $crate::parameters::Choice {
                    key: $key,
                    label: $label,
                    doc: concat!($($doc),+).trim_ascii(),
                },
            )+ ];

            /// The name in files and on the command line.
            pub fn key(self) -> &'static str {
                match self { $( Self::$variant => $key, )+ }
            }

            /// The name in the editor.
            pub fn label(self) -> &'static str {
                match self { $( Self::$variant => $label, )+ }
            }
        }

        impl $crate::parameters::Field for $name {
            const KIND: $crate::parameters::Kind =
                $crate::parameters::Kind::Choice(Self::CHOICES);

            fn to_value(&self) -> $crate::parameters::Value {
                $crate::parameters::Value::Choice(self.key())
            }

            fn from_value(value: &$crate::parameters::Value) -> Option<Self> {
                let $crate::parameters::Value::Choice(key) = value else { return None };
                Self::ALL.iter().copied().find(|variant| variant.key() == *key)
            }
        }
    };
}

pub use {choices, parameters};
