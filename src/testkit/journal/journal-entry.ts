import type { Operation, Principal } from '../../protocol/agent.ts';
import type { ProtocolVersion } from '../../protocol/card.ts';
import type { Message } from '../../protocol/message.ts';
import type { NearMiss } from '../agent/response-plan.ts';

/** Headers by lower-case name, credentials included: a test wants to see them. */
export type CapturedHeaders = Readonly<Record<string, string | string[] | undefined>>;

/** A request as it came in. */
export interface CapturedRequest {
  readonly method: string;
  /** As it came, without the query. */
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly headers: CapturedHeaders;
  /** The body as text; empty when there is none, or when nobody read it. */
  readonly body: string;
  /** The body as JSON; undefined when it is none. */
  readonly json: unknown;
  /** True when the body was longer than the journal keeps of one. */
  readonly isCut: boolean;
}

/** What a request asked for, once somebody understood it. */
export interface CapturedCall {
  readonly operation: Operation | 'card';
  readonly version: ProtocolVersion | undefined;
  readonly transport: 'JSONRPC' | 'HTTP+JSON';
  /** What the agent was asked, in the words of the model. */
  readonly request: unknown;
  /** The message that was sent, if one was. */
  readonly message: Message | undefined;
  readonly messageId: string | undefined;
  /** The task that was asked for or, after a message, the one that it belongs to. */
  readonly taskId: string | undefined;
  readonly contextId: string | undefined;
  readonly principal: Principal | undefined;
}

/** How an answer ended: all of it went out, the peer left, or the connection was broken from this side. */
export type CaptureEnd = 'finished' | 'peer-left' | 'cut';

/** An answer as it went out, faults included. */
export interface CapturedResponse {
  readonly status: number;
  readonly headers: CapturedHeaders;
  /** The body as text. Of a stream the frames are kept instead. */
  readonly body: string;
  /** The data of each server-sent event, parsed where it is JSON; undefined when it is no stream. */
  readonly frames: readonly unknown[] | undefined;
  readonly isCut: boolean;
  readonly end: CaptureEnd;
  /** In milliseconds, from the request to the end of the answer. */
  readonly duration: number;
}

/** Who answered: the agent, or the door in front of it. */
export type ResponseOrigin = 'agent' | 'auth-validation' | 'http-error';

/** One request and everything that is known of it. */
export interface JournalEntry {
  /** Grows by one with each request. */
  readonly id: number;
  /** When it came in, as RFC 3339 by the clock of the test agent. */
  readonly time: string;
  readonly request: CapturedRequest;
  readonly call: CapturedCall | undefined;
  readonly responseOrigin: ResponseOrigin;
  /** Where the plan that was played came from. */
  readonly origin: string | undefined;
  /** The rules that came closest, at most three, where nobody knew what to do. */
  readonly unmatched: readonly NearMiss[] | undefined;
  /** The same, also where no rule matched and `otherwise` was played. */
  readonly nearMisses: readonly NearMiss[] | undefined;
  /** Undefined until the answer has ended. */
  readonly response: CapturedResponse | undefined;
}

/** Which entries are wanted: all that is given must hold. */
export interface JournalFilter {
  readonly operation?: CapturedCall['operation'];
  /** The HTTP method, in capitals. */
  readonly method?: string;
  readonly path?: string;
  readonly taskId?: string;
  readonly contextId?: string;
  readonly messageId?: string;
  /** True for requests that no rule matched, false for all others. */
  readonly unmatched?: boolean;
  /** The status of the answer. */
  readonly status?: number;
  readonly answeredBy?: ResponseOrigin;
  readonly where?: (entry: JournalEntry) => boolean;
}

/** Tells whether an entry is wanted. */
export function matchesJournalFilter(entry: JournalEntry, filter: JournalFilter): boolean {
  const { call, request, response: answer } = entry;
  return (
    holds(filter.operation, call?.operation) &&
    holds(filter.method, request.method) &&
    holds(filter.path, request.path) &&
    holds(filter.taskId, call?.taskId) &&
    holds(filter.contextId, call?.contextId) &&
    holds(filter.messageId, call?.messageId) &&
    holds(filter.unmatched, entry.unmatched !== undefined) &&
    holds(filter.status, answer?.status) &&
    holds(filter.answeredBy, entry.responseOrigin) &&
    (filter.where?.(entry) ?? true)
  );
}

function holds<T>(wanted: T | undefined, actual: T | undefined): boolean {
  return wanted === undefined || wanted === actual;
}
