// Puts a new folder in the place of an old one.
import { renameSync, rmSync } from 'node:fs';

/** Renames `from` to `to` and then removes the old folder, so that `to` is complete at any time. */
export function replaceFolder(from, to) {
  const old = `${from}-old`;
  for (let attempt = 1; ; attempt++) {
    try {
      try {
        renameSync(to, old);
      } catch (error) {
        if (error.code !== 'ENOENT') throw error;
      }
      renameSync(from, to);
      break;
    } catch (error) {
      // A concurrent build finished first; the newer one wins.
      rmSync(old, { recursive: true, force: true });
      if (attempt === 5) throw error;
    }
  }
  rmSync(old, { recursive: true, force: true });
}
