import type { Credentials } from '../../client/credentials.ts';
import { abortError, type Clock, sleep } from '../../client/abortable-sleep.ts';
import { connect } from '../../client/connect.ts';
import { createEndpointCache } from '../../client/discovery/endpoint-cache.ts';
import { A2AError } from '../../protocol/errors.ts';

/** Asks once whether an agent is there. Rejects with the reason when it is not. */
export type ReadinessProbe = (signal: AbortSignal) => Promise<void>;

const firstPause = 50;
const longestPause = 1000;

/** Asks for the card at the usual places, as any client would. */
export function cardProbe(url: string, auth: Credentials | undefined): ReadinessProbe {
  return async (signal) => {
    const agent = connect(url, {
      auth,
      maxRetries: 0,
      timeouts: { connect: 2000, read: 5000 },
      // Each question is asked as if for the first time: another agent may be there by now.
      endpointCache: createEndpointCache(1),
      tracing: false,
    });
    try {
      await agent.check({ signal });
    } catch (thrown) {
      const error = A2AError.from(thrown);
      // Somebody is there and wants to know who asks; calls have their own credentials and errors.
      if (error.reason !== 'UNAUTHENTICATED' && error.reason !== 'PERMISSION_DENIED') throw error;
    } finally {
      await agent.close();
    }
  };
}

/**
 * Asks until the agent is there, with pauses that grow.
 *
 * @throws A2AError TIMEOUT with the last reason as its cause, or CANCELED.
 */
export async function waitUntilReady(
  probe: ReadinessProbe,
  { clock, timeout, signal }: { clock: Clock; timeout: number; signal: AbortSignal },
): Promise<void> {
  const over = new AbortController();
  const stopTimer = clock.after(timeout, () => over.abort());
  const either = AbortSignal.any([signal, over.signal]);
  let last: unknown;
  try {
    for (let pause = firstPause; ; pause = Math.min(longestPause, pause * 2)) {
      try {
        await probe(either);
        return;
      } catch (thrown) {
        if (!either.aborted) last = thrown;
      }
      if (!either.aborted) await sleep(clock, pause, either).catch(() => {});
      if (signal.aborted) throw abortError(signal);
      if (over.signal.aborted) {
        const why = last === undefined ? '' : `: ${A2AError.from(last).message}`;
        throw new A2AError('TIMEOUT', `did not answer within ${timeout / 1000} s${why}`, { cause: last });
      }
    }
  } finally {
    stopTimer();
  }
}
