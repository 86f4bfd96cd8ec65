//! Recovery files: unsaved projects, written while the editor runs and offered after a crash.
//!
//! Every running editor has a numbered folder in the recovery folder, and locks the file `lock` in it. A folder that is
//! not locked was left behind by its editor. Each project is one file, written atomically. The files imported into it
//! are stored next to it once, uncompressed and under numbers: their names come from projects of unknown origin and
//! must never become a path.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use serde_json::Value;

use crate::app::document;
use crate::app::document::Unsaved;
use crate::app::tasks::folder_lock::{FolderLock, TryLock};
use crate::engine::parameters::FileName;
use crate::files::FileError;
use crate::files::io::atomic;
use crate::files::io::failure::{self, Operation};
use crate::files::io::folders::folder_of;
use crate::files::io::read::read_regular;
use crate::files::io::terminal::print_error;
use crate::project::{MAX_FILE_BYTES, PROJECT_SUFFIX, ProjectFile};

/// How long discarded projects stay in the folder `old`.
const DISCARDED_LIFETIME: Duration = Duration::from_secs(7 * 24 * 3600);

const DISCARDED_FOLDER: &str = "old";
/// How often another editor may lock a folder first before this one gives up.
const MAX_LOST_FOLDERS: u32 = 10;

/// The folder of a running editor.
#[derive(Debug)]
pub(crate) struct RecoverySession {
    folder: PathBuf,
    lock: FolderLock,
    written: BTreeMap<usize, Written>,
    /// The imported files in the folder, by their numbers.
    files: BTreeMap<u64, Arc<Vec<u8>>>,
    next: u64,
}

/// A project as last written.
#[derive(Debug)]
struct Written {
    file: ProjectFile,
    path: Option<PathBuf>,
    numbers: BTreeMap<String, u64>,
}

impl RecoverySession {
    /// Creates the folder with the first free number and locks it.
    pub(crate) fn begin(root: &Path, try_lock: TryLock) -> io::Result<Self> {
        failure::check(Operation::CreateFolder, root)?;
        std::fs::create_dir_all(root)?;
        let mut lost = 0;
        for number in 1_u32.. {
            let folder = root.join(number.to_string());
            match failure::check(Operation::CreateFolder, &folder).and_then(|()| std::fs::create_dir(&folder)) {
                Ok(()) => {}
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                Err(error) => return Err(error),
            }
            match FolderLock::create(&folder, try_lock) {
                Ok(Some(lock)) => {
                    return Ok(Self { folder, lock, written: BTreeMap::new(), files: BTreeMap::new(), next: 0 });
                }
                Ok(None) if lost < MAX_LOST_FOLDERS => lost += 1,
                Ok(None) => break,
                Err(error) => {
                    let _ = std::fs::remove_dir_all(&folder);
                    return Err(error);
                }
            }
        }
        Err(io::Error::other("other programs keep locking the recovery folders"))
    }

    /// Whether the folder is still there, with the file that this editor has locked.
    pub(crate) fn exists(&self) -> bool {
        FolderLock::has_file(&self.folder)
    }

    /// Why the folder could not be locked, if the file system cannot lock.
    pub(crate) fn unsupported_lock(&self) -> Option<&str> {
        self.lock.unsupported.as_deref()
    }

    /// Whether the folder holds no project.
    pub(crate) fn is_empty(&self) -> bool {
        self.written.is_empty()
    }

    /// Writes these projects and deletes all others. Projects that cannot be written do not keep others from being
    /// written, but nothing is deleted then.
    pub(crate) fn keep(&mut self, unsaved: &[Unsaved]) -> Result<(), FileError> {
        let written: Vec<Result<(), FileError>> = unsaved.iter().map(|project| self.keep_one(project)).collect();
        written.into_iter().collect::<Result<(), FileError>>()?;
        let gone: Vec<usize> = self.written.keys().copied().collect();
        for project_id in
            gone.into_iter().filter(|project_id| unsaved.iter().all(|kept| kept.project_id != *project_id))
        {
            remove(&self.file_of(project_id))?;
            self.written.remove(&project_id);
        }
        let Self { folder, written, files, .. } = self;
        let is_used =
            |number: &u64| written.values().any(|project| project.numbers.values().any(|used| used == number));
        let unused: Vec<u64> = files.keys().copied().filter(|number| !is_used(number)).collect();
        for number in unused {
            remove(&bytes_path(folder, number))?;
            files.remove(&number);
        }
        Ok(())
    }

