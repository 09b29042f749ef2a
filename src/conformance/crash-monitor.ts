import { connect } from 'node:net';
import { sleep, systemClock } from '../primitives/clock.ts';
import { AgentCrashedError } from './check-errors.ts';
import type { CheckedVariant } from './conformance-level.ts';
import { type HttpExchange, toEvidence } from './wire/http-exchange.ts';
import { parseUrl } from '../primitives/web/parse-url.ts';

/** The end of the process of the agent during a run. */
export interface Crash {
  /** The variants over which the requests were sent. */
  readonly variants: CheckedVariant[];
  /** The request that ended the process, or all that may have ended it. */
  readonly exchanges: HttpExchange[];
  /** True if the request that ended the process is known. */
  readonly isCertain: boolean;
}

/** Number of crashes after which the agent is not tested any further. */
const maxCrashes = 20;
/** Milliseconds between attempts to connect to an agent that is restarted. */
const reconnectDelay = 100;

/**
 * Detects that the process of the agent ends: a connection is lost at an address that responded before, and further
 * connections are refused. Waits for a restart.
 */
export class CrashMonitor {
  /** True while one check runs at a time. Then the request that ended the process is known. */
  isSerial = false;
  readonly #restartTimeout: number;
  readonly #crashes: Crash[] = [];
  /** The last exchange with a response, by origin. */
  readonly #lastExchanges = new Map<string, HttpExchange>();
  #recovery: Promise<void> | undefined;
  #isDown = false;

  /** @param restartTimeout - milliseconds to wait for a restart. */
  constructor(restartTimeout: number) {
    this.#restartTimeout = restartTimeout;
  }

  get crashCount(): number {
    return this.#crashes.length;
  }

  /** Returns the crashes in a variant; those whose request is known, if there are any. */
  crashesOf({ version, transport }: CheckedVariant): Crash[] {
    const certain = this.#crashes.filter(({ isCertain }) => isCertain);
    return (certain.length > 0 ? certain : this.#crashes).filter(({ variants }) =>
      variants.some((each) => each.version === version && each.transport === transport),
    );
  }

  /** Waits for a restart in progress. @throws AgentCrashedError if the agent was not restarted. */
  async waitUntilUp(): Promise<void> {
    await this.#recovery;
    if (this.#isDown)
      throw new AgentCrashedError(
        'The process of the agent ended before this check. Restart the agent, and run the test again.',
      );
  }

  /** Examines an exchange over a variant. @throws AgentCrashedError if the process of the agent ended. */
  async inspect(exchange: HttpExchange, variant: CheckedVariant): Promise<void> {
    const { end, status, url } = exchange;
    const origin = parseUrl(url)?.origin;
    if (origin === undefined) return;
    const isLost = (end === 'failed' && status === 0) || end === 'truncated';
    const previous = this.#lastExchanges.get(origin);
    if (!isLost && status > 0) this.#lastExchanges.set(origin, toEvidence(exchange));
    if (!isLost || !previous) return;
    if (!this.#recovery && (await acceptsConnections(url))) return;
    // A request that was refused has not reached the agent; the one before it was the last that did.
    const wasRefused = exchange.transportError?.includes('ECONNREFUSED') === true;
    this.#record(wasRefused ? previous : toEvidence(exchange), variant);
    this.#recovery ??= this.#waitForRestart(url);
    await this.#recovery;
    throw new AgentCrashedError('The process of the agent ended during this check.');
  }

  /** Adds a request to the current crash, or starts the next one. */
  #record(exchange: HttpExchange, { version, transport }: CheckedVariant): void {
    const current = this.#recovery ? this.#crashes.at(-1) : undefined;
    if (!current) {
      const variants = [{ version, transport }];
      this.#crashes.push({ variants, exchanges: [exchange], isCertain: this.isSerial });
      return;
    }
    if (current.isCertain || current.exchanges.some(({ number }) => number === exchange.number)) return;
    current.exchanges.push(exchange);
    current.variants.push({ version, transport });
  }

  async #waitForRestart(url: string): Promise<void> {
    const until = performance.now() + this.#restartTimeout;
    let isUp = false;
    while (!isUp && performance.now() < until) {
      await sleep(systemClock, reconnectDelay);
      isUp = await acceptsConnections(url);
    }
    this.#isDown = !isUp || this.#crashes.length >= maxCrashes;
    this.#recovery = undefined;
  }
}

/** Returns false if connections to the host and port of a URL are refused. */
function acceptsConnections(url: string): Promise<boolean> {
  const { hostname, port, protocol } = new URL(url);
  return new Promise((resolve) => {
    const socket = connect({
      host: hostname.replace(/^\[|\]$/g, ''),
      port: Number(port || (protocol === 'https:' ? 443 : 80)),
    });
    const finish = (isAccepted: boolean): void => {
      socket.destroy();
      resolve(isAccepted);
    };
    socket.once('connect', () => finish(true));
    socket.once('error', ({ code }: NodeJS.ErrnoException) => finish(code !== 'ECONNREFUSED'));
    // A silent firewall is no crash.
    socket.setTimeout(2_000, () => finish(true));
  });
}
