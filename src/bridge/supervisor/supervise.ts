import { sleep } from '../../primitives/clock.ts';
import { backoffDelay } from '../../primitives/backoff.ts';
import { A2AError, canceledError } from '../../protocol/errors.ts';
import type { ProcessExit, RunningProcess } from './launch-process.ts';
import {
  type SuperviseOptions,
  type SupervisorSettings,
  resolveSupervisorSettings,
} from './supervise-options.ts';
import { outputTail, OutputBuffer, type OutputLine } from './process-output.ts';
import { waitUntilReady } from './readiness.ts';

/** State of a supervised agent. `stopped` is final, and so is `failed` if there is a command. */
export type SupervisedState = 'starting' | 'ready' | 'restarting' | 'failed' | 'stopped';

/** An agent under a process supervisor. */
export interface Supervised extends AsyncDisposable {
  readonly url: string;
  readonly state: SupervisedState;
  /** Id of the process and its process group; undefined while no process runs, or if the agent is started elsewhere. */
  readonly pid: number | undefined;
  /** Total number of restarts. */
  readonly restarts: number;
  /** Reason why the agent is not ready: its last exit or start failure. Undefined while it is ready. */
  readonly error: A2AError | undefined;
  /** Returns the last lines of output. */
  output(): readonly OutputLine[];
  /** Registers a listener for state changes. @returns a function that unregisters it. */
  onState(listener: (state: SupervisedState, supervised: Supervised) => void): () => void;
  /**
   * Resolves when the agent is ready, also after restarts. Rejects if it failed, was stopped, or the signal aborts.
   * Without a command, a call after a failure requests the card once more.
   */
  whenReady(signal?: AbortSignal): Promise<void>;
  /** Stops the process group. Resolves when it has ended. */
  stop(): Promise<void>;
}

/**
 * Starts an agent under a process supervisor: waits until it responds, retains its output, restarts it after crashes and
 * stops its process group even if this process is killed. Without a command, the agent must be running already: the card
 * is requested once.
 *
 * @throws A2AError if the options are invalid. Later errors are in `state`, `error` and `whenReady`.
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

/** Result of one run of the process. */
interface ProcessRun {
  error: A2AError;
  /** Exit code 0. */
  isClean: boolean;
  readyAt: number | undefined;
}

/** Milliseconds to wait for the agent of an earlier supervisor, which its orphan reaper may still be stopping. */
const portReleaseTimeout = 5000;

class Supervisor implements Supervised {
  readonly #settings: SupervisorSettings;
  readonly #output: OutputBuffer;
  readonly #stopping = new AbortController();
  readonly #listeners = new Set<(state: SupervisedState, supervised: Supervised) => void>();
  readonly #waiters = new Set<() => void>();
  #running: RunningProcess | undefined;
  #done: Promise<void> = Promise.resolve();
  state: SupervisedState = 'starting';
  pid: number | undefined;
  restarts = 0;
  error: A2AError | undefined;

  constructor(settings: SupervisorSettings) {
    this.#settings = settings;
    this.#output = new OutputBuffer(settings.maxOutputCharacters, settings.onOutput);
  }

  get url(): string {
    return this.#settings.url;
  }

  output(): readonly OutputLine[] {
    return this.#output.last();
  }

