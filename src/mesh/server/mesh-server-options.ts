import type { TranslationLoss } from '../../dialects/translation-loss.ts';
import type { Operation } from '../../protocol/agent.ts';
import type { ProtocolVersion } from '../../protocol/card.ts';
import type { LogSink } from '../../primitives/log.ts';
import { type Clock, systemClock } from '../../primitives/clock.ts';
import type { BrokerConnection } from '../brokers/broker-connection.ts';
import type { BatchOptions } from './text-batcher.ts';

/** Of what something was lost in translation. */
export interface MeshLossContext {
  readonly operation: Operation;
  /** What the caller speaks. */
  readonly version: ProtocolVersion;
  /** The id of the task on the mesh. */
  readonly taskId: string;
  /** Whether it was lost of the request or of what came back. */
  readonly side: 'request' | 'answer';
}

/** How an agent is shown on the mesh. Only the first three have no default. */
export interface MeshServerOptions {
  readonly broker: BrokerConnection;
  /** With or without a slash at its end. */
  readonly namespace: string;
  /** The name of the agent on the mesh. */
  readonly name: string;
  /** The name that people see. @defaultValue the one in the card, or the name in the card */
  readonly displayName?: string;
  readonly card?: {
    /** How often the card is announced, in milliseconds; at most 20 000, and 0 never. @defaultValue 10 000 */
    readonly interval?: number;
    /** In which words: those of A2A 0.3, or those that receivers of the first years understand. @defaultValue 0.3 */
    readonly version?: '0.3' | '0.1';
  };
  /** Whether the text of updates becomes a data part `agent_progress_update`; not for callers of 1.0. @defaultValue true */
  readonly convertProgress?: boolean;
  /**
   * What becomes of artifacts that are only text: words of updates and of the final task, in which the artifacts stay
   * too, or artifacts as they are. Callers of 1.0 get them as they are. @defaultValue 'message'
   */
  readonly textArtifacts?: 'message' | 'artifact';
  /**
   * Whether a message that names no task answers the task of its context that waits for words: gateways give each
   * message an id of its own. @defaultValue true
   */
  readonly resumeByContext?: boolean;
  /** Joins updates of text. @defaultValue each travels alone */
  readonly batch?: BatchOptions;
  readonly timeouts?: Partial<MeshServerTimeouts>;
  readonly limits?: Partial<MeshServerLimits>;
  /** The queue to take requests from, where they should wait while nobody is there. */
  readonly queue?: string;
  /** Whether others take from the same queue. @defaultValue false */
  readonly shared?: boolean;
  readonly clock?: Clock;
  /** Makes ids for contexts and messages. @defaultValue UUIDs */
  readonly newId?: () => string;
  readonly log?: LogSink;
  /** Called with what a translation could not carry over. */
  readonly onLoss?: (losses: readonly TranslationLoss[], context: MeshLossContext) => void;
}

/** How long to wait, in milliseconds; 0 waits for ever. */
export interface MeshServerTimeouts {
  /** For a sign of life of the agent, and for the answer to a send. @defaultValue 300 000 */
  readonly idle: number;
  /** For the end of a task. @defaultValue 3 600 000 */
  readonly total: number;
  /** For an agent to name a task that was canceled before anybody knew its name. @defaultValue 10 000 */
  readonly cancel: number;
  /** For running tasks when the face closes; then they are answered with an error. @defaultValue 10 000 */
  readonly close: number;
}

/** How much is taken on. */
export interface MeshServerLimits {
  /** Characters of one payload, in and out. @defaultValue 10 000 000 */
  readonly payload: number;
  /** Requests that are worked on at once. @defaultValue 64 */
  readonly concurrency: number;
  /** Requests that wait for their turn here; the broker keeps the rest. @defaultValue 256 */
  readonly queued: number;
  /** Tasks, contexts and answers that are remembered. @defaultValue 10 000 each */
  readonly tasks: number;
  /** How long they are, in milliseconds. @defaultValue 3 600 000 */
  readonly age: number;
  /** Characters of answers that are kept for requests that come again. @defaultValue 33 554 432 */
  readonly cachedResponses: number;
}

/** The options with everything filled in. */
export interface MeshServerSettings {
  readonly convertProgress: boolean;
  readonly textArtifacts: 'message' | 'artifact';
  readonly resumeByContext: boolean;
  readonly batch: BatchOptions | undefined;
  readonly timeouts: MeshServerTimeouts;
  readonly limits: MeshServerLimits;
  readonly clock: Clock;
  readonly newId: () => string;
  readonly log: LogSink;
  readonly onLoss: NonNullable<MeshServerOptions['onLoss']> | undefined;
}

/** Fills in what was left out. */
export function resolveMeshServerSettings(options: MeshServerOptions): MeshServerSettings {
  return {
    convertProgress: options.convertProgress ?? true,
    textArtifacts: options.textArtifacts ?? 'message',
    resumeByContext: options.resumeByContext ?? true,
    batch: options.batch,
    timeouts: { idle: 300_000, total: 3_600_000, cancel: 10_000, close: 10_000, ...options.timeouts },
    limits: {
      payload: 10_000_000,
      concurrency: 64,
      queued: 256,
      tasks: 10_000,
      age: 3_600_000,
      cachedResponses: 2 ** 25,
      ...options.limits,
    },
    clock: options.clock ?? systemClock,
    newId: options.newId ?? (() => crypto.randomUUID()),
    log: options.log ?? (() => {}),
    onLoss: options.onLoss,
  };
}
