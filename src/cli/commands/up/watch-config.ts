import { resolve } from 'node:path';
import { DocumentError } from '../../../documents/diagnostic.ts';
import type { LogSink } from '../../../primitives/log.ts';
import type { RunningUp } from '../../../up/run-up.ts';
import type { UpSettings } from '../../../up/up-settings.ts';
import { printDiagnostics } from '../../terminal/print-diagnostics.ts';
import { watchFile } from '../../process/watch-file.ts';

/** What is needed to take changes over. */
interface WatchTools {
  /** Reads the file anew. */
  readonly read: () => Promise<UpSettings>;
  readonly log: LogSink;
}

/** Takes over what changes in the file of `dragoman up` and in its scripts. @returns what ends that. */
export function watchUpConfig(running: RunningUp, config: string, { read, log }: WatchTools): () => void {
  const watched = new Map<string, () => void>();
  /** What is wrong with a file changes nothing. */
  const attempt = async (file: string, work: () => Promise<string>): Promise<void> => {
    try {
      log({ level: 'info', message: `${file} was read again${await work()}` });
    } catch (error) {
      const isTold = error instanceof DocumentError;
      if (isTold) printDiagnostics(error, process.stderr);
      const message = `${file} could not be taken over, so everything stays as it was`;
      log({ level: 'error', message, ...(!isTold && { error }) });
    }
  };
  const watchScripts = (): void => {
    for (const { settings, reload } of running.hosted) {
      const { file } = settings;
      if (!reload || watched.has(file)) continue;
      watched.set(
        file,
        watchFile(file, () => void attempt(file, () => readScript(file))),
      );
    }
  };
  const readScript = async (file: string): Promise<string> => {
    for (const { settings, reload } of running.hosted) if (settings.file === file) await reload?.();
    return '';
  };
  const reload = async (): Promise<string> => {
    const { added, removed, changed, needsRestart: later } = await running.reload(await read());
    watchScripts();
    const told = [
      ...added.map((name) => `+${name}`),
      ...removed.map((name) => `-${name}`),
      ...changed.map((name) => `~${name}`),
    ];
    const after =
      later.length > 0 ? `; what it says of ${later.join(', ')} takes effect after a restart` : '';
    return `: ${told.join(' ') || 'no agent changed'}${after}`;
  };
  watchScripts();
  watched.set(
    resolve(config),
    watchFile(resolve(config), () => void attempt(config, reload)),
  );
  return () => {
    for (const stop of watched.values()) stop();
  };
}
