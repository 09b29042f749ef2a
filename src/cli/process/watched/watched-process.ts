import module, { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { MessageChannel, receiveMessageOnPort } from 'node:worker_threads';
import { reportingHook } from './import-hooks.ts';

/** Environment variable that marks the child process of `--watch`. */
export const watchedVariable = 'DRAGOMAN_WATCHED';

/** A message from the watched process to the process that watches the files. */
export type WatchedMessage =
  | { readonly type: 'import'; readonly file: string }
  /** All imports so far have been sent. */
  | { readonly type: 'loading' }
  | { readonly type: 'loaded' }
  | { readonly type: 'listening'; readonly port: number };

/** The message that allows a watched process to listen, because the one before has ended. */
export interface ListenMessage {
  readonly type: 'listen';
  /** Port of the process before; undefined for the first one. */
  readonly port?: number | undefined;
}

/** This process, if `--watch` started it. */
export interface WatchedProcess {
  /** Loads the module and reports its imports, also if it fails, because then this process ends. */
  load<T>(loadModule: () => Promise<T>): Promise<T>;
  /** Waits until this process may open the task store and listen. */
  whenAllowed(): Promise<ListenMessage>;
  /** Reports the port, which the next process uses too. */
  listening(port: number): Promise<void>;
}

/** Reports imports from now on. @returns undefined if `--watch` did not start this process */
export function joinWatch(): WatchedProcess | undefined {
  if (process.env[watchedVariable] === undefined || !process.send) return undefined;
  // Programs that the agent starts are not watched.
  delete process.env[watchedVariable];
  const files = new Set<string>();
  const report = (file: string): void => {
    if (files.has(file) || /[/\\]node_modules[/\\]/.test(file) || file.startsWith(ownFolder)) return;
    files.add(file);
    void send({ type: 'import', file });
  };
  const readReports = registerHook((url) => {
    if (url.startsWith('file:')) report(fileURLToPath(url));
  });
  // The watching process has ended, perhaps without a signal.
  process.on('disconnect', () => process.exit(0));
  const allowed = new Promise<ListenMessage>((resolve) => process.once('message', resolve));
  return {
    async load(loadModule) {
      try {
        return await loadModule();
      } finally {
        readReports();
        // Modules that were loaded with require() did not pass the hook in older versions of Node.
        for (const file of Object.keys(createRequire(import.meta.url).cache)) report(file);
        await send({ type: 'loading' });
      }
    },
    async whenAllowed() {
      await send({ type: 'loaded' });
      return allowed;
    },
    listening: (port) => send({ type: 'listening', port }),
  };
}

/** Sends a message to the watching process; resolves after it and all before it were written. */
function send(message: WatchedMessage): Promise<void> {
  return new Promise((resolve) => {
    if (process.connected) process.send?.(message, undefined, undefined, () => resolve());
    else resolve();
  });
}

/** Files of this package do not change while an author works on an agent. */
const ownFolder = fileURLToPath(new URL('../../../', import.meta.url));

/** Registers the hook. @returns a function that reports what the hook has sent so far */
function registerHook(report: (url: string) => void): () => void {
  const { registerHooks } = module as { registerHooks?: (hooks: object) => void };
  if (registerHooks) {
    registerHooks({ resolve: reportingHook(report) });
    return () => {};
  }
  const { port1, port2 } = new MessageChannel();
  port1.on('message', report);
  port1.unref();
  const data = { port: port2 };
  module.register(new URL('./import-hooks.js', import.meta.url), { data, transferList: [port2] });
  return () => {
    for (;;) {
      const received = receiveMessageOnPort(port1) as { readonly message: string } | undefined;
      if (!received) return;
      report(received.message);
    }
  };
}
