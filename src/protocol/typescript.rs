//! `extension/shared/protocol.d.ts`: this module's types for the extension's type checker.

use std::collections::BTreeMap;
use std::path::Path;

use ts_rs::{Config, TS, TypeVisitor};

use super::{ErrorCode, Inbound, Outbound, limits};

const HEAD: &str = "\
// Messages between extension and host, generated from src/protocol. Do not edit:
// `UPDATE=1 cargo test --lib typescript` writes it again, and a test fails when it is stale.
";

/// The declarations of a type and of all that it needs, by name.
struct Declarations {
    config: Config,
    found: BTreeMap<String, String>,
}

impl Declarations {
    fn add<T: TS + 'static + ?Sized>(&mut self) {
        // Only types that would be written to a file of their own have a declaration.
        if T::output_path().is_none() || self.found.contains_key(&T::ident(&self.config)) {
            return;
        }
        let docs = on_one_line(&T::docs().unwrap_or_default());
        let text = format!("{docs}export {}\n", laid_out(&on_one_line(&T::decl(&self.config))));
        self.found.insert(T::ident(&self.config), text);
        T::visit_dependencies(self);
    }
}

impl TypeVisitor for Declarations {
    fn visit<T: TS + 'static + ?Sized>(&mut self) {
        self.add::<T>();
    }
}

/// Comments of one line on one line: ts-rs gives each three.
fn on_one_line(text: &str) -> String {
    let comment = regex::Regex::new(r"/\*\*\n \* ([^\n]*)\n \*/").unwrap();
    let trailing = regex::Regex::new(r"[ \t]+\n").unwrap();
    trailing.replace_all(&comment.replace_all(text, "/** $1 */"), "\n").into_owned()
}

/// One field or variant a line.
fn laid_out(declaration: &str) -> String {
    let Some((head, body)) = declaration.split_once(" = ") else { return declaration.to_owned() };
    if let Some(fields) =
        body.strip_prefix("{ ").or(body.strip_prefix("{\n")).and_then(|rest| rest.strip_suffix(", };"))
        && !fields.contains('{')
    {
        let lines: Vec<String> =
            fields.replace('\n', " ").replace("*/ ", "*/\n  ").split(", ").map(str::to_owned).collect();
        // A comma inside a comment or a type is no end of a field: those lines lack a colon of their own.
        let mut text = format!("{head} = {{\n");
        let mut open = String::new();
        for line in lines {
            open = if open.is_empty() { line } else { format!("{open}, {line}") };
            if is_field(&open) {
                text.push_str(&format!("  {};\n", open.trim()));
                open.clear();
            }
        }
        return format!("{text}}};");
    }
    let variants = body.replace(" | ", "\n  | ");
    if body.len() < 100 { declaration.to_owned() } else { format!("{head} =\n  | {variants}") }
}

/// `name: type`, with its comment closed and its brackets balanced.
fn is_field(text: &str) -> bool {
    let code = text.rsplit("*/").next().unwrap_or(text);
    let balanced = |open, close| code.matches(open).count() == code.matches(close).count();
    text.matches("/**").count() == text.matches("*/").count()
        && code.contains(": ")
        && balanced('<', '>')
        && balanced('[', ']')
}

fn generated() -> String {
    let mut declarations = Declarations { config: Config::new(), found: BTreeMap::new() };
    declarations.add::<Inbound>();
    declarations.add::<Outbound>();
    declarations.add::<ErrorCode>();
    let mut text = HEAD.to_owned();
    text.push_str(&format!(
        "\n/** The number in `hello` and `hello.ack`. */\nexport type Protocol = {};\n",
        limits::PROTOCOL
    ));
    for declaration in declarations.found.values() {
        text.push('\n');
        text.push_str(declaration);
    }
    text
}

#[test]
fn declarations_for_the_extension_are_fresh() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("extension/shared/protocol.d.ts");
    let fresh = generated();
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(&path, &fresh).unwrap();
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        written == fresh,
        "extension/shared/protocol.d.ts is stale: UPDATE=1 cargo test --lib typescript"
    );
}

#[test]
fn every_message_type_is_declared() {
    let text = generated();
    for kind in super::INBOUND_TYPES {
        assert!(text.contains(&format!("\"type\": \"{kind}\"")), "{kind}");
    }
    assert!(!text.contains("bigint"), "numbers of the wire are JavaScript numbers");
}
