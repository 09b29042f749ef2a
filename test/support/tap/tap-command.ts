import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { serve } from '../../../src/server/node/serve.ts';
import { sampleAgent } from '../../interop/sample-agent.ts';
import { runDragoman, type RunningCommand } from '../cli/run-command.ts';
import { type Closable, closeAfterEach } from '../close-after-each.ts';

/** The environment of the command: no colors, and a fixed time zone. */
export const tapEnvironment = { NO_COLOR: '1', TZ: 'UTC' };

/** Processes of `dragoman tap`, an agent for them, and folders for their files. */
export interface TapCommands {
  /** What is closed after the test. */
  readonly open: Closable[];
  createFolder(): string;
  /** Starts the command; it ends with the test. */
  run(args: readonly string[], env?: Record<string, string>): RunningCommand;
  /** Serves an agent until the end of the test. @returns its URL */
  startAgent(): Promise<string>;
}

/** Declares processes of `dragoman tap` for the tests of a file. */
export function useTapCommands(): TapCommands {
  const open = closeAfterEach();
  return {
    open,
    createFolder() {
      const path = mkdtempSync(join(tmpdir(), 'dragoman-tap-'));
      open.push({ close: () => rm(path, { recursive: true }) });
      return path;
    },
    run(args, env = {}) {
      const running = runDragoman(['tap', ...args], { env: { ...tapEnvironment, ...env } });
      open.push({ close: () => running.stop('SIGKILL') });
      return running;
    },
    async startAgent() {
      const server = await serve(sampleAgent());
      open.push({ close: () => server.stop(0) });
      return server.url;
    },
  };
}
