import { abortError, sleep } from '../../client/abortable-sleep.ts';
import { A2AError } from '../../protocol/errors.ts';
import type { ProcessExit, RunningProcess } from './launch-process.ts';
import {
  type SuperviseOptions,
  type SupervisorSettings,
  resolveSupervisorSettings,
} from './supervise-options.ts';
import { outputTail, OutputBuffer, type OutputLine } from './process-output.ts';
import { waitUntilReady } from './readiness.ts';

/** How an agent is that is looked after. `failed` and `stopped` are for good. */
export type SupervisedState = 'starting' | 'ready' | 'restarting' | 'failed' | 'stopped';

/** An agent that is looked after. */
export interface Supervised extends AsyncDisposable {
  readonly url: string;
  readonly state: SupervisedState;
  /** The number of the process, and of the group that it leads; undefined while none runs, or where none is ours. */
  readonly pid: number | undefined;
  /** How often it was started again, in all. */
  readonly restarts: number;
  /** Why it is not ready: how it ended last, or why it never began. Undefined while it is. */
  readonly error: A2AError | undefined;
  /** What it printed last. */
  output(): readonly OutputLine[];
  /** Calls back after each change. @returns what stops it. */
  onState(changed: (state: SupervisedState, supervised: Supervised) => void): () => void;
  /** Waits until it is ready, through restarts. Rejects when it failed, was stopped, or the signal says so. */
  whenReady(signal?: AbortSignal): Promise<void>;
  /** Ends it, with everything it started. Settles when all of that is gone. */
  stop(): Promise<void>;
}

/**
 * Starts an agent and looks after it: waits until it answers, keeps what it prints, starts it again when it crashes,
 * and leaves nothing behind, even if this process is killed. Without a command, waits for an agent that somebody else
 * started.
 *
 * @throws A2AError when the options make no sense. What goes wrong later is in `state`, `error` and `whenReady`.
 *
 * @example
 * ```ts
 * const supervised = supervise({ command: 'node agent.js --port 4000', url: 'http://localhost:4000' });
 * await supervised.whenReady();
 * ```
 */
export function supervise(options: SuperviseOptions): Supervised {
  const supervisor = new Supervisor(resolveSupervisorSettings(options));
  supervisor.start();
  return supervisor;
}

/** How one life of the agent went. */
interface Life {
  error: A2AError;
  /** It ended by itself, and nothing was wrong. */
  isClean: boolean;
  readyAt: number | undefined;
}

/** How long an agent of an earlier run may take to go, in milliseconds: its guard needs some time to end it. */
const leavingTime = 5000;

class Supervisor implements Supervised {
  readonly #settings: SupervisorSettings;
  readonly #output: OutputBuffer;
  readonly #stopping = new AbortController();
  readonly #listeners = new Set<(state: SupervisedState, supervised: Supervised) => void>();
  readonly #waiting = new Set<() => void>();
  #running: RunningProcess | undefined;
  #attending: Promise<void> = Promise.resolve();
  state: SupervisedState = 'starting';
  pid: number | undefined;
  restarts = 0;
  error: A2AError | undefined;

  constructor(settings: SupervisorSettings) {
    this.#settings = settings;
    this.#output = new OutputBuffer(settings.keepOutput, settings.onOutput);
  }

  get url(): string {
    return this.#settings.url;
  }

  output(): readonly OutputLine[] {
    return this.#output.last();
  }

  onState(changed: (state: SupervisedState, supervised: Supervised) => void): () => void {
    this.#listeners.add(changed);
    return () => this.#listeners.delete(changed);
  }

