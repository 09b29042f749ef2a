import type { DecodedMessage, WireProblem } from './decode-message.ts';
import type { GrpcStatus } from './grpc-status.ts';

/** How a request is sent as a call of gRPC. */
export interface GrpcCallSetup {
  /** The message as ProtoJSON, for reports. */
  readonly requestText: string;
  readonly isStreaming: boolean;
  decode(message: Uint8Array): DecodedMessage;
}

/** One message of a response, as on the wire. */
export interface GrpcMessage {
  /** The first byte of its prefix: 0, or 1 for a compressed message. */
  readonly flag: number;
  /** Length in the prefix. */
  readonly length: number;
  readonly problems: readonly WireProblem[];
}

/** Facts of a call that an HTTP response does not have. */
export interface GrpcFacts {
  readonly status: GrpcStatus;
  /** Names in lower case. Without messages they may be the headers of the response. */
  readonly trailers: Readonly<Record<string, string>>;
  /** True if the response has one block of headers, which contains the status. */
  readonly isTrailersOnly: boolean;
  readonly messages: readonly GrpcMessage[];
  /** Bytes after the last complete message. */
  readonly incompleteBytes: number;
  /** Error code of HTTP/2 with which the server or the connection ended the stream; 0 for a regular end. */
  readonly resetCode: number;
  /** The body of the request in base64, to repeat it. */
  readonly requestBytes: string;
}
