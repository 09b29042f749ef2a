import { resolve } from 'node:path';
import { DocumentError } from '../../../documents/diagnostic.ts';
import type { LogSink } from '../../../primitives/log.ts';
import type { RunningUp } from '../../../up/run-up.ts';
import type { UpSettings } from '../../../up/up-settings.ts';
import { printDiagnostics } from '../../terminal/print-diagnostics.ts';
import { watchFile } from '../../process/watch-file.ts';

/** Collaborators of {@link watchUpConfig}. */
interface WatchContext {
  readonly readConfig: () => Promise<UpSettings>;
  readonly log: LogSink;
}

/** Reloads the file of `dragoman up` and its mock scripts when they change. @returns a function that stops watching. */
export function watchUpConfig(
  running: RunningUp,
  config: string,
  { readConfig, log }: WatchContext,
): () => void {
  const watched = new Map<string, () => void>();
  /** An invalid file changes nothing. */
  const applyChange = async (file: string, work: () => Promise<string>): Promise<void> => {
    try {
      log({ level: 'info', message: `Reloaded ${file}${await work()}` });
    } catch (error) {
      const isInvalid = error instanceof DocumentError;
      if (isInvalid) printDiagnostics(error, process.stderr);
      const message = `Cannot reload ${file}; the previous configuration stays active`;
      log({ level: 'error', message, ...(!isInvalid && { error }) });
    }
  };
  const watchScripts = (): void => {
    for (const { settings, reload } of running.hosted) {
      const { file } = settings;
      if (!reload || watched.has(file)) continue;
      watched.set(
        file,
        watchFile(file, () => void applyChange(file, () => reloadScript(file))),
      );
    }
  };
  const reloadScript = async (file: string): Promise<string> => {
    for (const { settings, reload } of running.hosted) if (settings.file === file) await reload?.();
    return '';
  };
  const reloadConfig = async (): Promise<string> => {
    const { added, removed, changed, needsRestart } = await running.reload(await readConfig());
    watchScripts();
    const changes = [
      ...added.map((name) => `+${name}`),
      ...removed.map((name) => `-${name}`),
      ...changed.map((name) => `~${name}`),
    ];
    const pending =
      needsRestart.length > 0 ? `; changes of ${needsRestart.join(', ')} take effect after a restart` : '';
    return `: ${changes.join(' ') || 'no agent changed'}${pending}`;
  };
  watchScripts();
  watched.set(
    resolve(config),
    watchFile(resolve(config), () => void applyChange(config, reloadConfig)),
  );
  return () => {
    for (const stop of watched.values()) stop();
  };
}
