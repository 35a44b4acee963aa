// Messages between extension and host, generated from src/protocol. Do not edit:
// `UPDATE=1 cargo test --lib typescript` writes it again, and a test fails when it is stale.

/** The number in `hello` and `hello.ack`. */
export type Protocol = 1;

/** What a person answered. */
export type Answer = "done" | "skip" | "allow" | "allow_always" | "deny" | "choice";

/** One question to the person. */
export type AskId = string;

/** What a question is for. */
export type AskKind = "await_user" | "question" | "approval";

/** Something the person attached to a prompt. */
export type Attachment = {
  /** `tab`, `element`, `image` or `text`. */
  kind: string;
  tabId?: TabId;
  url?: string;
  title?: string;
  name?: string;
  selector?: string;
  text?: string;
  html?: string;
  mimeType?: string;
  /** Base64 of an image. */
  data?: string;
};

/** Asks anew who is signed in. When nobody is, a terminal is opened for the sign-in. */
export type AuthSignin = {
  /** `false`: only asks. */
  open?: boolean;
  requestId?: string;
};

/** Whether the model can be reached as somebody: `ready`, `unauth` or `unknown`. */
export type AuthStatus = {
  state: 'ready' | 'unauth' | 'unknown';
  detail?: string;
  requestId?: string;
};

/** A request without parameters. */
export type BridgeCall = {
  sessionId: SessionId;
  callId: CallId;
};

/** One request to the extension or one tool call; 122 random bits, so it cannot be guessed. */
export type CallId = string;

/** A DevTools event of a watched tab. */
export type CdpEvent = {
  sessionId: SessionId;
  tabId?: TabId;
  /** The child target's flat session, when the event is not the tab's own. */
  cdpSessionId?: CdpSessionId;
  method: string;
  params: unknown;
};

/** One DevTools command; answered by `tool.result` with `{tabId, result}`. */
export type CdpSend = {
  sessionId: SessionId;
  callId: CallId;
  tabId?: TabId;
  /** Sends to this child target of the tab instead of the tab itself. */
  cdpSessionId?: CdpSessionId;
  method: string;
  params: object;
};

/** A flat DevTools session of a child target (cross-origin frame, worker) inside a tab. */
export type CdpSessionId = string;

/** Stop: the running turn, or one queued prompt when `turnId` names it. */
export type ChatCancel = {
  sessionId: SessionId;
  turnId?: TurnId;
};

/** Outcome of `chat.delete`. */
export type ChatDeleted = {
  id: SessionId;
  ok: boolean;
  requestId?: string;
};

/** A piece of the answer. */
export type ChatDelta = {
  sessionId: SessionId;
  text: string;
};

/** The turn ended with an answer. */
export type ChatDone = {
  sessionId: SessionId;
  text: string;
  /** Always empty; Browy's clients expect the field. */
  toolCalls: unknown[];
  turnId?: TurnId;
  durationMs?: number;
  /** The text was too long for one frame; the whole is in the streamed deltas. */
  truncated?: boolean;
  /** What the turn cost. */
  usage?: Spent;
};

/** The turn ended without an answer, or a message was refused. */
export type ChatError = {
  sessionId?: SessionId;
  message: string;
  code: ErrorCode;
  turnId?: TurnId;
  durationMs?: number;
  requestId?: string;
};

/** Asks for a transcript, newest page first when `before` is absent. */
export type ChatHistory = {
  id: SessionId;
  before?: string;
  limit?: number;
  requestId?: string;
};

/** A transcript, or a page of one. */
export type ChatHistoryResult = {
  id: SessionId;
  messages: Array<HistoryMessage>;
  cursor?: string;
  hasMore?: boolean;
  requestId?: string;
};

/** One stored chat; times in milliseconds since 1970. */
export type ChatInfo = {
  id: SessionId;
  summary?: string;
  startTime: number;
  modifiedTime: number;
  /** What its turns cost together, as far as they were had with this host. */
  usage?: Spent;
  /** Its last turn was cut off. */
  interrupted?: boolean;
};

/** The stored chats, newest first. */
export type ChatListResult = {
  chats: Array<ChatInfo>;
  requestId?: string;
};

/** A prompt waits; told again whenever its place changes. */
export type ChatQueued = {
  sessionId: SessionId;
  turnId: TurnId;
  /** 1 = next. */
  position: number;
  /** `turn`: another turn runs. `person`: that turn waits for a person. */
  reason: 'turn' | 'person';
};

/** Any message that names just a stored chat. */
export type ChatRef = {
  id: SessionId;
  requestId?: string;
};

/** Gives a stored chat a title. */
export type ChatRename = {
  id: SessionId;
  title: string;
  requestId?: string;
};

