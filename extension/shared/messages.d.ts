// The messages this extension speaks. Field names are the wire's own.
// `Host*` travels over the native port, `Panel*` and `Worker*` stay inside the extension.
import type { Attachment, ModelInfo } from './protocol.js';

export interface TabInfo {
  tabId: number;
  url: string;
  title: string;
  active: boolean;
  windowId?: number;
}

/** A call of the host that wants exactly one `tool.result`. */
export type HostCall =
  | { type: 'cdp.send'; sessionId: string; callId: string; tabId?: number; method: string; params?: object; cdpSessionId?: string }
  | { type: 'tab.new'; sessionId: string; callId: string; url?: string; active?: boolean }
  | { type: 'tab.activate'; sessionId: string; callId: string; tabId: number }
  | { type: 'tab.list'; sessionId: string; callId: string }
  | { type: 'tab.getActive'; sessionId: string; callId: string }
  | { type: 'tab.close'; sessionId: string; callId: string; tabId: number }
  | { type: 'download.start'; sessionId: string; callId: string; tabId: number; url: string; filename?: string; maxBytes: number };

export type AskKind = 'await_user' | 'question' | 'approval';
export type AskAnswer = 'done' | 'skip' | 'allow' | 'allow_always' | 'deny' | 'choice';

export interface UserAsk {
  type: 'user.ask';
  sessionId: string;
  askId: string;
  kind: AskKind;
  message: string;
  choices?: string[];
  allowText?: boolean;
  tool?: string;
  args?: unknown;
  origin?: string;
  expiresMs?: number;
}

/** A picture of an earlier message; without `data` where the host had no room for it. */
export interface HistoryImage {
  mimeType: string;
  data?: string;
  bytes: number;
}

export type HistoryMessage =
  | { role: 'user'; text: string; images?: HistoryImage[]; timestamp?: number }
  | { role: 'assistant'; text?: string; timestamp?: number }
  | { role: 'tool'; name: string; ok: boolean; summary?: string; images?: HistoryImage[]; timestamp?: number };

export interface Usage {
  inputTokens?: number;
  outputTokens?: number;
  contextUsed?: number;
  contextLimit?: number;
  cost?: number;
}

/** What the host tells about one session: it goes to the panel that owns the session, and nowhere else. */
export type SessionMessage =
  | { type: 'session.ready'; sessionId: string; model?: string; capabilities?: string[] }
  | { type: 'chat.queued'; sessionId: string; turnId: string; position: number; reason?: 'turn' | 'person' }
  | { type: 'chat.started'; sessionId: string; turnId: string }
  | { type: 'chat.delta'; sessionId: string; turnId?: string; text: string }
  | { type: 'chat.tool_call'; sessionId: string; turnId?: string; callId: string; tool: string; args?: unknown }
  | { type: 'chat.tool_result'; sessionId: string; turnId?: string; callId: string; ok: boolean; summary?: string; durationMs?: number }
  | { type: 'chat.done'; sessionId: string; turnId?: string; text?: string; truncated?: boolean; durationMs?: number; usage?: Usage }
  | { type: 'chat.error'; sessionId: string; turnId?: string; message: string; code?: string; durationMs?: number }
  | { type: 'event.activity'; sessionId: string; event: string; tool?: string; text?: string }
  | UserAsk
  | { type: 'user.ask.closed'; sessionId: string; askId: string; reason?: string }
  | { type: 'tab.held'; sessionId: string; tabId: number; url: string; title: string; origin: string | null }
  | ({ type: 'usage'; sessionId: string } & Usage);

/** What the host tells everybody, or answers to one panel (`requestId`). */
export type SharedMessage =
  | { type: 'auth.status'; state: 'ready' | 'unauth' | 'unknown'; detail?: string; requestId?: string }
  | { type: 'sdk.ready'; ok: boolean; detail?: string; requestId?: string }
  | { type: 'models.current'; id: string; requestId?: string }
  | { type: 'models.list'; models: ModelInfo[]; requestId?: string }
  /** An error that belongs to no session. */
  | { type: 'chat.error'; message: string; code?: string; requestId?: string }
  | { type: 'chat.history.result'; id: string; messages?: HistoryMessage[]; error?: string; cursor?: string; hasMore?: boolean; requestId?: string };

export interface HelloAck {
  type: 'hello.ack';
  protocol: number;
  serverVersion: string;
  minExtensionVersion?: string;
  capabilities?: string[];
}

export type HostMessage = HostCall | SessionMessage | SharedMessage | HelloAck;

/** Anything with a type: what a port delivers before it has been looked at. */
export interface Envelope {
  type: string;
  sessionId?: string;
  requestId?: string;
  [field: string]: unknown;
}

export type HostState = 'idle' | 'starting' | 'ready' | 'reconnecting' | 'missing' | 'forbidden' | 'exited' | 'error';
export type Skew = 'host_old' | 'extension_old';

/** How the native port is, told by the worker to every panel. */
export interface HostStatus {
  type: 'worker.host';
  state: HostState;
  /** Counts connections that reached `hello.ack`; a new number means: send `session.start` again. */
  epoch: number;
  /** The number of the next start, while reconnecting. */
  attempt: number;
  message: string;
  serverVersion: string;
  capabilities: string[];
  skew: Skew | '';
}

export type WorkerMessage =
  | HostStatus
  /** Another open panel owns this session. */
  | { type: 'worker.conflict'; sessionId: string }
  /** A message of the panel did not reach the host. */
  | { type: 'worker.undelivered'; sessionId?: string; turnId?: string; requestId?: string; sent: string }
  /** The person pressed Cancel on the browser's debugging bar. */
  | { type: 'worker.debugger_cancelled'; sessionId: string; tabId: number };

export type PanelInbound = WorkerMessage | SessionMessage | SharedMessage;

export interface SessionStart {
  type: 'session.start';
  sessionId: string;
  capabilities: string[];
  windowId?: number;
  inspectedTabId?: number;
  locale?: string;
}

export type PanelMessage =
  | { type: 'panel.retry' }
  | SessionStart
  | { type: 'session.end'; sessionId: string }
  | { type: 'chat.send'; sessionId: string; text: string; turnId: string; attachments?: Attachment[] }
  | { type: 'chat.run'; sessionId: string; turnId: string; tool: string; args: object }
  | { type: 'chat.cancel'; sessionId: string; turnId?: string }
  | { type: 'chat.history'; id: string; requestId: string; before?: string }
  /** Without a request id: the answer concerns every panel. */
  | { type: 'auth.signin'; open: boolean }
  | { type: 'user.answer'; sessionId: string; askId: string; answer: AskAnswer; text?: string };
