//! The pages of the manual that are made from the program.

use std::path::Path;

use upthrust::engine::{AnyOperation, Grid};
use upthrust::project::project_schema;

#[path = "../../examples/reference/pages.rs"]
mod pages;

#[test]
fn the_pages_of_the_operations_are_up_to_date_and_listed() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = root.join("docs/manual/src/operations");
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap_or_default();
    let how = "run cargo run --release --no-default-features --example reference";
    let operations = AnyOperation::all();
    assert!(read("README.md") == pages::index(&operations), "the index is out of date; {how}");
    for (key, _) in pages::costs() {
        assert!(operations.iter().any(|operation| operation.key() == key), "{key} in examples/reference/costs.txt");
    }
    let summary = std::fs::read_to_string(root.join("docs/manual/src/SUMMARY.md")).expect("the summary");
    for operation in &operations {
        let name = format!("{}.md", operation.key());
        let page = pages::page(operation, &root.join("src/engine/operations"));
        assert!(read(&name) == page, "{name} is out of date; {how}");
        assert!(
            summary.contains(&format!("- [{}](operations/{name})", operation.label())),
            "{name} is not in the summary"
        );
        for picture in pages::pictures(operation) {
            assert!(folder.join("pictures").join(&picture.file).exists(), "{} is missing; {how}", picture.file);
            assert_eq!(picture.recipe.check(Grid::fitted(picture.recipe.world.extent(), 513)), Ok(()));
        }
    }
}

#[test]
fn the_schema_of_projects_is_up_to_date() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/manual/src/upthrust.schema.json");
    let text = std::fs::read_to_string(path).unwrap_or_default();
    assert!(text == format!("{:#}\n", project_schema()), "run: upthrust generate schema docs/manual/src");
}
