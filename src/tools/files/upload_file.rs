//! `upload_file`: give files to what a CSS selector finds.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::browser::{ActError, Patience};
use crate::tools::answer::answer;
use crate::tools::kinds::OneOrMany;
use crate::tools::uploads;
use crate::tools::{Category, Effect, Exposure, Tool, ToolCx, ToolError, ToolOutput, ToolSpec};

/// See [`Tool::SPEC`].
pub struct UploadFile;

/// Arguments.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Args {
    /// CSS selector of the file field, its button or its drop area; it may be hidden.
    selector: String,
    /// Absolute path of the file, or a JSON array of paths.
    path: OneOrMany,
}

impl Tool for UploadFile {
    const SPEC: ToolSpec = ToolSpec {
        name: "upload_file",
        title: "Upload by selector",
        description: "Give files to a file field that inspect_page does not list, by CSS selector. Else use upload_index; the same files may be given.",
        category: Category::Files,
        exposure: Exposure::DefaultOn,
        effect: Effect::ReachesComputer,
        timeout: uploads::TIMEOUT,
    };
    type Args = Args;

    async fn run(&self, cx: &ToolCx, args: Args) -> Result<ToolOutput, ToolError> {
        let given = async {
            let element = cx.browser.find_one(&cx.cancel, &args.selector, true, "upload_index").await?;
            let gifts = uploads::allowed(cx, Self::SPEC.name, &args.path.0).await?;
            let given = cx.browser.give(&cx.cancel, &element, &gifts, Patience::Settle).await?;
            let mut words = given.words();
            words.insert("selector".to_owned(), json!(args.selector));
            Ok::<_, ActError>(words)
        };
        answer(given.await)
    }
}
