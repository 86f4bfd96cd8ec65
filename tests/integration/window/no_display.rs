//! What the editor does where it cannot open a window.

use std::process::Command;

#[test]
fn without_a_display_it_says_so_and_names_the_command_line() {
    let output = Command::new(env!("CARGO_BIN_EXE_upthrust"))
        .env_remove("DISPLAY")
        .env_remove("WAYLAND_DISPLAY")
        .env_remove("WAYLAND_SOCKET")
        .output()
        .expect("the program runs");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("needs a display") && said.contains("upthrust --help"), "{said}");
    assert!(!said.contains("panicked") && !said.contains(".rs"), "{said}");
}
