import type { TranslationLoss } from '../dialects/translation-loss.ts';
import type { Operation } from '../protocol/agent.ts';
import type { ProtocolVersion } from '../protocol/card.ts';
import type { LintFinding } from '../protocol/lint-stream.ts';
import type { TaskState } from '../protocol/task.ts';

/**
 * Kind of a traffic record: HTTP `request`, HTTP `response`, `frame` (one event of a stream), `end` (why an exchange
 * ended), `message` (mesh message) or `loss` (translation loss).
 */
export type TrafficRecordKind = 'request' | 'response' | 'frame' | 'end' | 'message' | 'loss';

/** Transport of a traffic record. */
export type TrafficTransport = 'JSONRPC' | 'HTTP+JSON' | 'GRPC' | 'mesh';

/** HTTP message without its body. Credentials are redacted. */
export interface HttpMessageInfo {
  readonly method: string;
  /** Absolute URL. */
  readonly url: string;
  /** Only in responses. */
  readonly status?: number;
  /** Header names are lower case. */
  readonly headers: Readonly<Record<string, string>>;
}

/** Mesh message without its payload. Credentials are redacted. */
export interface MeshMessageInfo {
  readonly topic: string;
  readonly properties: Readonly<Record<string, unknown>>;
}

/** One recorded message between two participants, with secrets redacted. */
export interface TrafficRecord {
  /** Position in the traffic log, starting at 1. */
  readonly sequence: number;
  /** Milliseconds since 1970. */
  readonly at: number;
  /** Groups a request with its response, frames and end; on a mesh, the messages of one request. */
  readonly exchangeId: string;
  readonly kind: TrafficRecordKind;
  /** Name of the sender. */
  readonly from: string;
  /** Name of the receiver. */
  readonly to: string;
  readonly http?: HttpMessageInfo;
  readonly mesh?: MeshMessageInfo;
  /**
   * Redacted content: a body, a payload, the lines of a server-sent event (`id: 3` and `data: …`), or the reason of an
   * `end`. Binary content is replaced by a description in parentheses.
   */
  readonly text: string;
  /** Number of characters removed from `text`. */
  readonly truncatedBy?: number;
  /** Milliseconds since the request of the exchange. */
  readonly elapsed?: number;
  /** Decoded content; undefined if it could not be decoded. */
  readonly decoded?: DecodedContent;
}

/** Content of a traffic record in terms of the model. */
export interface DecodedContent {
  readonly version?: ProtocolVersion;
  readonly transport?: TrafficTransport;
  readonly operation?: Operation | 'card';
  readonly taskId?: string;
  readonly contextId?: string;
  readonly state?: TaskState;
  /** Summary in one line, such as `status working`, `artifact report (chunk)` or `task not found`. */
  readonly summary: string;
  /** The request, result, event, card or error in the model. */
  readonly model?: unknown;
  /** Translation losses between the wire and the model. */
  readonly losses?: readonly TranslationLoss[];
  /** Protocol violations at this position of the stream. */
  readonly findings?: readonly LintFinding[];
  /** True for error responses and abnormal ends. */
  readonly isError?: boolean;
}
