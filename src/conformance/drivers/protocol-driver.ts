import type { CheckedTransport, CheckedVersion } from '../rule-model.ts';
import type { HttpExchange, RawFrame } from '../wire/http-exchange.ts';
import type { RawRequest } from '../wire/raw-http-client.ts';
import type { ErrorResponse } from './error-response.ts';
import type { NormalizedEvent, NormalizedMessage, NormalizedTask } from './normalized-views.ts';

/** Operations of the protocol, named independently of the version. */
export type DriverOperation =
  | 'send'
  | 'stream'
  | 'get'
  | 'list'
  | 'cancel'
  | 'subscribe'
  | 'createPush'
  | 'getPush'
  | 'listPush'
  | 'deletePush'
  | 'extendedCard';

/** A message to send, independent of the version. */
export interface MessageDraft {
  readonly text?: string;
  readonly messageId?: string;
  readonly taskId?: string;
  readonly contextId?: string | undefined;
  /** Parts in the wire format of the version; replaces `text`. */
  readonly parts?: readonly unknown[];
  readonly metadata?: object;
}

/** A push configuration to create, independent of the version. */
export interface WebhookDraft {
  readonly id?: string;
  readonly url: string;
  readonly token?: string;
  readonly scheme?: string;
  readonly credentials?: string;
}

/** Input of an operation, independent of the version. Each operation ignores members that it does not have. */
export interface OperationInput {
  readonly message?: MessageDraft;
  readonly id?: string;
  readonly taskId?: string;
  readonly historyLength?: number;
  readonly returnImmediately?: boolean;
  readonly acceptedOutputModes?: readonly string[];
  readonly webhook?: WebhookDraft;
  readonly contextId?: string;
  /** State filter in the wire format of the version. */
  readonly status?: string;
  readonly pageSize?: number;
  readonly pageToken?: string;
  readonly statusTimestampAfter?: string;
  readonly includeArtifacts?: boolean;
}

/** Changes to an encoded request. */
export interface RequestOverrides {
  /** The id of the JSON-RPC request. */
  readonly rpcId?: string | number | null;
  /** Added to the headers of the version; an empty string removes a header. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Replaces the JSON that is sent: `params` on JSON-RPC, the body on REST, the message on gRPC. */
  readonly transform?: (wire: Record<string, unknown>) => unknown;
  /** Added to the query string. */
  readonly query?: string;
}

/** A response without its transport envelope. */
export interface DecodedResponse {
  readonly exchange: HttpExchange;
  /** Result in the wire format of the version; undefined for errors and undecodable responses. */
  readonly result?: unknown;
  readonly error?: ErrorResponse;
  /** Reason why the response has neither a result nor an error. */
  readonly decodeError?: string;
}

/** A frame of a stream without its transport envelope. */
export interface DecodedFrame {
  readonly event?: unknown;
  readonly error?: ErrorResponse;
  /** Reason why the frame has neither an event nor an error. */
  readonly decodeError?: string;
}

/**
 * Encodes requests and decodes responses of one version over one transport. It implements the specification only and
 * shares no code with the product, so that it cannot repeat its errors.
 */
export interface ProtocolDriver {
  readonly version: CheckedVersion;
  readonly transport: CheckedTransport;
  readonly url: string;
  /** Headers that the version requires. */
  readonly headers: Readonly<Record<string, string>>;
  /** @returns undefined if the version has no such operation. */
  encode(
    operation: DriverOperation,
    input: OperationInput,
    overrides?: RequestOverrides,
  ): RawRequest | undefined;
  decode(exchange: HttpExchange): DecodedResponse;
  decodeFrame(frame: RawFrame): DecodedFrame;
  /** Returns true if the response to a streaming operation is a stream, not an error. */
  isStream(exchange: HttpExchange): boolean;
  /** Returns the task of a result, wrapped or not. */
  decodeTask(result: unknown): NormalizedTask | undefined;
  /** Returns the direct message of a result. */
  decodeMessage(result: unknown): NormalizedMessage | undefined;
  decodeEvent(event: unknown): NormalizedEvent;
  /** Wire names of the task states by their short names. */
  readonly wireStates: Readonly<Record<string, string>>;
}
