import { unrefTimer } from '../../primitives/clock.ts';
import type { ServerContext } from '../http/server-context.ts';
import type { SseStream } from '../http/sse-stream.ts';
import { defaultLimits } from '../limits/limits.ts';

/** Maximum number of steps in which the streams of one interval are visited. */
const maxSteps = 60;

/** Minimum time between two steps, in milliseconds. */
const minTick = 20;

/**
 * Sends the SSE heartbeats of an agent and aborts stalled streams. The visits of all streams are spread over the
 * interval. The timer runs only while streams are open and does not keep the process alive.
 */
export class Heartbeats {
  readonly #context: ServerContext;
  readonly #interval: number;
  readonly #tick: number;
  #timer: ReturnType<typeof setInterval> | undefined = undefined;
  #lastAt = 0;

  /** @param heartbeat - milliseconds between two heartbeats of a stream; 0 only checks for stalled streams. */
  constructor(context: ServerContext, heartbeat: number | undefined) {
    this.#context = context;
    this.#interval = heartbeatInterval(heartbeat);
    this.#tick = this.#interval / Math.max(1, Math.min(maxSteps, Math.floor(this.#interval / minTick)));
  }

  /** Called when a stream was opened. */
  start(): void {
    if (this.#timer !== undefined) return;
    this.#lastAt = performance.now();
    this.#timer = setInterval(() => this.#visit(), this.#tick);
    unrefTimer(this.#timer);
  }

  #visit(): void {
    const now = performance.now();
    const share = Math.min(1, (now - this.#lastAt) / this.#interval);
    this.#lastAt = now;
    for (const stalled of this.#context.sendHeartbeats(now, share)) stalled.abort();
    if (this.#context.openStreams > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}

/**
 * Sends the heartbeats of one stream and aborts it if it stalls. Some runtimes bind timers to the request that created
 * them, so that streams cannot share one.
 *
 * @returns a function that stops it.
 */
export function startStreamHeartbeat(
  context: ServerContext,
  stream: SseStream,
  heartbeat: number | undefined,
): () => void {
  const timer = setInterval(() => {
    if (!context.keepAlive(stream, performance.now())) stream.abort();
  }, heartbeatInterval(heartbeat));
  unrefTimer(timer);
  return () => clearInterval(timer);
}

function heartbeatInterval(heartbeat: number = defaultLimits.heartbeat): number {
  return heartbeat > 0 ? heartbeat : defaultLimits.heartbeat;
}
