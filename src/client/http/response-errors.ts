/** Errors of the wire in words that a person can act on. */
import { reasonForStatus } from '../../dialects/v1_0/error.ts';
import { A2AError } from '../../protocol/errors.ts';
import type { HttpTransportError } from './http-client.ts';

/** Makes the error for a request that had no answer. */
export function noResponseError(failure: HttpTransportError, url: string): A2AError {
  const { origin, hostname } = new URL(url);
  const code = failure.code ?? '';
  const give = (reason: 'UNAVAILABLE' | 'TIMEOUT', message: string, hint: string) =>
    new A2AError(reason, message, { cause: failure, hint });
  if (code === 'ECONNREFUSED')
    return give(
      'UNAVAILABLE',
      `Connection refused by ${origin}`,
      `Nothing listens at ${origin}. Is the agent running, and is the port right?`,
    );
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN')
    return give(
      'UNAVAILABLE',
      `There is no host ${hostname}`,
      `The name ${hostname} does not resolve. Check its spelling, or the network.`,
    );
  if (code === 'UND_ERR_CONNECT_TIMEOUT' || code === 'ETIMEDOUT')
    return give(
      'TIMEOUT',
      `No connection to ${origin} in time`,
      `${origin} does not accept connections. A firewall may drop them.`,
    );
  if (/WRONG_VERSION|EPROTO|PACKET_LENGTH/.test(code))
    return give(
      'UNAVAILABLE',
      `${origin} does not speak TLS`,
      'The address begins with https, but the peer answers in plain HTTP.',
    );
  if (/CERT|SIGNATURE|^UNABLE_TO_|ERR_TLS/.test(code))
    return give(
      'UNAVAILABLE',
      `The certificate of ${hostname} is not trusted (${code})`,
      'Give Node the authority that signed it with NODE_EXTRA_CA_CERTS, or correct the certificate.',
    );
  if (code.startsWith('HPE_'))
    return give(
      'UNAVAILABLE',
      `${origin} does not speak HTTP`,
      'Another protocol answers at this port, perhaps TLS: try https.',
    );
  return give(
    'UNAVAILABLE',
    `The connection to ${origin} broke`,
    `The peer closed the connection${code === '' ? '' : ` (${code})`}.`,
  );
}

/** What is known about an answer that is not what the protocol promises. */
export interface UnexpectedResponse {
  status: number;
  url: string;
  contentType: string | undefined;
  authenticate: string | undefined;
  body: string;
  /** Where the address came from, such as the URL of the card. */
  toldBy?: string | undefined;
}

/**
 * Creates the error for a response without an A2A error. `details.unexpectedResponse` marks errors with an HTTP status,
 * so that the gateway can replace the URL in their message.
 */
export function unexpectedResponseError(answer: UnexpectedResponse): A2AError {
  const { status, url, body } = answer;
  const page = looksLikeHtml(answer) ? ' with a web page' : '';
  if (status >= 400) {
    return new A2AError(reasonForStatus(status), `${url} answered HTTP ${status}${page}`, {
      status,
      details: { unexpectedResponse: 'true' },
      hint: hintForStatus(answer),
      cause: body === '' ? undefined : body.slice(0, 2000),
    });
  }
  const what =
    page === '' ? `with something that is not A2A (${answer.contentType ?? 'no type'})` : page.trim();
  return new A2AError('INVALID_AGENT_RESPONSE', `${url} answered ${what}`, {
    status,
    hint: `Is ${url} really the address of an agent?`,
    cause: body === '' ? undefined : body.slice(0, 2000),
  });
}

function looksLikeHtml({ contentType, body }: UnexpectedResponse): boolean {
  return contentType?.includes('html') === true || /^\s*<(?:!doctype|html)/i.test(body);
}

/** What a person can do about an HTTP status. */
export function hintForStatus(answer: Omit<UnexpectedResponse, 'body' | 'contentType'>): string | undefined {
  const { status, url, toldBy, authenticate } = answer;
  const source = toldBy === undefined ? '' : ` ${toldBy} said to look there.`;
  switch (status) {
    case 401:
      return `The agent wants credentials${authenticate ? ` (${authenticate})` : ''}: give connect() an \`auth\`.`;
    case 403:
      return 'The agent knows the caller but does not allow this: check the scopes of the credentials.';
    case 404:
      return `Nothing is at ${url}.${source}`;
    case 405:
      return `${url} does not take this HTTP method: it may be another transport's address.${source}`;
    case 413:
      return 'The message is larger than the agent takes.';
    case 429:
      return 'The agent asks for fewer requests.';
    case 502:
    case 503:
    case 504:
      return 'A proxy could not reach the agent, or the agent is starting or overloaded.';
    default:
      return undefined;
  }
}

/** Adds a hint to an error that has none. */
export function withHint(error: A2AError, hint: string | undefined): A2AError {
  if (hint === undefined || error.hint !== undefined) return error;
  const { reason, message, violations, details, status, cause } = error;
  return new A2AError(reason, message, { violations, details, status, cause, hint });
}
