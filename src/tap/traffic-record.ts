import type { TranslationLoss } from '../dialects/translation-loss.ts';
import type { Operation } from '../protocol/agent.ts';
import type { ProtocolVersion } from '../protocol/card.ts';
import type { LintFinding } from '../protocol/lint-stream.ts';
import type { TaskState } from '../protocol/task.ts';

/**
 * What was seen: the beginning of a trip over HTTP (`request`), its answer (`response`), one event of a stream
 * (`frame`), why a trip is over (`end`), a message on a mesh (`message`), or what a translation could not carry over
 * (`loss`).
 */
export type TrafficRecordKind = 'request' | 'response' | 'frame' | 'end' | 'message' | 'loss';

/** The way a passage was written. */
export type TrafficTransport = 'JSONRPC' | 'HTTP+JSON' | 'mesh';

/** What an HTTP message has beside its body; credentials are taken out. */
export interface HttpMessageInfo {
  readonly method: string;
  /** The whole address. */
  readonly url: string;
  /** Only in a response. */
  readonly status?: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
}

/** What a message on a mesh has beside its payload; credentials are taken out. */
export interface MeshMessageInfo {
  readonly topic: string;
  readonly properties: Readonly<Record<string, unknown>>;
}

/** One thing that was seen on a wire, between two parties, without secrets. */
export interface TrafficRecord {
  /** 1, 2, 3 … in the order in which it was seen. */
  readonly sequence: number;
  /** Milliseconds since 1970. */
  readonly at: number;
  /** Joins a request, its answer, its frames and its end; on a mesh, the messages of one request. */
  readonly exchangeId: string;
  readonly kind: TrafficRecordKind;
  /** The party that sent it. */
  readonly from: string;
  /** The party that it went to. */
  readonly to: string;
  readonly http?: HttpMessageInfo;
  readonly mesh?: MeshMessageInfo;
  /**
   * What was written, as it was, without secrets: a body, a payload, the lines of a server-sent event (`id: 3` and
   * `data: …`), or for an end, why in plain words. Bytes that are no text are described in brackets.
   */
  readonly text: string;
  /** How many characters of `text` were left out. */
  readonly truncatedBy?: number;
  /** Milliseconds since the request of the trip. */
  readonly elapsed?: number;
  /** What it means, where it was understood. */
  readonly decoded?: DecodedContent;
}

/** What a passage says in the words of the model. */
export interface DecodedContent {
  readonly version?: ProtocolVersion;
  readonly binding?: TrafficTransport;
  readonly operation?: Operation | 'card';
  readonly taskId?: string;
  readonly contextId?: string;
  readonly state?: TaskState;
  /** In a few words, for one line: `status working`, `artifact report (chunk)`, `task not found`. */
  readonly summary: string;
  /** The request, result, event, card or error in the model. */
  readonly model?: unknown;
  /** What the wire said that the model has no word for, or the other way round. */
  readonly losses?: readonly TranslationLoss[];
  /** What is not legal about it, at its place in the stream. */
  readonly findings?: readonly LintFinding[];
  /** True for answers that are errors. */
  readonly isError?: boolean;
}
