//! The program: arguments, then the command line or the editor.

fn main() {}