    fn keep_one(&mut self, Unsaved { project_id, file, path, .. }: &Unsaved) -> Result<(), FileError> {
        let ProjectFile { project, settings, .. } = file;
        let is_same = |known: &Written| {
            Arc::ptr_eq(&known.file.project, project) && known.file.settings == *settings && known.path == *path
        };
        if self.written.get(project_id).is_some_and(is_same) {
            return Ok(());
        }
        let mut numbers = BTreeMap::new();
        let used = project.recipe.files();
        for (name, bytes) in project.files.iter().filter(|(name, _)| used.contains(name)) {
            numbers.insert(name.0.clone(), self.number_of(bytes)?);
        }
        let text = text_of(file, path.as_deref(), &numbers);
        write(&self.file_of(*project_id), text.as_bytes())?;
        self.written.insert(*project_id, Written { file: file.clone(), path: path.clone(), numbers });
        Ok(())
    }

    /// Deletes the folder.
    pub(crate) fn end(self) {
        // Projects that cannot be deleted are offered at the next start, which is better than losing some.
        let _ = std::fs::remove_dir_all(&self.folder);
    }

    fn file_of(&self, project_id: usize) -> PathBuf {
        self.folder.join(format!("{project_id}.json"))
    }

    /// Returns the number of the file with these bytes, and writes it if there is none.
    fn number_of(&mut self, bytes: &Arc<Vec<u8>>) -> Result<u64, FileError> {
        if let Some((number, _)) = self.files.iter().find(|(_, known)| Arc::ptr_eq(known, bytes)) {
            return Ok(*number);
        }
        let number = self.next;
        write(&bytes_path(&self.folder, number), bytes)?;
        self.files.insert(number, bytes.clone());
        self.next += 1;
        Ok(number)
    }
}

fn bytes_path(folder: &Path, number: u64) -> PathBuf {
    folder.join(format!("{number}.bytes"))
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), FileError> {
    atomic::write_atomically(path, true, |writer| {
        writer.write_all(bytes).map_err(|error| FileError::writing(path, &error))
    })
}

fn remove(path: &Path) -> Result<(), FileError> {
    match failure::check(Operation::Remove, path).and_then(|()| std::fs::remove_file(path)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(FileError::writing(path, &error)),
        Ok(()) | Err(_) => Ok(()),
    }
}

/// Returns the text of a recovery file: the path of the project, the numbers of its imported files, and the project
/// without them.
fn text_of(file: &ProjectFile, path: Option<&Path>, numbers: &BTreeMap<String, u64>) -> String {
    let mut bare = file.clone();
    Arc::make_mut(&mut bare.project).files.clear();
    let path = Value::from(path.and_then(Path::to_str));
    let numbers: Value = numbers.iter().map(|(name, number)| (name.clone(), Value::from(*number))).collect();
    format!("{{\n\"path\": {path},\n\"files\": {numbers},\n\"project\": {}}}\n", bare.to_json())
}

/// A project that a crashed editor left behind.
#[derive(Debug)]
pub(crate) struct RecoveredProject {
    pub(crate) contents: ProjectFile,
    /// The file it was opened from or saved to.
    pub(crate) path: Option<PathBuf>,
    /// When it was last written.
    pub(crate) time: SystemTime,
    /// Its size with its imported files, in bytes.
    pub(crate) size: u64,
    pub(crate) file: RecoveryFile,
}

/// A recovery file of an editor that no longer runs.
#[derive(Debug)]
pub(crate) struct RecoveryFile {
    path: PathBuf,
    /// While this is locked, no other editor offers the same project.
    _lock: Arc<FolderLock>,
}

impl RecoveryFile {
    /// Deletes the file, and its folder if there is no other project in it.
    pub(crate) fn delete(&self) {
        let _ = std::fs::remove_file(&self.path);
        let folder = folder_of(&self.path);
        if !entries_of(folder).iter().any(|path| path.extension().is_some_and(|ending| ending == "json")) {
            let _ = std::fs::remove_dir_all(folder);
        }
    }
}

impl RecoveredProject {
    /// The folder with the recovery files of the same editor.
    pub(crate) fn folder(&self) -> &Path {
        folder_of(&self.file.path)
    }
}

