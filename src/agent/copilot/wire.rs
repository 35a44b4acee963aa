//! What travels between host and CLI: data only. Names follow the schemas that the CLI unpacks
//! (`schemas/api.schema.json`, `schemas/session-events.schema.json` of CLI 1.0.102).

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// `connect`.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Connect {
    pub supported_task_kinds: [&'static str; 0],
}

/// Reply to `connect`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Connected {
    pub protocol_version: u64,
    pub version: String,
}

/// Parameters that are only a session id.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct OfSession<'a> {
    pub session_id: &'a str,
}

/// `session.create` and `session.resume`: both take everything, and a resumed session keeps nothing of
/// it by itself.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct OpenSession<'a> {
    pub session_id: &'a str,
    pub client_name: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reasoning_effort: Option<&'a str>,
    pub streaming: bool,
    pub system_message: SystemMessage<'a>,
    pub tools: Vec<Tool<'a>>,
    pub available_tools: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider: Option<Provider<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model_capabilities: Option<Value>,
    pub working_directory: &'a str,
    pub disabled_mcp_servers: &'a [String],
    pub large_output: LargeOutput,
    pub env_value_mode: &'static str,
    pub request_permission: bool,
    pub request_user_input: bool,
    pub request_elicitation: bool,
    pub request_exit_plan_mode: bool,
    pub request_auto_mode_switch: bool,
    pub hooks: bool,
    pub enable_file_hooks: bool,
    pub enable_skills: bool,
    pub enable_host_git_operations: bool,
    pub enable_on_demand_instruction_discovery: bool,
    pub enable_session_store: bool,
    pub enable_session_telemetry: bool,
    pub enable_config_discovery: bool,
}

/// The whole system message.
#[derive(Debug, Serialize)]
pub struct SystemMessage<'a> {
    pub mode: &'static str,
    pub content: &'a str,
}

/// A tool that the host runs.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Tool<'a> {
    pub name: &'a str,
    pub description: &'a str,
    pub parameters: &'a Value,
    /// The host decides on each call itself; the CLI need not ask first.
    pub skip_permission: bool,
    /// Without it a tool that is named like one of the CLI's own vanishes silently.
    pub overrides_built_in_tool: bool,
    pub defer: &'static str,
}

/// The CLI's own way with large tool results.
#[derive(Debug, Serialize)]
pub struct LargeOutput {
    pub enabled: bool,
}

/// An own model provider.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Provider<'a> {
    pub r#type: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wire_api: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub azure: Option<Azure<'a>>,
    pub base_url: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub api_key: Option<&'a str>,
}

/// What only Azure wants to know.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Azure<'a> {
    pub api_version: &'a str,
}

/// Reply to `session.create` and `session.resume`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionOpened {
    #[serde(default)]
    pub model_state: Option<ModelState>,
}

/// The model in use.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ModelState {
    #[serde(default)]
    pub model_id: Option<String>,
}

/// `session.tools.set`.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SetTools<'a> {
    pub session_id: &'a str,
    pub tools: Vec<Tool<'a>>,
}

/// `session.options.update`, the list of what may be called.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AllowTools<'a> {
    pub session_id: &'a str,
    pub available_tools: Vec<String>,
}

/// `session.options.update`, the part that `session.create` does not take.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct UpdateOptions<'a> {
    pub session_id: &'a str,
    pub skip_custom_instructions: bool,
}

/// `session.send`.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Send<'a> {
    pub session_id: &'a str,
    pub prompt: &'a str,
    pub display_prompt: &'a str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub attachments: Vec<Attachment<'a>>,
}

/// A picture sent with a prompt.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Attachment<'a> {
    pub r#type: &'static str,
    pub data: &'a str,
    pub mime_type: &'a str,
    pub display_name: String,
}

/// `session.tools.handlePendingToolCall`.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolAnswer<'a> {
    pub session_id: &'a str,
    pub request_id: &'a str,
    pub result: ToolResult,
}

/// What a tool answers.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolResult {
    pub text_result_for_llm: String,
    pub result_type: &'static str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub binary_results_for_llm: Vec<BinaryResult>,
}

