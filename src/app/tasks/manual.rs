//! Opens the manual that packages install beside the program.

use std::path::{Path, PathBuf};

use super::file_tasks::FileTaskResult;
use crate::engine::AnyOperation;

/// Where the manual is, from the folder of the program: in a package of the system, and in an archive.
const FOLDERS: [&str; 2] = ["../share/doc/upthrust/manual", "doc/manual"];

/// The page of an operation, or the first page, of the manual beside a program; `None` if there is no manual.
fn page(program: &Path, operation: Option<&AnyOperation>) -> Option<PathBuf> {
    let folder = program.parent()?;
    let manuals = FOLDERS.iter().map(|relative| folder.join(relative));
    let manual = manuals.into_iter().find(|manual| manual.join("index.html").is_file())?;
    let of_operation = operation.map(|operation| manual.join(format!("operations/{}.html", operation.key())));
    Some(of_operation.filter(|page| page.is_file()).unwrap_or_else(|| manual.join("index.html")))
}

/// Opens the manual in the browser, at the page of an operation if there is one.
pub(crate) fn open_manual(operation: Option<&AnyOperation>) -> FileTaskResult {
    // The program itself, if it was started by a link.
    let program = std::env::current_exe().and_then(|program| program.canonicalize());
    let found = program.ok().and_then(|program| page(&program, operation));
    match found {
        None => FileTaskResult::Failed(
            "The manual is not installed. It comes with the packages; from source, run scripts/manual.".into(),
        ),
        Some(page) => match open::that_detached(&page) {
            Ok(()) => FileTaskResult::Done,
            Err(_) => FileTaskResult::Failed(format!("No browser was found; open {} in one", page.display())),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::operations::faults::Faults;
    use crate::engine::operations::noise::Noise;

    #[test]
    fn the_manual_opens_at_the_page_of_the_operation() {
        let folder = tempfile::tempdir().expect("a folder");
        let program = folder.path().join("bin/upthrust");
        let faults = AnyOperation::from(Faults::default());
        assert_eq!(page(&program, Some(&faults)), None);
        let manual = folder.path().join("bin/../share/doc/upthrust/manual");
        for name in ["bin", "share/doc/upthrust/manual/operations"] {
            std::fs::create_dir_all(folder.path().join(name)).expect("a folder");
        }
        for name in ["index.html", "operations/faults.html"] {
            std::fs::write(manual.join(name), "").expect("written");
        }
        assert_eq!(page(&program, Some(&faults)), Some(manual.join("operations/faults.html")));
        assert_eq!(page(&program, Some(&Noise::default().into())), Some(manual.join("index.html")));
        assert_eq!(page(&program, None), Some(manual.join("index.html")));
    }
}
