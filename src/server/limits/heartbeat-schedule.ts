import type { ServerContext } from '../http/server-context.ts';
import { defaultLimits } from './limits.ts';

/** Maximum number of steps in which the streams of one interval are visited. */
const maxSteps = 60;

/** Minimum time between two steps, in milliseconds. */
const minTick = 20;

/** Spreads the heartbeats of all streams, and the check for stalled ones, over the interval. */
export class HeartbeatSchedule {
  readonly #interval: number;
  /** Milliseconds between two calls of {@link HeartbeatSchedule.send}. */
  readonly tick: number;
  #lastAt = performance.now();

  /** @param heartbeat - milliseconds between two heartbeats of a stream; 0 only checks for stalled streams. */
  constructor(heartbeat: number) {
    this.#interval = heartbeat > 0 ? heartbeat : defaultLimits.heartbeat;
    this.tick = this.#interval / Math.max(1, Math.min(maxSteps, Math.floor(this.#interval / minTick)));
  }

  /** Sends the heartbeats that are due since the last call. */
  send(contexts: Iterable<ServerContext>): void {
    const now = performance.now();
    const share = Math.min(1, (now - this.#lastAt) / this.#interval);
    this.#lastAt = now;
    for (const context of contexts) for (const stalled of context.sendHeartbeats(now, share)) stalled.abort();
  }
}
