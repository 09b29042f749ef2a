import type { CallContext, Operation } from '../../protocol/agent.ts';
import type { AgentCard } from '../../protocol/card.ts';
import { A2AError, canceledError } from '../../protocol/errors.ts';
import { backoffDelay } from '../../primitives/backoff.ts';
import { sleep } from '../../primitives/clock.ts';
import type { CredentialRequest, Credentials } from '../credentials.ts';
import { explainDenial } from './destination-policy.ts';
import { noResponseError } from './response-errors.ts';
import { BodyTooLargeError, HttpTransportError, type HttpRequest, type HttpResponse } from './http-client.ts';
import type { RedirectPolicy, ClientSettings } from '../connect-options.ts';
import { WithheldCredentialsError } from './withheld-credentials-error.ts';
import { isSafeToRetry, retryBackoff, type RetryCandidate, retryDelay } from './retry.ts';
import { parseUrl } from '../../primitives/web/parse-url.ts';

/** Origin and path of a URL. */
export interface RequestTarget {
  origin: string;
  path: string;
}

export function parseTarget(url: string | URL): RequestTarget {
  const { origin, pathname, search } = typeof url === 'string' ? new URL(url) : url;
  return { origin, path: pathname + search };
}

/** A request before credentials, retries and redirects are applied. */
export interface OutboundRequest {
  operation: Operation | 'card';
  /** True if the agent recognizes a repetition of a request that is not idempotent by itself. */
  isRepeatable?: boolean;
  method: HttpRequest['method'];
  target: RequestTarget;
  headers: Readonly<Record<string, string>>;
  body?: string | Uint8Array;
  /** Requires HTTP/2. */
  http2?: boolean;
  /** Converts each response, for transports whose errors are not in its status. */
  receive?: (response: HttpResponse) => Promise<HttpResponse>;
  call: CallContext;
  auth: Credentials | undefined;
  /** Agent card, if known. */
  card?: AgentCard | undefined;
  /** Overrides the redirect policy of the settings. Only headers without credentials are sent to another origin. */
  redirects?: RedirectPolicy;
}

/** A response with its complete body. */
export interface BufferedResponse {
  readonly status: number;
  header(name: string): string | undefined;
  readonly text: string;
}

const redirectStatuses: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
const maxRedirects = 3;

/** Sends a request and reads the complete response within the timeout of the operation. Retries if safe. */
export function requestBuffered(
  settings: ClientSettings,
  outbound: OutboundRequest,
): Promise<BufferedResponse> {
  return requestAndRead(settings, outbound, async (response) => {
    const text = await response.text(settings.limits.body);
    return { status: response.status, header: (name) => response.header(name), text };
  });
}

/** Returns the time that an operation with one response may take, in milliseconds. */
export function timeoutOf(operation: Operation | 'card', { timeouts }: ClientSettings): number {
  return operation === 'send' ? timeouts.send : timeouts.read;
}

/** Like {@link requestBuffered}, for responses that are read by a function. */
export async function requestAndRead<T extends RetryCandidate>(
  settings: ClientSettings,
  outbound: OutboundRequest,
  read: (response: HttpResponse) => Promise<T>,
): Promise<T> {
  const { clock } = settings;
  const timeout = timeoutOf(outbound.operation, settings);
  const abort = new AbortController();
  const onAbort = () => abort.abort(outbound.call.signal?.reason);
  if (outbound.call.signal?.aborted) throw canceledError(outbound.call.signal);
  outbound.call.signal?.addEventListener('abort', onAbort);
  let hasTimedOut = false;
  const cancelTimer = clock.after(timeout, () => {
    hasTimedOut = true;
    abort.abort(new Error(`no response within ${timeout} ms`));
  });
  try {
    return await withRetries(settings, outbound, abort.signal, async () =>
      read(await sendAuthenticated(settings, outbound, abort.signal)),
    );
  } catch (thrown) {
    if (hasTimedOut) throw timeoutError(outbound, timeout, thrown);
    throw toClientError(thrown, outbound);
  } finally {
    cancelTimer();
    outbound.call.signal?.removeEventListener('abort', onAbort);
  }
}

/** Sends a request and returns the response without reading its body. `signal` also aborts the body. */
export async function requestStreaming(
  settings: ClientSettings,
  outbound: OutboundRequest,
  signal: AbortSignal,
): Promise<HttpResponse> {
  try {
    return await withRetries(settings, outbound, signal, () => sendAuthenticated(settings, outbound, signal));
  } catch (thrown) {
    throw toClientError(thrown, outbound);
  }
}

