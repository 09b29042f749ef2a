import { watch } from 'node:fs';
import { basename, dirname } from 'node:path';

/** For how many milliseconds a file must rest before it is read: editors write in several steps. */
const debounce = 50;

/** Calls back whenever a file has changed. @returns what ends that. */
export function watchFile(file: string, changed: () => void): () => void {
  let timer: NodeJS.Timeout | undefined;
  // The folder and not the file, because many editors put a new file in the place of the old one.
  const watcher = watch(dirname(file), (_event, name) => {
    if (name !== null && name !== basename(file)) return;
    clearTimeout(timer);
    timer = setTimeout(changed, debounce);
  });
  watcher.on('error', (error) => process.stderr.write(`${file} is not watched any more: ${error.message}\n`));
  return () => {
    clearTimeout(timer);
    watcher.close();
  };
}
