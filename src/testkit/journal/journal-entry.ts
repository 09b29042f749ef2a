import type { Operation, Principal } from '../../protocol/agent.ts';
import type { ProtocolVersion, Transport } from '../../protocol/card.ts';
import type { Message } from '../../protocol/message.ts';
import type { NearMiss } from '../agent/response-plan.ts';

/** Headers by lower-case name, including credentials. */
export type CapturedHeaders = Readonly<Record<string, string | string[] | undefined>>;

/** A captured HTTP request. */
export interface CapturedRequest {
  readonly method: string;
  /** Path without the query. */
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly headers: CapturedHeaders;
  /** Body as text; empty if there is none or if it was not read. Messages of gRPC are ProtoJSON. */
  readonly body: string;
  /** Parsed body; undefined if it is not JSON. */
  readonly json: unknown;
  /** True if the body was longer than `maxBodyBytes`. */
  readonly isTruncated: boolean;
}

/** The operation of a request, after decoding. */
export interface CapturedCall {
  readonly operation: Operation | 'card';
  readonly version: ProtocolVersion | undefined;
  readonly transport: Transport;
  /** The request as model object. */
  readonly request: unknown;
  /** The message of a send or stream request. */
  readonly message: Message | undefined;
  readonly messageId: string | undefined;
  /** The requested task, or the task of the message. */
  readonly taskId: string | undefined;
  readonly contextId: string | undefined;
  readonly principal: Principal | undefined;
}

/** End of a response: sent completely, closed by the client, or aborted by the server. */
export type CaptureEnd = 'finished' | 'client-disconnected' | 'aborted';

/** A captured HTTP response as it was sent, including faults. */
export interface CapturedResponse {
  /** HTTP status; the status of a gRPC call is the header `grpc-status`. */
  readonly status: number;
  /** Headers, and the trailers of gRPC. */
  readonly headers: CapturedHeaders;
  /** Body as text; empty for event streams. Messages of gRPC are ProtoJSON. */
  readonly body: string;
  /** Data of each event, parsed if it is JSON; undefined if the response is not an event stream. */
  readonly frames: readonly unknown[] | undefined;
  /** True if the body was longer than `maxBodyBytes`. */
  readonly isTruncated: boolean;
  readonly end: CaptureEnd;
  /** Milliseconds from the request to the end of the response. */
  readonly duration: number;
}

/** Source of a response: the agent, `requireAuth()` or `injectHttpError()`. */
export type ResponseOrigin = 'agent' | 'auth-validation' | 'http-error';

/** One request with its decoded call and its response. */
export interface JournalEntry {
  /** Sequential number of the request, from 1. */
  readonly id: number;
  /** Time of arrival by the clock of the test agent, in RFC 3339. */
  readonly time: string;
  readonly request: CapturedRequest;
  readonly call: CapturedCall | undefined;
  readonly responseOrigin: ResponseOrigin;
  /** Source of the response plan, such as the name of a rule. */
  readonly origin: string | undefined;
  /** The closest rules, at most three, if no rule matched and there was no fallback. */
  readonly unmatched: readonly NearMiss[] | undefined;
  /** The closest rules, at most three, if no rule matched. */
  readonly nearMisses: readonly NearMiss[] | undefined;
  /** Undefined until the response has ended. */
  readonly response: CapturedResponse | undefined;
}

/** Selects journal entries; all given conditions must hold. */
export interface JournalFilter {
  readonly operation?: CapturedCall['operation'];
  /** HTTP method in upper case. */
  readonly method?: string;
  readonly path?: string;
  readonly taskId?: string;
  readonly contextId?: string;
  readonly messageId?: string;
  /** True selects requests that no rule matched, false all others. */
  readonly unmatched?: boolean;
  /** HTTP status of the response. */
  readonly status?: number;
  readonly responseOrigin?: ResponseOrigin;
  readonly where?: (entry: JournalEntry) => boolean;
}

/** Returns true if an entry fulfills all conditions. */
export function matchesJournalFilter(entry: JournalEntry, filter: JournalFilter): boolean {
  const { call, request, response } = entry;
  return (
    matches(filter.operation, call?.operation) &&
    matches(filter.method, request.method) &&
    matches(filter.path, request.path) &&
    matches(filter.taskId, call?.taskId) &&
    matches(filter.contextId, call?.contextId) &&
    matches(filter.messageId, call?.messageId) &&
    matches(filter.unmatched, entry.unmatched !== undefined) &&
    matches(filter.status, response?.status) &&
    matches(filter.responseOrigin, entry.responseOrigin) &&
    (filter.where?.(entry) ?? true)
  );
}

function matches<T>(expected: T | undefined, actual: T | undefined): boolean {
  return expected === undefined || expected === actual;
}
