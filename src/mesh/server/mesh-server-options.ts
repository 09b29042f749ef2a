import type { TranslationLoss } from '../../dialects/translation-loss.ts';
import type { MaybePromise } from '../../primitives/maybe-promise.ts';
import type { Operation } from '../../protocol/agent.ts';
import type { ProtocolVersion } from '../../protocol/card.ts';
import { type LogSink, quietLogSink } from '../../primitives/log.ts';
import { type Clock, systemClock } from '../../primitives/clock.ts';
import { LazyTracing } from '../../tracing/tracing.ts';
import type { BrokerConnection } from '../brokers/broker-connection.ts';
import type { MeshRegister } from '../sharing/mesh-register.ts';
import type { BatchOptions } from './text-batcher.ts';

/** Call in which a translation loss occurred. */
export interface MeshLossContext {
  readonly operation: Operation;
  /** Protocol version of the client. */
  readonly version: ProtocolVersion;
  /** Id of the task on the mesh. */
  readonly taskId: string;
  /** Whether the request or the response is affected. */
  readonly side: 'request' | 'response';
}

/** A request that {@link MeshServerOptions.authorize} decides about. */
export interface MeshCall {
  readonly operation: Operation;
  /** User that the request names; it is not authenticated. */
  readonly user: string;
  /** Protocol version of the client. */
  readonly version: ProtocolVersion;
  /** The version-neutral request. */
  readonly request: unknown;
  /** Size of the payload in bytes. */
  readonly bytes: number;
}

/** Options of {@link serveOnMesh}. `broker`, `namespace` and `name` are required. */
export interface MeshServerOptions {
  readonly broker: BrokerConnection;
  /** Namespace with or without a slash at its end. */
  readonly namespace: string;
  /** Name of the agent on the mesh. */
  readonly name: string;
  /** Name for users. @defaultValue the display name or the name in the card */
  readonly displayName?: string;
  readonly card?: {
    /** Milliseconds between announcements of the card, at most 20 000; 0 disables them. @defaultValue 10 000 */
    readonly interval?: number;
    /** Format of the announced card: A2A 0.3, or 0.1 for early receivers. @defaultValue 0.3 */
    readonly version?: '0.3' | '0.1';
  };
  /** Converts the text of updates to `agent_progress_update` data parts, except for 1.0 clients. @defaultValue true */
  readonly convertProgress?: boolean;
  /**
   * How text artifacts are sent: as message text of updates and of the final task, which also retains them, or as
   * artifacts. 1.0 clients always receive artifacts. @defaultValue 'message'
   */
  readonly textArtifacts?: 'message' | 'artifact';
  /**
   * Whether a message without a task id continues the interrupted task of its context, because gateways use a new id for
   * each message. @defaultValue true
   */
  readonly resumeByContext?: boolean;
  /** Joins text updates. @defaultValue no batching */
  readonly batch?: BatchOptions;
  /**
   * Patterns of the topics that requests may name for their response and status updates.
   * @defaultValue all topics of the namespace, except those of requests and announcements
   */
  readonly replyTopics?: readonly string[];
  /**
   * Decides about a request before it is processed; throws an `A2AError` to reject it.
   * @defaultValue every request is processed
   */
  readonly authorize?: (call: MeshCall) => MaybePromise<void>;
  readonly timeouts?: Partial<MeshServerTimeouts>;
  readonly limits?: Partial<MeshServerLimits>;
  /** Called when a request or response exceeds its size limit, with a name for metrics. */
  readonly onLimit?: (limit: 'meshRequest' | 'meshResponse') => void;
  /** Durable queue of requests, which retains them while no subscriber is connected. */
  readonly queue?: string;
  /** Whether several subscribers share the queue. @defaultValue false */
  readonly shared?: boolean;
  /**
   * Remembers tasks and requests for all servers that share the queue. Without it, a follow-up, cancel or repeated request that
   * reaches another server does not find its task. @defaultValue this server remembers them
   */
  readonly register?: MeshRegister | undefined;
  /**
   * Creates OpenTelemetry spans for requests and responses and propagates the trace in their properties.
   * @defaultValue true if OpenTelemetry was set up before
   */
  readonly tracing?: boolean | undefined;
  readonly clock?: Clock;
  /** Generates ids of contexts and messages. @defaultValue UUIDs */
  readonly newId?: () => string;
  readonly log?: LogSink;
  /** Called with translation losses. */
  readonly onLoss?: (losses: readonly TranslationLoss[], context: MeshLossContext) => void;
}

/** Timeouts in milliseconds; 0 disables a timeout. */
export interface MeshServerTimeouts {
  /** Idle timeout of the agent, and timeout of a send. @defaultValue 300 000 */
  readonly idle: number;
  /** Maximum duration of a task. @defaultValue 3 600 000 */
  readonly total: number;
  /** Until the agent returns the id of a task that was canceled before. @defaultValue 10 000 */
  readonly cancel: number;
  /** For running tasks at `close()`; then an error is sent as their response. @defaultValue 10 000 */
  readonly close: number;
}

/** Limits of a mesh server. */
export interface MeshServerLimits {
  /** Maximum number of characters of a payload. @defaultValue 10 000 000 */
  readonly payload: number;
  /** Maximum number of concurrent requests. @defaultValue 64 */
  readonly concurrency: number;
  /** Maximum number of queued requests; the broker retains further ones. @defaultValue 256 */
  readonly queued: number;
  /** Maximum number of remembered tasks, contexts and responses. @defaultValue 10 000 each */
  readonly tasks: number;
  /** Milliseconds for which they are remembered. @defaultValue 3 600 000 */
  readonly age: number;
  /** Maximum number of characters of responses that are cached to deduplicate requests. @defaultValue 33 554 432 */
  readonly cachedResponses: number;
}

/** Options with defaults applied. */
export interface MeshServerSettings {
  readonly convertProgress: boolean;
  readonly textArtifacts: 'message' | 'artifact';
  readonly resumeByContext: boolean;
  readonly batch: BatchOptions | undefined;
  readonly replyTopics: readonly string[] | undefined;
  readonly authorize: MeshServerOptions['authorize'];
  readonly timeouts: MeshServerTimeouts;
  readonly limits: MeshServerLimits;
  readonly onLimit: MeshServerOptions['onLimit'];
  readonly register: MeshRegister | undefined;
  readonly tracing: LazyTracing;
  readonly clock: Clock;
  readonly newId: () => string;
  readonly log: LogSink;
  readonly onLoss: NonNullable<MeshServerOptions['onLoss']> | undefined;
}

/** Applies the defaults. */
export function resolveMeshServerSettings(options: MeshServerOptions): MeshServerSettings {
  return {
    convertProgress: options.convertProgress ?? true,
    textArtifacts: options.textArtifacts ?? 'message',
    resumeByContext: options.resumeByContext ?? true,
    batch: options.batch,
    replyTopics: options.replyTopics,
    authorize: options.authorize,
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
    onLimit: options.onLimit,
    register: options.register,
    tracing: new LazyTracing(options.tracing),
    clock: options.clock ?? systemClock,
    newId: options.newId ?? (() => crypto.randomUUID()),
    log: quietLogSink(options.log),
    onLoss: options.onLoss,
  };
}