/// A recovery file that cannot be read.
#[derive(Debug, PartialEq)]
pub(crate) struct Unreadable {
    pub(crate) file: PathBuf,
    pub(crate) reason: String,
}

/// Returns the projects of editors that are no longer running, newest first, and the files that cannot be read.
pub(crate) fn find_recoverable(root: &Path, try_lock: TryLock) -> (Vec<RecoveredProject>, Vec<Unreadable>) {
    let (mut found, mut broken) = (Vec::new(), Vec::new());
    for folder in folders_in(root).into_iter().filter(|folder| !folder.ends_with(DISCARDED_FOLDER)) {
        let Some(lock) = FolderLock::acquire(&folder, try_lock).map(Arc::new) else { continue };
        let files: Vec<PathBuf> = entries_of(&folder);
        let projects: Vec<&PathBuf> =
            files.iter().filter(|path| path.extension().is_some_and(|ending| ending == "json")).collect();
        if projects.is_empty() {
            let _ = std::fs::remove_dir_all(&folder);
        }
        for file in projects {
            match read_recovered(file, &lock) {
                Ok(project) => found.push(project),
                Err(reason) => broken.push(Unreadable { file: file.clone(), reason }),
            }
        }
    }
    found.sort_by_key(|project| std::cmp::Reverse(project.time));
    (found, broken)
}

fn read_recovered(file: &Path, lock: &Arc<FolderLock>) -> Result<RecoveredProject, String> {
    let folder = folder_of(file);
    let (text, time) = read(file)?;
    let size = text.len() as u64;
    let value: Value = serde_json::from_slice(&text).map_err(|error| error.to_string())?;
    let mut contents = ProjectFile::from_json(&value["project"].to_string()).map_err(|error| error.to_string())?;
    let project = Arc::make_mut(&mut contents.project);
    for (name, number) in value["files"].as_object().into_iter().flatten() {
        let number = number.as_u64().ok_or("the number of an imported file is invalid")?;
        let (bytes, _) = read(&bytes_path(folder, number))?;
        if bytes.len() as u64 > project.remaining_file_bytes() {
            return Err("its imported files are too large".into());
        }
        project.files.insert(FileName(name.clone()), Arc::new(bytes));
    }
    let size = size + (MAX_FILE_BYTES - project.remaining_file_bytes());
    let path = value["path"].as_str().map(PathBuf::from);
    let file = RecoveryFile { path: file.to_path_buf(), _lock: lock.clone() };
    Ok(RecoveredProject { contents, path, time, size, file })
}

/// Reads a regular file. Returns its contents and when it was written.
fn read(path: &Path) -> Result<(Vec<u8>, SystemTime), String> {
    let reason = |error: io::Error| error.to_string();
    let metadata = std::fs::symlink_metadata(path).map_err(reason)?;
    if metadata.is_symlink() {
        return Err("it is a link".into());
    }
    let bytes = read_regular(path, MAX_FILE_BYTES).map_err(reason)?;
    Ok((bytes, metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH)))
}

/// Moves a folder to the discarded ones, where it stays for a week. Returns where it is now.
pub(crate) fn move_to_discarded(root: &Path, folder: &Path, now: SystemTime) -> io::Result<PathBuf> {
    let old = root.join(DISCARDED_FOLDER);
    std::fs::create_dir_all(&old)?;
    let seconds = now.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs();
    let number = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let discarded = old.join(format!("{seconds}-{number}"));
    std::fs::rename(folder, &discarded)?;
    Ok(discarded)
}

/// Deletes the projects discarded more than a week ago.
pub(crate) fn remove_expired(root: &Path, now: SystemTime) {
    for folder in folders_in(&root.join(DISCARDED_FOLDER)) {
        let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let seconds = name.split('-').next().and_then(|seconds| seconds.parse::<u64>().ok());
        let put = seconds.map(|seconds| SystemTime::UNIX_EPOCH + Duration::from_secs(seconds));
        if put.is_some_and(|put| now.duration_since(put).is_ok_and(|age| age > DISCARDED_LIFETIME)) {
            let _ = std::fs::remove_dir_all(folder);
        }
    }
}

