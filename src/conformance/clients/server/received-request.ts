import type { JsonObject } from '../../../primitives/json.ts';
import type { CheckedTransport, CheckedVersion } from '../../rule-model.ts';
import type { DriverOperation } from '../../drivers/protocol-driver.ts';
import type { HttpExchange } from '../../wire/http-exchange.ts';

/** A message that the client sent, independent of the version. */
export interface SentMessage {
  /** Undefined in 0.1, which has none. */
  readonly messageId: string | undefined;
  readonly taskId: string | undefined;
  readonly contextId: string | undefined;
  readonly raw: JsonObject;
}

/** A call of an operation that the suite recognized, even if it is not valid. */
export interface ReceivedCall {
  readonly version: CheckedVersion;
  readonly transport: CheckedTransport;
  readonly operation: DriverOperation;
  /** Id of the JSON-RPC request. */
  readonly rpcId: unknown;
  /** `params` of JSON-RPC, the body or query of REST, the message of gRPC. */
  readonly params: JsonObject;
  readonly message: SentMessage | undefined;
  /** Id of the task in the path or the parameters. */
  readonly taskId: string | undefined;
  /** In the path of REST or in the parameters. */
  readonly tenant: string | undefined;
}

/** The server of the suite that received a request. */
export type RequestOrigin = 'agent' | 'other' | 'untrusted';

/** A request that a server of the suite received. */
export interface ReceivedRequest {
  readonly number: number;
  /** Time of arrival in milliseconds, comparable within a run. */
  readonly at: number;
  /**
   * `agent`: the agent under the URL of the instruction. `other`: another origin that a response named. `untrusted`: the
   * agent under a URL with a self-signed certificate.
   */
  readonly origin: RequestOrigin;
  readonly method: string;
  /** Path and query. */
  readonly target: string;
  /** Names in lower case; repeated headers are joined with commas. */
  readonly headers: Readonly<Record<string, string>>;
  /** Names and values in the order of the request, alternating. Empty for HTTP/2. */
  readonly rawHeaders: readonly string[];
  /** The body; for gRPC the message as ProtoJSON. */
  readonly body: string;
  /** True if the request is for an agent card. */
  readonly isCard: boolean;
  /** Undefined if the request is none of the protocol. */
  readonly call: ReceivedCall | undefined;
  /** What is wrong with the bytes of a gRPC message. */
  readonly wireProblems: readonly string[];
  /** The response of the suite. */
  readonly response: SentResponse;
}

/** A response of the suite, as far as it was sent. */
export interface SentResponse {
  status: number;
  headers: Record<string, string>;
  /** The first 64 KiB. */
  body: string;
  bytes: number;
  /** When the response ended, in milliseconds; undefined while it is open. */
  endedAt: number | undefined;
  /** `client`: the client closed the connection before the end of the response. */
  endedBy: 'agent' | 'client' | undefined;
}

/** Returns the request and its response as evidence for a report. */
export function toExchange(request: ReceivedRequest, url: string): HttpExchange {
  const { number, at, method, target, headers, body, response } = request;
  const end =
    response.endedBy === 'client' ? 'aborted' : response.endedBy === undefined ? 'truncated' : 'complete';
  return {
    number,
    method,
    url: `${url}${target}`,
    requestHeaders: headers,
    requestBody: body === '' ? undefined : body,
    status: response.status,
    headers: response.headers,
    body: response.body,
    hasInvalidUtf8: false,
    frames: [],
    end,
    transportError: end === 'aborted' ? 'the client closed the connection' : undefined,
    headersMs: 0,
    totalMs: (response.endedAt ?? at) - at,
  };
}
