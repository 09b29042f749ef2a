/** Supervised agents that end with their test, and the programs they run. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll } from 'vitest';
import type { SuperviseOptions } from '../../../src/bridge/supervisor/supervise-options.ts';
import {
  type Supervised,
  type SupervisedState,
  supervise,
} from '../../../src/bridge/supervisor/supervise.ts';
import { repositoryRoot } from '../../support/cli/run-command.ts';
import { type CompiledSources, compileSources } from '../../support/compile-sources.ts';
import { findFreePort } from '../../support/http/free-port.ts';

/** The agents on official SDKs. */
export const agents = join(repositoryRoot, 'test/support/agents');

export const freeAddress = async () => {
  const port = await findFreePort();
  return { port, url: `http://127.0.0.1:${port}` };
};

/** Resolves when the supervised agent enters a state. */
export function becomes(supervised: Supervised, wanted: SupervisedState): Promise<void> {
  return new Promise((resolve) => {
    const stop = supervised.onState((state) => {
      if (state !== wanted) return;
      stop();
      resolve();
    });
  });
}

/** Compiles the supervisor for the tests of a file, and stops what they start. */
export function useSupervisor() {
  const folder = mkdtempSync(join(tmpdir(), 'dragoman-supervisor-'));
  const opened: Supervised[] = [];
  let built: CompiledSources;

  beforeAll(() => {
    built = compileSources('supervisor', [
      'bridge/supervisor/orphan-reaper.ts',
      'bridge/supervisor/supervise.ts',
    ]);
  });
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((each) => each.stop()));
  });
  afterAll(() => {
    built.remove();
    rmSync(folder, { recursive: true, force: true });
  });

  const inBuilt = (file: string) => join(built.folder, 'bridge/supervisor', file);

  function start(options: SuperviseOptions): Supervised {
    const supervised = supervise({
      minDelay: 20,
      maxDelay: 100,
      stopTimeout: 200,
      reaperPath: inBuilt('orphan-reaper.js'),
      ...options,
    });
    opened.push(supervised);
    return supervised;
  }

  /** Writes a program to a file. */
  function writeScript(name: string, lines: string): string {
    const file = join(folder, name);
    writeFileSync(file, lines);
    return file;
  }

  /** Writes a minimal agent that serves only a card. */
  function writeAgent(name: string, more = ''): string {
    return writeScript(
      name,
      `import { createServer } from 'node:http';
    ${more}
    const url = 'http://127.0.0.1:' + process.argv[2];
    const card = { name: process.env.AGENT_NAME ?? 'Tiny', description: process.cwd(), version: '1',
      supportedInterfaces: [{ url, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }], capabilities: {},
      defaultInputModes: [], defaultOutputModes: [], skills: [] };
    createServer((_, response) => response.setHeader('content-type', 'application/json').end(JSON.stringify(card)))
      .listen(Number(process.argv[2]), '127.0.0.1');`,
    );
  }

  return { folder, inBuilt, start, writeScript, writeAgent };
}
