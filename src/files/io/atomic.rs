//! Atomic file writes: no other program ever sees a partial file.
//!
//! A file is written under a temporary name in its target's folder, synced to the disk, and renamed over the target: at
//! every moment the target is either the old file or the complete new one. The new file has the permissions and, where
//! the system allows it, the owner of the old one; a symbolic link is followed. The temporary file is removed on an
//! error, on a cancellation, and by [`stop_writing`](super::temp_files::stop_writing) if the program has to exit at
//! once; one that a killed process left behind, by the next write into its folder.

use std::fs::File;
use std::io::{self, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use tempfile::{NamedTempFile, TempPath};

use super::cancellable::cancelled_error;
use super::error::FileError;
use super::failure::{self, Operation};
use super::folders::folder_of;
use super::temp_files::{self, TempFiles};
use crate::engine::cast::ToInteger;
use crate::engine::{Cancelled, Progress};

/// A file that has been written completely but still has its temporary name.
#[derive(Debug)]
pub struct StagedFile {
    /// The path as given, for messages.
    path: PathBuf,
    /// The path that is written: `path`, or where it leads if it is a symbolic link.
    target: PathBuf,
    overwrite: bool,
    /// The temporary path of the closed file, so that many files can be staged at a time. `None` once it is renamed.
    file: Option<TempPath>,
}

impl StagedFile {
    /// The path that the file will have.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The CRC-32 of its contents.
    pub fn crc32(&self, progress: &Progress) -> Result<u32, FileError> {
        let mut hasher = crc32fast::Hasher::new();
        let read = self.open().and_then(|file| {
            read_chunks(file, progress, |chunk| {
                hasher.update(chunk);
                Ok(true)
            })
        });
        // A cancelled reader returns an I/O error.
        progress.check()?;
        read.map_err(|error| FileError::writing(&self.path, &error))?;
        Ok(hasher.finalize())
    }

    /// Whether the file that it would replace has the same contents.
    pub fn is_unchanged(&self, progress: &Progress) -> Result<bool, Cancelled> {
        let is_equal = || -> io::Result<bool> {
            let (new, mut old) = (self.open()?, File::open(&self.target)?);
            if new.metadata()?.len() != old.metadata()?.len() {
                return Ok(false);
            }
            let mut replaced = vec![0; CHUNK];
            read_chunks(new, progress, |chunk| {
                let replaced = &mut replaced[..chunk.len()];
                old.read_exact(replaced)?;
                Ok(chunk == replaced)
            })
        };
        let is_equal = is_equal().unwrap_or(false);
        progress.check()?;
        Ok(is_equal)
    }

    fn open(&self) -> io::Result<File> {
        let staged = self.file.as_ref().ok_or(io::ErrorKind::NotFound)?;
        File::open(staged)
    }

    fn commit(&mut self, temp_files: &mut TempFiles) -> Result<(), FileError> {
        let Some(file) = self.file.take() else {
            return Ok(());
        };
        let temp_path = file.to_path_buf();
        let renamed = failure::check(Operation::Rename, &self.target).and_then(|()| {
            let renamed =
                if self.overwrite { file.persist(&self.target) } else { file.persist_noclobber(&self.target) };
            renamed.map_err(|error| error.error)
        });
        let committed = match renamed {
            Ok(()) => Ok(()),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(FileError::Exists(self.path.clone())),
            Err(error) => Err(FileError::writing(&self.path, &error)),
        };
        temp_files.unfinished.remove(&temp_path);
        temp_files.committed += usize::from(committed.is_ok());
        committed
    }
}

impl Drop for StagedFile {
    fn drop(&mut self) {
        if let Some(file) = self.file.take() {
            let mut temp_files = temp_files::lock();
            temp_files.unfinished.remove::<Path>(&file);
            drop(file);
        }
    }
}

/// The bytes that are read at a time.
const CHUNK: usize = 1 << 20;

/// Passes the contents of a file to `use_chunk` until that returns false; returns whether it never did.
fn read_chunks(
    mut file: File,
    progress: &Progress,
    mut use_chunk: impl FnMut(&[u8]) -> io::Result<bool>,
) -> io::Result<bool> {
    let counter = progress.counter((file.metadata()?.len() / CHUNK as u64).to_usize() + 1);
    let mut chunk = vec![0; CHUNK];
    loop {
        let read = file.read(&mut chunk)?;
        counter.add_one().map_err(cancelled_error)?;
        if read == 0 || !use_chunk(&chunk[..read])? {
            return Ok(read == 0);
        }
    }
}

/// Renames all files to their final names, or none: if one fails, those renamed before it are removed again. A file
/// that has replaced an older one is the exception: it is kept, and the error names it.
pub fn commit_all(mut staged: Vec<StagedFile>) -> Result<Vec<PathBuf>, FileError> {
    let mut temp_files = temp_files::lock();
    let (mut new, mut replaced) = (Vec::new(), Vec::new());
    for file in &mut staged {
        let list = if file.target.symlink_metadata().is_ok() { &mut replaced } else { &mut new };
        if let Err(error) = file.commit(&mut temp_files) {
            let removed = new.iter().filter(|path| std::fs::remove_file(path).is_ok()).count();
            temp_files.committed -= removed;
            // Dropping the remaining files takes the lock.
            drop(temp_files);
            return Err(error.after_replacing(replaced));
        }
        list.push(file.target.clone());
    }
    Ok(staged.iter().map(|file| file.path.clone()).collect())
}

/// Where a path leads if it is a symbolic link, whether or not a file is there; otherwise the path itself.
fn followed(path: &Path) -> PathBuf {
    /// As many links as Linux follows.
    const MAX_LINKS: usize = 40;
    let next = |path: &PathBuf| std::fs::read_link(path).ok().map(|target| folder_of(path).join(target));
    std::iter::successors(Some(path.to_path_buf()), next).take(MAX_LINKS).last().unwrap_or_default()
}

/// Creates a temporary file in the folder of `target`, with the permissions of the file there or else of any new file.
/// Errors name `path`.
fn create_temp_file(path: &Path, target: &Path, temp_files: &mut TempFiles) -> Result<NamedTempFile, FileError> {
    let folder = folder_of(target);
    if !folder.is_dir() {
        return Err(FileError::MissingFolder(target.to_path_buf()));
    }
    temp_files.remove_abandoned(folder);
    let prefix = temp_files::prefix();
    let mut builder = tempfile::Builder::new();
    builder.prefix(&prefix).suffix(temp_files::SUFFIX);
    // tempfile's default makes the file unreadable for others; this mode is subject to the user's umask.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let created = failure::check(Operation::Create, target).and_then(|()| builder.tempfile_in(folder));
    let file = created.map_err(|error| match error.kind() {
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            let folder = folder.display();
            FileError::invalid(path, format!("the folder {folder} is not writable; choose another one"))
        }
        // Such as a folder of the kernel.
        io::ErrorKind::NotFound => FileError::writing(path, &io::Error::other("files cannot be created there")),
        // The message of `error` itself names the temporary file, which means nothing to the user.
        kind => FileError::writing(path, &kind.into()),
    })?;
    if let Ok(old) = std::fs::metadata(target) {
        copy_attributes(&old, file.as_file()).map_err(|error| FileError::writing(path, &error))?;
    }
    Ok(file)
}

