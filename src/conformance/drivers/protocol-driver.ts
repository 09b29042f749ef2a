import type { CheckedTransport, CheckedVersion } from '../rule-model.ts';
import type { HttpExchange, RawFrame } from '../wire/http-exchange.ts';
import type { RawRequest } from '../wire/raw-http-client.ts';
import type { ErrorResponse } from './error-response.ts';
import type { NormalizedEvent, NormalizedTask } from './normalized-views.ts';

/** The operations of the protocol, whatever a version calls them. */
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

/** A message to send, in the words of no version. */
export interface MessageDraft {
  readonly text?: string;
  readonly messageId?: string;
  readonly taskId?: string;
  readonly contextId?: string;
  /** Parts on the wire of the version instead of the text. */
  readonly parts?: readonly unknown[];
  readonly metadata?: object;
}

/** A webhook, in the words of no version. */
export interface WebhookDraft {
  readonly id?: string;
  readonly url: string;
  readonly token?: string;
  readonly scheme?: string;
  readonly credentials?: string;
}

/** What an operation is asked with, in the words of no version. Each operation takes what it knows. */
export interface OperationInput {
  readonly message?: MessageDraft;
  readonly id?: string;
  readonly taskId?: string;
  readonly historyLength?: number;
  readonly returnImmediately?: boolean;
  readonly acceptedOutputModes?: readonly string[];
  readonly webhook?: WebhookDraft;
  readonly contextId?: string;
  /** On the wire of the version. */
  readonly status?: string;
  readonly pageSize?: number;
  readonly pageToken?: string;
  readonly statusTimestampAfter?: string;
  readonly includeArtifacts?: boolean;
}

/** How to ask. */
export interface RequestOverrides {
  /** The id of the JSON-RPC request. */
  readonly rpcId?: string | number | null;
  /** Headers beside those of the version; an empty text removes one. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Changes the JSON that is sent: on JSON-RPC its `params`, on REST its body. */
  readonly transform?: (wire: Record<string, unknown>) => unknown;
  /** Added to the query. */
  readonly query?: string;
}

/** What an answer says, once its envelope is off. */
export interface DecodedResponse {
  readonly exchange: HttpExchange;
  /** What the version has for a success; undefined when it failed or could not be read. */
  readonly result?: unknown;
  readonly error?: ErrorResponse;
  /** Why there is neither. */
  readonly decodeError?: string;
}

/** One version over one transport, as it is spoken on the wire. It knows only what the specification says. */
export interface ProtocolDriver {
  readonly version: CheckedVersion;
  readonly transport: CheckedTransport;
  /** Where requests go. */
  readonly url: string;
  /** The version header and the like. */
  readonly headers: Readonly<Record<string, string>>;
  /** @returns undefined when the version has no such operation. */
  encode(
    operation: DriverOperation,
    input: OperationInput,
    overrides?: RequestOverrides,
  ): RawRequest | undefined;
  decode(exchange: HttpExchange): DecodedResponse;
  /** What a frame of a stream says. */
  decodeFrame(
    frame: RawFrame,
    exchange: Pick<HttpExchange, 'frames'>,
  ): { event?: unknown; error?: ErrorResponse; problem?: string };
  /** The task that an answer holds, however it is wrapped. */
  decodeTask(result: unknown): NormalizedTask | undefined;
  /** The direct message that an answer holds. */
  decodeMessage(result: unknown): { parts: readonly unknown[]; raw: object } | undefined;
  decodeEvent(event: unknown): NormalizedEvent;
  /** The states by their short names, as they are on the wire. */
  readonly wireStates: Readonly<Record<string, string>>;
}
