import type { CallContext, Operation } from '../../protocol/agent.ts';
import type { AgentCard } from '../../protocol/card.ts';
import { A2AError } from '../../protocol/errors.ts';
import { abortError, sleep } from '../abortable-sleep.ts';
import type { CredentialRequest, Credentials } from '../credentials.ts';
import { explainDenial } from './destination-policy.ts';
import { noResponseError } from './response-errors.ts';
import { BodyTooLargeError, HttpTransportError, type HttpRequest, type HttpResponse } from './http-client.ts';
import type { RedirectPolicy, ClientSettings } from '../connect-options.ts';
import { retryDelay, fullJitterDelay, isSafeToRetry } from './retry.ts';

/** An address, taken apart once. */
export interface RequestTarget {
  origin: string;
  path: string;
}

/** Takes an address apart. */
export function parseTarget(url: string | URL): RequestTarget {
  const { origin, pathname, search } = typeof url === 'string' ? new URL(url) : url;
  return { origin, path: pathname + search };
}

/** One thing to ask of a peer. */
export interface OutboundRequest {
  operation: Operation | 'card';
  method: HttpRequest['method'];
  target: RequestTarget;
  headers: Readonly<Record<string, string>>;
  body?: string;
  call: CallContext;
  auth: Credentials | undefined;
  /** The card of the agent, where there is one. */
  card?: AgentCard | undefined;
  /** How far redirects are followed: as the settings say unless told. To another origin, only headers that anybody may see go along. */
  follow?: RedirectPolicy;
}

/** A whole answer. */
export interface BufferedResponse {
  readonly status: number;
  header(name: string): string | undefined;
  readonly text: string;
}

const redirects: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
const maxHops = 3;

/** Asks and reads the whole answer, within the time that the operation has. */
export async function requestBuffered(
  settings: ClientSettings,
  ask: OutboundRequest,
): Promise<BufferedResponse> {
  const { clock, timeouts, limits } = settings;
  const limit = ask.operation === 'send' ? timeouts.send : timeouts.read;
  const stop = new AbortController();
  const giveUp = () => stop.abort(ask.call.signal?.reason);
  if (ask.call.signal?.aborted) throw abortError(ask.call.signal);
  ask.call.signal?.addEventListener('abort', giveUp);
  let late = false;
  const cancelTimer = clock.after(limit, () => {
    late = true;
    stop.abort(new Error(`no answer within ${limit} ms`));
  });
  try {
    return await repeat(settings, ask, stop.signal, async () => {
      const response = await asked(settings, ask, stop.signal);
      const text = await response.text(limits.body);
      return { status: response.status, header: (name) => response.header(name), text };
    });
  } catch (thrown) {
    if (late) throw tooLate(ask, limit, thrown);
    throw inWords(thrown, ask);
  } finally {
    cancelTimer();
    ask.call.signal?.removeEventListener('abort', giveUp);
  }
}

/** Asks and gives the beginning of the answer; what ends it later is up to `signal`. */
export async function requestStreaming(
  settings: ClientSettings,
  ask: OutboundRequest,
  signal: AbortSignal,
): Promise<HttpResponse> {
  try {
    return await repeat(settings, ask, signal, () => asked(settings, ask, signal));
  } catch (thrown) {
    throw inWords(thrown, ask);
  }
}

/** Repeats where that is safe. */
async function repeat<T extends { status: number; header(name: string): string | undefined }>(
  settings: ClientSettings,
  ask: OutboundRequest,
  signal: AbortSignal,
  once: () => Promise<T>,
): Promise<T> {
  const { clock, random, retries } = settings;
  for (let attempt = 0; ; attempt++) {
    let delay: number | undefined;
    let answer: T | undefined;
    try {
      answer = await once();
      if (answer.status < 400) return answer;
      delay = retryDelay(ask.operation, answer, { attempt, now: clock.now(), random });
      if (delay === undefined || attempt >= retries) return answer;
    } catch (thrown) {
      if (!(thrown instanceof HttpTransportError) || signal.aborted) throw thrown;
      if (attempt >= retries || !isSafeToRetry(ask.operation, thrown)) throw thrown;
      delay = fullJitterDelay(attempt, random);
    }
    if (answer && 'discard' in answer && typeof answer.discard === 'function') answer.discard();
    await sleep(clock, delay, signal);
  }
}

/** One request with its credentials: asked once more after a 401 if there are better ones. */
async function asked(
  settings: ClientSettings,
  ask: OutboundRequest,
  signal: AbortSignal,
): Promise<HttpResponse> {
  const { auth } = ask;
  const plain = settings.tracing.current?.inject(ask.headers) ?? ask.headers;
  if (!auth) return redirected(settings, ask, { target: ask.target, headers: plain, signal });
  for (let refreshed = false; ; refreshed = true) {
    const request: CredentialRequest = {
      url: ask.target.origin + ask.target.path,
      operation: ask.operation,
      call: ask.call,
      card: ask.card,
      http: settings.http,
    };
    const { headers: proof, query } = await proofOf(auth, request);
    const response = await redirected(settings, ask, {
      target: query ? withQuery(ask.target, query) : ask.target,
      headers: { ...plain, ...proof },
      signal,
    });
    if (response.status !== 401 || refreshed || !auth.refresh) return response;
    const refused = { headers: proof, authenticate: response.header('www-authenticate') };
    if (!(await auth.refresh(refused))) return response;
    response.discard();
  }
}

