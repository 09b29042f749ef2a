import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { runDragoman, type RunningCommand } from '../cli/run-command.ts';
import { closeAfterEach } from '../close-after-each.ts';

/** Processes of `dragoman mock` and a folder for their scripts. */
export interface MockCommands {
  /** Writes a file to the folder. @returns its path */
  write(name: string, text: string): string;
  /** Starts the command; it ends with the test. */
  run(args: readonly string[]): RunningCommand;
  /** Starts the command and waits until it listens. */
  start(args: readonly string[]): Promise<RunningCommand & { url: string }>;
}

/** Declares processes of `dragoman mock` for the tests of a file. */
export function useMockCommands(): MockCommands {
  const open = closeAfterEach();
  const folder = mkdtempSync(join(tmpdir(), 'dragoman-mock-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const run = (args: readonly string[]): RunningCommand => {
    const started = runDragoman(['mock', ...args]);
    open.push({ close: () => started.stop('SIGKILL') });
    return started;
  };
  return {
    write(name, text) {
      const file = join(folder, name);
      writeFileSync(file, text);
      return file;
    },
    run,
    async start(args) {
      const started = run(args);
      const [, url = ''] = await started.prints(/^listening on (\S+)\n/);
      return Object.assign(started, { url });
    },
  };
}

/** Returns a script with one rule, which answers "hello". */
export const greetingScript = (answer: string): string =>
  `name: Mocked\nrules:\n  - name: greeting\n    when: { text: hello }\n    then: [{ complete: ${answer} }]\n`;
