//! The editor on a system without a display.

use std::process::Command;

#[test]
fn a_missing_display_is_reported_with_the_command_line_as_alternative() {
    let output = Command::new(env!("CARGO_BIN_EXE_upthrust"))
        .env_remove("DISPLAY")
        .env_remove("WAYLAND_DISPLAY")
        .env_remove("WAYLAND_SOCKET")
        .output()
        .expect("the program runs");
    let printed = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{printed}");
    assert!(printed.contains("needs a display") && printed.contains("upthrust --help"), "{printed}");
    assert!(!printed.contains("panicked") && !printed.contains(".rs"), "{printed}");
}
