//! Nodes of the browser's accessibility tree, as DevTools tells them.

use std::collections::{HashMap, HashSet};

use serde::Deserialize;
use serde_json::Value;

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct AxNode {
    pub(super) node_id: String,
    pub(super) ignored: bool,
    pub(super) role: Option<AxValue>,
    pub(super) name: Option<AxValue>,
    pub(super) description: Option<AxValue>,
    pub(super) value: Option<AxValue>,
    pub(super) properties: Vec<AxProperty>,
    pub(super) child_ids: Vec<String>,
    #[serde(rename = "backendDOMNodeId")]
    pub(super) backend: Option<i64>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(super) struct AxValue {
    pub(super) value: Value,
}

#[derive(Debug, Clone, Deserialize)]
pub(super) struct AxProperty {
    pub(super) name: String,
    pub(super) value: AxValue,
}

pub(super) fn text_of(value: Option<&AxValue>) -> String {
    match value.map(|value| &value.value) {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Number(number)) => number.to_string(),
        Some(Value::Bool(flag)) => flag.to_string(),
        _ => String::new(),
    }
}

impl AxNode {
    pub(super) fn role(&self) -> String {
        text_of(self.role.as_ref())
    }

    pub(super) fn property(&self, name: &str) -> Option<&Value> {
        self.properties.iter().find(|own| own.name == name).map(|own| &own.value.value)
    }
}

/// An answer lists a node's children and, behind each ignored one, that one's: the first that none of the others
/// names are the children asked for, and ignored ones give way to theirs.
pub(super) fn in_order(nodes: Vec<AxNode>) -> Vec<AxNode> {
    let below: HashSet<String> = nodes.iter().flat_map(|node| node.child_ids.iter().cloned()).collect();
    let (mut by_id, mut order) = (HashMap::new(), Vec::new());
    for node in nodes {
        if !below.contains(&node.node_id) {
            order.push(node.node_id.clone());
        }
        by_id.insert(node.node_id.clone(), node);
    }
    let mut out = Vec::new();
    let mut stack: Vec<String> = order.into_iter().rev().collect();
    while let Some(id) = stack.pop() {
        let Some(node) = by_id.remove(&id) else { continue };
        if node.ignored
            && !node.child_ids.is_empty()
            && node.child_ids.iter().all(|id| by_id.contains_key(id))
        {
            stack.extend(node.child_ids.iter().rev().cloned());
            continue;
        }
        out.push(node);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(id: &str, ignored: bool, children: &[&str]) -> AxNode {
        AxNode {
            node_id: id.to_owned(),
            ignored,
            child_ids: children.iter().map(|id| (*id).to_owned()).collect(),
            ..AxNode::default()
        }
    }

    fn ids(nodes: Vec<AxNode>) -> Vec<String> {
        in_order(nodes).into_iter().map(|node| node.node_id).collect()
    }

    #[test]
    fn ignored_nodes_give_way_to_their_children() {
        let nodes = vec![
            node("1", false, &["9"]),
            node("2", true, &["3", "4"]),
            node("3", true, &["5"]),
            node("5", false, &[]),
            node("4", false, &[]),
            node("6", false, &[]),
        ];
        assert_eq!(ids(nodes), ["1", "5", "4", "6"]);
        // One whose children did not come along stays, to be asked for them.
        assert_eq!(ids(vec![node("1", true, &["2"])]), ["1"]);
    }
}
