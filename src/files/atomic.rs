//! Writing files so that nobody ever sees half of one.
//!
//! A file is written beside its target under a name of its own, synced to the disk, and renamed over the target: at
//! every moment the target is the old file or the new one. The other file is removed on an error, on a cancellation,
//! and by [`stop_writing`] where the program has to leave at once.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tempfile::{NamedTempFile, TempPath};

use super::error::FileError;

/// What is being written. Whoever begins, names or removes a file holds the lock meanwhile, so that [`stop_writing`]
/// finds no file that it does not know of.
struct Ledger {
    /// The files without their names, under those that they have until they are done.
    unfinished: BTreeSet<PathBuf>,
    /// How many files have got their names.
    named: usize,
}

static LEDGER: Mutex<Ledger> = Mutex::new(Ledger { unfinished: BTreeSet::new(), named: 0 });

fn ledger() -> MutexGuard<'static, Ledger> {
    // The ledger is sound after every statement, so a panic elsewhere cannot have spoiled it.
    LEDGER.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The end of all writing: as long as the value lives, no file is begun and none gets its name.
pub struct WritingStopped(MutexGuard<'static, Ledger>);

impl WritingStopped {
    /// How many files had got their names before.
    pub fn named(&self) -> usize {
        self.0.named
    }
}

/// Removes every file that has no name yet and lets no other begin: the last thing to do before the program leaves at
/// once. Files that are just getting their names get them first, all of them.
pub fn stop_writing() -> WritingStopped {
    let mut ledger = ledger();
    for path in std::mem::take(&mut ledger.unfinished) {
        let _ = std::fs::remove_file(path);
    }
    WritingStopped(ledger)
}

/// The folder that a file lies in.
pub fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// Folders that are made for what is to be written, and removed again if nothing comes to lie in them.
#[derive(Debug, Default)]
pub struct NewFolders {
    /// The folders that were not there before, innermost first.
    made: Vec<PathBuf>,
}

impl NewFolders {
    /// Makes a folder and those that it lies in, as far as they are not there.
    pub fn make(&mut self, path: &Path) -> io::Result<()> {
        let missing = path.ancestors().filter(|folder| !folder.as_os_str().is_empty());
        let missing = missing.take_while(|folder| !folder.exists()).map(Path::to_path_buf);
        // What is made now may lie in what was made before.
        self.made.splice(0..0, missing.collect::<Vec<_>>());
        std::fs::create_dir_all(path)
    }

    /// Lets the folders stay.
    pub fn keep(mut self) {
        self.made.clear();
    }
}

impl Drop for NewFolders {
    fn drop(&mut self) {
        for folder in &self.made {
            // Fails where something lies in it, and then it stays.
            let _ = std::fs::remove_dir(folder);
        }
    }
}

/// A file that is complete on the disk but does not have its name yet.
#[derive(Debug)]
pub struct StagedFile {
    path: PathBuf,
    overwrite: bool,
    /// Under which name it lies there, closed: many may be complete at a time. `None` once the file has its name.
    file: Option<TempPath>,
}

impl StagedFile {
    fn name(&mut self, ledger: &mut Ledger) -> Result<(), FileError> {
        let Some(file) = self.file.take() else {
            return Ok(());
        };
        let beside = file.to_path_buf();
        let renamed = if self.overwrite { file.persist(&self.path) } else { file.persist_noclobber(&self.path) };
        let named = match renamed {
            Ok(_) => Ok(()),
            Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => {
                Err(FileError::Exists(self.path.clone()))
            }
            Err(error) => Err(FileError::writing(&self.path, &error.error)),
        };
        ledger.unfinished.remove(&beside);
        ledger.named += usize::from(named.is_ok());
        named
    }
}

impl Drop for StagedFile {
    fn drop(&mut self) {
        if let Some(file) = self.file.take() {
            let mut ledger = ledger();
            ledger.unfinished.remove::<Path>(&file);
            drop(file);
        }
    }
}

/// Gives files their names, all of them or none: where one cannot get its name, those before it are removed again.
/// Only a file that has already replaced an older one stays.
pub fn commit_all(mut staged: Vec<StagedFile>) -> Result<Vec<PathBuf>, FileError> {
    name_all(&mut staged, &mut ledger())
}

fn name_all(staged: &mut [StagedFile], ledger: &mut Ledger) -> Result<Vec<PathBuf>, FileError> {
    let mut new = Vec::new();
    for file in staged.iter_mut() {
        let replaces = file.path.symlink_metadata().is_ok();
        if let Err(error) = file.name(ledger) {
            let removed = new.iter().filter(|path| std::fs::remove_file(path).is_ok()).count();
            ledger.named -= removed;
            return Err(error);
        }
        if !replaces {
            new.push(file.path.clone());
        }
    }
    Ok(staged.iter().map(|file| file.path.clone()).collect())
}

/// A new file beside `path`, with the rights that any new file gets.
fn beside(path: &Path) -> Result<NamedTempFile, FileError> {
    let folder = folder_of(path);
    if !folder.is_dir() {
        return Err(FileError::MissingFolder(path.to_path_buf()));
    }
    let mut builder = tempfile::Builder::new();
    builder.prefix(".upthrust-").suffix(".part");
    // tempfile's own default hides the file from everybody else; the user's mask is applied to this one.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    builder.tempfile_in(folder).map_err(|error| match error.kind() {
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            let folder = folder.display();
            FileError::invalid(path, format!("nothing may be written to the folder {folder}; choose another one"))
        }
        // In its own words the error names the new file, of which nobody has heard.
        kind => FileError::writing(path, &kind.into()),
    })
}

