import type { LoggedChange } from './history.ts';

const terminalStates = new Set(['completed', 'failed', 'canceled', 'rejected']);

export const isTerminalState = (state: string): boolean => terminalStates.has(state);

const joinTexts = (parts: readonly { readonly text?: string }[] = []): string =>
  parts.map(({ text }) => text ?? '').join('');

/** Returns the content of an event that all versions can express. */
export function digestOf(event: {
  readonly kind: string;
  readonly state?: string;
  readonly text: string;
}): string {
  return [event.kind, event.state ?? '', event.text].join(' ');
}

/** State of a task after one change. */
interface LogPosition {
  readonly sequence: number;
  readonly isInput: boolean;
  readonly isArtifact: boolean;
  readonly state: string;
  /** State and texts of the task, as a client sees them. */
  readonly snapshot: string;
  /** The digests of the event that clients may be shown: the event itself, or a snapshot of the task. */
  readonly digests: readonly string[];
}

/** The log of a task, folded change by change without the reducer of the product. */
export class LogView {
  readonly positions: readonly LogPosition[];
  /** Ids of the messages of the user, in order. */
  readonly messageIds: readonly string[];

  constructor(changes: readonly LoggedChange[]) {
    const positions: LogPosition[] = [];
    const messageIds: string[] = [];
    const texts = new Map<string, string>();
    let state = '';
    for (const change of changes) {
      let own: string[] = [];
      if (change.kind === 'task') {
        state = change.task?.status.state ?? '';
        for (const { messageId } of change.task?.history ?? []) messageIds.push(messageId);
        // 0.1 has no snapshots and sends their status.
        own = [digestOf({ kind: 'status', state, text: '' })];
      } else if (change.kind === 'status') {
        state = change.status?.state ?? '';
        own = [digestOf({ kind: 'status', state, text: joinTexts(change.status?.message?.parts) })];
      } else if (change.kind === 'artifact') {
        const { artifactId = '', parts } = change.artifact ?? {};
        const text = joinTexts(parts);
        texts.set(artifactId, change.append ? (texts.get(artifactId) ?? '') + text : text);
        own = [digestOf({ kind: 'artifact', text })];
      } else if (change.message) messageIds.push(change.message.messageId);
      const text = [...texts.values()].join('');
      positions.push({
        sequence: change.sequence,
        isInput: change.kind === 'input',
        isArtifact: change.kind === 'artifact',
        state,
        snapshot: `${state} ${text}`,
        digests: [...own, digestOf({ kind: 'task', state, text })],
      });
    }
    this.positions = positions;
    this.messageIds = messageIds;
  }

  at(sequence: number): LogPosition | undefined {
    return this.positions[sequence - 1];
  }

  get last(): LogPosition | undefined {
    return this.positions.at(-1);
  }

  /** Returns the sequence number of the first event after another one that subscribers are shown. */
  next(after: number): number | undefined {
    return this.positions.find(({ sequence, isInput }) => sequence > after && !isInput)?.sequence;
  }
}