/// Gives a file the permissions of another and, where the system allows it, the owner: only root may give files away.
fn copy_attributes(from: &std::fs::Metadata, file: &File) -> io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::{MetadataExt, fchown};
        let own = file.metadata()?;
        if (own.uid(), own.gid()) != (from.uid(), from.gid()) {
            let both = fchown(file, Some(from.uid()), Some(from.gid()));
            // A user may give a file to a group that they are in.
            let _ = both.or_else(|_| fchown(file, None, Some(from.gid())));
        }
        // Some file systems have no permissions to set.
        if own.permissions() == from.permissions() { Ok(()) } else { file.set_permissions(from.permissions()) }
    }
    #[cfg(not(unix))]
    {
        // A read-only file could not be written or renamed.
        let _ = (from, file);
        Ok(())
    }
}

/// Checks that a file can be written to `path`: its folder exists and is writable, and the file itself either does not
/// exist or may be replaced.
pub fn check_writable(path: &Path, overwrite: bool) -> Result<(), FileError> {
    if path.is_dir() {
        return Err(FileError::invalid(path, "this is a folder; name a file"));
    }
    if path.file_name().is_none() {
        return Err(FileError::invalid(path, "this has no file name"));
    }
    if !overwrite && path.symlink_metadata().is_ok() {
        return Err(FileError::Exists(path.to_path_buf()));
    }
    if path.metadata().is_ok_and(|metadata| !metadata.is_file()) {
        return Err(FileError::invalid(path, "this is not a regular file; choose another name"));
    }
    // Held until the probe is removed.
    let mut temp_files = temp_files::lock();
    create_temp_file(path, &followed(path), &mut temp_files).map(drop)
}