/** Outcome of `chat.rename`. */
export type ChatRenamed = {
  id: SessionId;
  title: string;
  ok: boolean;
  /** Why it could not be done, when something stood in the way. */
  error?: string;
  requestId?: string;
};

/** One tool, called by the person; it takes its turn in the queue and ends as a prompt does. */
export type ChatRun = {
  sessionId: SessionId;
  turnId?: TurnId;
  tool: string;
  args: object;
};

/** A prompt. */
export type ChatSend = {
  sessionId: SessionId;
  text: string;
  turnId?: TurnId;
  attachments: Array<Attachment>;
};

/** A turn begins. */
export type ChatStarted = {
  sessionId: SessionId;
  turnId: TurnId;
};

/** A tool call begins. */
export type ChatToolCall = {
  sessionId: SessionId;
  callId: CallId;
  tool: string;
  args: unknown;
};

/** A tool call ended. */
export type ChatToolResult = {
  sessionId: SessionId;
  callId: CallId;
  ok: boolean;
  summary?: string;
  durationMs?: number;
};

/** Deletes one note or one file of Browy's own folder. */
export type DataDelete = {
  kind: StoredKind;
  name: string;
  requestId?: string;
};

/** Outcome of `data.delete`. */
export type DataDeleted = {
  kind: StoredKind;
  name: string;
  ok: boolean;
  /** Why it is still there. */
  error?: string;
  requestId?: string;
};

/** Notes and files, as many as one frame holds. */
export type DataListResult = {
  /** Where all of it lies on this computer. */
  folder: string;
  /** Newest first. */
  notes: Array<StoredNote>;
  /** Sorted by name. */
  files: Array<StoredFile>;
  /** There are more notes or files than these. */
  more: boolean;
  /** What could not be read, in words. */
  error?: string;
  requestId?: string;
};

/** The debugger left a tab; `canceled_by_user` is Stop. */
export type DebuggerDetached = {
  tabId: TabId;
  reason: string;
};

/** One check. */
export type DiagCheck = {
  id: string;
  ok: boolean;
  text: string;
  fix?: string;
};

/** The doctor's checks. */
export type DiagResult = {
  checks: Array<DiagCheck>;
  requestId?: string;
};

/** A download that the agent's tab started. */
export type DownloadEvent = {
  downloadId: number;
  tabId?: TabId;
  state: string;
  filename?: string;
  url?: string;
  bytes?: number;
  error?: string;
  /** The id that `Page.downloadWillBegin` gave it. */
  guid?: string;
  /** What the browser holds against it; it may wait for the person's word. */
  danger?: string;
};

/**
 * Downloads a file as the browser does, with the person's session; answered as `download.event` tells it when it
 * is over, after 60 s at the latest. Needs the capability `downloads`.
 */
export type DownloadStart = {
  sessionId: SessionId;
  callId: CallId;
  /** The tab it belongs to. */
  tabId: TabId;
  url: string;
  /** A plain name without folders; the browser's own choice when absent. */
  filename?: string;
  /** A longer file is not downloaded. */
  maxBytes: number;
};

/** Why there is no answer. Append-only; the first five are Browy's. */
export type ErrorCode =
  | "auth"
  | "aborted"
  | "internal"
  | "no_capability"
  | "busy"
  | "cli_missing"
  | "cli_failed"
  | "offline"
  | "quota"
  | "model"
  | "budget"
  | "timeout"
  | "interrupted"
  | "not_ready"
  | "unsupported"
  | "no_license"
  | "rate_limit";

/**
 * Progress that is no text: `status.thinking`, `status.idle`, `status.error`, `llm_call_start`,
 * `llm_call_end`, `tool_start`, `tool_end`, `reasoning`, `status.retry` (the model is asked again), and with a
 * text for the person `status.model` (another model answers) and `status.notice` (what could not be written down, what
 * the turn used up).
 */
export type EventActivity = {
  sessionId: SessionId;
  event: string;
  tool?: string;
  text?: string;
  durationMs?: number;
};

/** First message of a connection. */
export type Hello = {
  client: string;
  protocol: number;
  extensionVersion?: string;
  capabilities: Array<string>;
  requestId?: string;
};

/** Answer to `hello`. */
export type HelloAck = {
  protocol: number;
  /** The package's version. */
  serverVersion: string;
  minExtensionVersion?: string;
  capabilities: Array<string>;
  requestId?: string;
};

/** A picture of a transcript. */
export type HistoryImage = {
  /** For example `image/png`. */
  mimeType: string;
  /** Base64 of its bytes; absent where there is no room for it, or nobody kept it. */
  data?: string;
  /** Its size; 0 when nobody knows. */
  bytes: number;
};

