//! Real mouse and key events, as the browser itself makes them.

use std::time::Duration;

use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::Browser;
use super::cdp::{CdpError, Target};
use super::keys::{Key, Modifiers};
use crate::protocol::TabId;

/// How long the page may take to take one event.
const INPUT_TIMEOUT: Duration = Duration::from_secs(10);

/// A mouse button.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[allow(missing_docs, reason = "named by what they are")]
pub enum Button {
    #[default]
    Left,
    Right,
    Middle,
}

impl Button {
    fn name(self) -> &'static str {
        match self {
            Self::Left => "left",
            Self::Right => "right",
            Self::Middle => "middle",
        }
    }

    fn bit(self) -> u8 {
        match self {
            Self::Left => 1,
            Self::Right => 2,
            Self::Middle => 4,
        }
    }
}

impl Browser {
    /// Makes a tab ready to be acted on: events of dialogs and navigations are reported, and the page behaves
    /// as if it had the person's focus (which is in the panel). Both are cheap to repeat.
    ///
    /// # Errors
    /// See [`CdpError`].
    pub(super) async fn prepare(&self, cancel: &CancellationToken, tab: TabId) -> Result<(), CdpError> {
        let target = Target::tab(tab);
        let focus = json!({ "enabled": true });
        let focus = self.context.cdp_within(
            cancel,
            &target,
            "Emulation.setFocusEmulationEnabled",
            focus,
            INPUT_TIMEOUT,
        );
        let (attended, focus) =
            futures::future::join(self.context.attend(cancel, tab, INPUT_TIMEOUT), focus).await;
        attended?;
        focus?;
        Ok(())
    }

    /// Moves the mouse to a point of the tab's viewport, CSS px.
    ///
    /// # Errors
    /// See [`CdpError`].
    pub async fn move_mouse(
        &self,
        cancel: &CancellationToken,
        tab: TabId,
        at: (f64, f64),
        modifiers: Modifiers,
    ) -> Result<(), CdpError> {
        let params =
            json!({ "type": "mouseMoved", "x": at.0, "y": at.1, "modifiers": modifiers.0, "buttons": 0 });
        self.mouse(cancel, tab, params).await
    }

    /// Presses and releases a button at a point of the tab's viewport, CSS px; `click` 2 is the second one of a
    /// double click.
    ///
    /// # Errors
    /// See [`CdpError`]. A dialog that the press opens ends it with [`CdpError::Dialog`]: it was pressed.
    pub async fn press_mouse(
        &self,
        cancel: &CancellationToken,
        tab: TabId,
        at: (f64, f64),
        button: Button,
        modifiers: Modifiers,
        click: u8,
    ) -> Result<(), CdpError> {
        self.button(cancel, tab, at, button, modifiers, click, true).await?;
        self.button(cancel, tab, at, button, modifiers, click, false).await
    }

    #[allow(clippy::too_many_arguments, reason = "one event has that many parts")]
    async fn button(
        &self,
        cancel: &CancellationToken,
        tab: TabId,
        at: (f64, f64),
        button: Button,
        modifiers: Modifiers,
        click: u8,
        down: bool,
    ) -> Result<(), CdpError> {
        let params = json!({
            "type": if down { "mousePressed" } else { "mouseReleased" },
            "x": at.0,
            "y": at.1,
            "button": button.name(),
            "buttons": if down { button.bit() } else { 0 },
            "clickCount": click,
            "modifiers": modifiers.0,
            // Without this a page's `pointerType` is empty.
            "pointerType": "mouse",
        });
        self.mouse(cancel, tab, params).await
    }

    /// Puts the left button down at a point, or lets go of it there. A button that is down must be let go of.
    ///
    /// # Errors
    /// See [`CdpError`].
    pub(super) async fn hold_mouse(
        &self,
        cancel: &CancellationToken,
        tab: TabId,
        at: (f64, f64),
        down: bool,
    ) -> Result<(), CdpError> {
        self.button(cancel, tab, at, Button::Left, Modifiers::default(), 1, down).await
    }

    /// Moves the mouse with the left button held down.
    ///
    /// # Errors
    /// See [`CdpError`].
    pub(super) async fn pull_mouse(
        &self,
        cancel: &CancellationToken,
        tab: TabId,
        at: (f64, f64),
    ) -> Result<(), CdpError> {
        let params = json!({
            "type": "mouseMoved",
            "x": at.0,
            "y": at.1,
            "button": "left",
            "buttons": Button::Left.bit(),
            "pointerType": "mouse",
        });
        self.mouse(cancel, tab, params).await
    }

    async fn mouse(
        &self,
        cancel: &CancellationToken,
        tab: TabId,
        params: serde_json::Value,
    ) -> Result<(), CdpError> {
        self.context
            .cdp_within(cancel, &Target::tab(tab), "Input.dispatchMouseEvent", params, INPUT_TIMEOUT)
            .await
            .map(drop)
    }

    /// Presses and releases a key. It goes to whatever has the focus in the tab.
    ///
    /// # Errors
    /// See [`CdpError`].
    pub async fn press_key(
        &self,
        cancel: &CancellationToken,
        tab: TabId,
        key: &Key,
        modifiers: Modifiers,
    ) -> Result<(), CdpError> {
        let commands = modifiers.holds(Modifiers::CONTROL)
            || modifiers.holds(Modifiers::ALT)
            || modifiers.holds(Modifiers::META);
        let text = key.text.as_deref().filter(|_| !commands);
        let mut down = json!({
            "type": if text.is_some() { "keyDown" } else { "rawKeyDown" },
            "key": key.key,
            "code": key.code,
            "windowsVirtualKeyCode": key.virtual_key,
            "nativeVirtualKeyCode": key.virtual_key,
            "modifiers": modifiers.0,
        });
        let mut up = down.clone();
        up["type"] = json!("keyUp");
        if let Some(text) = text {
            down["text"] = json!(text);
            down["unmodifiedText"] = json!(text);
        }
        let target = Target::tab(tab);
        for params in [down, up] {
            self.context.cdp_within(cancel, &target, "Input.dispatchKeyEvent", params, INPUT_TIMEOUT).await?;
        }
        Ok(())
    }

    /// Inserts text where the cursor is, as an input method or a paste does: one input event, no keys.
    ///
    /// # Errors
    /// See [`CdpError`].
    pub async fn insert_text(
        &self,
        cancel: &CancellationToken,
        tab: TabId,
        text: &str,
    ) -> Result<(), CdpError> {
        self.context
            .cdp_within(cancel, &Target::tab(tab), "Input.insertText", json!({ "text": text }), INPUT_TIMEOUT)
            .await
            .map(drop)
    }
}
