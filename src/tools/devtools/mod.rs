//! Looking behind and at the page.

mod evaluate_js;
mod get_console_logs;
mod get_network_request;
mod get_network_requests;
mod mark_screenshot;
mod recorded;
mod screenshot;

use super::ErasedTool;

/// The tools of this category, in the order the model sees them.
pub(super) const TOOLS: &[&dyn ErasedTool] = &[
    &screenshot::Screenshot,
    &mark_screenshot::MarkScreenshot,
    &evaluate_js::EvaluateJs,
    &get_console_logs::GetConsoleLogs,
    &get_network_requests::GetNetworkRequests,
    &get_network_request::GetNetworkRequest,
];