/** Retries with exponential backoff and jitter, if that is safe. */
async function withRetries<T extends RetryCandidate>(
  settings: ClientSettings,
  outbound: OutboundRequest,
  signal: AbortSignal,
  send: () => Promise<T>,
): Promise<T> {
  const { clock, random, maxRetries } = settings;
  // The agent may have processed an earlier attempt, even if the last one did not reach it.
  let interruption: HttpTransportError | undefined;
  for (let attempt = 0; ; attempt++) {
    let delay: number | undefined;
    let response: T | undefined;
    try {
      response = await send();
      if (response.status < 400) return response;
      delay = retryDelay(outbound, response, { attempt, now: clock.now(), random });
      if (delay === undefined || attempt >= maxRetries) return response;
    } catch (thrown) {
      if (!(thrown instanceof HttpTransportError) || signal.aborted) throw thrown;
      if (thrown.sent) interruption = thrown;
      if (attempt >= maxRetries || !isSafeToRetry(outbound, thrown)) throw interruption ?? thrown;
      delay = backoffDelay(attempt, retryBackoff, random);
    }
    if (response && 'discard' in response && typeof response.discard === 'function') response.discard();
    await sleep(clock, delay, signal, canceledError);
  }
}

/** Sends a request with credentials. After a 401 response it is repeated once if the provider has new ones. */
async function sendAuthenticated(
  settings: ClientSettings,
  outbound: OutboundRequest,
  signal: AbortSignal,
): Promise<HttpResponse> {
  const { auth } = outbound;
  if (!settings.destinations.mayReceiveCredentials(outbound.target.origin))
    return sendWithoutCredentials(settings, outbound, signal);
  const traced = settings.tracing.current?.inject(outbound.headers) ?? outbound.headers;
  if (!auth) return followRedirects(settings, outbound, { target: outbound.target, headers: traced, signal });
  for (let refreshed = false; ; refreshed = true) {
    const request: CredentialRequest = {
      url: outbound.target.origin + outbound.target.path,
      operation: outbound.operation,
      call: outbound.call,
      card: outbound.card,
      http: settings.http,
    };
    const { headers, query } = await getCredentials(auth, request);
    if (outbound.http2 && query && Object.keys(query).length > 0)
      throw new A2AError('UNAUTHENTICATED', 'gRPC has no query for an API key', {
        cause: new HttpTransportError(new Error('The request was not sent'), false),
        hint: 'Send the key in a header, or use another transport.',
      });
    const response = await followRedirects(settings, outbound, {
      target: query ? withQuery(outbound.target, query) : outbound.target,
      headers: { ...traced, ...headers },
      signal,
    });
    if (response.status !== 401 || refreshed || !auth.refresh) return response;
    const rejected = { headers, authenticate: response.header('www-authenticate') };
    if (!(await auth.refresh(rejected))) return response;
    response.discard();
  }
}

/** Sends a request to an origin that the caller has not allowed to receive credentials. */
async function sendWithoutCredentials(
  settings: ClientSettings,
  outbound: OutboundRequest,
  signal: AbortSignal,
): Promise<HttpResponse> {
  const { target, auth } = outbound;
  const isSecret = (name: string) => name in settings.headers && !publicHeaders.has(name);
  const names = Object.keys(outbound.headers).filter(isSecret);
  const headers = Object.fromEntries(Object.entries(outbound.headers).filter(([name]) => !isSecret(name)));
  const traced = settings.tracing.current?.inject(headers) ?? headers;
  const response = await followRedirects(settings, outbound, { target, headers: traced, signal });
  const { status } = response;
  if ((status !== 401 && status !== 403) || (auth === undefined && names.length === 0)) return response;
  response.discard();
  throw new A2AError('UNAUTHENTICATED', `The agent at ${target.origin} requires credentials`, {
    status,
    cause: new WithheldCredentialsError(`No credentials were sent to ${target.origin}`),
    hint: `They were not sent, because the agent card names this origin and not the caller. If you trust it, allow it with \`credentialOrigins\` of connect(), --credential-origin or \`credential_origins\` of the gateway file; over plain HTTP they are never sent if the URL of the agent starts with https.`,
  });
}

/** Reports errors of the provider as such, not as errors of the agent. */
async function getCredentials(
  auth: Credentials,
  request: CredentialRequest,
): Promise<{ headers: Record<string, string>; query: Record<string, string> | undefined }> {
  try {
    return { headers: await auth.headers(request), query: await auth.query?.(request) };
  } catch (thrown) {
    if (thrown instanceof A2AError) throw thrown;
    throw new A2AError('UNAUTHENTICATED', 'No credentials for the agent', {
      cause: thrown,
      hint: 'The credentials provider in the option `auth` of connect() failed.',
    });
  }
}

