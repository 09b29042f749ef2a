import { resolve } from 'node:path';
import type { LogSink } from '../../../primitives/log.ts';
import type { RunningUp } from '../../../up/run-up.ts';
import type { UpSettings } from '../../../up/up-settings.ts';
import { formatChanges, reloadFile } from '../../process/reload-file.ts';
import { watchFile } from '../../process/watch-files.ts';

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
  const watch = (file: string, path: string, reload: () => Promise<string>): void => {
    watched.set(
      path,
      watchFile(path, () => void reloadFile(file, log, reload)),
    );
  };
  const watchScripts = (): void => {
    for (const { settings, reload } of running.hosted) {
      const { file } = settings;
      if (reload && !watched.has(file)) watch(file, file, () => reloadScript(file));
    }
  };
  const reloadScript = async (file: string): Promise<string> => {
    for (const { settings, reload } of running.hosted) if (settings.file === file) await reload?.();
    return '';
  };
  const reloadConfig = async (): Promise<string> => {
    const changes = await running.reload(await readConfig());
    watchScripts();
    const pending = changes.needsRestart.join(', ');
    const note = pending === '' ? '' : `; changes of ${pending} take effect after a restart`;
    return `${formatChanges(changes)}${note}`;
  };
  watchScripts();
  watch(config, resolve(config), reloadConfig);
  return () => {
    for (const stop of watched.values()) stop();
  };
}
