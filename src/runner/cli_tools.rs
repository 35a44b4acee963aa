//! The Copilot CLI's own tools: the one table of them.
//!
//! All are off. A switch of the person puts a tool on the allow-list of the chat, and lets it ask for its permissions.

use crate::tools::policy::ToolPolicy;

/// One of the CLI's own tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CliTool {
    /// Its name in the CLI.
    pub name: &'static str,
    /// The switches that put it on, any of them. Browy's `write_file` is older than the names the CLI has now. The name
    /// of a tool of ours puts none on: whoever switches `read_file` on, which reads the agent's own folder, does not
    /// mean every file of the computer. None: it is never on.
    pub switches: &'static [&'static str],
    /// The kinds of permission that it asks for.
    pub asks: &'static [&'static str],
    /// What it does, in a few words for the person; empty for one that is never on.
    pub title: &'static str,
}

const fn tool(
    name: &'static str,
    switches: &'static [&'static str],
    asks: &'static [&'static str],
    title: &'static str,
) -> CliTool {
    CliTool { name, switches, asks, title }
}

/// Every tool that the CLI has: `tools.list` of 1.0.102, and what it brings into a chat besides.
pub const CLI_TOOLS: &[CliTool] = &[
    // A command reads, writes and fetches too.
    tool("bash", &["bash"], &["shell", "read", "write", "url"], "Run commands in a terminal"),
    tool("read_bash", &[], &[], ""),
    tool("stop_bash", &[], &[], ""),
    tool("list_bash", &[], &[], ""),
    tool("glob", &["glob"], &["read"], "Find files by name"),
    tool("grep", &["grep"], &["read"], "Search in files"),
    tool("create", &["create", "write_file"], &["write", "read"], "Create files"),
    tool("edit", &["edit", "write_file"], &["write", "read"], "Change files"),
    tool("skill", &[], &[], ""),
    tool("view", &["view"], &["read"], "Read files"),
    tool("web_fetch", &["web_fetch"], &["url"], "Fetch addresses without the browser"),
    tool("task", &[], &[], ""),
    tool("read_agent", &[], &[], ""),
    tool("list_agents", &[], &[], ""),
    tool("write_agent", &[], &[], ""),
    tool("sql", &[], &[], ""),
    tool("semantic_code_search", &[], &[], ""),
];

/// Every kind of permission that the CLI asks for (`PermissionRequest` of 1.0.102). One that is in no
/// [`CliTool::asks`] is always refused, and so is one that a later CLI brings.
pub const PERMISSION_KINDS: &[&str] = &[
    "shell",
    "read",
    "write",
    "url",
    "mcp",
    "memory",
    "hook",
    "custom-tool",
    "extension-env-access",
    "extension-management",
    "extension-permission-access",
    "workflow",
];

/// The tools that are on.
pub fn switched_on(policy: &ToolPolicy) -> impl Iterator<Item = &'static CliTool> {
    CLI_TOOLS.iter().filter(|tool| tool.switches.iter().any(|switch| policy.is_switched_on(switch)))
}

/// Whether a permission of this kind may be given now. `tool`: who asks, if that is known; else it is enough that
/// anybody could be asking.
pub fn may_ask(policy: &ToolPolicy, kind: &str, tool: Option<&str>) -> bool {
    switched_on(policy).any(|on| tool.is_none_or(|tool| tool == on.name) && on.asks.contains(&kind))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn on(switches: &[&str]) -> ToolPolicy {
        ToolPolicy::new([], switches.iter().map(|switch| (*switch).to_owned()))
    }

    #[test]
    fn every_switch_puts_on_what_it_names_and_nothing_else() {
        let names = |switch: &str| switched_on(&on(&[switch])).map(|tool| tool.name).collect::<Vec<_>>();
        for tool in CLI_TOOLS {
            let own = if tool.switches.contains(&tool.name) { vec![tool.name] } else { Vec::new() };
            assert_eq!(names(tool.name), own);
        }
        for ours in crate::tools::all() {
            let name = ours.spec().name;
            assert!(names(name).is_empty(), "the switch of our {name} opens a tool of the CLI");
        }
        assert_eq!(names("write_file"), ["create", "edit"]);
        assert!(names("no_such_tool").is_empty());
        assert_eq!(switched_on(&ToolPolicy::default()).count(), 0);
        let both = ToolPolicy::new(["bash".to_owned()], ["bash".to_owned()]);
        assert_eq!(switched_on(&both).count(), 0, "what is switched off stays off");
    }

    #[test]
    fn only_the_tool_that_is_on_may_ask() {
        let policy = on(&["grep"]);
        assert!(may_ask(&policy, "read", Some("grep")) && may_ask(&policy, "read", None));
        assert!(!may_ask(&policy, "read", Some("view")) && !may_ask(&policy, "shell", Some("grep")));
        for kind in PERMISSION_KINDS {
            assert!(!may_ask(&ToolPolicy::default(), kind, None), "{kind}");
        }
        for tool in CLI_TOOLS {
            assert!(tool.asks.iter().all(|kind| PERMISSION_KINDS.contains(kind)), "{tool:?}");
            assert_eq!(tool.switches.is_empty(), tool.asks.is_empty(), "{tool:?}");
            assert_eq!(tool.switches.is_empty(), tool.title.is_empty(), "{tool:?}");
        }
    }
}