fn begin(path: &Path, overwrite: bool) -> Result<(StagedFile, File), FileError> {
    let mut temp_files = temp_files::lock();
    let target = followed(path);
    let (file, temp_path) = create_temp_file(path, &target, &mut temp_files)?.into_parts();
    temp_files.unfinished.insert(temp_path.to_path_buf());
    Ok((StagedFile { path: path.to_path_buf(), target, overwrite, file: Some(temp_path) }, file))
}

/// Writes a complete file under a temporary name. Several files are staged first and committed together, so that an
/// error in the last one leaves none of them behind.
pub fn stage(
    path: &Path,
    overwrite: bool,
    write: impl FnOnce(&mut BufWriter<&File>) -> Result<(), FileError>,
) -> Result<StagedFile, FileError> {
    check_writable(path, overwrite)?;
    let (staged, file) = stage_unsynced(path, overwrite, write)?;
    let synced = failure::check(Operation::Sync, path).and_then(|()| file.sync_all());
    synced.map_err(|error| FileError::writing(path, &error)).map(|()| staged)
}

fn stage_unsynced(
    path: &Path,
    overwrite: bool,
    write: impl FnOnce(&mut BufWriter<&File>) -> Result<(), FileError>,
) -> Result<(StagedFile, File), FileError> {
    let (staged, file) = begin(path, overwrite)?;
    let mut writer = BufWriter::with_capacity(1 << 20, &file);
    write(&mut writer)?;
    let written = failure::check(Operation::Write, path).and_then(|()| writer.flush());
    drop(writer);
    written.map_err(|error| FileError::writing(path, &error)).map(|()| (staged, file))
}

/// Writes a file of a cache, which replaces an older one. It is not synced, so its contents need a checksum, and it does not
/// count as an output.
pub fn write_cached(
    path: &Path,
    write: impl FnOnce(&mut BufWriter<&File>) -> Result<(), FileError>,
) -> Result<(), FileError> {
    let (mut staged, _) = stage_unsynced(path, true, write)?;
    let mut temp_files = temp_files::lock();
    staged.commit(&mut temp_files)?;
    temp_files.committed -= 1;
    Ok(())
}

/// Stages a file with these contents.
pub fn stage_bytes(path: &Path, overwrite: bool, bytes: &[u8]) -> Result<StagedFile, FileError> {
    stage(path, overwrite, |writer| writer.write_all(bytes).map_err(|error| FileError::writing(path, &error)))
}

