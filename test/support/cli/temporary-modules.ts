import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll } from 'vitest';
import type { SendRequest } from '../../../src/protocol/requests.ts';
import { type CommandEnvironment, type RunningCommand, serveModule } from './run-command.ts';

/** A temporary folder with modules for `dragoman serve`, and the commands that a test started. */
export interface TemporaryModules {
  readonly directory: string;
  /** Processes that end with the test. */
  readonly running: RunningCommand[];
  /** Writes a module that imports Dragoman from dist/ of this checkout. @returns its path. */
  write(name: string, text: string): string;
  /** Serves a module until the end of the test. */
  serve(module: string, flags?: string[], place?: CommandEnvironment): ReturnType<typeof serveModule>;
}

/** Declares a folder of modules for the tests of a file. */
export function useTemporaryModules(): TemporaryModules {
  let directory = '';
  const running: RunningCommand[] = [];
  beforeAll(() => {
    directory = mkdtempSync(join(tmpdir(), 'dragoman-cli-'));
  });
  afterAll(() => rmSync(directory, { recursive: true, force: true }));
  afterEach(async () => {
    await Promise.all(running.splice(0).map((each) => each.stop('SIGKILL')));
  });
  return {
    get directory() {
      return directory;
    },
    running,
    write(name, text) {
      const file = join(directory, name);
      const dist = new URL('../../../dist/index.js', import.meta.url).href;
      writeFileSync(file, text.replace("'dragoman'", `'${dist}'`));
      return file;
    },
    async serve(module, flags = [], place = {}) {
      const started = await serveModule(module, flags, place);
      running.push(started);
      return started;
    },
  };
}

/** Returns the text of a module with an agent. @param body - its process function. */
export const agentModule = (body: string): string => `import { defineAgent } from 'dragoman';
export default defineAgent({ name: 'Tester', description: 'Is tested', process: ${body} });`;

/** Returns a request with a new message of the user. */
export const textMessage = (text: string): SendRequest => ({
  message: { messageId: crypto.randomUUID(), role: 'user', parts: [{ text }] },
});
