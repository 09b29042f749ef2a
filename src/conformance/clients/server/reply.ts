import type { ProtocolErrorName } from '../../drivers/error-response.ts';
import type { SseFraming } from './sse-framing.ts';
import type { WireContent } from './wire-content.ts';

/** An error of the protocol as a reply. */
export interface ErrorReply {
  readonly kind: 'error';
  readonly error: ProtocolErrorName;
  readonly message: string;
}

/** A stream of events. */
export interface StreamReply {
  readonly kind: 'stream';
  readonly events: readonly StreamItem[];
  /** How events are written as SSE. @defaultValue `plain` */
  readonly framing?: SseFraming;
  /** `cut` breaks the connection. `hold` waits until the client closes it, within a limit. @defaultValue `close` */
  readonly end?: 'close' | 'cut' | 'hold';
}

/** An event of a stream: content, JSON in the format of the version, or an error. */
export type StreamItem = WireContent | { readonly kind: 'wire'; readonly json: object } | ErrorReply;

/** A response of HTTP that is no response of the protocol. */
export interface RawReply {
  readonly kind: 'raw';
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** Repeated after the body until the client closes the connection or the limit of the suite is reached. */
  readonly endless?: string;
  /** True if the connection breaks before the end of the body. */
  readonly isCut?: boolean;
}

/** How the agent of a test replies to a call. */
export type Reply =
  | {
      readonly kind: 'content';
      readonly content: WireContent;
      /** Milliseconds before the response. */
      readonly delay?: number;
      /** Changes the JSON of the version. */
      readonly alter?: (wire: object) => object;
    }
  | {
      /** A result in the format of the version. */
      readonly kind: 'result';
      readonly result: object;
    }
  | ErrorReply
  | StreamReply
  | RawReply;
