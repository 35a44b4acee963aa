//! One list of steps, from the opened page to the last check.

use std::time::{Duration, Instant};

use browy::chromium::{EXTENSION_ID, Page};
use serde_json::{Value, json};

use crate::bind::Bindings;
use crate::case::{After, Approvals, Case, CdpStep, Located, Step, StepKind, ToolStep, UserStep, WaitStep};
use crate::expect::{Answer, same};
use crate::frames::evaluate;
use crate::stage::Stage;
use crate::support::chromium::send_prompt;
use crate::support::fake_cli::{ToolAnswer, Turn};
use crate::support::page_server::{PageServer, fill_in};

/// A tool that takes longer hangs.
const CALL_LIMIT: Duration = Duration::from_secs(120);
/// How long an act of the person may keep the page busy (a dialog that it opened, for example).
const USER_LIMIT: Duration = Duration::from_secs(5);
/// Of an answer that is shown.
const SHOWN: usize = 4000;

struct Scene<'a> {
    case: &'a Case,
    stage: &'a Stage,
    page: Page,
    panel: Page,
    turn: Turn,
    port: u16,
}

/// Plays the list and checks what must hold at its end.
///
/// # Errors
/// A report of the first thing that went wrong.
pub async fn play(
    located: &Located,
    case: &Case,
    stage: &Stage,
    list: &str,
    steps: &[Step],
    bindings: &mut Bindings,
) -> Result<(), String> {
    // A port of its own: storage and caches of one case are not those of the next.
    let server = PageServer::start(&located.folder).await;
    server.serve(&located.folder, case.routes.clone());
    let (page, panel) = stage.enter(&server.url(&located.page(case))).await?;
    let prompt = format!("Play {} {list} {}", located.name, server.port());
    send_prompt(&panel, &prompt).await.map_err(|error| error.to_string())?;
    let turn = stage.cli.prompt(&prompt).await?;
    let scene = Scene { case, stage, page, panel, turn, port: server.port() };
    for (index, step) in steps.iter().enumerate() {
        let outcome = scene.step(step, bindings).await;
        outcome.map_err(|report| format!("{list}, step {}: {}\n{report}", index + 1, step.written))?;
    }
    for (index, after) in case.after.iter().enumerate() {
        scene.after(after).await.map_err(|report| format!("after {list}, check {}: {report}", index + 1))?;
    }
    scene.turn.end("");
    let over = "!['working', 'waiting', 'queued'].includes(document.querySelector('#state').dataset.state)";
    let _ = scene.panel.wait_for(over, Duration::from_secs(5)).await;
    Ok(())
}