function withQuery(target: RequestTarget, query: Record<string, string>): RequestTarget {
  const url = new URL(target.path, target.origin);
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
  return parseTarget(url);
}

interface Attempt {
  target: RequestTarget;
  headers: Readonly<Record<string, string>>;
  signal: AbortSignal;
}

/** Follows redirects according to the policy. Credentials are never sent to another origin. */
async function followRedirects(
  settings: ClientSettings,
  outbound: OutboundRequest,
  attempt: Attempt,
): Promise<HttpResponse> {
  let { target, headers } = attempt;
  const policy = outbound.redirects ?? settings.redirects;
  for (let count = 0; ; count++) {
    const response = await send(settings, outbound, { ...attempt, target, headers });
    if (!redirectStatuses.has(response.status) || policy === 'nowhere') return response;
    response.discard();
    const next = redirectTarget({ ...outbound, redirects: policy }, target, { response, count });
    if (next.origin !== target.origin) headers = withoutCredentials(headers);
    target = next;
  }
}

async function send(
  settings: ClientSettings,
  outbound: OutboundRequest,
  attempt: Attempt,
): Promise<HttpResponse> {
  const response = await sendOnce(settings, outbound, attempt);
  return outbound.receive ? outbound.receive(response) : response;
}

async function sendOnce(
  { destinations, http }: ClientSettings,
  { operation, method, body, http2 }: OutboundRequest,
  { target, headers, signal }: Attempt,
): Promise<HttpResponse> {
  const { origin, path } = target;
  if (destinations.isTrusted(origin))
    return http.request({ method, origin, path, headers, body, http2, signal });
  const destination = await destinations.resolve(origin + path, operation === 'card' ? 'card' : 'call');
  try {
    return await http.request({ ...destination, method, path, headers, body, http2, signal });
  } catch (thrown) {
    throw explainDenial(thrown);
  }
}

const publicHeaders: ReadonlySet<string> = new Set(['accept', 'content-type', 'a2a-version', 'user-agent']);

function withoutCredentials(headers: Attempt['headers']): Attempt['headers'] {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => publicHeaders.has(name)));
}

function redirectTarget(
  outbound: OutboundRequest,
  target: RequestTarget,
  { response, count }: { response: HttpResponse; count: number },
): RequestTarget {
  const { status } = response;
  const location = response.header('location');
  const from = target.origin + target.path;
  const createError = (message: string, hint: string) =>
    new A2AError('INVALID_AGENT_RESPONSE', message, { status, hint });
  const to = location === undefined ? undefined : parseUrl(location, from);
  if (!to)
    throw createError(
      `Redirect without a valid Location from ${from}: HTTP ${status}`,
      'Ask the operator of the agent for its URL.',
    );
  const message = `${from} redirects to ${to.href}`;
  if (to.origin !== target.origin && (outbound.redirects !== 'anywhere' || isDowngrade(target, to)))
    throw createError(message, `Use that URL: ${to.href}`);
  if (outbound.method !== 'GET' && status !== 307 && status !== 308)
    throw createError(
      message,
      `A request with a body cannot follow HTTP ${status}. Use that URL: ${to.href}`,
    );
  if (count >= maxRedirects) throw createError(message, `More than ${maxRedirects} redirects in a row.`);
  return parseTarget(to);
}

/** A redirect must not leave HTTPS or HTTP. */
function isDowngrade({ origin }: RequestTarget, to: URL): boolean {
  return to.protocol !== 'https:' && (to.protocol !== 'http:' || origin.startsWith('https:'));
}

function timeoutError(outbound: OutboundRequest, timeout: number, cause: unknown): A2AError {
  return new A2AError('TIMEOUT', `No response from ${outbound.target.origin} within ${timeout} ms`, {
    cause,
    hint: 'Raise `timeouts` if the agent needs longer.',
  });
}

/** Explains an error of a request or of its response. */
export function toClientError(thrown: unknown, outbound: OutboundRequest): A2AError {
  const { signal } = outbound.call;
  if (signal?.aborted) return canceledError(signal);
  if (thrown instanceof A2AError) return thrown;
  const url = outbound.target.origin + outbound.target.path;
  if (thrown instanceof BodyTooLargeError)
    return new A2AError('INVALID_AGENT_RESPONSE', `The response of ${url} is too large: ${thrown.message}`, {
      hint: 'Raise `limits.body` to accept larger responses.',
    });
  if (thrown instanceof HttpTransportError) return noResponseError(thrown, url);
  return A2AError.from(thrown);
}
