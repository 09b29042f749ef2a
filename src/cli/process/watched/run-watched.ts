import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { relative } from 'node:path';
import { FileWatcher } from '../watch-files.ts';
import { type ListenMessage, type WatchedMessage, watchedVariable } from './watched-process.ts';

/**
 * Runs this command line in a child process and again when the module or one of its imports changes. The new process
 * loads the module first: if that fails, the old one keeps serving.
 *
 * @returns the exit code, after a signal
 */
export function runWatched(module: string): Promise<number> {
  return new WatchedRuns(module).whenStopped;
}

class WatchedRuns {
  readonly whenStopped: Promise<number>;
  /** Read once, because the folder may be removed. */
  readonly #folder = process.cwd();
  readonly #watcher = new FileWatcher((file) => this.#reload(file));
  /** The process that serves. */
  #current: ChildProcess | undefined;
  /** The process that loads the changed module. */
  #next: ChildProcess | undefined;
  #port: number | undefined;
  #isStopping = false;

  constructor(module: string) {
    this.#watcher.add(module);
    this.whenStopped = new Promise((resolve) => {
      const onSignal = (signal: NodeJS.Signals): void => void this.#stop(signal).then(resolve);
      process.on('SIGINT', onSignal);
      process.on('SIGTERM', onSignal);
    });
    this.#start();
  }

  #reload(file: string): void {
    if (this.#isStopping) return;
    note(`${relative(this.#folder, file)} changed`);
    this.#start();
  }

  #start(): void {
    this.#next?.kill('SIGKILL');
    const child = fork(process.argv[1] ?? '', process.argv.slice(2), {
      env: { ...process.env, [watchedVariable]: '1' },
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      // Of its own group, so that Ctrl-C reaches only this process, which passes it on once.
      detached: true,
    });
    this.#next = child;
    child.on('message', (message: WatchedMessage) => {
      if (message.type === 'import') this.#watcher.add(message.file);
      else if (message.type === 'listening') this.#port = message.port;
      else if (message.type === 'loaded') void this.#replace(child);
    });
    child.on('error', (error) => note(`Cannot start the agent: ${error.message}`));
    child.on('exit', (code, signal) => this.#ended(child, code, signal));
  }

  /** Lets a process that has loaded the module take over. */
  async #replace(child: ChildProcess): Promise<void> {
    const before = this.#current;
    if (before) {
      this.#current = undefined;
      before.kill('SIGTERM');
      if (before.exitCode === null && before.signalCode === null) await once(before, 'exit');
    }
    // Another change has come in between.
    if (this.#next !== child || this.#isStopping || !child.connected) return;
    this.#next = undefined;
    this.#current = child;
    child.send({ type: 'listen', port: this.#port } satisfies ListenMessage);
  }

  #ended(child: ChildProcess, code: number | null, signal: NodeJS.Signals | null): void {
    if (this.#isStopping) return;
    if (child === this.#next) {
      this.#next = undefined;
      note(this.#current ? 'The previous version keeps running' : 'Waiting for changes');
    } else if (child === this.#current) {
      this.#current = undefined;
      note(`The agent ended with ${signal ?? `exit code ${code}`}. Waiting for changes`);
    }
  }

  async #stop(signal: NodeJS.Signals): Promise<number> {
    this.#isStopping = true;
    this.#watcher.close();
    this.#next?.kill('SIGKILL');
    const child = this.#current;
    if (!child || child.exitCode !== null || child.signalCode !== null) return 0;
    child.kill(signal);
    const [code] = (await once(child, 'exit')) as [number | null];
    return code ?? 1;
  }
}

function note(text: string): void {
  process.stderr.write(`info: ${text}\n`);
}
