/** Errors of HTTP requests, with hints for users. */
import { reasonForStatus } from '../../dialects/v1_0/error.ts';
import { A2AError } from '../../protocol/errors.ts';
import type { HttpTransportError } from './http-client.ts';

/** Creates the error for a request without a response. */
export function noResponseError(failure: HttpTransportError, url: string): A2AError {
  const { origin, hostname } = new URL(url);
  const code = failure.code ?? '';
  const createError = (reason: 'UNAVAILABLE' | 'TIMEOUT', message: string, hint: string) =>
    new A2AError(reason, message, { cause: failure, hint });
  if (code === 'ECONNREFUSED')
    return createError(
      'UNAVAILABLE',
      `Connection refused by ${origin}`,
      `No server listens at ${origin}. Is the agent running, and is the port correct?`,
    );
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN')
    return createError(
      'UNAVAILABLE',
      `Host not found: ${hostname}`,
      `The name ${hostname} does not resolve. Check the spelling and the network.`,
    );
  if (code === 'UND_ERR_CONNECT_TIMEOUT' || code === 'ETIMEDOUT')
    return createError(
      'TIMEOUT',
      `Connection to ${origin} timed out`,
      `${origin} does not accept connections. A firewall may drop them.`,
    );
  if (code === 'HTTP2_NOT_SUPPORTED')
    return createError(
      'UNAVAILABLE',
      `${origin} does not support HTTP/2`,
      'gRPC requires HTTP/2. The server or a proxy in front of it speaks HTTP/1.1 or TLS: check port and scheme, or use another transport.',
    );
  if (code === 'HTTP2_NOT_NEGOTIATED' || code.includes('NO_APPLICATION_PROTOCOL'))
    return createError(
      'UNAVAILABLE',
      `${origin} does not offer HTTP/2 over TLS`,
      'gRPC requires HTTP/2, which the server must offer during the TLS handshake (ALPN "h2"). A proxy in front of the agent may support HTTP/1.1 only.',
    );
  if (/WRONG_VERSION|EPROTO|PACKET_LENGTH/.test(code))
    return createError(
      'UNAVAILABLE',
      `${origin} does not support TLS`,
      'The URL starts with https, but the server responds in plain HTTP.',
    );
  if (code === 'CERT_HAS_EXPIRED')
    return createError(
      'UNAVAILABLE',
      `The certificate of ${hostname} has expired`,
      'The operator of the agent must renew it. Also check the clock of this machine.',
    );
  if (code === 'CERT_NOT_YET_VALID')
    return createError(
      'UNAVAILABLE',
      `The certificate of ${hostname} is not valid yet`,
      'Check the clocks of this machine and of the machine that issued the certificate.',
    );
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID')
    return createError(
      'UNAVAILABLE',
      `The certificate of ${hostname} is for another host name`,
      'Use a name that the certificate lists, or ask the operator of the agent for another certificate.',
    );
  if (/CERT|SIGNATURE|^UNABLE_TO_|ERR_TLS/.test(code))
    return createError(
      'UNAVAILABLE',
      `The certificate of ${hostname} is not trusted (${code})`,
      'Pass the CA certificate to Node with NODE_EXTRA_CA_CERTS, or fix the certificate.',
    );
  if (code.startsWith('HPE_'))
    return createError(
      'UNAVAILABLE',
      `${origin} does not support HTTP`,
      'Another protocol is used at this port, perhaps TLS: try https.',
    );
  return createError(
    'UNAVAILABLE',
    `Connection to ${origin} was closed`,
    `The server closed the connection${code === '' ? '' : ` (${code})`}.`,
  );
}

/** A response that is not an A2A response. */
export interface UnexpectedResponse {
  status: number;
  url: string;
  contentType: string | undefined;
  authenticate: string | undefined;
  body: string;
  /** Origin of the URL, such as "The card at …". */
  namedBy?: string | undefined;
}

/**
 * Creates the error for a response without an A2A error. `details.unexpectedResponse` marks errors with an HTTP status,
 * so that the gateway can replace the URL in their message.
 */
export function unexpectedResponseError(response: UnexpectedResponse): A2AError {
  const { status, url, body } = response;
  const page = looksLikeHtml(response) ? ' with a web page' : '';
  if (status >= 400) {
    return new A2AError(reasonForStatus(status), `Unexpected response from ${url}: HTTP ${status}${page}`, {
      status,
      details: { unexpectedResponse: 'true' },
      hint: hintForStatus(response),
      cause: body === '' ? undefined : body.slice(0, 2000),
    });
  }
  const content = page === '' ? `not A2A (${response.contentType ?? 'no content type'})` : 'a web page';
  return new A2AError('INVALID_AGENT_RESPONSE', `Unexpected response from ${url}: ${content}`, {
    status,
    hint: `Check whether ${url} is the URL of an agent.`,
    cause: body === '' ? undefined : body.slice(0, 2000),
  });
}

function looksLikeHtml({ contentType, body }: UnexpectedResponse): boolean {
  return contentType?.includes('html') === true || /^\s*<(?:!doctype|html)/i.test(body);
}

/** Returns a hint for an HTTP status. */
export function hintForStatus(
  response: Omit<UnexpectedResponse, 'body' | 'contentType'>,
): string | undefined {
  const { status, url, namedBy, authenticate } = response;
  const origin = namedBy === undefined ? '' : ` ${namedBy} lists this URL.`;
  switch (status) {
    case 401:
      return `The agent requires credentials${authenticate ? ` (${authenticate})` : ''}: pass the option \`auth\` to connect().`;
    case 403:
      return 'The agent does not permit this operation: check the scopes of the credentials.';
    case 404:
      return `Not found: ${url}.${origin}`;
    case 405:
      return `${url} does not support this HTTP method; it may be the URL of another transport.${origin}`;
    case 408:
      return 'The server closed the connection before it had received the request: send it again.';
    case 413:
      return 'The message exceeds the size limit of the agent.';
    case 429:
      return 'The rate limit of the agent is exceeded.';
    case 502:
    case 503:
    case 504:
      return 'A proxy could not reach the agent, or the agent is starting or overloaded.';
    default:
      return undefined;
  }
}

/** Adds a hint to an error without one. */
export function withHint(error: A2AError, hint: string | undefined): A2AError {
  if (hint === undefined || error.hint !== undefined) return error;
  const { reason, message, violations, details, status, cause } = error;
  return new A2AError(reason, message, { violations, details, status, cause, hint });
}
