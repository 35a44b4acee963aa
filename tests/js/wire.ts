// What the extension reads of each message of the host is what the host sends: its own types
// (shared/messages.d.ts) agree with the generated ones (shared/protocol.d.ts).
import type { Outbound } from '../../extension/shared/protocol.js';
import type { HostMessage } from '../../extension/shared/messages.js';

type Read = HostMessage['type'];
type Sent<Type extends Read> = Extract<Outbound, { type: Type }>;

/** The types of messages on which the two disagree; the error names them. */
type Disagreeing = {
  [Type in Read]: [Sent<Type>] extends [never] ? Type : Sent<Type> extends Extract<HostMessage, { type: Type }> ? never : Type;
}[Read];

export const disagreeing: [Disagreeing] extends [never] ? 'none' : Disagreeing = 'none';