fn entries_of(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

/// Returns the folders in a folder, without links to folders.
fn folders_in(folder: &Path) -> Vec<PathBuf> {
    let is_folder = |path: &PathBuf| path.symlink_metadata().is_ok_and(|metadata| metadata.is_dir());
    entries_of(folder).into_iter().filter(is_folder).collect()
}

/// Writes a project to the first of these folders that can be written, under a name that no file has.
pub(crate) fn write_recovery_copy(file: &ProjectFile, folders: &[PathBuf]) -> Result<PathBuf, FileError> {
    let stem = document::file_stem(&file.project);
    let mut refusal = FileError::MissingFolder(PathBuf::new());
    for folder in folders {
        for number in 1..100 {
            let mark = if number == 1 { String::new() } else { format!("-{number}") };
            let path = folder.join(format!("{stem}-recovered{mark}{PROJECT_SUFFIX}"));
            let write = |writer: &mut BufWriter<&File>| {
                writer.write_all(file.to_json().as_bytes()).map_err(|error| FileError::writing(&path, &error))
            };
            match atomic::write_atomically(&path, false, write) {
                Ok(()) => return Ok(std::path::absolute(&path).unwrap_or(path)),
                Err(FileError::Exists(_)) => {}
                Err(error) => {
                    refusal = error;
                    break;
                }
            }
        }
    }
    Err(refusal)
}

/// Writes projects to the system's temporary folder and prints where they are: the last resort of a process that ends.
pub(crate) fn write_recovery_copies(unsaved: &[Unsaved]) {
    for Unsaved { file, .. } in unsaved {
        match write_recovery_copy(file, &[std::env::temp_dir()]) {
            Ok(path) => print_error(&format!("Unsaved changes were written to {}", path.display())),
            Err(error) => print_error(&format!("error: the project could not be written: {error}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOCK: &str = "lock";

    use crate::engine::Step;
    use crate::engine::operations::heightmap::Heightmap;
    use crate::project::Project;

    fn unsaved(project_id: usize, seed: u32) -> Unsaved {
        let mut project = Project { name: format!("Project {project_id}"), ..Default::default() };
        project.recipe.seed = seed;
        Unsaved {
            project_id,
            file: ProjectFile::new(project),
            path: Some("/projects/a.upthrust.json".into()),
            changed: SystemTime::now(),
            is_earlier: false,
        }
    }

    /// A project whose only step uses an imported file of that name.
    fn with_file(name: &str, bytes: Vec<u8>) -> Unsaved {
        let mut project = Project::default();
        let name = FileName(name.into());
        project.files.insert(name.clone(), Arc::new(bytes));
        project.recipe.stack.push(Step::new(Heightmap { file: name, ..Default::default() }));
        Unsaved { project_id: 0, file: ProjectFile::new(project), path: None, ..unsaved(0, 0) }
    }

    fn names(folder: &Path) -> Vec<String> {
        let name = |path: PathBuf| path.file_name().expect("a name").to_string_lossy().into_owned();
        entries_of(folder).into_iter().map(name).collect()
    }

    #[test]
    fn a_session_holds_only_the_unsaved_projects() {
        let root = tempfile::tempdir().expect("folder");
        let mut session = RecoverySession::begin(root.path(), File::try_lock).expect("a session");
        session.keep(&[unsaved(0, 1), unsaved(3, 2)]).expect("written");
        assert_eq!(names(&session.folder), ["0.json", "3.json", LOCK]);
        session.keep(&[unsaved(3, 5)]).expect("written");
        assert_eq!(names(&session.folder), ["3.json", LOCK]);
        assert!(find_recoverable(root.path(), File::try_lock).0.is_empty(), "its editor is still running");
        let other = RecoverySession::begin(root.path(), File::try_lock).expect("another one");
        assert_ne!(other.folder, session.folder);
        drop(session);
        let (left, broken) = find_recoverable(root.path(), File::try_lock);
        assert_eq!((left.len(), broken.len()), (1, 0));
        assert_eq!(
            (left[0].contents.project.recipe.seed, left[0].path.as_deref()),
            (5, Some(Path::new("/projects/a.upthrust.json")))
        );
        assert!(find_recoverable(root.path(), File::try_lock).0.is_empty(), "its lock is held");
        left[0].file.delete();
        drop(left);
        other.end();
        assert!(names(root.path()).is_empty());
    }

    #[test]
    fn imported_files_are_written_once_and_recovered() {
        let root = tempfile::tempdir().expect("folder");
        let mut session = RecoverySession::begin(root.path(), File::try_lock).expect("a session");
        let kept = with_file("a.png", vec![1, 2, 3]);
        session.keep(std::slice::from_ref(&kept)).expect("written");
        let bytes = session.folder.join("0.bytes");
        let written = |path: &Path| path.metadata().and_then(|metadata| metadata.modified()).expect("there");
        let before = written(&bytes);
        let mut edited = kept.clone();
        Arc::make_mut(&mut edited.file.project).recipe.seed = 9;
        session.keep(std::slice::from_ref(&edited)).expect("written");
        assert_eq!(
            (names(&session.folder), written(&bytes)),
            (vec!["0.bytes".into(), "0.json".into(), LOCK.into()], before)
        );
        drop(session);
        let (left, _) = find_recoverable(root.path(), File::try_lock);
        assert_eq!(left[0].contents, edited.file);
        drop(left);
        let mut session = RecoverySession::begin(root.path(), File::try_lock).expect("a session");
        session.keep(&[kept]).expect("written");
        session.keep(&[unsaved(1, 1)]).expect("written");
        assert_eq!(names(&session.folder), ["1.json", LOCK], "imported files are deleted with their project");
    }

    #[test]
    fn names_in_projects_write_nothing_outside_the_folder() {
        let root = tempfile::tempdir().expect("folder");
        let inside = root.path().join("recovery");
        for name in
            ["../../escape.png", "/etc/escape.png", "C:\\escape.png", "lock", "0.json", "old", "a/../../b.png", "."]
        {
            let mut session = RecoverySession::begin(&inside, File::try_lock).expect("a session");
            let kept = with_file(name, vec![7; 9]);
            session.keep(std::slice::from_ref(&kept)).expect(name);
            assert_eq!(names(&session.folder), ["0.bytes", "0.json", LOCK], "{name}");
            drop(session);
            let (left, broken) = find_recoverable(&inside, File::try_lock);
            assert_eq!((left[0].contents.clone(), broken), (kept.file.clone(), vec![]), "{name}");
            left[0].file.delete();
        }
        assert_eq!(names(root.path()), ["recovery"]);
        assert!(names(&inside).is_empty());
    }

    #[test]
    fn numbers_and_links_in_a_forged_file_read_nothing_outside_the_folder() {
        let root = tempfile::tempdir().expect("folder");
        std::fs::write(root.path().join("secret.bytes"), "secret").expect("written");
        let folder = root.path().join("recovery/1");
        std::fs::create_dir_all(&folder).expect("made");
        std::fs::write(folder.join(LOCK), "").expect("written");
        let project = r#"{"format": 1}"#;
        for (i, number) in [r#""../../secret""#, "-1", "1.5", "77"].iter().enumerate() {
            let text = format!(r#"{{"files": {{"a.png": {number}}}, "project": {project}}}"#);
            std::fs::write(folder.join(format!("{i}.json")), text).expect("written");
        }
        std::fs::write(folder.join("9.json"), "{ half").expect("written");
        let (left, broken) = find_recoverable(&root.path().join("recovery"), File::try_lock);
        assert_eq!((left.len(), broken.len()), (0, 5), "{broken:?}");
        assert!(folder.join("9.json").exists(), "unreadable files are not deleted");
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(root.path().join("secret.bytes"), folder.join("5.bytes")).expect("linked");
            let text = format!(r#"{{"files": {{"a.png": 5}}, "project": {project}}}"#);
            std::fs::write(folder.join("1.json"), text).expect("written");
            assert_eq!(find_recoverable(&root.path().join("recovery"), File::try_lock).0.len(), 0);
        }
    }

    #[test]
    fn discarded_projects_stay_for_a_week() {
        let root = tempfile::tempdir().expect("folder");
        let mut session = RecoverySession::begin(root.path(), File::try_lock).expect("a session");
        session.keep(&[unsaved(0, 1)]).expect("written");
        let folder = session.folder.clone();
        drop(session);
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000);
        move_to_discarded(root.path(), &folder, now).expect("moved");
        assert!(find_recoverable(root.path(), File::try_lock).0.is_empty());
        remove_expired(root.path(), now + DISCARDED_LIFETIME);
        assert_eq!(names(&root.path().join(DISCARDED_FOLDER)), ["1000000-1"]);
        remove_expired(root.path(), now + DISCARDED_LIFETIME + Duration::from_secs(2));
        assert!(names(&root.path().join(DISCARDED_FOLDER)).is_empty());
    }
}
