import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';

const prefix = 'dragoman-test-';

/**
 * Global setup: all temporary files of a run are in one folder, which is deleted at the end. Test processes end without
 * their exit handlers, and what they share must outlive the first of them.
 */
export default function createRunFolder(): (() => void) | undefined {
  const previous = process.env['TMPDIR'];
  // Vitest calls this once for each project.
  if (previous !== undefined && basename(previous).startsWith(prefix)) return undefined;
  const folder = mkdtempSync(join(tmpdir(), prefix));
  // Servers that refuse to run as root use it as another user.
  chmodSync(folder, 0o755);
  process.env['TMPDIR'] = folder;
  return () => {
    if (previous === undefined) delete process.env['TMPDIR'];
    else process.env['TMPDIR'] = previous;
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  };
}
