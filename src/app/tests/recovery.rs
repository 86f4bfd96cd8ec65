//! Copies of projects that are saved after a crash.

#[test]
fn recovery_copies_replace_no_file_and_fall_back_to_the_next_folder() {
    let folder = tempfile::tempdir().expect("folder");
    let folders = [folder.path().join("none"), folder.path().to_path_buf()];
    let mut project = crate::project::Project { name: "My: Land".into(), ..Default::default() };
    project.recipe.seed = 12;
    let project = crate::project::ProjectFile::new(project);
    let first = crate::app::tasks::recovery::write_recovery_copy(&project, &folders).expect("written");
    let second = crate::app::tasks::recovery::write_recovery_copy(&project, &folders).expect("written");
    let names = ["my-land-recovered.upthrust.json", "my-land-recovered-2.upthrust.json"];
    for (path, name) in [first, second].iter().zip(names) {
        assert_eq!(path, &folder.path().join(name));
        let text = std::fs::read_to_string(path).expect("a file");
        assert!(crate::project::ProjectFile::from_json(&text).expect("a project") == project);
    }
    assert!(crate::app::tasks::recovery::write_recovery_copy(&project, &folders[..1]).is_err());
}
