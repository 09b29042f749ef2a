import type { JsonWebKeySet } from '../primitives/web/jwks.ts';
import type { AgentCard, ProtocolVersion } from './card.ts';
import type { StreamEvent } from './event.ts';
import type { Message } from './message.ts';
import type { Outage } from './outage.ts';
import type { PushConfig } from './push.ts';
import type {
  CancelTaskRequest,
  GetTaskRequest,
  ListPushConfigsRequest,
  ListTasksRequest,
  PushConfigPage,
  PushConfigRef,
  SubscribeRequest,
  TaskPage,
} from './requests.ts';
import type { Task } from './task.ts';
import type { SendInput } from './user-message.ts';

/** The authenticated identity of a client. */
export interface Principal {
  /** Unique within its issuer. */
  readonly id: string;
  /** Issuer of the identity, if several are accepted: two issuers may each know an `alice`. */
  readonly issuer?: string;
  /** Scopes granted to the client, as named by the issuer. */
  readonly scopes?: readonly string[];
  /** Further claims, for example of a JSON Web Token. */
  readonly claims?: { readonly [claim: string]: unknown };
}

/** Bearer token of a client. It does not appear in logs and JSON. */
export class CallerToken {
  readonly #token: string;

  constructor(token: string) {
    this.#token = token;
  }

  /** Returns the token. */
  reveal(): string {
    return this.#token;
  }
}

/** Context of one operation call. All members are optional. */
export interface CallContext {
  /** Aborts the call, but not the task. */
  readonly signal?: AbortSignal;
  /**
   * Owner of the tasks that the call may access. Tasks of other owners are not found.
   * @defaultValue `''`, the owner of tasks of unauthenticated clients
   */
  readonly owner?: string;
  /** Undefined if the client is not authenticated. */
  readonly principal?: Principal;
  /** Tenant named by the client. */
  readonly tenant?: string;
  /** Protocol version of the request. */
  readonly version?: ProtocolVersion;
  /** Version whose drafted features the server offers; see the option `preview` of `serve`. */
  readonly preview?: '1.1' | undefined;
  /** URIs of the extensions that the client requests. */
  readonly extensions?: readonly string[];
  /** Keeps the work of a request alive until a promise settles, in runtimes that end it with the response. */
  readonly waitUntil?: (pending: Promise<unknown>) => void;
  /** Token of the client, only if the option `passToken` of the server is set. */
  readonly callerToken?: CallerToken | undefined;
  /** Request headers with lower-case names. */
  readonly headers?: Readonly<Record<string, string | string[] | undefined>>;
}

/**
 * The interface that every agent implements: locally defined agents, remote agents over HTTP, agents behind a broker
 * and scripted test agents. Server adapters and middleware accept any `Agent`; they call `send` and `stream` with complete
 * requests only. Agents of this package are plain objects whose functions need no `this`.
 *
 * Operations reject only with {@link A2AError}.
 */
export interface Agent {
  card(call?: CallContext): Promise<AgentCard>;
  /** Returns the card for authenticated clients. */
  extendedCard(call?: CallContext): Promise<AgentCard>;
  /** Sends a message: a text, its content or a complete request. */
  send(request: SendInput, call?: CallContext): Promise<Task | Message>;
  /** Sends a message like `send` and streams events. Leaving the loop closes the stream, not the task. */
  stream(request: SendInput, call?: CallContext): AsyncIterable<StreamEvent>;
  getTask(request: GetTaskRequest, call?: CallContext): Promise<Task>;
  listTasks(request: ListTasksRequest, call?: CallContext): Promise<TaskPage>;
  cancelTask(request: CancelTaskRequest, call?: CallContext): Promise<Task>;
  subscribe(request: SubscribeRequest, call?: CallContext): AsyncIterable<StreamEvent>;
  /** Creates a push configuration, or replaces the one with the same id. */
  createPushConfig(config: PushConfig, call?: CallContext): Promise<PushConfig>;
  getPushConfig(ref: PushConfigRef, call?: CallContext): Promise<PushConfig>;
  listPushConfigs(request: ListPushConfigsRequest, call?: CallContext): Promise<PushConfigPage>;
  /** Succeeds if the configuration does not exist. */
  deletePushConfig(ref: PushConfigRef, call?: CallContext): Promise<void>;
  /** Returns the public keys of signed push notifications. */
  jwks?(): Promise<JsonWebKeySet>;
  /** Prepares the agent, for example resumes tasks after a crash. Server adapters call it before they accept requests. */
  ready?(): Promise<void>;
  /**
   * Returns the current outage, if calls would fail: its task store cannot be written, or its circuit breaker is open.
   * Server adapters report it as not ready and leave requests in their queue.
   */
  outage?(): Outage | undefined;
  /**
   * Returns one word per part that the agent depends on, such as `{ database: 'connected' }`. Server adapters show it to
   * health checks, without authentication.
   */
  checks?(): { readonly [part: string]: string } | undefined;
  /** Waits until no task is running in this process, at most `timeout` milliseconds. Called before a shutdown. */
  whenIdle?(timeout: number): Promise<void>;
  /** Stops running work and releases resources. */
  close?(): Promise<void>;
}

/** The operations that clients can call. */
export type Operation = Exclude<
  keyof Agent,
  'card' | 'jwks' | 'ready' | 'outage' | 'checks' | 'whenIdle' | 'close'
>;

/** Returns true for operations with a stream of events. */
export function isStreamingOperation(operation: keyof Agent): operation is 'stream' | 'subscribe' {
  return operation === 'stream' || operation === 'subscribe';
}

/** Names of the operations in the specification. They are also the methods of 1.0 over JSON-RPC and gRPC. */
export const operationNames = {
  send: 'SendMessage',
  stream: 'SendStreamingMessage',
  getTask: 'GetTask',
  listTasks: 'ListTasks',
  cancelTask: 'CancelTask',
  subscribe: 'SubscribeToTask',
  createPushConfig: 'CreateTaskPushNotificationConfig',
  getPushConfig: 'GetTaskPushNotificationConfig',
  listPushConfigs: 'ListTaskPushNotificationConfigs',
  deletePushConfig: 'DeleteTaskPushNotificationConfig',
  extendedCard: 'GetExtendedAgentCard',
} as const satisfies Record<Operation, string>;
