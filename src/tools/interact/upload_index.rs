//! `upload_index`: give files to a numbered element.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::browser::{ActError, Patience};
use crate::tools::answer::answer;
use crate::tools::kinds::OneOrMany;
use crate::tools::uploads;
use crate::tools::{Category, Effect, Exposure, Tool, ToolCx, ToolError, ToolOutput, ToolSpec};

/// See [`Tool::SPEC`].
pub struct UploadIndex;

/// Arguments.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Args {
    /// Number of the file field, its button or its drop area in the newest page view.
    index: u32,
    /// Absolute path of the file, or a JSON array of paths.
    path: OneOrMany,
}

impl Tool for UploadIndex {
    const SPEC: ToolSpec = ToolSpec {
        name: "upload_index",
        title: "Upload a file",
        description: "Give files to a page: to a file field, to the button that opens a file chooser, or by dropping them on a drop area. Takes files that save_file wrote or that a click of yours downloaded; for any other path the person is asked. Tells what the field holds then.",
        category: Category::Interact,
        exposure: Exposure::DefaultOn,
        effect: Effect::ReachesComputer,
        timeout: uploads::TIMEOUT,
    };
    type Args = Args;

    async fn run(&self, cx: &ToolCx, args: Args) -> Result<ToolOutput, ToolError> {
        let given = async {
            let element = cx.browser.element(&cx.cancel, args.index).await?;
            let gifts = uploads::allowed(cx, Self::SPEC.name, &args.path.0).await?;
            let given = cx.browser.give(&cx.cancel, &element, &gifts, Patience::Settle).await?;
            let mut words = given.words();
            words.insert("tag".to_owned(), json!(element.fingerprint.tag));
            Ok::<_, ActError>(words)
        };
        answer(given.await)
    }
}