impl Scene<'_> {
    async fn step(&self, step: &Step, bindings: &mut Bindings) -> Result<(), String> {
        match &step.kind {
            StepKind::Tool(step) => self.tool(step, bindings).await,
            StepKind::User(step) => self.user(step).await,
            StepKind::Wait(step) => self.wait(step).await,
            StepKind::Browser(step) => self.in_worker(&step.browser).await,
            StepKind::Cdp(step) => self.cdp(step, bindings).await,
        }
    }

    async fn tool(&self, step: &ToolStep, bindings: &mut Bindings) -> Result<(), String> {
        let args = self.fill_in(&bindings.fill_in(&step.args));
        let limit = step.expect.max_ms.map_or(CALL_LIMIT, |ms| CALL_LIMIT.max(Duration::from_millis(ms * 2)));
        let received = self.call(&step.tool, args.clone(), limit).await?;
        let answer = Answer {
            text: &received.text,
            failed: received.kind != "success",
            took_ms: u64::try_from(received.took.as_millis()).unwrap_or(u64::MAX),
        };
        let report = |why: String| {
            format!("{why}\nsent: {args}\nreceived ({}): {}", received.kind, shown(answer.text))
        };
        if received.kind == "missing" {
            return Err(report("the host does not offer this tool".to_owned()));
        }
        step.expect.check(&answer).map_err(report)?;
        bindings.saw(&answer);
        for (name, pattern) in &step.bind {
            let pattern = pattern.as_str().ok_or_else(|| format!("bind {name:?} is not a text"))?;
            bindings.bind(name, pattern, &answer).map_err(report)?;
        }
        Ok(())
    }

    /// Calls a tool; cards that it puts before the person are answered meanwhile.
    async fn call(&self, tool: &str, args: Value, limit: Duration) -> Result<ToolAnswer, String> {
        let id = self.turn.start_call(tool, args);
        let answer = self.turn.answer_of(&id, limit);
        tokio::pin!(answer);
        loop {
            tokio::select! {
                answer = &mut answer => return answer,
                () = tokio::time::sleep(Duration::from_millis(250)) => self.answer_card().await,
            }
        }
    }

    async fn answer_card(&self) {
        let answers = match self.case.approvals {
            Approvals::Allow => "[data-answer=allow], [data-answer=done]",
            Approvals::Deny => "[data-answer=deny], [data-answer=skip]",
        };
        let click = format!("document.querySelector('#ask-card')?.querySelector('{answers}')?.click()");
        let _ = self.panel.evaluate_as_person(&click).await;
    }

    async fn user(&self, step: &UserStep) -> Result<(), String> {
        let act = evaluate(&self.page, step.frame.as_deref(), &step.user, true);
        // An act that opens a dialog gives no answer before somebody closes it; the case goes on meanwhile.
        tokio::time::timeout(USER_LIMIT, act).await.map_or(Ok(()), |outcome| outcome.map(drop))
    }

    async fn wait(&self, step: &WaitStep) -> Result<(), String> {
        let limit = Duration::from_millis(step.timeout_ms.unwrap_or(5000));
        let Some(frame) = &step.frame else {
            return self.page.wait_for(&step.wait, limit).await.map_err(|error| error.to_string());
        };
        let end = Instant::now() + limit;
        loop {
            let value = evaluate(&self.page, Some(frame), &format!("!!({}\n)", step.wait), false).await;
            match value {
                Ok(Value::Bool(true)) => return Ok(()),
                other if Instant::now() >= end => {
                    return Err(format!("not true within {limit:?}; last: {other:?}"));
                }
                _ => tokio::time::sleep(Duration::from_millis(50)).await,
            }
        }
    }

    /// In the extension's service worker.
    async fn in_worker(&self, expression: &str) -> Result<(), String> {
        let browser = self.stage.chromium.browser();
        let own = format!("chrome-extension://{EXTENSION_ID}/");
        let worker = browser
            .wait_for_target("the extension's worker runs", Duration::from_secs(10), |target| {
                target.kind == "service_worker" && target.url.starts_with(&own)
            })
            .await
            .map_err(|error| error.to_string())?;
        let worker = browser.attach(&worker.id).await.map_err(|error| error.to_string())?;
        let ready =
            worker.wait_for("typeof chrome?.tabs?.query === 'function'", Duration::from_secs(10)).await;
        let value = worker.evaluate(&fill_in(expression, self.port)).await;
        let _ = worker.detach().await;
        ready.and(value).map(drop).map_err(|error| error.to_string())
    }

    async fn cdp(&self, step: &CdpStep, bindings: &Bindings) -> Result<(), String> {
        let (method, params) = match &step.cdp {
            Value::String(method) => (method.as_str(), &step.params),
            other => (other["method"].as_str().unwrap_or_default(), &other["params"]),
        };
        let mut params = self.fill_in(&bindings.fill_in(params));
        if params.is_null() {
            params = json!({});
        }
        let of_browser =
            ["Browser.", "Target.", "Extensions."].iter().any(|domain| method.starts_with(domain));
        let session = (!of_browser).then(|| self.page.session());
        let answer = self.stage.chromium.browser().send(session, method, params).await;
        answer.map(drop).map_err(|error| error.to_string())
    }

    async fn after(&self, after: &After) -> Result<(), String> {
        if let Some(file) = &after.file {
            return self.after_file(after, file).await;
        }
        let expression = after.eval.as_deref().ok_or("it has neither `eval` nor `file`")?;
        let expression = fill_in(expression, self.port);
        let equals = self.fill_in(&after.equals);
        let value = tokio::time::timeout(
            Duration::from_secs(20),
            evaluate(&self.page, after.frame.as_deref(), &expression, false),
        )
        .await
        .map_err(|_| format!("{expression}: no answer"))??;
        if same(&value, &equals) { Ok(()) } else { Err(format!("{expression} is {value}, not {equals}")) }
    }

    async fn after_file(&self, after: &After, file: &std::path::Path) -> Result<(), String> {
        let wanted = after.exists.unwrap_or(true);
        let places = self.stage.folders().map(|folder| folder.join(file));
        let end = Instant::now() + Duration::from_secs(5);
        loop {
            let text = places.iter().find_map(|place| std::fs::read(place).ok());
            let problem = match (&text, &after.contains) {
                (None, _) if wanted => Some("does not exist".to_owned()),
                (Some(_), _) if !wanted => return Err(format!("{} exists", file.display())),
                (Some(text), Some(part)) if !String::from_utf8_lossy(text).contains(part) => {
                    Some(format!("does not contain {part:?}"))
                }
                _ => None,
            };
            match problem {
                None => return Ok(()),
                // A download ends some time after its click.
                Some(_) if Instant::now() < end => tokio::time::sleep(Duration::from_millis(100)).await,
                Some(problem) => return Err(format!("{} {problem}", file.display())),
            }
        }
    }

    /// `{{self}}` and its kin.
    fn fill_in(&self, value: &Value) -> Value {
        match value {
            Value::String(text) => Value::String(fill_in(text, self.port)),
            Value::Array(items) => Value::Array(items.iter().map(|item| self.fill_in(item)).collect()),
            Value::Object(object) => {
                Value::Object(object.iter().map(|(key, value)| (key.clone(), self.fill_in(value))).collect())
            }
            other => other.clone(),
        }
    }
}

fn shown(text: &str) -> String {
    let cut: String = text.chars().take(SHOWN).collect();
    let left = text.chars().count().saturating_sub(SHOWN);
    if left == 0 { cut } else { format!("{cut}\n… {left} more characters") }
}
