//! The rules of docs/architecture.md that can be read from the sources.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use regex::Regex;

/// Compiled once: without optimisation that takes longer than the matching.
macro_rules! pattern {
    ($text:expr) => {{
        static PATTERN: LazyLock<Regex> = LazyLock::new(|| Regex::new($text).unwrap());
        &*PATTERN
    }};
}

const MAX_FILE_LINES: usize = 600;
const MAX_FUNCTION_LINES: usize = 80;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Files below `folder` (relative to the project), without what is fetched or built.
fn files_below(folder: &str) -> Vec<PathBuf> {
    const SKIPPED: [&str; 6] = [".git", "target", "node_modules", "vendor", "out", "snapshots"];
    let mut found = Vec::new();
    let mut folders = vec![root().join(folder)];
    while let Some(folder) = folders.pop() {
        for entry in
            std::fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
        {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            if path.is_dir() && !SKIPPED.contains(&name.as_str()) {
                folders.push(path);
            } else if path.is_file() {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

fn with_extension<'a>(files: &'a [PathBuf], extensions: &'a [&str]) -> impl Iterator<Item = &'a PathBuf> {
    files.iter().filter(move |path| {
        path.extension().and_then(|found| found.to_str()).is_some_and(|found| extensions.contains(&found))
    })
}

fn shown(path: &Path) -> String {
    path.strip_prefix(root()).unwrap_or(path).display().to_string()
}

fn text_of(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The table of a Markdown text: module → what it may use. `None` = everything.
fn dependency_table(text: &str) -> BTreeMap<String, Option<BTreeSet<String>>> {
    let name = pattern!(r"`([a-z_]+)`");
    let mut table = BTreeMap::new();
    for line in text.lines() {
        let line = line.trim_start_matches("//!").trim();
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        let [modules, _, uses] = cells[..] else { continue };
        if !line.starts_with('|') || !modules.contains('`') {
            continue;
        }
        let uses = match uses {
            "everything" => None,
            "–" => Some(BTreeSet::new()),
            list => Some(list.split(',').map(|word| word.trim().replace('`', "")).collect()),
        };
        for found in name.captures_iter(modules) {
            table.insert(found[1].to_owned(), uses.clone());
        }
    }
    table
}

fn library_table() -> BTreeMap<String, Option<BTreeSet<String>>> {
    let text = text_of(&root().join("src/lib.rs"));
    let doc: Vec<&str> = text.lines().take_while(|line| line.starts_with("//!")).collect();
    dependency_table(&doc.join("\n"))
}

/// Modules that only tests compile (`#[cfg(test)] mod x;`) and the code after `#[cfg(test)]` do not count.
fn without_tests(text: &str) -> String {
    let end = pattern!(r"(?m)^#\[cfg\(test\)\]\s*\n(#\[[^\n]*\]\s*\n)*(pub )?mod \w+ \{");
    let text = end.find(text).map_or(text, |found| &text[..found.start()]);
    text.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n")
}

fn test_only_files(files: &[PathBuf]) -> BTreeSet<PathBuf> {
    let declared = pattern!(
        r"#\[cfg\((?:test|all\(test[^\]]*)\)\]\s*(?:#\[[^\n]*\]\s*)*(?:pub(?:\([^)]*\))? )?mod (\w+);"
    );
    let mut found = BTreeSet::new();
    for path in files {
        let stem = path.file_stem().unwrap().to_str().unwrap();
        let folder = match stem {
            "mod" | "lib" | "main" => path.parent().unwrap().to_owned(),
            _ => path.with_extension(""),
        };
        for module in declared.captures_iter(&text_of(path)) {
            found.insert(folder.join(format!("{}.rs", &module[1])));
            found.insert(folder.join(&module[1]).join("mod.rs"));
        }
    }
    found
}

/// What a source names of our crate: `(top-level module, the name after it if there is one)`.
fn crate_paths(text: &str) -> BTreeSet<(String, String)> {
    let single = pattern!(r"\bcrate::([a-z_]+)(?:::(\w+|\{[^;]*?\}))?");
    let group = pattern!(r"(?s)use crate::\{(.*?)\};");
    let first = pattern!(r"(?:^|,)\s*([a-z_]+)(?:::(\w+))?");
    let word = pattern!(r"\w+");
    let nested = pattern!(r"\{[^{}]*\}");
    let mut found = BTreeSet::new();
    for path in single.captures_iter(text) {
        let rest = path.get(2).map_or("", |rest| rest.as_str());
        if rest.starts_with('{') {
            found.extend(word.find_iter(rest).map(|name| (path[1].to_owned(), name.as_str().to_owned())));
        } else {
            found.insert((path[1].to_owned(), rest.to_owned()));
        }
    }
    for list in group.captures_iter(text) {
        let flat = nested.replace_all(&list[1], "");
        for path in first.captures_iter(&flat) {
            found.insert((path[1].to_owned(), path.get(2).map_or("", |rest| rest.as_str()).to_owned()));
        }
    }
    found
}

/// `allowed` may narrow a module to one of its files: `protocol::ids` is the names that file declares.
fn allows(allowed: &BTreeSet<String>, module: &str, name: &str) -> bool {
    if allowed.contains(module) {
        return true;
    }
    let narrowed = allowed.iter().filter_map(|entry| entry.strip_prefix(module)?.strip_prefix("::"));
    narrowed.into_iter().any(|file| {
        let declared = text_of(&root().join("src").join(module).join(format!("{file}.rs")));
        let declares =
            Regex::new(&format!(r"(?:struct|enum|fn|type|trait)\s+{name}\b|^\s*{name}\s*$")).unwrap();
        !name.is_empty() && (name == file || declared.lines().any(|line| declares.is_match(line)))
    })
}

#[test]
fn modules_use_only_what_the_table_allows() {
    let table = library_table();
    let files = files_below("src");
    let files: Vec<PathBuf> = with_extension(&files, &["rs"]).cloned().collect();
    let test_only = test_only_files(&files);
    let mut faults = Vec::new();
    for path in files.iter().filter(|path| !test_only.contains(*path)) {
        let inside = path.strip_prefix(root().join("src")).unwrap();
        let module = inside.iter().next().unwrap().to_str().unwrap().trim_end_matches(".rs");
        if matches!(module, "main" | "lib") {
            continue;
        }
        let allowed = table.get(module).unwrap_or_else(|| panic!("src/lib.rs has no row for `{module}`"));
        let Some(allowed) = allowed else { continue };
        for (used, name) in crate_paths(&without_tests(&text_of(path))) {
            if used != module && table.contains_key(&used) && !allows(allowed, &used, &name) {
                faults.push(format!("{}: {module} may not use {used}::{name}", shown(path)));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn dependencies_go_one_way() {
    let table = library_table();
    let uses = |module: &str| -> Vec<String> {
        let names = table[module].clone().unwrap_or_default();
        names.iter().map(|name| name.split("::").next().unwrap().to_owned()).collect()
    };
    for start in table.keys() {
        let mut open = uses(start);
        let mut seen = BTreeSet::new();
        while let Some(module) = open.pop() {
            assert_ne!(&module, start, "`{start}` reaches itself");
            assert!(table.contains_key(&module), "the table has no row for `{module}`");
            if seen.insert(module.clone()) {
                open.extend(uses(&module));
            }
        }
    }
}

#[test]
fn architecture_page_has_the_same_table_as_the_library() {
    let page = dependency_table(&text_of(&root().join("docs/architecture.md")));
    for (module, uses) in library_table() {
        assert_eq!(page.get(&module), Some(&uses), "the row of `{module}` in docs/architecture.md");
    }
}

/// Functions longer than the limit, by indentation: rustfmt and the JavaScript rules keep it honest.
fn long_functions(text: &str, starts: &Regex) -> Vec<(usize, usize)> {
    let lines: Vec<&str> = text.lines().collect();
    let mut found = Vec::new();
    for (number, line) in lines.iter().enumerate() {
        if !starts.is_match(line) {
            continue;
        }
        let indent = &line[..line.len() - line.trim_start().len()];
        let is_end = |line: &&str| {
            line.strip_prefix(indent).is_some_and(|rest| rest.starts_with('}') || rest.starts_with(";"))
        };
        if line.trim_end().ends_with(['}', ';']) {
            continue;
        }
        let length = lines[number + 1..].iter().position(is_end).map_or(0, |end| end + 2);
        if length > MAX_FUNCTION_LINES {
            found.push((number + 1, length));
        }
    }
    found
}

#[test]
fn no_file_is_over_600_lines_and_no_function_over_80() {
    let rust =
        pattern!(r#"^\s*(pub(\([^)]*\))? )?(default )?(const )?(async )?(unsafe )?(extern "C" )?fn \w"#);
    let javascript = pattern!(
        r"^\s*(export )?(default )?(async )?(function\b|(static )?(async )?#?\w+\([^)]*\) \{$|(const|let) \w+ = (async )?(\([^)]*\)|\w+) => \{$)"
    );
    // A function that is called where it stands is a file's module, not a function of it.
    let not_a_function =
        pattern!(r"^\s*(if|for|while|switch|catch|with|do|else|return)\b|\(\([^)]*\) => \{$");
    let mut faults = Vec::new();
    for folder in
        ["src", "tests", "extension", "install"].into_iter().filter(|name| root().join(name).is_dir())
    {
        for path in with_extension(&files_below(folder), &["rs", "js", "mjs", "css", "html", "sh", "ps1"]) {
            let text = text_of(path);
            let lines = text.lines().count();
            if lines > MAX_FILE_LINES {
                faults.push(format!("{} has {lines} lines", shown(path)));
            }
            let starts = match path.extension().and_then(|found| found.to_str()) {
                Some("rs") => rust,
                Some("js" | "mjs") => javascript,
                _ => continue,
            };
            for (line, length) in long_functions(&text, starts) {
                if !not_a_function.is_match(text.lines().nth(line - 1).unwrap()) {
                    faults.push(format!("{}:{line} is a function of {length} lines", shown(path)));
                }
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn long_functions_are_seen() {
    let rust = pattern!(r"^\s*fn \w");
    let body = "        work();\n".repeat(79);
    let text = format!("impl X {{\n    fn long() {{\n{body}    }}\n\n    fn short() {{\n    }}\n}}\n");
    assert_eq!(long_functions(&text, rust), [(2, 81)]);
}

#[test]
fn every_file_of_this_folder_is_part_of_the_tests() {
    let main = text_of(&root().join("tests/it/main.rs"));
    for entry in std::fs::read_dir(root().join("tests/it")).unwrap() {
        let path = entry.unwrap().path();
        let stem = path.file_stem().unwrap().to_str().unwrap();
        let is_module = path.extension().is_some_and(|found| found == "rs") || path.join("mod.rs").is_file();
        if is_module && stem != "main" {
            assert!(main.contains(&format!("mod {stem};")), "tests/it/main.rs has no `mod {stem};`");
        }
    }
}

#[test]
fn tests_that_the_pages_name_exist() {
    let cited = pattern!(r"`((?:\w+::)+)(\w+)`");
    let files = [files_below("src"), files_below("tests")].concat();
    let sources: Vec<(String, String)> =
        with_extension(&files, &["rs"]).map(|path| (shown(path), text_of(path))).collect();
    for (page, least) in [("docs/security.md", 90), ("docs/faults.md", 90)] {
        let mut checked = 0;
        for found in cited.captures_iter(&text_of(&root().join(page))) {
            // The file is named by the module, or by the one around it.
            let modules: Vec<&str> =
                found[1].split("::").filter(|name| !["", "tests"].contains(name)).collect();
            let is_there = sources.iter().any(|(path, text)| {
                let of_module = modules.last().is_none_or(|module| {
                    path.contains(&format!("/{module}.rs")) || path.contains(&format!("/{module}/"))
                });
                of_module && text.contains(&format!("fn {}(", &found[2]))
            });
            assert!(is_there, "{page} names `{}{}`", &found[1], &found[2]);
            checked += 1;
        }
        assert!(checked >= least, "{page} names {checked} tests");
    }
}

#[test]
fn cases_that_the_page_of_faults_names_exist() {
    let word = pattern!(r"(?:\b([a-z]+)/)?\b([a-z]\d+|x-[a-z-]+)\b|`[^`]*`|\|");
    let page = text_of(&root().join("docs/faults.md"));
    let mut checked = 0;
    for line in page.lines().filter(|line| line.starts_with('|')) {
        let mut folder = None;
        for found in word.captures_iter(line) {
            if &found[0] == "|" {
                folder = None;
            }
            folder = found.get(1).map(|name| name.as_str()).or(folder);
            let (Some(folder), Some(name)) = (folder, found.get(2)) else { continue };
            let path = root().join("tests/cases").join(folder).join(format!("{}.json", name.as_str()));
            assert!(path.is_file(), "docs/faults.md names {folder}/{}", name.as_str());
            checked += 1;
        }
    }
    assert!(checked >= 100, "docs/faults.md names {checked} cases");
}

/// Text files of the project that people read or that are shipped.
fn written_files() -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(root()).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| {
        path.is_file() && path.file_name().is_some_and(|name| name != "Cargo.lock" && name != ".git")
    });
    for folder in ["src", "extension", "manifests", "install", "tests", "docs", ".ci"] {
        if root().join(folder).is_dir() {
            files.extend(files_below(folder));
        }
    }
    files.retain(|path| path.file_name().is_some_and(|name| name != "package-lock.json"));
    files
}

#[test]
fn no_file_names_a_path_of_somebodys_machine() {
    const EXAMPLE_PEOPLE: [&str; 4] = ["ana", "you", "me", "x"];
    let home = pattern!(r"(?:/home|/Users)/([A-Za-z][\w.-]*)");
    let checkout = root().parent().map(|parent| format!("{}/", parent.display()));
    // A checkout in a common folder says nothing: others write `/tmp/` as well.
    let telling = checkout.filter(|parent| {
        !["/", "//", "/tmp/", "/home/", "/root/", "/opt/", "/usr/", "/var/", "/srv/", "/src/"]
            .contains(&parent.as_str())
    });
    let mut faults = Vec::new();
    for path in written_files() {
        let Ok(text) = std::fs::read_to_string(&path) else { continue };
        for (number, line) in text.lines().enumerate() {
            let names_person = home.captures_iter(line).any(|found| !EXAMPLE_PEOPLE.contains(&&found[1]));
            if names_person || telling.as_ref().is_some_and(|parent| line.contains(parent)) {
                faults.push(format!("{}:{}: {}", shown(&path), number + 1, line.trim()));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// The lines of the shell blocks of a Markdown text, without prompts and comments.
fn shell_lines(markdown: &str) -> Vec<String> {
    let block = pattern!(r"(?s)```(?:sh|bash|console)\n(.*?)```");
    let lines = block.captures_iter(markdown).flat_map(|found| {
        found[1].lines().map(|line| line.split(" #").next().unwrap().trim().to_owned()).collect::<Vec<_>>()
    });
    lines.filter(|line| !line.is_empty() && !line.starts_with('#')).collect()
}

#[test]
fn commands_of_the_readme_exist() {
    let readme = text_of(&root().join("README.md"));
    let layers = text_of(&root().join("tests/run"));
    let mut checked = 0;
    for line in shell_lines(&readme) {
        let mut words = line.split_whitespace();
        let program = words.next().unwrap();
        match program.trim_start_matches("./") {
            script @ ("install/install.sh" | "install/uninstall.sh" | "tests/run") => {
                assert!(root().join(script).is_file(), "{line}: no such file");
                let script_text = text_of(&root().join(script));
                for word in words.by_ref().take_while(|word| *word != "--") {
                    let known = if script == "tests/run" {
                        layers.contains(&format!("layer_{word}()"))
                    } else {
                        script_text.contains(word)
                    };
                    assert!(known, "{line}: {script} does not know `{word}`");
                }
            }
            name if name == "browy" || name.ends_with("/browy") => {
                let command = words.find(|word| !word.starts_with('-')).unwrap_or("");
                let command = if command.is_empty() { vec!["--help"] } else { vec![command, "--help"] };
                let output =
                    std::process::Command::new(env!("CARGO_BIN_EXE_browy")).args(command).output().unwrap();
                assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
            }
            "cargo" | "git" | "cd" => continue,
            other => panic!("{line}: what is `{other}`?"),
        }
        checked += 1;
    }
    assert!(checked >= 2, "the README shows {checked} commands of ours");
}