  onState(listener: (state: SupervisedState, supervised: Supervised) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  whenReady(signal?: AbortSignal): Promise<void> {
    if (this.state === 'failed' && !this.#settings.program) this.start();
    return new Promise((resolve, reject) => {
      const check = () => {
        if (signal?.aborted) reject(canceledError(signal));
        else if (this.state === 'ready') resolve();
        else if (this.state === 'failed' || this.state === 'stopped')
          reject(this.error ?? stoppedError(this.url));
        else return;
        this.#waiters.delete(check);
        signal?.removeEventListener('abort', check);
      };
      this.#waiters.add(check);
      signal?.addEventListener('abort', check);
      check();
    });
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#running?.stop(this.#settings.stopTimeout);
    await this.#done;
    if (!this.#settings.program && this.state !== 'stopped')
      this.#setState('stopped', stoppedError(this.url));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  /** Starts asynchronously, so that the caller can register listeners first. */
  start(): void {
    this.state = 'starting';
    this.#done = Promise.resolve().then(() =>
      this.#settings.program ? this.#runAndRestart() : this.#checkRunning(),
    );
  }

  /** Checks once that the agent, which was started elsewhere, responds. */
  async #checkRunning(): Promise<void> {
    const { probe, url } = this.#settings;
    const { signal } = this.#stopping;
    try {
      await probe(signal);
    } catch (thrown) {
      const { message } = A2AError.from(thrown);
      const error = new A2AError('UNAVAILABLE', `The agent at ${url} is not available: ${message}`, {
        cause: thrown,
        hint: 'Check that the agent is running and that the URL is correct.',
      });
      if (!signal.aborted) return this.#setState('failed', error);
    }
    if (!signal.aborted) this.#setState('ready');
  }

  /** Runs and restarts the process until it is stopped or fails. */
  async #runAndRestart(): Promise<void> {
    const { restartOnCrash, restartOnExit, maxRestarts, minDelay, maxDelay, healthyAfter, clock, log } =
      this.#settings;
    const { signal } = this.#stopping;
    let wasReady = false;
    let consecutive = 0;
    for (;;) {
      const { error, isClean, readyAt } = await this.#runOnce(signal);
      this.pid = undefined;
      if (signal.aborted) return this.#setState('stopped', stoppedError(this.url));
      wasReady ||= readyAt !== undefined;
      // A program that was never ready is misconfigured; a restart would not help.
      if (!wasReady) return this.#setState('failed', error);
      if (isClean && !restartOnExit) return this.#setState('stopped', error);
      if (!isClean && !restartOnCrash) return this.#setState('failed', error);
      if (readyAt !== undefined && clock.monotonic() - readyAt >= healthyAfter) consecutive = 0;
      if (consecutive >= maxRestarts) return this.#setState('failed', gaveUpError(error, consecutive));
      const delay = backoffDelay(consecutive, { minDelay, maxDelay, jitter: 'none' });
      consecutive++;
      this.restarts++;
      log({
        level: 'warn',
        message: `${error.message}; restarting in ${delay / 1000} s (${consecutive} of ${maxRestarts})`,
      });
      this.#setState('restarting', error);
      await sleep(clock, delay, signal).catch(() => {});
    }
  }

  async #runOnce(signal: AbortSignal): Promise<ProcessRun> {
    const { program, launch, stopTimeout, clock, log } = this.#settings;
    const run: ProcessRun = { error: stoppedError(this.url), isClean: false, readyAt: undefined };
    let running: RunningProcess;
    try {
      await this.#waitUntilFree(signal);
      if (!program || signal.aborted) return run;
      this.#output.clear();
      running = launch(program(), {
        onStart: (pid) => {
          this.pid = pid;
          log({ level: 'info', message: `Started the agent at ${this.url} as process ${pid}` });
        },
        onOutput: (stream, text) => this.#output.push(stream, text),
      });
    } catch (thrown) {
      return { ...run, error: A2AError.from(thrown) };
    }
    this.#running = running;
    const ended = new AbortController();
    const ending = running.ended.finally(() => {
      this.#running = undefined;
      this.#output.flush();
      ended.abort();
    });
    try {
      await this.#waitUntilReady(AbortSignal.any([signal, ended.signal]));
      if (!ended.signal.aborted && !signal.aborted) {
        run.readyAt = clock.monotonic();
        this.#setState('ready');
      }
    } catch (thrown) {
      if (!ended.signal.aborted && !signal.aborted) {
        running.stop(stopTimeout);
        await ending;
        return { ...run, error: this.#notReadyError(thrown) };
      }
    }
    const exit = await ending;
    run.isClean = exit.code === 0;
    run.error = this.#exitError(exit, run.readyAt === undefined);
    return run;
  }

  #waitUntilReady(signal: AbortSignal): Promise<void> {
    const { probe, clock, startupTimeout } = this.#settings;
    return waitUntilReady(probe, { clock, timeout: startupTimeout, signal });
  }

  /** Waits until the URL does not respond, because another agent there would be mistaken for the new one. */
  async #waitUntilFree(signal: AbortSignal): Promise<void> {
    const { probe, clock } = this.#settings;
    const deadline = clock.monotonic() + portReleaseTimeout;
    for (;;) {
      const isInUse = await probe(signal).then(
        () => true,
        () => false,
      );
      if (!isInUse || signal.aborted) return;
      if (clock.monotonic() >= deadline)
        throw new A2AError('UNAVAILABLE', `Another agent is already running at ${this.url}`, {
          hint: 'Stop it, choose another port, or omit the command to use the running agent.',
        });
      await sleep(clock, 250, signal).catch(() => {});
    }
  }

  #setState(state: SupervisedState, error?: A2AError): void {
    this.state = state;
    this.error = error;
    const { log } = this.#settings;
    if (state === 'ready') log({ level: 'info', message: `The agent at ${this.url} is ready` });
    if (state === 'failed' && error) log({ level: 'error', message: error.message, error });
    for (const listener of this.#listeners) listener(state, this);
    for (const check of this.#waiters) check();
  }

  #notReadyError(thrown: unknown): A2AError {
    const { message, cause } = A2AError.from(thrown);
    const options = { cause, hint: this.#outputHint() };
    return new A2AError('UNAVAILABLE', `The agent at ${this.url} ${message}`, options);
  }

  #exitError({ code, signal, error }: ProcessExit, isEarly: boolean): A2AError {
    const exit = signal === null ? `exited with code ${code}` : `was terminated by ${signal}`;
    const event = error ?? (isEarly ? `${exit} before it was ready` : exit);
    const message = `The agent at ${this.url} ${event}`;
    const output = this.#outputHint();
    // A launcher that starts a background process exits with 0.
    const hint = isEarly && code === 0 ? `Run the agent in the foreground. ${output}` : output;
    return new A2AError('UNAVAILABLE', message, { hint });
  }

  #outputHint(): string {
    const output = outputTail(this.#output.last());
    return output === '' ? 'It printed no output.' : `Last output:\n${output}`;
  }
}

function stoppedError(url: string): A2AError {
  return new A2AError('UNAVAILABLE', `The agent at ${url} was stopped`);
}

function gaveUpError(error: A2AError, times: number): A2AError {
  const message = `${error.message}; gave up after ${times} consecutive restarts`;
  return new A2AError('UNAVAILABLE', message, { hint: error.hint, cause: error });
}
