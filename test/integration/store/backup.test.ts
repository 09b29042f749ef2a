/** The commands of docs/guide/maintenance.md for a SQLite store, while an agent writes. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { connect } from '../../../src/client/connect.ts';
import { defineAgent } from '../../../src/engine/index.ts';
import { textOf } from '../../../src/protocol/part.ts';
import { sqliteTaskStore } from '../../../src/store/sqlite.ts';
import { serveModule } from '../../support/cli/run-command.ts';
import { closeAfterEach } from '../../support/close-after-each.ts';
import { codeBlocksOf } from '../../support/docs/code-blocks.ts';
import { expectTask, userRequest } from '../../support/engine/conversation.ts';
import { findSystemProgram } from '../../support/process/system-program.ts';

const open = closeAfterEach();
const run = promisify(execFile);
const sqlite3 = findSystemProgram('sqlite3');
if (!sqlite3) console.log('skipped: sqlite3 is not installed');

describe('a back-up of a SQLite store', () => {
  it.skipIf(!sqlite3)('contains every task that had ended before, while the agent writes', async () => {
    const block = codeBlocksOf('docs/guide/maintenance.md').find(({ code }) => code.includes('.backup'));
    const commands = (block?.code.trim().split('\n') ?? []).map((line) => line.replace(/^sqlite3 /, ''));
    expect(commands).toHaveLength(2);
    const folder = await mkdtemp(join(tmpdir(), 'dragoman-backup-'));
    const store = `sqlite:${join(folder, 'tasks.db')}`;
    const server = await serveModule('examples/echo.js', ['--store', store]);
    open.push({ close: () => server.stop('SIGKILL') });
    const agent = connect(server.url);
    const send = async (): Promise<string> => expectTask(await agent.send(userRequest('hi'))).id;
    const ended = await Promise.all(Array.from({ length: 20 }, send));
    const backedUp = new AbortController();
    const writing = (async () => {
      let count = 0;
      do {
        await send();
        count++;
      } while (!backedUp.signal.aborted);
      return count;
    })();
    for (const line of commands) {
      const [file = '', command = ''] = line.split(/ (["'].*)/);
      const { stdout } = await run(sqlite3 ?? '', [file, command.slice(1, -1)], { cwd: folder });
      if (line.includes('integrity_check')) expect(stdout.trim()).toBe('ok');
    }
    backedUp.abort();
    expect(await writing).toBeGreaterThan(0);
    const { name } = await agent.card();
    await agent.close();
    await server.stop();

    const restored = await sqliteTaskStore({ file: join(folder, 'tasks-backup.db') });
    const after = defineAgent(
      { name, description: '', process: async () => 'done' },
      { taskStore: restored },
    );
    await after.ready();
    for (const id of ended) {
      const task = await after.getTask({ id });
      expect(task.status.state).toBe('completed');
      expect(textOf(task)).toContain('hi');
    }
    expect(expectTask(await after.send(userRequest('more'))).status.state).toBe('completed');
    await after.close();
    await restored[Symbol.asyncDispose]();
    await rm(folder, { recursive: true });
  });
});