/** One line of a transcript. */
export type HistoryMessage =
  | { "role": "user", text: string, images?: Array<HistoryImage>, timestamp?: number, }
  | { "role": "assistant", text: string, timestamp?: number, }
  | { "role": "tool", name: string, ok: boolean, summary?: string, images?: Array<HistoryImage>, timestamp?: number, };

/** A message from the extension. */
export type Inbound =
  | { "type": "hello" } & Hello
  | { "type": "session.start" } & SessionStart
  | { "type": "session.end" } & SessionRef
  | { "type": "chat.send" } & ChatSend
  | { "type": "chat.run" } & ChatRun
  | { "type": "chat.cancel" } & ChatCancel
  | { "type": "history.clear" } & SessionRef
  | { "type": "tool.result" } & ToolResult
  | { "type": "cdp.event" } & CdpEvent
  | { "type": "auth.signin" } & AuthSignin
  | { "type": "models.list" } & Request
  | { "type": "models.set" } & ModelsSet
  | { "type": "chat.list" } & Request
  | { "type": "chat.history" } & ChatHistory
  | { "type": "chat.delete" } & ChatRef
  | { "type": "chat.rename" } & ChatRename
  | { "type": "user.answer" } & UserAnswer
  | { "type": "tab.event" } & TabEvent
  | { "type": "download.event" } & DownloadEvent
  | { "type": "debugger.detached" } & DebuggerDetached
  | { "type": "tools.list" } & ToolsListRequest
  | { "type": "provider.get" } & Request
  | { "type": "provider.set" } & ProviderSet
  | { "type": "provider.test" } & Request
  | { "type": "diag.run" } & Request
  | { "type": "data.list" } & Request
  | { "type": "data.delete" } & DataDelete;

/** One model. */
export type ModelInfo = {
  id: string;
  name: string;
  vendor?: string;
  /** Premium requests that one message costs. */
  multiplier?: number;
  /** Size of its window in tokens. */
  contextWindow?: number;
  /** Words for `session.start`'s `reasoningEffort`; empty when it has no such choice. */
  reasoningEfforts?: Array<string>;
};

/** The model in use. */
export type ModelsCurrent = {
  id: string;
  requestId?: string;
};

/** The models on offer. */
export type ModelsList = {
  models: Array<ModelInfo>;
  requestId?: string;
};

/** Chooses the model for new prompts. */
export type ModelsSet = {
  id: string;
  requestId?: string;
};

/** A message to the extension. */
export type Outbound =
  | { "type": "hello.ack" } & HelloAck
  | { "type": "session.ready" } & SessionReady
  | { "type": "auth.status" } & AuthStatus
  | { "type": "sdk.ready" } & SdkReady
  | { "type": "models.current" } & ModelsCurrent
  | { "type": "models.list" } & ModelsList
  | { "type": "chat.queued" } & ChatQueued
  | { "type": "chat.started" } & ChatStarted
  | { "type": "chat.delta" } & ChatDelta
  | { "type": "chat.tool_call" } & ChatToolCall
  | { "type": "chat.tool_result" } & ChatToolResult
  | { "type": "chat.done" } & ChatDone
  | { "type": "chat.error" } & ChatError
  | { "type": "event.activity" } & EventActivity
  | { "type": "usage" } & Usage
  | { "type": "cdp.send" } & CdpSend
  | { "type": "tab.new" } & TabNew
  | { "type": "tab.activate" } & TabCall
  | { "type": "tab.close" } & TabCall
  | { "type": "download.start" } & DownloadStart
  | { "type": "tab.list" } & BridgeCall
  | { "type": "tab.getActive" } & BridgeCall
  | { "type": "tab.held" } & TabHeld
  | { "type": "user.ask" } & UserAsk
  | { "type": "user.ask.closed" } & UserAskClosed
  | { "type": "chat.list.result" } & ChatListResult
  | { "type": "chat.history.result" } & ChatHistoryResult
  | { "type": "chat.delete.result" } & ChatDeleted
  | { "type": "chat.rename.result" } & ChatRenamed
  | { "type": "tools.list.result" } & ToolsListResult
  | { "type": "provider.get.result" } & ProviderResult
  | { "type": "provider.set.result" } & ProviderResult
  | { "type": "provider.test.result" } & ProviderResult
  | { "type": "diag.result" } & DiagResult
  | { "type": "data.list.result" } & DataListResult
  | { "type": "data.delete.result" } & DataDeleted;

/** The model provider in use; never its key. */
export type ProviderResult = {
  kind: string;
  baseUrl?: string;
  model?: string;
  hasKey: boolean;
  ok: boolean;
  error?: string;
  requestId?: string;
};

