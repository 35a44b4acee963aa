//! The tools that the model is told of from the beginning. All others cost nothing until `more_tools` reveals them.

/// The tool that reveals others.
pub const MORE_TOOLS: &str = "more_tools";

/// What most tasks need, and no more than 3,500 tokens of it.
const FIRST: &[&str] = &[
    "await_user",
    "check_index",
    "click_index",
    "extract_form",
    "extract_text",
    "fill_form",
    "handle_dialog",
    "hover_index",
    "inspect_page",
    "list_tabs",
    MORE_TOOLS,
    "navigate",
    "new_tab",
    "pick_option",
    "press_key",
    // Off until the person switches it on; who does wants it used.
    "run_script",
    "screenshot",
    "scroll",
    "select_index",
    "submit_form",
    "switch_tab",
    "type_index",
    "wait_for",
];

/// Whether the model is told of the tool from the beginning.
pub fn is_first(name: &str) -> bool {
    FIRST.contains(&name)
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_name_is_a_tool() {
        for name in super::FIRST {
            assert!(crate::tools::by_name(name).is_some(), "{name}");
        }
    }
}