  whenReady(signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const look = () => {
        if (signal?.aborted) reject(abortError(signal));
        else if (this.state === 'ready') resolve();
        else if (this.state === 'failed' || this.state === 'stopped') reject(this.error ?? stopped(this.url));
        else return;
        this.#waiting.delete(look);
        signal?.removeEventListener('abort', look);
      };
      this.#waiting.add(look);
      signal?.addEventListener('abort', look);
      look();
    });
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#running?.stop(this.#settings.stopTimeout);
    await this.#attending;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  /** Begins, after whoever called could leave word. */
  start(): void {
    this.#attending = Promise.resolve().then(() => (this.#settings.program ? this.#attend() : this.#wait()));
  }

  /** Waits for an agent of somebody else. */
  async #wait(): Promise<void> {
    const { signal } = this.#stopping;
    try {
      await this.#untilReady(signal);
    } catch (thrown) {
      if (signal.aborted) this.#become('stopped', stopped(this.url));
      else this.#become('failed', this.#unanswered(thrown));
      return;
    }
    this.#become('ready');
    await new Promise<void>((resolve) => {
      signal.addEventListener('abort', () => resolve(), { once: true });
      if (signal.aborted) resolve();
    });
    this.#become('stopped', stopped(this.url));
  }

  /** Lives one life after the other. */
  async #attend(): Promise<void> {
    const { restartOnCrash, restartOnExit, maxRestarts, minDelay, maxDelay, healthyAfter, clock, log } =
      this.#settings;
    const { signal } = this.#stopping;
    let wasReady = false;
    let inARow = 0;
    for (;;) {
      const { error, isClean, readyAt } = await this.#live(signal);
      this.pid = undefined;
      if (signal.aborted) return this.#become('stopped', stopped(this.url));
      wasReady ||= readyAt !== undefined;
      // What never worked is a mistake of somebody, and would not work the next time.
      if (!wasReady) return this.#become('failed', error);
      if (isClean && !restartOnExit) return this.#become('stopped', error);
      if (!isClean && !restartOnCrash) return this.#become('failed', error);
      if (readyAt !== undefined && clock.now() - readyAt >= healthyAfter) inARow = 0;
      if (inARow >= maxRestarts) return this.#become('failed', gaveUp(error, inARow));
      const pause = Math.min(maxDelay, minDelay * 2 ** inARow);
      inARow++;
      this.restarts++;
      log({
        level: 'warn',
        message: `${error.message}; it is started again in ${pause / 1000} s (${inARow} of ${maxRestarts})`,
      });
      this.#become('restarting', error);
      await sleep(clock, pause, signal).catch(() => {});
    }
  }

  /** From the start to the end. */
  async #live(signal: AbortSignal): Promise<Life> {
    const { program, launch, stopTimeout, clock, log } = this.#settings;
    const life: Life = { error: stopped(this.url), isClean: false, readyAt: undefined };
    let running: RunningProcess;
    try {
      await this.#untilFree(signal);
      if (!program || signal.aborted) return life;
      this.#output.clear();
      running = launch(program(), {
        started: (pid) => {
          this.pid = pid;
          log({ level: 'info', message: `The agent at ${this.url} was started as process ${pid}` });
        },
        printed: (stream, text) => this.#output.push(stream, text),
      });
    } catch (thrown) {
      return { ...life, error: A2AError.from(thrown) };
    }
    this.#running = running;
    const ended = new AbortController();
    const ending = running.ended.finally(() => {
      this.#running = undefined;
      this.#output.flush();
      ended.abort();
    });
    try {
      await this.#untilReady(AbortSignal.any([signal, ended.signal]));
      if (!ended.signal.aborted && !signal.aborted) {
        life.readyAt = clock.now();
        this.#become('ready');
      }
    } catch (thrown) {
      if (!ended.signal.aborted && !signal.aborted) {
        running.stop(stopTimeout);
        await ending;
        return { ...life, error: this.#unanswered(thrown) };
      }
    }
    const how = await ending;
    life.isClean = how.code === 0;
    life.error = this.#ended(how, life.readyAt === undefined);
    return life;
  }

  #untilReady(signal: AbortSignal): Promise<void> {
    const { probe, clock, startupTimeout } = this.#settings;
    return waitUntilReady(probe, { clock, timeout: startupTimeout, signal });
  }

  /** Waits until nobody answers: the answers of somebody else would be taken for those of the agent. */
  async #untilFree(signal: AbortSignal): Promise<void> {
    const { probe, clock } = this.#settings;
    const until = clock.now() + leavingTime;
    for (;;) {
      const isThere = await probe(signal).then(
        () => true,
        () => false,
      );
      if (!isThere || signal.aborted) return;
      if (clock.now() >= until)
        throw new A2AError('UNAVAILABLE', `Another agent answers at ${this.url} already`, {
          hint: 'Stop it, choose another port, or leave the command out to use the agent that is there.',
        });
      await sleep(clock, 250, signal).catch(() => {});
    }
  }

  #become(state: SupervisedState, error?: A2AError): void {
    this.state = state;
    this.error = error;
    const { log } = this.#settings;
    if (state === 'ready') log({ level: 'info', message: `The agent at ${this.url} is ready` });
    if (state === 'failed' && error) log({ level: 'error', message: error.message, error });
    for (const changed of this.#listeners) changed(state, this);
    for (const look of this.#waiting) look();
  }

  #unanswered(thrown: unknown): A2AError {
    const { message, cause } = A2AError.from(thrown);
    return new A2AError('UNAVAILABLE', `The agent at ${this.url} ${message}`, { cause, hint: this.#words() });
  }

  #ended({ code, signal, error }: ProcessExit, isEarly: boolean): A2AError {
    const end = `ended ${signal === null ? `with exit code ${code}` : `by ${signal}`}`;
    const how = error ?? (isEarly ? `${end} before it was ready` : end);
    const message = `The agent at ${this.url} ${how}`;
    const words = this.#words();
    // Whoever starts something and ends well believes that all is well.
    const hint = isEarly && code === 0 ? `It must not go into the background. ${words}` : words;
    return new A2AError('UNAVAILABLE', message, { hint });
  }

  #words(): string {
    if (!this.#settings.program) return 'Is it running, and is the address right?';
    const words = outputTail(this.#output.last());
    return words === '' ? 'It printed nothing.' : `It printed last:\n${words}`;
  }
}

function stopped(url: string): A2AError {
  return new A2AError('UNAVAILABLE', `The agent at ${url} was stopped`);
}

function gaveUp(error: A2AError, times: number): A2AError {
  const message = `${error.message}; it was started again ${times} times in a row and is given up`;
  return new A2AError('UNAVAILABLE', message, { hint: error.hint, cause: error });
}
