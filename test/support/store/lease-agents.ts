import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { connect, type RemoteAgent } from '../../../src/client/connect.ts';
import { type RunningCommand, serveModule } from '../cli/run-command.ts';
import { closeAfterEach } from '../close-after-each.ts';
import { expectTask, userRequest } from '../engine/conversation.ts';

/** Processes that serve an agent with a SQLite file. */
export interface LeaseAgents {
  /** The module of the agent. All tasks wait until it receives "go". */
  readonly module: string;
  /** Returns the path of a file that does not exist. */
  newFile(): string;
  /** Serves the agent until the end of the test. */
  start(file: string): Promise<RunningCommand & { agent: RemoteAgent }>;
}

/** Declares processes that use the lease of a SQLite file, for the tests of a file. */
export function useLeaseAgents(): LeaseAgents {
  const open = closeAfterEach();
  const folder = mkdtempSync(join(tmpdir(), 'dragoman-lease-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const module = join(folder, 'agent.mjs');
  writeFileSync(
    module,
    `import { defineAgent } from '${new URL('../../../dist/index.js', import.meta.url).href}';
    let open;
    const opened = new Promise((resolve) => { open = resolve; });
    export default defineAgent({
      name: 'Patient',
      description: 'Waits',
      async process({ text }) {
        if (text === 'go') open();
        else await opened;
        return 'done';
      },
    });`,
  );
  let files = 0;
  return {
    module,
    newFile: () => join(folder, `${++files}.db`),
    async start(file) {
      const running = await serveModule(module, ['--store', `sqlite:${file}`]);
      open.push({ close: () => running.stop('SIGKILL') });
      const agent = connect(running.url, { maxRetries: 0 });
      open.push(agent);
      return Object.assign(running, { agent });
    },
  };
}

/** Starts a task that waits. @returns its id */
export async function startWaitingTask(agent: RemoteAgent): Promise<string> {
  const request = userRequest('wait', {}, { configuration: { returnImmediately: true } });
  return expectTask(await agent.send(request)).id;
}
