/** The commands of docs/guide/maintenance.md for a PostgreSQL store. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { defineAgent } from '../../../src/engine/index.ts';
import { postgresTaskStore } from '../../../src/store/postgres.ts';
import { codeBlocksOf } from '../../support/docs/code-blocks.ts';
import { expectTask, userRequest } from '../../support/engine/conversation.ts';
import { findSystemProgram } from '../../support/process/system-program.ts';
import { hasPostgres, usePostgres } from '../../support/store/postgres-server.ts';

const run = promisify(execFile);
const canRun = hasPostgres && findSystemProgram('pg_dump') !== undefined;
if (!canRun) console.log('skipped: PostgreSQL or pg_dump is not installed');

describe('a back-up of a PostgreSQL store', () => {
  const postgres = usePostgres();

  it.skipIf(!canRun)('restores the tasks of its time', async () => {
    const block = codeBlocksOf('docs/guide/maintenance.md').find(({ code }) => code.includes('pg_dump'));
    const [dump = [], restore = []] = (block?.code.trim().split('\n') ?? []).map((line) =>
      line.replace('postgres://owner@db.example/agents', postgres().url).split(' '),
    );
    const folder = await mkdtemp(join(tmpdir(), 'dragoman-dump-'));
    const definition = { name: 'Writer', description: 'Writes', process: async () => 'done' };
    const open = async () => {
      const taskStore = await postgresTaskStore({ url: postgres().url });
      return { agent: defineAgent(definition, { taskStore }), taskStore };
    };
    const before = await open();
    const send = async (): Promise<string> => expectTask(await before.agent.send(userRequest('hi'))).id;
    const kept = await send();
    await run(dump[0] ?? '', dump.slice(1), { cwd: folder });
    const lost = await send();
    await before.agent.close();
    await before.taskStore[Symbol.asyncDispose]();
    await run(restore[0] ?? '', restore.slice(1), { cwd: folder });

    const after = await open();
    await after.agent.ready();
    expect((await after.agent.getTask({ id: kept })).status.state).toBe('completed');
    await expect(after.agent.getTask({ id: lost })).rejects.toMatchObject({ reason: 'TASK_NOT_FOUND' });
    expect(expectTask(await after.agent.send(userRequest('more'))).status.state).toBe('completed');
    await after.agent.close();
    await after.taskStore[Symbol.asyncDispose]();
    await rm(folder, { recursive: true });
  });
});
