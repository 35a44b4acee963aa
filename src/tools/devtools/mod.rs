//! Looking behind and at the page.

mod evaluate_js;
mod get_console_logs;
mod get_cookies;
mod get_network_request;
mod get_network_requests;
mod get_storage;
mod mark_screenshot;
mod recorded;
mod replay_request;
mod screenshot;
mod set_cookie;
mod set_storage;
mod set_viewport;
mod site;

use super::ErasedTool;

/// The tools of this category, in the order the model sees them.
pub(super) const TOOLS: &[&dyn ErasedTool] = &[
    &screenshot::Screenshot,
    &mark_screenshot::MarkScreenshot,
    &evaluate_js::EvaluateJs,
    &get_console_logs::GetConsoleLogs,
    &get_network_requests::GetNetworkRequests,
    &get_network_request::GetNetworkRequest,
    &replay_request::ReplayRequest,
    &get_cookies::GetCookies,
    &set_cookie::SetCookie,
    &get_storage::GetStorage,
    &set_storage::SetStorage,
    &set_viewport::SetViewport,
];