/** The mistake of a provider is no mistake of the agent. */
async function proofOf(
  auth: Credentials,
  request: CredentialRequest,
): Promise<{ headers: Record<string, string>; query: Record<string, string> | undefined }> {
  try {
    return { headers: await auth.headers(request), query: await auth.query?.(request) };
  } catch (thrown) {
    if (thrown instanceof A2AError) throw thrown;
    throw new A2AError('UNAUTHENTICATED', 'There are no credentials for the agent', {
      cause: thrown,
      hint: 'The provider that connect() was given as `auth` failed.',
    });
  }
}

function withQuery(target: RequestTarget, query: Record<string, string>): RequestTarget {
  const url = new URL(target.path, target.origin);
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
  return parseTarget(url);
}

interface Sending {
  target: RequestTarget;
  headers: Readonly<Record<string, string>>;
  signal: AbortSignal;
}

/** Follows redirects, within the origin as a rule; credentials never leave it. */
async function redirected(
  settings: ClientSettings,
  ask: OutboundRequest,
  sending: Sending,
): Promise<HttpResponse> {
  let { target, headers } = sending;
  const follow = ask.follow ?? settings.redirects;
  for (let hops = 0; ; hops++) {
    const response = await request(settings, ask, { ...sending, target, headers });
    if (!redirects.has(response.status) || follow === 'nowhere') return response;
    response.discard();
    const next = nextTarget({ ...ask, follow }, target, { response, hops });
    if (next.origin !== target.origin) headers = forStrangers(headers);
    target = next;
  }
}

async function request(
  { gate, http }: ClientSettings,
  { operation, method, body }: OutboundRequest,
  { target, headers, signal }: Sending,
): Promise<HttpResponse> {
  const { origin, path } = target;
  if (gate.trusts(origin)) return http.request({ method, origin, path, headers, body, signal });
  const passage = await gate.resolve(origin + path, operation === 'card' ? 'card' : 'call');
  try {
    return await http.request({ ...passage, method, path, headers, body, signal });
  } catch (thrown) {
    throw explainDenial(thrown);
  }
}

const harmless: ReadonlySet<string> = new Set(['accept', 'content-type', 'a2a-version', 'user-agent']);

function forStrangers(headers: Sending['headers']): Sending['headers'] {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => harmless.has(name)));
}

function nextTarget(
  ask: OutboundRequest,
  target: RequestTarget,
  at: { response: HttpResponse; hops: number },
): RequestTarget {
  const { status } = at.response;
  const location = at.response.header('location');
  const from = target.origin + target.path;
  const refuse = (message: string, hint: string) =>
    new A2AError('INVALID_AGENT_RESPONSE', message, { status, hint });
  if (location === undefined || !URL.canParse(location, from))
    throw refuse(
      `${from} answered HTTP ${status} without saying where to go`,
      'Ask whoever runs the agent for its address.',
    );
  const to = new URL(location, from);
  const message = `${from} redirects to ${to.href}`;
  if (to.origin !== target.origin && (ask.follow !== 'anywhere' || isDowngrade(target, to)))
    throw refuse(message, `Use that URL: ${to.href}`);
  if (ask.method !== 'GET' && status !== 307 && status !== 308)
    throw refuse(message, `A request with a body cannot follow HTTP ${status}. Use that URL: ${to.href}`);
  if (at.hops >= maxHops) throw refuse(message, `More than ${maxHops} redirects in a row.`);
  return parseTarget(to);
}

/** A redirect may not take the encryption away, nor lead out of HTTP. */
function isDowngrade({ origin }: RequestTarget, to: URL): boolean {
  return to.protocol !== 'https:' && (to.protocol !== 'http:' || origin.startsWith('https:'));
}

function tooLate(ask: OutboundRequest, limit: number, cause: unknown): A2AError {
  return new A2AError('TIMEOUT', `No answer from ${ask.target.origin} within ${limit} ms`, {
    cause,
    hint: 'Raise `timeouts` if the agent may take longer.',
  });
}

function inWords(thrown: unknown, ask: OutboundRequest): A2AError {
  const { signal } = ask.call;
  if (signal?.aborted) return abortError(signal);
  if (thrown instanceof A2AError) return thrown;
  const url = ask.target.origin + ask.target.path;
  if (thrown instanceof BodyTooLargeError)
    return new A2AError('INVALID_AGENT_RESPONSE', `The answer of ${url} is too large: ${thrown.message}`, {
      hint: 'Raise `limits.body` if such answers are right.',
    });
  if (thrown instanceof HttpTransportError) return noResponseError(thrown, url);
  return A2AError.from(thrown);
}
