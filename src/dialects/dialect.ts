import type { Operation } from '../protocol/agent.ts';
import type { AgentCard, ProtocolVersion } from '../protocol/card.ts';
import type { A2AError } from '../protocol/errors.ts';
import type { TaskStatusUpdateEvent, StreamEvent } from '../protocol/event.ts';
import type { Message } from '../protocol/message.ts';
import type { PushConfig } from '../protocol/push.ts';
import type { PushConfigPage, RequestOf, TaskPage } from '../protocol/requests.ts';
import type { Task } from '../protocol/task.ts';
import type { LossList, DecodeMode } from './translation-loss.ts';

export type { RequestOf };

/** Result type of each operation in the model; streaming operations return events. */
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

/** An operation with a single result. */
export type UnaryOperation = keyof ResultOf;

/** Codec of the JSON-RPC `params` (or merged REST body, path and query) of an operation. */
export interface RequestCodec<T> {
  read(params: unknown, mode: DecodeMode): T;
  write(request: T, losses?: LossList): unknown;
}

/** Codec of the JSON-RPC `result` (or REST body) of an operation. */
export interface ResultCodec<T> {
  read(wire: unknown, mode: DecodeMode): T;
  write(result: T, losses?: LossList): unknown;
}

/** Codec of an object with the same format in all operations. */
export interface Codec<T> {
  read(wire: unknown, mode: DecodeMode): T;
  write(value: T, losses?: LossList): unknown;
}

/** Encodes the events of one stream. */
export interface EventWriter {
  /** Returns the wire events of an event: usually one; none or several if the version has no equivalent. */
  write(event: StreamEvent, losses?: LossList): readonly unknown[];
  /** Same as JSON texts, if that is faster than `JSON.stringify`. */
  texts?(event: StreamEvent): readonly string[];
  /**
   * Returns the wire events to send before the stream closes, given the last status that was sent.
   *
   * @param wasWithin - true if that status was sent only within a task snapshot, which has no final mark.
   */
  end(last: TaskStatusUpdateEvent | undefined, wasWithin?: boolean): readonly unknown[];
}

/** Fields of the request that opened a stream. */
export interface StreamOpenContext {
  taskId?: string;
  contextId?: string;
  message?: Message;
}

/** Decodes the events of one stream. */
export interface EventReader {
  /** Returns the events of a wire event: usually one; more if the model needs an event that the peer did not send. */
  read(wire: unknown, mode: DecodeMode): readonly StreamEvent[];
}

/** The `error` member of a JSON-RPC response. */
export interface RpcError {
  code: number;
  message: string;
  data?: unknown;
}

/** Codec of JSON-RPC errors. */
export interface RpcErrorCodec {
  read(error: unknown, status?: number): A2AError;
  write(error: A2AError): RpcError;
}

/** Codec of REST errors. */
export interface RestErrorCodec {
  read(body: unknown, status: number): A2AError;
  write(error: A2AError): { status: number; body: unknown };
}

/** A REST route. `{name}` in the path is a parameter. */
export interface RestRoute {
  operation: Operation;
  verb: 'GET' | 'POST' | 'DELETE';
  path: string;
  /** HTTP status of success. @defaultValue 200 */
  status?: number;
}

/** Serializers with exactly the output of `JSON.stringify` for the wire objects. */
interface DialectTexts {
  /** Serializes an event that is the same for all subscribers. */
  event(this: void, event: StreamEvent): string;
  /** Serializes the result of `getTask`. */
  task(this: void, task: Task): string;
  /** Serializes the result of `send`. */
  sent(this: void, result: Task | Message): string;
}

/** Serializers of the wire objects of a transport that does not use JSON. */
interface DialectSerializers {
  /** Serializes the result of an operation with a single response. */
  result(this: void, operation: Operation, wire: unknown): string;
  /** Serializes an event of a stream. */
  event(this: void, wire: unknown): string;
}

/**
 * Codec of one protocol version: tables and pure functions, wire ⇄ model. Independent of HTTP except for its table of
 * routes.
 */
export interface Dialect {
  /** Name of the source folder; distinguishes two dialects of one version. */
  readonly name: 'v0_1' | 'v0_3' | 'v0_3_rest' | 'v1_0';
  readonly version: ProtocolVersion;
  /** JSON-RPC method → operation. Empty for a dialect without JSON-RPC. */
  readonly methods: ReadonlyMap<string, Operation>;
  /** REST routes, preferred ones first. Empty for a dialect without REST. */
  readonly routes: readonly RestRoute[];
  readonly requests: { readonly [O in Operation]: RequestCodec<RequestOf[O]> };
  readonly results: { readonly [O in UnaryOperation]: ResultCodec<ResultOf[O]> };
  readonly card: Codec<AgentCard>;
  readonly task: Codec<Task>;
  readonly message: Codec<Message>;
  /** True if an event is encoded the same for all subscribers, so that its JSON can be shared. */
  readonly canShareEventJson: boolean;
  /**
   * Creates a writer for one stream.
   *
   * @param task - current snapshot, if the stream resumes within a task.
   */
  eventWriter(task?: Task): EventWriter;
  /** Fast serializers of frequent results. */
  readonly texts?: DialectTexts | undefined;
  /** @defaultValue JSON */
  readonly serialize?: DialectSerializers;
  eventReader(opening: StreamOpenContext): EventReader;
  readonly rpcError: RpcErrorCodec;
  readonly restError: RestErrorCodec;
  /** Codec of push notification bodies. Versions before 1.0 send the complete task. */
  readonly notification: {
    read(wire: unknown, mode: DecodeMode): StreamEvent;
    write(event: StreamEvent, task: Task, losses?: LossList): unknown;
  };
  /** Name of the header that lists extensions. */
  readonly extensionsHeader: string | undefined;
  /** Media type of REST bodies; JSON-RPC always uses `application/json`. */
  readonly restMediaType: string;
  /** True if a subscription to a finished task returns the task instead of an error. */
  readonly allowsFinishedSubscribe: boolean;
}

/** Returns the preferred JSON-RPC method of an operation. */
export function rpcMethodName(dialect: Dialect, operation: Operation): string | undefined {
  for (const [method, each] of dialect.methods) if (each === operation) return method;
  return undefined;
}

/** Serializes the wire object of a result. */
export function serializeResult(dialect: Dialect, operation: Operation, wire: unknown): string {
  return dialect.serialize ? dialect.serialize.result(operation, wire) : JSON.stringify(wire);
}

/** Serializes the wire object of an event. */
export function serializeWireEvent(dialect: Dialect, wire: unknown): string {
  return dialect.serialize ? dialect.serialize.event(wire) : JSON.stringify(wire);
}
