import { type FSWatcher, watch } from 'node:fs';
import { basename, dirname } from 'node:path';
import { printWarning } from '../terminal/print-error.ts';

/** Debounce time in milliseconds: editors write a file in several steps. */
const debounce = 50;

/** Calls `onChange` when one of its files changes. */
export class FileWatcher {
  readonly #onChange: (file: string) => void;
  /** Names of the watched files and the watcher, by directory: many editors replace a file instead of writing to it. */
  readonly #directories = new Map<string, { names: Set<string>; watcher: FSWatcher }>();
  #timer: NodeJS.Timeout | undefined;

  constructor(onChange: (file: string) => void) {
    this.#onChange = onChange;
  }

  add(file: string): void {
    const directory = dirname(file);
    const name = basename(file);
    const known = this.#directories.get(directory);
    if (known) {
      known.names.add(name);
      return;
    }
    const names = new Set([name]);
    let watcher: FSWatcher;
    try {
      watcher = watch(directory, (_event, changed) => {
        if (changed !== null && !names.has(changed)) return;
        clearTimeout(this.#timer);
        this.#timer = setTimeout(() => this.#onChange(`${directory}/${changed ?? name}`), debounce);
      });
    } catch (error) {
      printWarning(`Cannot watch ${file}: ${(error as Error).message}`);
      return;
    }
    watcher.on('error', (error) => printWarning(`Stopped watching ${directory}: ${error.message}`));
    this.#directories.set(directory, { names, watcher });
  }

  close(): void {
    clearTimeout(this.#timer);
    for (const { watcher } of this.#directories.values()) watcher.close();
    this.#directories.clear();
  }
}

/** Calls `onChange` when a file changes. @returns a function that stops watching. */
export function watchFile(file: string, onChange: () => void): () => void {
  const watcher = new FileWatcher(onChange);
  watcher.add(file);
  return () => watcher.close();
}