/// Whether a file can be written to `path`: its folder is there and can be written to, and the file itself is not
/// there or may be replaced.
pub fn check_writable(path: &Path, overwrite: bool) -> Result<(), FileError> {
    if path.is_dir() {
        return Err(FileError::invalid(path, "this is a folder; name a file"));
    }
    if path.file_name().is_none() {
        return Err(FileError::invalid(path, "this names no file"));
    }
    if !overwrite && path.symlink_metadata().is_ok() {
        return Err(FileError::Exists(path.to_path_buf()));
    }
    // The probe is gone before the lock is.
    let _ledger = ledger();
    beside(path).map(drop)
}

fn begin(path: &Path, overwrite: bool) -> Result<(StagedFile, File), FileError> {
    let mut ledger = ledger();
    let (file, beside) = beside(path)?.into_parts();
    ledger.unfinished.insert(beside.to_path_buf());
    Ok((StagedFile { path: path.to_path_buf(), overwrite, file: Some(beside) }, file))
}

/// Writes a file as a whole but does not give it its name yet: several files are staged and then named together, so
/// that an error in the last one leaves none.
pub fn stage(
    path: &Path,
    overwrite: bool,
    write: impl FnOnce(&mut BufWriter<&File>) -> Result<(), FileError>,
) -> Result<StagedFile, FileError> {
    check_writable(path, overwrite)?;
    let (staged, file) = begin(path, overwrite)?;
    let mut writer = BufWriter::with_capacity(1 << 20, &file);
    write(&mut writer)?;
    writer.flush().map_err(|error| FileError::writing(path, &error))?;
    drop(writer);
    file.sync_all().map_err(|error| FileError::writing(path, &error))?;
    Ok(staged)
}

