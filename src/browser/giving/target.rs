//! Elements that are no field: the field behind a button, and what takes dropped files.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::{Value, json};

use super::{COMMAND, Chooser, END, Given, Round, is_forbidden, unchanged};
use crate::browser::cdp::{CdpError, Target};
use crate::browser::observe::{Patience, Watch};
use crate::browser::page::PageError;
use crate::browser::press::Press;
use crate::browser::refusal::{ActError, Class, Refusal};
use crate::page::{PageFunction, function};

const DROP: PageFunction = function("giveDrop");

/// Who takes what is dragged over an element.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Takes {
    None,
    Near,
    Wide,
}

#[derive(Debug, Deserialize)]
struct Dragged {
    over: Takes,
    dropped: Takes,
}

/// Files that are being dragged.
struct Drag {
    at: (f64, f64),
    /// By the browser, not by events of ours.
    real: bool,
    takes: Takes,
}

impl Round<'_> {
    async fn drop_call<T: serde::de::DeserializeOwned>(&self, op: &str) -> Result<T, PageError> {
        self.element.call(self.cancel, DROP, &[json!({ "op": op, "id": self.id })]).await
    }

    /// An element that is no field: dropped on when it takes what is dragged over it, else pressed.
    pub(super) async fn press_or_drop(&self, leaves: bool) -> Result<Given, ActError> {
        let _: Value = self.drop_call("begin").await?;
        let drag = self.drag_over().await?;
        if drag.takes == Takes::Near {
            return self.drop(drag).await;
        }
        self.drag_leave(&drag).await;
        if leaves {
            return Err(takes_none("It is a link to another page."));
        }
        if let Some(given) = self.press_for_chooser().await? {
            return Ok(given);
        }
        if drag.takes == Takes::Wide {
            let _: Value = self.drop_call("begin").await?;
            let drag = self.drag_over().await?;
            return self.drop(drag).await;
        }
        Err(takes_none("Pressing it opens no file chooser, and it takes nothing that is dragged over it."))
    }

    async fn press_for_chooser(&self) -> Result<Option<Given>, ActError> {
        let _: Value = self.drop_call("stay").await?;
        let observed = self.browser.press(self.cancel, self.element, &Press::default()).await?;
        let Some(chooser) = &observed.chooser else {
            if observed.url_changed
                || observed.dialog.is_some()
                || observed.closed
                || !observed.new_tabs.is_empty()
            {
                let mut refusal = Refusal::new(
                    Class::BadArgument,
                    "Pressing it opened no file chooser but did something else.",
                );
                refusal.details = observed.words();
                return Err(refusal.into());
            }
            return Ok(None);
        };
        let field = self.asking_field(chooser).await?;
        let _: Value =
            self.element.world.call(&self.browser.context, self.cancel, END, &[json!(self.id)]).await?;
        Ok(Some(self.give_field(&field, "chooser", Patience::Settle).await?))
    }

    /// The field that asked, as an object of our world.
    async fn asking_field(&self, chooser: &Chooser) -> Result<Arc<str>, ActError> {
        let Some(node) = chooser.field else {
            return Err(Refusal::new(
                Class::NotAllowed,
                "The page asked for a file in a way that only the person can answer. Call await_user.",
            )
            .into());
        };
        let params = json!({ "backendNodeId": node, "executionContextId": self.element.world.context_id });
        let answer =
            self.browser.context.cdp(self.cancel, &chooser.target, "DOM.resolveNode", params).await?;
        answer
            .pointer("/object/objectId")
            .and_then(Value::as_str)
            .map(Arc::from)
            .ok_or_else(|| PageError::ElementGone.into())
    }

    /// Drags the files over the element; nothing is dropped.
    async fn drag_over(&self) -> Result<Drag, ActError> {
        let at = self.browser.aim_patiently(self.cancel, self.element, &Press::default()).await?;
        let mut drag = Drag { at, real: true, takes: Takes::None };
        let entered = self.drag(&drag, "dragEnter").await;
        match entered {
            Ok(()) => self.drag(&drag, "dragOver").await?,
            Err(CdpError::Refused(words)) if is_forbidden(&words) => {
                drag.real = false;
                self.send_bytes().await?;
                let dragged: Dragged = self.drop_call("over").await?;
                drag.takes = dragged.over;
                return Ok(drag);
            }
            Err(error) => return Err(error.into()),
        }
        let dragged: Dragged = self.drop_call("read").await?;
        drag.takes = dragged.over;
        Ok(drag)
    }

    async fn drag(&self, drag: &Drag, kind: &str) -> Result<(), CdpError> {
        let paths: Vec<String> =
            self.gifts.iter().map(|gift| gift.path.to_string_lossy().into_owned()).collect();
        let params = json!({
            "type": kind, "x": drag.at.0, "y": drag.at.1,
            "data": { "items": [], "files": paths, "dragOperationsMask": 1 },
        });
        let tab = Target::tab(self.element.target.tab);
        let context = &self.browser.context;
        context.cdp_within(self.cancel, &tab, "Input.dispatchDragEvent", params, COMMAND).await.map(drop)
    }

    async fn drag_leave(&self, drag: &Drag) {
        if drag.real
            && let Err(error) = self.drag(drag, "dragCancel").await
        {
            tracing::debug!(%error, "a drag was not taken back");
        }
    }

    async fn drop(&self, drag: Drag) -> Result<Given, ActError> {
        let mut watch = Watch::start(self.browser, self.cancel, self.element, None).await?;
        watch.arm(self.cancel, false).await?;
        let dropped = if drag.real {
            match self.drag(&drag, "drop").await {
                // What it opened or where it went is told below.
                Ok(()) | Err(CdpError::Dialog(_)) => {}
                Err(error) => return Err(error.into()),
            }
            self.drop_call::<Dragged>("read").await
        } else {
            self.drop_call::<Dragged>("drop").await
        };
        let observed = watch.settle(self.cancel, Patience::Settle).await?;
        unchanged(self.gifts)?;
        let took = match dropped {
            Ok(dragged) => dragged.dropped,
            Err(_) if observed.url_changed || observed.dialog.is_some() => Takes::Near,
            Err(error) => return Err(error.into()),
        };
        // A page that keeps files off everywhere takes none of them.
        if took == Takes::None || (took == Takes::Wide && !observed.anything()) {
            return Err(Refusal::new(
                Class::Rejected,
                "The files were dropped on it, but the page does not show that it took them. Look for its file field.",
            )
            .into());
        }
        Ok(Given { via: "drop", holds: self.all(), emptied: false, observed, unasked: None })
    }
}

fn takes_none(why: &str) -> ActError {
    Refusal::new(
        Class::BadArgument,
        format!("This element takes no file. {why} Look for the file field or its button with inspect_page."),
    )
    .into()
}
