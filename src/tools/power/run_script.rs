//! `run_script`: a program of the model's own, confined.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::confined::{self, ConfineError, Finished, Kind, WALL};
use crate::browser::text::clean_lines;
use crate::browser::{Class, Refusal};
use crate::tools::answer::refused;
use crate::tools::{
    AskError, AskPurpose, Category, Effect, Exposure, Question, ReplyAnswer, Tool, ToolCx, ToolError,
    ToolOutput, ToolSpec,
};

/// Bytes of one script.
const LONGEST: usize = 256 * 1024;

/// Characters of output that the model reads.
const SHOWN: usize = 16_000;

/// How long the person may think about it.
const EXPIRES: Duration = Duration::from_secs(120);

/// See [`Tool::SPEC`].
pub struct RunScript;

/// Arguments.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Args {
    /// JavaScript; what it writes with console.log is the answer.
    code: String,
}

impl Tool for RunScript {
    const SPEC: ToolSpec = ToolSpec {
        name: "run_script",
        title: "Run a script",
        description: "Run JavaScript in Node.js on the person's computer for calculations: locked in, without network, files of the person or the page, for 30 s at most; put the data into the code. The person is asked every time.",
        category: Category::Power,
        exposure: Exposure::DefaultOff,
        effect: Effect::ReachesComputer,
        timeout: Duration::from_secs(180),
    };
    type Args = Args;

    async fn run(&self, cx: &ToolCx, args: Args) -> Result<ToolOutput, ToolError> {
        if args.code.trim().is_empty() || args.code.len() > LONGEST {
            let error = "`code` is a script of 256 KiB at most that writes its result with console.log.";
            return Ok(refused(&Refusal::new(Class::BadArgument, error)));
        }
        if let Some(refusal) = ask(cx, &args.code).await? {
            return Ok(refused(&refusal));
        }
        match confined::run(&cx.paths, &args.code, kind_of(&args.code), WALL, &cx.cancel).await {
            Ok(finished) => Ok(answer(&finished)),
            Err(ConfineError::Cancelled) => Err(ToolError::Cancelled),
            Err(ConfineError::Unconfined(why)) => Ok(refused(&Refusal::new(
                Class::NotAllowed,
                format!(
                    "The script was not run: {why}. Scripts are never run unconfined; do without, or use evaluate_js."
                ),
            ))),
        }
    }
}

/// Shows the person the code; `Some`: it is not run.
async fn ask(cx: &ToolCx, code: &str) -> Result<Option<Refusal>, ToolError> {
    let question = Question {
        purpose: AskPurpose::Approval {
            tool: RunScript::SPEC.name.to_owned(),
            args: json!({ "code": code }),
        },
        message:
            "The agent wants to run this script on your computer, without network and without your files."
                .to_owned(),
        choices: Vec::new(),
        allow_text: false,
        expires: EXPIRES,
    };
    let why = match cx.ask.ask(question, &cx.cancel).await {
        Ok(reply) if reply.answer == ReplyAnswer::Allow => return Ok(None),
        Ok(_) => "The person does not want this script to be run.",
        Err(AskError::Expired) => "Nobody allowed this script to be run.",
        Err(AskError::NoPerson) => "Scripts are run only if the person allows it, and this panel cannot ask.",
        Err(AskError::Cancelled) => return Err(ToolError::Cancelled),
    };
    Ok(Some(Refusal::new(Class::NotAllowed, why)))
}

fn kind_of(code: &str) -> Kind {
    let old = ["require(", "module.exports", "exports.", "__dirname", "__filename"];
    if old.iter().any(|word| code.contains(word)) { Kind::CommonJs } else { Kind::Module }
}

fn answer(finished: &Finished) -> ToolOutput {
    let (mut stdout, mut cut) = (clean_lines(&finished.stdout).trim_end().to_owned(), finished.cut);
    if let Some((end, _)) = stdout.char_indices().nth(SHOWN) {
        stdout.truncate(end);
        cut = true;
    }
    if cut {
        stdout.push_str("\n(cut: it wrote more than is shown)");
    }
    if finished.status.is_some_and(|status| status.success()) {
        let text = if stdout.trim().is_empty() { "(no output)".to_owned() } else { stdout };
        return ToolOutput::text(text);
    }
    let error = match finished.status {
        None => "The script ran for 30 s and was ended.".to_owned(),
        Some(_) => {
            let stderr: String = clean_lines(&finished.stderr).chars().take(2_000).collect();
            match stderr.trim() {
                "" => "The script was ended: it needed too much memory or time.".to_owned(),
                stderr => format!("The script failed: {stderr}"),
            }
        }
    };
    refused(&Refusal::new(Class::Rejected, error).with("stdout", stdout))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_and_new_modules_are_told_apart() {
        assert_eq!(kind_of("const fs = require('fs')"), Kind::CommonJs);
        assert_eq!(kind_of("import fs from 'fs'; console.log(1)"), Kind::Module);
    }

    #[test]
    fn is_off_until_somebody_switches_it_on() {
        use crate::tools::policy::ToolPolicy;
        let name = || ["run_script".to_owned()];
        assert!(!ToolPolicy::default().allows(&RunScript::SPEC));
        assert!(ToolPolicy::new([], name()).allows(&RunScript::SPEC));
        assert!(!ToolPolicy::new(name(), name()).allows(&RunScript::SPEC));
    }
}
