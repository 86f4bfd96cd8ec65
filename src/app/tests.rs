//! The editor, driven by label as a person would.
