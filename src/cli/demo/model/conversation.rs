//! The request of the CLI, read into what the agent looks at.

use serde_json::Value;

/// What has happened since the person's last words.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Conversation {
    /// The person's last words, with the context blocks behind them.
    pub prompt: String,
    /// Every tool call since, in order.
    pub calls: Vec<Call>,
    /// Names of the tools on offer.
    pub tools: Vec<String>,
}

/// One finished tool call.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    /// The tool.
    pub name: String,
    /// Its arguments.
    pub args: Value,
    /// What came back.
    pub result: String,
}

impl Call {
    /// The result as JSON, if it is an object.
    pub fn json(&self) -> Option<Value> {
        serde_json::from_str(&self.result).ok().filter(Value::is_object)
    }

    /// What went wrong, if something did. A tool that was refused or failed answers with a sentence
    /// instead of its usual form.
    pub fn error(&self) -> Option<String> {
        if let Some(json) = self.json() {
            let failed = json["success"].as_bool() == Some(false) || json.get("error").is_some();
            return failed.then(|| json["error"].as_str().unwrap_or("It did not say why.").to_owned());
        }
        // Text of a page comes between fences; every other tool in use answers with JSON.
        let usual =
            self.name == "inspect_page" || (self.name == "extract_text" && self.result.starts_with('<'));
        (!usual).then(|| self.result.lines().next().unwrap_or("It said nothing.").to_owned())
    }
}

impl Conversation {
    /// Reads an OpenAI-style request.
    pub fn read(request: &Value) -> Self {
        let messages = request["messages"].as_array().map(Vec::as_slice).unwrap_or_default();
        let tools = request["tools"].as_array().map(Vec::as_slice).unwrap_or_default();
        let tools = tools.iter().filter_map(|t| t["function"]["name"].as_str()).map(str::to_owned).collect();
        // A user message without words carries a tool's picture.
        let asked = messages.iter().rposition(|message| {
            message["role"] == "user" && !carries_picture(message) && !text(message).is_empty()
        });
        let Some(asked) = asked else { return Self { tools, ..Self::default() } };
        let since = &messages[asked + 1..];
        let calls = since
            .iter()
            .filter(|message| message["role"] == "assistant")
            .flat_map(|message| message["tool_calls"].as_array().map(Vec::as_slice).unwrap_or_default())
            .filter_map(|call| {
                let answer = since.iter().find(|m| m["role"] == "tool" && m["tool_call_id"] == call["id"])?;
                let args = call["function"]["arguments"].as_str().unwrap_or("{}");
                Some(Call {
                    name: call["function"]["name"].as_str()?.to_owned(),
                    args: serde_json::from_str(args).unwrap_or_default(),
                    result: text(answer),
                })
            })
            .collect();
        Self { prompt: text(&messages[asked]), calls, tools }
    }
}

fn carries_picture(message: &Value) -> bool {
    message["content"].as_array().is_some_and(|parts| parts.iter().any(|part| part["type"] == "image_url"))
}

fn text(message: &Value) -> String {
    match &message["content"] {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().filter_map(|part| part["text"].as_str()).collect(),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_what_came_after_the_last_words_counts() {
        let request = json!({
            "tools": [{ "type": "function", "function": { "name": "list_tabs" } }],
            "messages": [
                { "role": "system", "content": "s" },
                { "role": "user", "content": "old" },
                { "role": "assistant", "tool_calls": [{ "id": "a", "function": { "name": "x", "arguments": "{}" } }] },
                { "role": "tool", "tool_call_id": "a", "content": "old result" },
                { "role": "user", "content": [{ "type": "text", "text": "new" }] },
                { "role": "assistant", "content": "ok", "tool_calls": [
                    { "id": "b", "function": { "name": "y", "arguments": "{\"index\":4}" } },
                    { "id": "c", "function": { "name": "z", "arguments": "not json" } }] },
                { "role": "tool", "tool_call_id": "c", "content": "third" },
                { "role": "tool", "tool_call_id": "b", "content": "{\"success\":false,\"error\":\"gone\"}" },
                { "role": "user", "content": [{ "type": "image_url" }, { "type": "text", "text": "a picture" }] },
            ],
        });
        let conversation = Conversation::read(&request);
        assert_eq!(conversation.prompt, "new");
        assert_eq!(conversation.tools, ["list_tabs"]);
        assert_eq!(conversation.calls.len(), 2);
        assert_eq!(conversation.calls[0].args, json!({ "index": 4 }));
        assert_eq!(conversation.calls[0].error().as_deref(), Some("gone"));
        assert_eq!(conversation.calls[1].error().as_deref(), Some("third"));
    }
}
