import { type Clock, sleep } from '../../primitives/clock.ts';
import type { Credentials } from '../../client/credentials.ts';
import { backoffDelay } from '../../primitives/backoff.ts';
import { connect } from '../../client/connect.ts';
import { createEndpointCache } from '../../client/discovery/endpoint-cache.ts';
import { A2AError, canceledError } from '../../protocol/errors.ts';

/** Checks once whether an agent is ready. Rejects with the reason if it is not. */
export type ReadinessProbe = (signal: AbortSignal) => Promise<void>;

const backoff = { minDelay: 50, maxDelay: 1000, jitter: 'none' } as const;

/** Readiness probe that fetches the agent card. */
export function cardProbe(url: string, auth: Credentials | undefined): ReadinessProbe {
  return async (signal) => {
    const agent = connect(url, {
      auth,
      maxRetries: 0,
      timeouts: { connect: 2000, read: 5000 },
      // No shared cache: another agent may listen at the URL by now.
      endpointCache: createEndpointCache(1),
      tracing: false,
    });
    try {
      await agent.check({ signal });
    } catch (thrown) {
      const error = A2AError.from(thrown);
      // The agent is ready but requires credentials; calls have their own.
      if (error.reason !== 'UNAUTHENTICATED' && error.reason !== 'PERMISSION_DENIED') throw error;
    } finally {
      await agent.close();
    }
  };
}

/**
 * Repeats the probe with exponential backoff until it succeeds.
 *
 * @throws A2AError `TIMEOUT` with the last error as its cause, or `CANCELED`.
 */
export async function waitUntilReady(
  probe: ReadinessProbe,
  { clock, timeout, signal }: { clock: Clock; timeout: number; signal: AbortSignal },
): Promise<void> {
  const timedOut = new AbortController();
  const stopTimer = clock.after(timeout, () => timedOut.abort());
  const either = AbortSignal.any([signal, timedOut.signal]);
  let lastError: unknown;
  try {
    for (let attempt = 0; ; attempt++) {
      try {
        await probe(either);
        return;
      } catch (thrown) {
        if (!either.aborted) lastError = thrown;
      }
      if (!either.aborted) await sleep(clock, backoffDelay(attempt, backoff), either).catch(() => {});
      if (signal.aborted) throw canceledError(signal);
      if (timedOut.signal.aborted) {
        const why = lastError === undefined ? '' : `: ${A2AError.from(lastError).message}`;
        throw new A2AError('TIMEOUT', `did not respond within ${timeout / 1000} s${why}`, {
          cause: lastError,
        });
      }
    }
  } finally {
    stopTimer();
  }
}