/// Writes a file as a whole: after an error the target is what it was before.
pub fn write_atomically(
    path: &Path,
    overwrite: bool,
    write: impl FnOnce(&mut BufWriter<&File>) -> Result<(), FileError>,
) -> Result<(), FileError> {
    commit_all(vec![stage(path, overwrite, write)?]).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let entries = std::fs::read_dir(folder).expect("folder");
        entries.map(|entry| entry.expect("entry").file_name().to_string_lossy().into_owned()).collect()
    }

    fn put(text: &'static str) -> impl FnOnce(&mut BufWriter<&File>) -> Result<(), FileError> {
        move |writer| writer.write_all(text.as_bytes()).map_err(|error| FileError::writing(Path::new("a"), &error))
    }

    #[test]
    fn a_file_is_there_as_a_whole_or_not_at_all() {
        let folder = tempfile::tempdir().expect("folder");
        let path = folder.path().join("a.txt");
        let stopped = write_atomically(&path, false, |writer| {
            put("half")(writer)?;
            Err(FileError::Cancelled)
        });
        assert_eq!((stopped, names(folder.path())), (Err(FileError::Cancelled), vec![]));
        assert_eq!(write_atomically(&path, false, put("whole")), Ok(()));
        assert_eq!(write_atomically(&path, false, put("other")), Err(FileError::Exists(path.clone())));
        assert_eq!(std::fs::read_to_string(&path).expect("there"), "whole");
        assert_eq!(write_atomically(&path, true, put("other")), Ok(()));
        assert_eq!(std::fs::read_to_string(&path).expect("there"), "other");
        assert_eq!(names(folder.path()), ["a.txt"]);
    }

    #[test]
    fn staged_files_vanish_unless_they_are_committed() {
        let folder = tempfile::tempdir().expect("folder");
        let staged = stage(&folder.path().join("a.txt"), false, put("a")).expect("staged");
        assert_eq!(names(folder.path()).len(), 1);
        drop(staged);
        assert_eq!(names(folder.path()).len(), 0);
    }

    #[test]
    fn where_one_file_cannot_get_its_name_the_others_lose_theirs() {
        let folder = tempfile::tempdir().expect("folder");
        let path = |name: &str| folder.path().join(name);
        let staged = ["a", "b", "c"].map(|name| stage(&path(name), false, put("new")).expect("staged"));
        // Somebody else is faster.
        std::fs::write(path("b"), "theirs").expect("written");
        assert_eq!(commit_all(staged.into()), Err(FileError::Exists(path("b"))));
        assert_eq!(names(folder.path()), ["b"]);
        assert_eq!(std::fs::read_to_string(path("b")).expect("there"), "theirs");

        let staged = ["a", "b"].map(|name| stage(&path(name), true, put("new")).expect("staged"));
        assert_eq!(commit_all(staged.into()), Ok(vec![path("a"), path("b")]));
        assert_eq!(std::fs::read_to_string(path("b")).expect("there"), "new");
    }

    #[test]
    fn a_missing_folder_is_named() {
        let folder = tempfile::tempdir().expect("folder");
        let path = folder.path().join("none/a.txt");
        let error = write_atomically(&path, false, put("a")).expect_err("no folder");
        assert_eq!(error, FileError::MissingFolder(path));
        assert!(error.to_string().ends_with("none; make it first"), "{error}");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_folder_that_takes_no_file_is_named_and_not_the_file_beside_the_target() {
        // Nobody may make files there, not even root.
        for path in ["/proc/a.txt", "/sys/a.txt"] {
            let error = write_atomically(Path::new(path), false, put("a")).expect_err(path).to_string();
            assert!(error.starts_with(path) && !error.contains(".upthrust-"), "{error}");
        }
        let refused = write_atomically(Path::new("/sys/a.txt"), false, put("a")).expect_err("no right").to_string();
        assert!(refused.ends_with("the folder /sys; choose another one"), "{refused}");
    }

    #[cfg(unix)]
    #[test]
    fn others_may_read_the_file() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().expect("folder");
        let (ours, plain) = (folder.path().join("a"), folder.path().join("b"));
        write_atomically(&ours, false, put("a")).expect("written");
        std::fs::write(&plain, "b").expect("written");
        let mode = |path| std::fs::metadata(path).expect("there").permissions().mode();
        assert_eq!(mode(ours), mode(plain));
    }
}
