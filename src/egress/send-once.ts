import type { ClientRequest, IncomingMessage } from 'node:http';
import { nodeModule } from '../primitives/node/node-module.ts';
import { A2AError } from '../protocol/errors.ts';
import { type HeaderMap, incomingHeaders } from './headers.ts';
import type { EgressPolicy } from './egress-policy.ts';
import { stripBrackets } from './rules/host-rules.ts';

/** Supported HTTP methods. */
export type HttpMethod = 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

interface CheckedRequest {
  url: URL;
  method: HttpMethod;
  headers: HeaderMap;
  body: string | Uint8Array | undefined;
  /** `signal.reason` is the error to throw. */
  signal: AbortSignal;
}

/** A complete response. */
export interface RawResponse {
  status: number;
  headers: HeaderMap;
  bytes: Uint8Array;
}

/** Maximum size of the response head, in bytes. */
const maxHeaderSize = 16 * 1024;

/** Sends a request without following redirects and reads the complete response. */
export function sendOnce(policy: EgressPolicy, request: CheckedRequest): Promise<RawResponse> {
  const { signal, url } = request;
  return new Promise((resolve, reject) => {
    let outgoing: ClientRequest | undefined;
    let isSettled = false;
    const succeed = (response: RawResponse): void => {
      isSettled = true;
      signal.removeEventListener('abort', onAbort);
      resolve(response);
    };
    const fail = (thrown: unknown): void => {
      // Later errors belong to the pooled connection.
      if (isSettled) return;
      isSettled = true;
      signal.removeEventListener('abort', onAbort);
      outgoing?.destroy();
      reject(toA2AError(thrown, url));
    };
    const onAbort = (): void => fail(signal.reason);
    if (signal.aborted) {
      onAbort();
      return;
    }
    // A request does not observe a signal until it has a connection.
    signal.addEventListener('abort', onAbort);
    try {
      outgoing = openRequest(policy, request);
    } catch (thrown) {
      // Header names or values that HTTP does not allow.
      fail(new A2AError('INVALID_PARAMS', 'The request is not valid HTTP', { cause: thrown }));
      return;
    }
    outgoing.on('error', fail);
    outgoing.on('close', () => fail(new Error('The connection closed without a response')));
    outgoing.on('response', (incoming) => {
      const headers = incomingHeaders(incoming.headers);
      const status = incoming.statusCode ?? 0;
      collect(incoming, policy.limits.maxBytes, (bytes) => succeed({ status, headers, bytes }), fail);
    });
    outgoing.end(request.body);
  });
}

function openRequest(policy: EgressPolicy, { url, method, headers }: CheckedRequest): ClientRequest {
  const { request } = url.protocol === 'https:' ? nodeModule('node:https') : nodeModule('node:http');
  return request({
    agent: policy.agentFor(url),
    hostname: stripBrackets(url.hostname),
    port: url.port === '' ? undefined : url.port,
    path: `${url.pathname}${url.search}`,
    method,
    headers,
    maxHeaderSize,
    insecureHTTPParser: false,
  });
}

function collect(
  incoming: IncomingMessage,
  limit: number,
  done: (bytes: Uint8Array) => void,
  fail: (thrown: unknown) => void,
): void {
  const chunks: Buffer[] = [];
  let size = 0;
  const tooLarge = () =>
    new A2AError('INVALID_AGENT_RESPONSE', `The response exceeds ${limit} bytes`, {
      hint: 'Raise `maxBytes` if larger responses are expected.',
    });
  incoming.on('data', (chunk: Buffer) => {
    size += chunk.length;
    if (size > limit) fail(tooLarge());
    else chunks.push(chunk);
  });
  incoming.on('error', fail);
  incoming.on('end', () => done(Buffer.concat(chunks)));
}

/** Converts a system error. */
function toA2AError(thrown: unknown, { origin }: URL): A2AError {
  if (thrown instanceof A2AError) return thrown;
  const code = thrown instanceof Error && 'code' in thrown ? String(thrown.code) : '';
  if (code.startsWith('HPE_'))
    return new A2AError('INVALID_AGENT_RESPONSE', `The response of ${origin} is not HTTP`, { cause: thrown });
  return new A2AError('UNAVAILABLE', `Cannot connect to ${origin}`, { cause: thrown });
}
