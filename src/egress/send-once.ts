import { type ClientRequest, type IncomingMessage, request as plainRequest } from 'node:http';
import { request as secureRequest } from 'node:https';
import { A2AError } from '../protocol/errors.ts';
import { type HeaderMap, incomingHeaders } from './headers.ts';
import type { EgressPolicy } from './egress-policy.ts';
import { stripBrackets } from './rules/host-rules.ts';

/** The methods that are of use between agents. */
export type HttpMethod = 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** One question to one address, which has been checked. */
interface Question {
  url: URL;
  method: HttpMethod;
  headers: HeaderMap;
  body: string | Uint8Array | undefined;
  /** Its reason is the error to throw. */
  signal: AbortSignal;
}

/** One whole answer. */
export interface RawResponse {
  status: number;
  headers: HeaderMap;
  bytes: Uint8Array;
}

/** How large the head of an answer may be, in bytes. */
const maxHeaderSize = 16 * 1024;

/** Asks once and reads the whole answer. */
export function sendOnce(policy: EgressPolicy, question: Question): Promise<RawResponse> {
  const { signal, url } = question;
  return new Promise((resolve, reject) => {
    let outgoing: ClientRequest | undefined;
    let isOver = false;
    const succeed = (answer: RawResponse): void => {
      isOver = true;
      signal.removeEventListener('abort', onAbort);
      resolve(answer);
    };
    const fail = (thrown: unknown): void => {
      // The connection of a request that has ended well is used again.
      if (isOver) return;
      isOver = true;
      signal.removeEventListener('abort', onAbort);
      outgoing?.destroy();
      reject(faultOf(thrown, url));
    };
    const onAbort = (): void => fail(signal.reason);
    if (signal.aborted) {
      onAbort();
      return;
    }
    // A request that waits for its connection reports nothing until it has one, so the signal is heard here.
    signal.addEventListener('abort', onAbort);
    try {
      outgoing = ask(policy, question);
    } catch (thrown) {
      // Names and values of headers that HTTP does not allow.
      fail(new A2AError('INVALID_PARAMS', 'The request cannot be written as HTTP', { cause: thrown }));
      return;
    }
    outgoing.on('error', fail);
    outgoing.on('close', () => fail(new Error('The connection closed without an answer')));
    outgoing.on('response', (incoming) => {
      const headers = incomingHeaders(incoming.headers);
      const status = incoming.statusCode ?? 0;
      collect(incoming, policy.limits.maxBytes, (bytes) => succeed({ status, headers, bytes }), fail);
    });
    outgoing.end(question.body);
  });
}

function ask(policy: EgressPolicy, { url, method, headers }: Question): ClientRequest {
  const request = url.protocol === 'https:' ? secureRequest : plainRequest;
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
    new A2AError('INVALID_AGENT_RESPONSE', `The answer has more than ${limit} bytes`, {
      hint: 'Raise `maxBytes` if such answers are right.',
    });
  incoming.on('data', (chunk: Buffer) => {
    size += chunk.length;
    if (size > limit) fail(tooLarge());
    else chunks.push(chunk);
  });
  incoming.on('error', fail);
  incoming.on('end', () => done(Buffer.concat(chunks)));
}

/** The error of this toolkit for one of the system. */
function faultOf(thrown: unknown, { origin }: URL): A2AError {
  if (thrown instanceof A2AError) return thrown;
  const code = thrown instanceof Error && 'code' in thrown ? String(thrown.code) : '';
  if (code.startsWith('HPE_'))
    return new A2AError('INVALID_AGENT_RESPONSE', `${origin} does not answer in HTTP`, { cause: thrown });
  return new A2AError('UNAVAILABLE', `${origin} cannot be reached`, { cause: thrown });
}
