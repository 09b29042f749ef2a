import { watch } from 'node:fs';
import { basename, dirname } from 'node:path';
import { printWarning } from '../terminal/print-error.ts';

/** Debounce time in milliseconds: editors write a file in several steps. */
const debounce = 50;

/** Calls `onChange` when a file changes. @returns a function that stops watching. */
export function watchFile(file: string, onChange: () => void): () => void {
  let timer: NodeJS.Timeout | undefined;
  // Watches the directory because many editors replace the file instead of writing to it.
  const watcher = watch(dirname(file), (_event, name) => {
    if (name !== null && name !== basename(file)) return;
    clearTimeout(timer);
    timer = setTimeout(onChange, debounce);
  });
  watcher.on('error', (error) => printWarning(`Stopped watching ${file}: ${error.message}`));
  return () => {
    clearTimeout(timer);
    watcher.close();
  };
}
