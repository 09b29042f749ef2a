import type { Operation } from '../protocol/agent.ts';
import type { AgentCard, ProtocolVersion } from '../protocol/card.ts';
import type { A2AError } from '../protocol/errors.ts';
import type { TaskStatusUpdateEvent, StreamEvent } from '../protocol/event.ts';
import type { Message } from '../protocol/message.ts';
import type { PushConfig } from '../protocol/push.ts';
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
} from '../protocol/requests.ts';
import type { Task } from '../protocol/task.ts';
import type { LossList, DecodeMode } from './translation-loss.ts';

/** What each operation asks, in the model. */
export interface RequestOf {
  send: SendRequest;
  stream: SendRequest;
  getTask: GetTaskRequest;
  listTasks: ListTasksRequest;
  cancelTask: CancelTaskRequest;
  subscribe: SubscribeRequest;
  createPushConfig: PushConfig;
  getPushConfig: PushConfigRef;
  listPushConfigs: ListPushConfigsRequest;
  deletePushConfig: PushConfigRef;
  extendedCard: Record<never, never>;
}

/** What each operation answers, in the model; streams answer events instead. */
export interface ResultOf {
  send: Task | Message;
  getTask: Task;
  listTasks: TaskPage;
  cancelTask: Task;
  createPushConfig: PushConfig;
  getPushConfig: PushConfig;
  listPushConfigs: PushConfigPage;
  deletePushConfig: void;
  extendedCard: AgentCard;
}

/** An operation that answers once. */
export type UnaryOperation = keyof ResultOf;

/** Both directions of the `params` (or REST body, path and query, laid together) of one operation. */
export interface RequestCodec<T> {
  read(params: unknown, reading: DecodeMode): T;
  write(request: T, losses?: LossList): unknown;
}

/** Both directions of the `result` (or REST body) of one operation. */
export interface ResultCodec<T> {
  read(wire: unknown, reading: DecodeMode): T;
  write(result: T, losses?: LossList): unknown;
}

/** Both directions of a thing that has one shape everywhere. */
export interface Codec<T> {
  read(wire: unknown, reading: DecodeMode): T;
  write(value: T, losses?: LossList): unknown;
}

/** Writes the events of one stream. */
export interface EventWriter {
  /** The wire forms of an event: one as a rule, none or several where the dialect has no word for it. */
  write(event: StreamEvent, losses?: LossList): readonly unknown[];
  /** The same as text, for writers that have a quicker way than `JSON.stringify`. */
  texts?(event: StreamEvent): readonly string[];
  /**
   * What is still to be said before the stream closes, given the last status that went out.
   *
   * @param wasWithin - true when it went out within a task only, which has no mark of the end.
   */
  end(last: TaskStatusUpdateEvent | undefined, wasWithin?: boolean): readonly unknown[];
}

/** What a stream reader knows from the request that opened the stream. */
export interface StreamOpenContext {
  taskId?: string;
  contextId?: string;
  message?: Message;
}

/** Reads the events of one stream. */
export interface EventReader {
  /** The events that a wire form stands for: one as a rule, more where the model needs an event the peer did not send. */
  read(wire: unknown, reading: DecodeMode): readonly StreamEvent[];
}

/** The `error` member of a JSON-RPC response. */
export interface RpcError {
  code: number;
  message: string;
  data?: unknown;
}

/** Errors of the JSON-RPC binding. */
export interface RpcErrorCodec {
  read(error: unknown, status?: number): A2AError;
  write(error: A2AError): RpcError;
}

/** Errors of the REST binding. */
export interface RestErrorCodec {
  read(body: unknown, status: number): A2AError;
  write(error: A2AError): { status: number; body: unknown };
}

/** One route of the REST binding. `{name}` in the path is a parameter. */
export interface RestRoute {
  operation: Operation;
  verb: 'GET' | 'POST' | 'DELETE';
  path: string;
  /** The HTTP status of success, if it is not 200. */
  status?: number;
}

/** Texts that are the same to the letter as `JSON.stringify` of the wire forms. */
interface DialectTexts {
  /** An event that reads the same for everybody. */
  event(this: void, event: StreamEvent): string;
  /** A task that is asked for by name. */
  task(this: void, task: Task): string;
  /** The answer to a send. */
  sent(this: void, answer: Task | Message): string;
}

/**
 * One version of the protocol as data and pure functions, wire ⇄ model. It reads and writes; it never decides, and
 * it knows nothing of HTTP beside the table of its routes.
 */
export interface Dialect {
  /** The folder it lives in, which tells apart two dialects of one version. */
  readonly name: 'v0_1' | 'v0_3' | 'v0_3_rest' | 'v1_0';
  readonly version: ProtocolVersion;
  /** JSON-RPC method → operation. What is not here does not exist. Empty for a dialect without JSON-RPC. */
  readonly methods: ReadonlyMap<string, Operation>;
  /** REST routes, the preferred one of an operation first. Empty for a dialect without REST. */
  readonly routes: readonly RestRoute[];
  readonly requests: { readonly [O in Operation]: RequestCodec<RequestOf[O]> };
  readonly results: { readonly [O in UnaryOperation]: ResultCodec<ResultOf[O]> };
  readonly card: Codec<AgentCard>;
  readonly task: Codec<Task>;
  readonly message: Codec<Message>;
  /** True when an event reads the same for everybody, so that its text can be shared between readers. */
  readonly canShareEventJson: boolean;
  /**
   * Makes a writer for one stream.
   *
   * @param task - the task as it stands, where the stream goes on in the middle of it.
   */
  eventWriter(task?: Task): EventWriter;
  /** The texts of what is written most, where there is a quicker way to them than their wire forms. */
  readonly texts?: DialectTexts;
  eventReader(opening: StreamOpenContext): EventReader;
  readonly rpcError: RpcErrorCodec;
  readonly restError: RestErrorCodec;
  /** The body of a push notification, both ways. Versions before 1.0 send the whole task. */
  readonly notification: {
    read(wire: unknown, reading: DecodeMode): StreamEvent;
    write(event: StreamEvent, task: Task, losses?: LossList): unknown;
  };
  /** The header that lists extensions. */
  readonly extensionsHeader: string | undefined;
  /** The media type of a REST body; JSON-RPC always has `application/json`. */
  readonly restMediaType: string;
  /** True when following a finished task gives the task and an end instead of an error. */
  readonly allowsFinishedSubscribe: boolean;
}

/** Gives the preferred JSON-RPC method of an operation. */
export function rpcMethodName(dialect: Dialect, operation: Operation): string | undefined {
  for (const [method, known] of dialect.methods) if (known === operation) return method;
  return undefined;
}