/// Writes a file atomically: after an error the target is unchanged.
pub fn write_atomically(
    path: &Path,
    overwrite: bool,
    write: impl FnOnce(&mut BufWriter<&File>) -> Result<(), FileError>,
) -> Result<(), FileError> {
    commit_all(vec![stage(path, overwrite, write)?]).map(drop)
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, SystemTime};

    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let entries = std::fs::read_dir(folder).expect("folder");
        entries.map(|entry| entry.expect("entry").file_name().to_string_lossy().into_owned()).collect()
    }

    fn put(text: &'static str) -> impl FnOnce(&mut BufWriter<&File>) -> Result<(), FileError> {
        move |writer| writer.write_all(text.as_bytes()).map_err(|error| FileError::writing(Path::new("a"), &error))
    }

    #[test]
    fn a_file_is_written_completely_or_not_at_all() {
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
    fn staged_files_are_removed_unless_they_are_committed() {
        let folder = tempfile::tempdir().expect("folder");
        let staged = stage(&folder.path().join("a.txt"), false, put("a")).expect("staged");
        assert_eq!(names(folder.path()).len(), 1);
        drop(staged);
        assert_eq!(names(folder.path()).len(), 0);
    }

    #[test]
    fn no_file_is_left_if_one_of_several_cannot_be_committed() {
        let folder = tempfile::tempdir().expect("folder");
        let path = |name: &str| folder.path().join(name);
        let staged = ["a", "b", "c"].map(|name| stage(&path(name), false, put("new")).expect("staged"));
        // Another program creates one of the files first.
        std::fs::write(path("b"), "theirs").expect("written");
        assert_eq!(commit_all(staged.into()), Err(FileError::Exists(path("b"))));
        assert_eq!(names(folder.path()), ["b"]);
        assert_eq!(std::fs::read_to_string(path("b")).expect("there"), "theirs");

        let staged = ["a", "b"].map(|name| stage(&path(name), true, put("new")).expect("staged"));
        assert_eq!(commit_all(staged.into()), Ok(vec![path("a"), path("b")]));
        assert_eq!(std::fs::read_to_string(path("b")).expect("there"), "new");
    }

    #[test]
    fn reading_staged_files_can_be_cancelled() {
        let folder = tempfile::tempdir().expect("folder");
        let path = folder.path().join("a");
        write_atomically(&path, false, put("same")).expect("written");
        let staged = stage(&path, true, put("same")).expect("staged");
        let progress = Progress::new();
        assert_eq!(staged.crc32(&progress), Ok(crc32fast::hash(b"same")));
        assert_eq!(progress.fraction(), 1.0);
        assert_eq!(staged.is_unchanged(&Progress::new()), Ok(true));
        let other = stage(&path, true, put("else")).expect("staged");
        assert_eq!(other.is_unchanged(&Progress::new()), Ok(false));
        progress.cancel();
        assert_eq!(staged.crc32(&progress), Err(FileError::Cancelled));
        assert_eq!(staged.is_unchanged(&progress), Err(Cancelled));
    }

    #[test]
    fn a_missing_folder_is_named_in_the_error() {
        let folder = tempfile::tempdir().expect("folder");
        let path = folder.path().join("none/a.txt");
        let error = write_atomically(&path, false, put("a")).expect_err("no folder");
        assert_eq!(error, FileError::MissingFolder(path));
        assert!(error.to_string().ends_with("none; create it first"), "{error}");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn an_error_names_the_read_only_folder_but_not_the_temporary_file() {
        // Not even root may create files there.
        for path in ["/proc/a.txt", "/sys/a.txt"] {
            let error = write_atomically(Path::new(path), false, put("a")).expect_err(path).to_string();
            assert!(error.starts_with(path) && !error.contains(".upthrust-"), "{error}");
        }
        let refused = write_atomically(Path::new("/sys/a.txt"), false, put("a")).expect_err("refused").to_string();
        assert!(refused.ends_with("the folder /sys is not writable; choose another one"), "{refused}");
    }

    #[cfg(unix)]
    #[test]
    fn a_file_has_the_permissions_of_any_new_file() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().expect("folder");
        let (ours, plain) = (folder.path().join("a"), folder.path().join("b"));
        write_atomically(&ours, false, put("a")).expect("written");
        std::fs::write(&plain, "b").expect("written");
        let mode = |path| std::fs::metadata(path).expect("there").permissions().mode();
        assert_eq!(mode(ours), mode(plain));
    }

    #[cfg(unix)]
    #[test]
    fn a_replaced_file_keeps_its_permissions_and_owner() {
        use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
        let folder = tempfile::tempdir().expect("folder");
        let path = folder.path().join("a");
        std::fs::write(&path, "private").expect("written");
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o600)).expect("set");
        // Only root may give the file away.
        let is_given = chown(&path, Some(1234), Some(1234)).is_ok();
        write_atomically(&path, true, put("new")).expect("written");
        let metadata = std::fs::metadata(&path).expect("there");
        assert_eq!(metadata.mode() & 0o777, 0o600);
        assert!(!is_given || (metadata.uid(), metadata.gid()) == (1234, 1234));
    }

    #[cfg(unix)]
    #[test]
    fn links_are_followed_and_devices_refused() {
        use std::os::unix::fs::symlink;
        let folder = tempfile::tempdir().expect("folder");
        let path = |name: &str| folder.path().join(name);
        std::fs::create_dir(path("other")).expect("made");
        std::fs::write(path("other/file"), "old").expect("written");
        symlink("other/file", path("link")).expect("linked");
        symlink("link", path("chain")).expect("linked");
        symlink("other/missing", path("dangling")).expect("linked");
        symlink("/dev/null", path("device")).expect("linked");
        write_atomically(&path("chain"), true, put("new")).expect("written");
        write_atomically(&path("dangling"), true, put("made")).expect("written");
        assert!(["link", "chain", "dangling"].map(path).iter().all(|path| path.is_symlink()));
        let read = |name: &str| std::fs::read_to_string(path(name)).expect("there");
        assert_eq!((read("other/file").as_str(), read("other/missing").as_str()), ("new", "made"));
        assert_eq!(write_atomically(&path("link"), false, put("x")), Err(FileError::Exists(path("link"))));
        let error = write_atomically(&path("device"), true, put("x")).expect_err("a device").to_string();
        assert!(error.contains("regular file"), "{error}");
    }

    #[test]
    fn temporary_files_of_ended_processes_are_removed() {
        let folder = tempfile::tempdir().expect("folder");
        let computer = super::super::process::computer_name();
        let foreign = format!(".upthrust-4194305-{computer}x-abcdef.part");
        let running = format!(".upthrust-{}-{computer}-abcdef.part", std::process::id());
        let young = format!(".upthrust-4194305-{computer}-young.part");
        for name in [&format!(".upthrust-4194305-{computer}-abcdef.part"), &foreign, &running, &young] {
            let file = File::create(folder.path().join(name)).expect("created");
            let age = if *name == young { 60 } else { 7200 };
            file.set_modified(SystemTime::now() - Duration::from_secs(age)).expect("set");
        }
        write_atomically(&folder.path().join("a"), false, put("a")).expect("written");
        let mut left = names(folder.path());
        left.sort();
        let mut expected = [foreign, running, young, "a".to_string()];
        expected.sort();
        assert_eq!(left, expected);
    }

    #[test]
    fn an_error_in_the_middle_names_the_replaced_files() {
        let folder = tempfile::tempdir().expect("folder");
        let path = |name: &str| folder.path().join(name);
        std::fs::write(path("a"), "old").expect("written");
        let staged = ["a", "b", "c"].map(|name| stage(&path(name), true, put("new")).expect("staged"));
        // The last target becomes a folder, which no file replaces.
        std::fs::create_dir(path("c")).expect("made");
        let error = commit_all(staged.into()).expect_err("a folder").to_string();
        assert!(error.starts_with(&path("c").display().to_string()), "{error}");
        assert!(error.ends_with(&format!("already replaced: {}", path("a").display())), "{error}");
        assert!(!path("b").exists() && std::fs::read_to_string(path("a")).expect("there") == "new");
    }
}
