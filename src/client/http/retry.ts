import type { Operation } from '../../protocol/agent.ts';
import type { HttpTransportError } from './http-client.ts';

/** How often and how patiently something is tried again. */
export interface RetryBackoff {
  /** The first delay, in milliseconds; each further one may be twice as long. */
  base: number;
  /** The longest delay. */
  cap: number;
}

/** Delays between repeated requests and between attempts to resume a stream. */
const usualBackoff: RetryBackoff = { base: 200, cap: 10_000 };

/** The longest `Retry-After` that is waited for, in milliseconds. */
const patience = 30_000;

const reads: ReadonlySet<Operation | 'card'> = new Set<Operation | 'card'>([
  'card',
  'extendedCard',
  'getTask',
  'listTasks',
  'getPushConfig',
  'listPushConfigs',
  'subscribe',
]);

/** True when asking twice is the same as asking once. */
function isRead(operation: Operation | 'card'): boolean {
  return reads.has(operation);
}

/** A delay with full jitter: anywhere between nothing and the bound that grows with each attempt. */
export function fullJitterDelay(
  attempt: number,
  random: () => number,
  { base, cap }: RetryBackoff = usualBackoff,
): number {
  return random() * Math.min(cap, base * 2 ** attempt);
}

/** True when a request that had no answer may be made again. */
export function isSafeToRetry(operation: Operation | 'card', failure: HttpTransportError): boolean {
  if (isHopeless(failure.code)) return false;
  return isRead(operation) || !failure.sent;
}

/** A certificate does not become valid by asking again. */
function isHopeless(code: string | undefined): boolean {
  return code !== undefined && (/CERT|SSL|TLS|^UNABLE_TO_/.test(code) || code === 'ERR_INVALID_URL');
}

/** What a retry decision needs to know of an answer. */
export interface RetryCandidate {
  readonly status: number;
  header(name: string): string | undefined;
}

/**
 * How long to wait before asking again after this answer.
 *
 * @returns undefined when it must not be asked again: the answer is no refusal, the peer wants more patience than there
 * is, or the request may have been processed.
 */
export function retryDelay(
  operation: Operation | 'card',
  answer: RetryCandidate,
  context: { attempt: number; now: number; random: () => number },
): number | undefined {
  const { status } = answer;
  const asked = parseRetryAfter(answer.header('retry-after'), context.now);
  if (asked !== undefined && asked > patience) return undefined;
  if (status === 429 || status === 503) {
    if (asked !== undefined) return asked;
    return isRead(operation) ? fullJitterDelay(context.attempt, context.random) : undefined;
  }
  if ((status === 502 || status === 504) && isRead(operation))
    return asked ?? fullJitterDelay(context.attempt, context.random);
  return undefined;
}

/** Reads `Retry-After`, which is seconds or a date, as milliseconds from now. */
export function parseRetryAfter(value: string | undefined, now: number): number | undefined {
  if (value === undefined || value === '') return undefined;
  if (/^\d{1,9}$/.test(value)) return Number(value) * 1000;
  const date = Date.parse(value);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}