/// A picture that a tool answers.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct BinaryResult {
    pub r#type: &'static str,
    pub data: String,
    pub mime_type: String,
}

/// `session.permissions.handlePendingPermissionRequest`.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PermissionAnswer<'a> {
    pub session_id: &'a str,
    pub request_id: &'a str,
    pub result: PermissionDecision,
}

/// The decision on one request.
#[derive(Debug, Serialize)]
pub struct PermissionDecision {
    pub kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub feedback: Option<String>,
}

impl PermissionDecision {
    /// Allows this one request, or refuses it and tells the model why.
    pub fn of(allow: bool, why: &str) -> Self {
        if allow {
            Self { kind: "approve-once", feedback: None }
        } else {
            Self { kind: "reject", feedback: Some(why.to_owned()) }
        }
    }
}

/// Reply to `session.getMetadata`.
#[derive(Debug, Deserialize)]
pub struct Metadata {
    #[serde(default)]
    pub session: Option<StoredSession>,
}

/// Reply to `session.list`.
#[derive(Debug, Deserialize)]
pub struct SessionList {
    pub sessions: Vec<StoredSession>,
}

/// A chat on disk.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StoredSession {
    pub session_id: String,
    #[serde(default)]
    pub start_time: Option<String>,
    #[serde(default)]
    pub modified_time: Option<String>,
    #[serde(default)]
    pub summary: Option<String>,
    #[serde(default)]
    pub name: Option<String>,
    #[serde(default)]
    pub context: Option<SessionContext>,
}

/// Where a chat was held.
#[derive(Debug, Deserialize)]
pub struct SessionContext {
    #[serde(default)]
    pub cwd: Option<String>,
}

/// Reply to `session.delete` and others that report failure inside a success.
#[derive(Debug, Deserialize)]
pub struct Outcome {
    #[serde(default)]
    pub success: bool,
    #[serde(default)]
    pub error: Option<String>,
}

/// Reply to `auth.getStatus`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AuthStatus {
    pub is_authenticated: bool,
    #[serde(default)]
    pub login: Option<String>,
    #[serde(default)]
    pub status_message: Option<String>,
}

/// Reply to `account.getCurrentAuth`.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct CurrentAuth {
    pub auth_errors: Vec<String>,
}

/// Reply to `models.list`.
#[derive(Debug, Deserialize)]
pub struct ModelList {
    pub models: Vec<ListedModel>,
}

/// A model on offer.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ListedModel {
    pub id: String,
    #[serde(default)]
    pub name: Option<String>,
    #[serde(default)]
    pub vendor: Option<String>,
    #[serde(default)]
    pub policy: Option<ModelPolicy>,
    #[serde(default)]
    pub billing: Option<ModelBilling>,
    #[serde(default)]
    pub capabilities: Option<ModelCapabilities>,
    #[serde(default)]
    pub supported_reasoning_efforts: Vec<String>,
}

/// What a model costs.
#[derive(Debug, Deserialize)]
pub struct ModelBilling {
    #[serde(default)]
    pub multiplier: Option<f64>,
}

/// What a model can do.
#[derive(Debug, Deserialize)]
pub struct ModelCapabilities {
    #[serde(default)]
    pub limits: Option<ModelLimits>,
}

/// How much it can read. The names are the model service's own.
#[derive(Debug, Deserialize)]
pub struct ModelLimits {
    #[serde(default)]
    pub max_context_window_tokens: Option<u64>,
}

/// Whether the account may use a model.
#[derive(Debug, Deserialize)]
pub struct ModelPolicy {
    #[serde(default)]
    pub state: Option<String>,
}

/// Reply to `mcp.config.list`; only the names matter.
#[derive(Debug, Deserialize)]
pub struct McpConfigList {
    pub servers: serde_json::Map<String, Value>,
}

/// `sessions.readPersistedEvents`.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ReadEvents<'a> {
    pub session_id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cursor: Option<&'a str>,
    pub max: u32,
}

/// Reply to `sessions.readPersistedEvents` and `session.getMessages`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EventPage {
    pub events: Vec<Value>,
    #[serde(default)]
    pub cursor: Option<String>,
    #[serde(default)]
    pub has_more: bool,
}
