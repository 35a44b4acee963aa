//! Questions to the person: opened by a tool, answered by the panel, once.

use std::sync::Arc;

use async_trait::async_trait;
use tokio::sync::watch;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::browser::Wire;
use crate::protocol::{Answer, AskId, AskKind, Outbound, SessionId, UserAnswer, UserAsk, UserAskClosed};
use crate::rpc::Pending;
use crate::tools::{Ask, AskError, AskPurpose, Question, Reply, ReplyAnswer};

/// The open questions of one session.
pub struct Asks {
    session: SessionId,
    wire: Arc<dyn Wire>,
    pending: Pending<AskId, UserAnswer>,
    open: watch::Sender<Vec<Card>>,
}

/// An open question as the panel shows it.
#[derive(Debug, Clone)]
pub struct Card {
    ask: UserAsk,
    until: Instant,
}

impl Asks {
    /// No question yet.
    pub fn new(session: SessionId, wire: Arc<dyn Wire>) -> Self {
        Self { session, wire, pending: Pending::default(), open: watch::Sender::default() }
    }

    /// The open questions, oldest first: while there is one the turn's clock stands still.
    pub fn open(&self) -> watch::Receiver<Vec<Card>> {
        self.open.subscribe()
    }

    /// Shows the open questions to a panel that has come back; one that still shows them knows their ids.
    pub fn show_again(&self) {
        for Card { mut ask, until } in self.open.borrow().clone() {
            ask.expires_ms = u64::try_from(until.saturating_duration_since(Instant::now()).as_millis()).ok();
            let _ = self.wire.send(Outbound::UserAsk(ask));
        }
    }

    /// Hands an answer to its question. `false`: it is not open (any more).
    pub fn answer(&self, answer: UserAnswer) -> bool {
        let id = answer.ask_id.clone();
        self.pending.answer(&id, answer).is_ok()
    }

    /// Ends every open question and refuses new ones.
    pub fn close(&self) {
        self.pending.close();
    }
}

/// An open question. However the wait ends — also by being dropped with its call — the list is right
/// and the card goes away.
struct Opened<'a> {
    asks: &'a Asks,
    id: AskId,
    reason: &'static str,
}

impl<'a> Opened<'a> {
    fn new(asks: &'a Asks, card: Card) -> Self {
        let id = card.ask.ask_id.clone();
        asks.open.send_modify(|open| open.push(card));
        Self { asks, id, reason: "turn_over" }
    }
}

impl Drop for Opened<'_> {
    fn drop(&mut self) {
        self.asks.open.send_modify(|open| open.retain(|card| card.ask.ask_id != self.id));
        let _ = self.asks.wire.send(Outbound::UserAskClosed(UserAskClosed {
            session_id: self.asks.session.clone(),
            ask_id: self.id.clone(),
            reason: self.reason.to_owned(),
        }));
    }
}

#[async_trait]
impl Ask for Asks {
    async fn ask(&self, question: Question, cancel: &CancellationToken) -> Result<Reply, AskError> {
        let answer = self.ask_unless(std::future::pending(), question, cancel).await;
        answer.unwrap_or(Err(AskError::Cancelled))
    }
}

impl Asks {
    /// Asks, unless `refused` comes true first: then the card closes and the answer is `None`.
    pub(super) async fn ask_unless(
        &self,
        refused: impl Future<Output = ()>,
        question: Question,
        cancel: &CancellationToken,
    ) -> Option<Result<Reply, AskError>> {
        if !self.wire.has("ask") {
            return Some(Err(AskError::NoPerson));
        }
        let id = AskId::random();
        let mut waiting = self.pending.open(id.clone());
        let expires = question.expires;
        let card = Card { ask: self.card(&id, question), until: Instant::now() + expires };
        if self.wire.send(Outbound::UserAsk(card.ask.clone())).is_err() {
            return Some(Err(AskError::Cancelled));
        }
        let mut opened = Opened::new(self, card);
        let answer = tokio::select! {
            biased;
            () = cancel.cancelled() => Err(AskError::Cancelled),
            () = refused => {
                opened.reason = "refused";
                return None;
            }
            answer = tokio::time::timeout(expires, waiting.answer()) => match answer {
                Ok(Some(answer)) => Ok(answer),
                Ok(None) => Err(AskError::Cancelled),
                Err(_) => Err(AskError::Expired),
            },
        };
        opened.reason = match &answer {
            Ok(_) => "answered",
            Err(AskError::Expired) => "expired",
            Err(_) => "turn_over",
        };
        Some(answer.map(|answer| Reply { answer: reply(answer.answer), text: answer.text }))
    }

    fn card(&self, id: &AskId, question: Question) -> UserAsk {
        let (kind, tool, args) = match question.purpose {
            AskPurpose::AwaitUser => (AskKind::AwaitUser, None, None),
            AskPurpose::Question => (AskKind::Question, None, None),
            AskPurpose::Approval { tool, args } => (AskKind::Approval, Some(tool), Some(args)),
        };
        UserAsk {
            session_id: self.session.clone(),
            ask_id: id.clone(),
            kind,
            message: question.message,
            choices: (!question.choices.is_empty()).then_some(question.choices),
            allow_text: question.allow_text.then_some(true),
            tool,
            args,
            origin: None,
            expires_ms: u64::try_from(question.expires.as_millis()).ok(),
        }
    }
}

fn reply(answer: Answer) -> ReplyAnswer {
    match answer {
        Answer::Done => ReplyAnswer::Done,
        Answer::Skip => ReplyAnswer::Skip,
        Answer::Allow => ReplyAnswer::Allow,
        Answer::AllowAlways => ReplyAnswer::AllowAlways,
        Answer::Deny => ReplyAnswer::Deny,
        Answer::Choice => ReplyAnswer::Choice,
    }
}
