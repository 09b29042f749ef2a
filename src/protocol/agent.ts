import type { AgentCard, ProtocolVersion } from './card.ts';
import type { StreamEvent } from './event.ts';
import type { Message } from './message.ts';
import type { PushConfig } from './push.ts';
import type {
  CancelTaskRequest,
  GetTaskRequest,
  ListPushConfigsRequest,
  ListTasksRequest,
  PushConfigPage,
  PushConfigRef,
  SendRequest,
  SubscribeRequest,
  TaskPage,
} from './requests.ts';
import type { Task } from './task.ts';

/** Who calls, once that is proved. */
export interface Principal {
  /** The name of the caller, unique among those of its issuer. */
  readonly id: string;
  /** Who vouches for the name, where several do: two issuers may each know an `alice`. */
  readonly issuer?: string;
  /** What the caller may do, in the words of whoever vouches for it. */
  readonly scopes?: readonly string[];
  /** What else is known of the caller. */
  readonly claims?: { readonly [claim: string]: unknown };
}

/** What travels with a call beside the request. Every member is optional: `{}` is a call. */
export interface CallContext {
  /** Ends the call early. It ends the caller's wait, not the task. */
  readonly signal?: AbortSignal;
  /**
   * Whose tasks the call may see. Tasks of one owner do not exist for another.
   * @defaultValue `''`, the owner of everything nobody claimed
   */
  readonly owner?: string;
  /** Who calls, if the face that took the call knows. */
  readonly principal?: Principal;
  /** The tenant that the caller named. */
  readonly tenant?: string;
  /** The protocol version the caller speaks. */
  readonly version?: ProtocolVersion;
  /** URIs of the extensions the caller asks for. */
  readonly extensions?: readonly string[];
  /** The caller's headers, lower case. */
  readonly headers?: Readonly<Record<string, string | string[] | undefined>>;
}

/**
 * The one interface in the middle: a function somebody wrote, an agent at a URL, an agent behind a broker and a
 * scripted agent all look like this, and everything that shows an agent takes this.
 *
 * Every operation rejects with an {@link A2AError} and nothing else.
 */
export interface Agent {
  card(call?: CallContext): Promise<AgentCard>;
  /** The card for callers that are known. */
  extendedCard(call?: CallContext): Promise<AgentCard>;
  send(request: SendRequest, call?: CallContext): Promise<Task | Message>;
  /** Sends and follows. Leaving the loop ends the following, not the task. */
  stream(request: SendRequest, call?: CallContext): AsyncIterable<StreamEvent>;
  getTask(request: GetTaskRequest, call?: CallContext): Promise<Task>;
  listTasks(request: ListTasksRequest, call?: CallContext): Promise<TaskPage>;
  cancelTask(request: CancelTaskRequest, call?: CallContext): Promise<Task>;
  subscribe(request: SubscribeRequest, call?: CallContext): AsyncIterable<StreamEvent>;
  /** Creates, or replaces the one of the same id. */
  createPushConfig(config: PushConfig, call?: CallContext): Promise<PushConfig>;
  getPushConfig(ref: PushConfigRef, call?: CallContext): Promise<PushConfig>;
  listPushConfigs(request: ListPushConfigsRequest, call?: CallContext): Promise<PushConfigPage>;
  /** Succeeds when there is nothing to delete. */
  deletePushConfig(ref: PushConfigRef, call?: CallContext): Promise<void>;
  /** Shows the public keys by which what the agent signs can be checked. */
  jwks?(): Promise<{ readonly keys: readonly { readonly [member: string]: unknown }[] }>;
  /** Prepares the agent, as by taking up what a crash left behind. Faces call it before they take calls. */
  ready?(): Promise<void>;
  /** Ends what the agent is doing and lets go of what it holds. */
  close?(): Promise<void>;
}

/** The operations of an agent that a peer can ask for by name. */
export type Operation = Exclude<keyof Agent, 'card' | 'jwks' | 'ready' | 'close'>;