/** An own model provider. `apiKey` absent keeps the stored key; empty removes it. */
export type ProviderSet = {
  kind: string;
  baseUrl?: string;
  model?: string;
  apiKey?: string;
  requestId?: string;
};

/** A request with nothing but its optional id. */
export type Request = {
  requestId?: string;
};

/** The Copilot CLI is up, or failed to come up. */
export type SdkReady = {
  ok: boolean;
  detail?: string;
};

/** One chat, as the panel names it (`sp-…`, `dt-…`); also the Copilot session id. */
export type SessionId = string;

/** Answer to `session.start`. */
export type SessionReady = {
  sessionId: SessionId;
  model: string;
  capabilities: Array<string>;
};

/** Any message that names just a session. */
export type SessionRef = {
  sessionId: SessionId;
};

/** A panel announces its chat, or announces it again after a reconnect. */
export type SessionStart = {
  sessionId: SessionId;
  capabilities: Array<string>;
  model?: string;
  reasoningEffort?: string;
  /** Binds the session to this tab for good (DevTools panel). */
  inspectedTabId?: TabId;
  windowId?: number;
  locale?: string;
  disabledTools: Array<string>;
  enabledHostTools: Array<string>;
};

/** Tokens and cost, as the CLI reports them. */
export type Spent = {
  inputTokens: number;
  outputTokens: number;
  contextUsed?: number;
  contextLimit?: number;
  cost?: number;
};

/** One file of Browy's own folder. */
export type StoredFile = {
  name: string;
  bytes: number;
  modified?: number;
};

/** What can be deleted by name. */
export type StoredKind = "note" | "file";

/** One note. */
export type StoredNote = {
  key: string;
  value: string;
  /** Milliseconds since 1970; absent where an older program wrote it in words. */
  updated?: number;
  /** The site that the agent worked on when it wrote it. */
  origin?: string;
};

/** A request about one tab. */
export type TabCall = {
  sessionId: SessionId;
  callId: CallId;
  tabId: TabId;
};

/** A fact about tabs that is no DevTools event. */
export type TabEvent = {
  event: TabEventKind;
  tabId: TabId;
  openerTabId?: TabId;
  windowId?: number;
  url?: string;
  title?: string;
  status?: string;
  /** The tab that this one replaces (`replaced` only). */
  replacedTabId?: TabId;
};

/** What happened to a tab. */
export type TabEventKind = "created" | "removed" | "updated" | "replaced" | "activated";

/** The tab that the agent holds now. */
export type TabHeld = {
  sessionId: SessionId;
  tabId: TabId;
  url: string;
  title: string;
  origin: string | null;
};

/** `chrome.tabs.Tab.id`. */
export type TabId = number;

/** Opens a tab; answered with its [`TabInfo`]. */
export type TabNew = {
  sessionId: SessionId;
  callId: CallId;
  url?: string;
  active?: boolean;
};

/** One tool, as options page and REPL show it. */
export type ToolInfo = {
  name: string;
  title: string;
  description: string;
  category: string;
  exposure: string;
  effect: string;
  enabled: boolean;
};

/** Answer to `cdp.send` and the `tab.*` requests. */
export type ToolResult = {
  sessionId: SessionId;
  callId: CallId;
  ok: boolean;
  result: unknown;
  error?: string;
};

/** Asks for the tools, with a session's switches applied when it names one. */
export type ToolsListRequest = {
  sessionId?: SessionId;
  requestId?: string;
};

/** Every tool the host has. */
export type ToolsListResult = {
  tools: Array<ToolInfo>;
  requestId?: string;
};

/** One turn, named by the client that sent the prompt. */
export type TurnId = string;

/** Tokens, as the CLI reports them. */
export type Usage = {
  sessionId: SessionId;
  inputTokens: number;
  outputTokens: number;
  contextUsed?: number;
  contextLimit?: number;
  cost?: number;
};

/** The person's answer to a `user.ask` card. Single use. */
export type UserAnswer = {
  sessionId: SessionId;
  askId: AskId;
  answer: Answer;
  text?: string;
};

/** A question to the person. */
export type UserAsk = {
  sessionId: SessionId;
  askId: AskId;
  kind: AskKind;
  message: string;
  choices?: Array<string>;
  allowText?: boolean;
  tool?: string;
  args?: unknown;
  origin?: string;
  expiresMs?: number;
};

/** The question is no longer open. */
export type UserAskClosed = {
  sessionId: SessionId;
  askId: AskId;
  /** `answered`, `expired` or `turn_over`. */
  reason: string;
};
