//! `upthrust generate`, hidden: writes man pages, shell completions and the schema of project files for packages.
//!
//! The pages and completions are derived from the declaration of the command line, as `--help` is; the schema from the
//! tables of parameters.

use std::io;

use clap::Command;
use clap_complete::Shell;
use clap_mangen::Man;
use clap_mangen::roff::{Roff, bold, roman};

use super::arguments::{GenerateOptions, Generated, public_command};
use super::error::CliError;
use super::output::print_lines;
use crate::files::io::atomic;
use crate::project::project_schema;

/// The exit statuses of every subcommand, for the man pages.
const EXIT_STATUS: [(&str, &str); 4] = [
    ("0", "Success."),
    ("1", "The work failed; a message on standard error says why."),
    ("2", "The arguments are invalid."),
    ("3", "A rule of a level is broken."),
];

/// Writes the man pages, the completions or the schema into an existing folder, over those that are there.
pub fn run(options: &GenerateOptions) -> Result<(), CliError> {
    let files = match options.what {
        Generated::Man => man_pages(),
        Generated::Completions => Ok(completions()),
        Generated::Schema => Ok(vec![schema()]),
    };
    let files = files.map_err(|error| CliError::Output(error.to_string()))?;
    let mut staged = Vec::with_capacity(files.len());
    for (name, contents) in &files {
        staged.push(atomic::stage_bytes(&options.folder.join(name), true, contents)?);
    }
    let written = atomic::commit_all(staged)?;
    print_lines(written.iter().map(|path| format!("wrote {}", path.display())))
}

/// The name and the contents of a file.
type Generation = (String, Vec<u8>);

/// The man page of the program and one for each subcommand.
fn man_pages() -> io::Result<Vec<Generation>> {
    let mut command = public_command().disable_help_subcommand(true);
    // Gives the subcommands their full names.
    command.build();
    let mut pages = vec![man_page(&command, &see_also(&command))?];
    for subcommand in command.get_subcommands() {
        pages.push(man_page(subcommand, &[command.get_name().into()])?);
    }
    Ok(pages)
}

/// The names of the pages of the subcommands.
fn see_also(command: &Command) -> Vec<String> {
    command.get_subcommands().map(|subcommand| page_name(subcommand).into()).collect()
}

fn page_name(command: &Command) -> &str {
    command.get_display_name().unwrap_or_else(|| command.get_name())
}

/// A man page, which refers to others.
fn man_page(command: &Command, see_also: &[String]) -> io::Result<Generation> {
    // Where there is no date, the fields after it take its place.
    let page = Man::new(command.clone())
        .date(concat!("Version ", env!("CARGO_PKG_VERSION")))
        .source("Upthrust")
        .manual("Upthrust manual");
    let mut contents = Vec::new();
    page.render_title(&mut contents)?;
    page.render_name_section(&mut contents)?;
    page.render_synopsis_section(&mut contents)?;
    page.render_description_section(&mut contents)?;
    page.render_options_section(&mut contents)?;
    if command.has_subcommands() {
        page.render_subcommands_section(&mut contents)?;
    }
    let mut end = Roff::new();
    end.control("SH", ["EXIT STATUS"]);
    for (status, meaning) in EXIT_STATUS {
        end.control("TP", []).text([bold(status)]).text([roman(meaning)]);
    }
    end.control("SH", ["SEE ALSO"]);
    let last = see_also.len().saturating_sub(1);
    for (index, name) in see_also.iter().enumerate() {
        end.text([bold(name.as_str()), roman(if index == last { "(1)" } else { "(1)," })]);
    }
    end.to_writer(&mut contents)?;
    Ok((page.get_filename(), contents))
}

/// The JSON Schema of project files.
fn schema() -> Generation {
    ("upthrust.schema.json".into(), format!("{:#}\n", project_schema()).into_bytes())
}

/// The completions of every shell, under the names by which shells load them.
fn completions() -> Vec<Generation> {
    let mut command = public_command();
    let name = command.get_name().to_string();
    let shells = [
        (Shell::Bash, name.clone()),
        (Shell::Zsh, format!("_{name}")),
        (Shell::Fish, format!("{name}.fish")),
        (Shell::PowerShell, format!("_{name}.ps1")),
    ];
    shells
        .into_iter()
        .map(|(shell, file)| {
            let mut contents = Vec::new();
            clap_complete::generate(shell, &mut command, name.clone(), &mut contents);
            (file, contents)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use std::process::Command as Process;

    use super::*;

    fn text(contents: &[u8]) -> String {
        String::from_utf8(contents.to_vec()).expect("text")
    }

    /// The contents of a file, with the escapes of roff undone.
    fn file(files: &[Generation], name: &str) -> String {
        let (_, contents) = files.iter().find(|(file, _)| file == name).expect(name);
        text(contents).replace("\\-", "-").replace("\\fB", "").replace("\\fI", "").replace("\\fR", "")
    }

    #[test]
    fn the_man_pages_name_every_subcommand_and_option() {
        let pages = man_pages().expect("rendered");
        let command = public_command();
        let program = file(&pages, "upthrust.1");
        assert_eq!(pages.len(), 1 + command.get_subcommands().count());
        for subcommand in command.get_subcommands() {
            let name = format!("upthrust-{}", subcommand.get_name());
            assert!(program.contains(&name), "{name}");
            let page = file(&pages, &format!("{name}.1"));
            for argument in subcommand.get_arguments() {
                let long = argument.get_long().map(|long| format!("--{long}"));
                let short = argument.get_short().map(|short| format!("-{short}"));
                for option in long.into_iter().chain(short) {
                    assert!(page.contains(&option), "{name} {option}");
                }
            }
            assert!(page.contains("EXIT STATUS"), "{name}");
        }
        assert!(!program.contains("generate"), "packages need it, users do not");
    }

    #[test]
    fn every_shell_gets_completions_of_every_subcommand() {
        let files = completions();
        assert_eq!(files.len(), 4);
        for (name, contents) in &files {
            let script = text(contents);
            for subcommand in public_command().get_subcommands() {
                assert!(script.contains(subcommand.get_name()), "{name}: {}", subcommand.get_name());
            }
            assert!(script.contains("texture-size") && !script.contains("generate"), "{name}");
        }
    }

    #[test]
    fn bash_accepts_its_completions() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("upthrust");
        std::fs::write(&path, file(&completions(), "upthrust")).expect("written");
        match Process::new("bash").arg("-n").arg(&path).status() {
            Ok(status) => assert!(status.success()),
            Err(error) => println!("SKIPPED: bash does not run: {error}"),
        }
    }

    #[test]
    fn files_are_written_into_the_folder_and_replaced() {
        let folder = tempfile::tempdir().expect("a folder");
        let options = GenerateOptions { what: Generated::Completions, folder: folder.path().into() };
        for _ in 0..2 {
            run(&options).expect("written");
        }
        let options = GenerateOptions { what: Generated::Man, folder: folder.path().join("missing") };
        assert!(matches!(run(&options), Err(CliError::File(_))));
    }

    #[test]
    fn the_generated_command_line_is_that_of_the_program() {
        let mut public = public_command();
        let help = public.render_long_help().to_string();
        let mut declared = <super::super::arguments::Arguments as clap::CommandFactory>::command();
        assert_eq!(help, declared.render_long_help().to_string());
    }
}
