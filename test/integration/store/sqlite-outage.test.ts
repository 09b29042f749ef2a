import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { defineAgent, type LocalAgent } from '../../../src/engine/local-agent.ts';
import type { LogEntry } from '../../../src/engine/agent-definition.ts';
import { serve } from '../../../src/server/node/serve.ts';
import { openDatabase } from '../../../src/store/sqlite/database.ts';
import { sqliteTaskStore } from '../../../src/store/sqlite.ts';
import type { TaskStore } from '../../../src/store/task-store.ts';
import { artifactTexts, createDeferred, expectTask, userRequest } from '../../support/engine/conversation.ts';

/** Makes all writes to the task store fail, until the returned function is called. */
type Fault = (folder: string) => Promise<() => void>;

const foreignLock: Fault = async (folder) => {
  const other = await openDatabase(join(folder, 'tasks.db'));
  other.exec('begin exclusive');
  return () => {
    other.exec('rollback');
    other.close();
  };
};

const fullDisk: Fault = async (folder) => {
  const filler = join(folder, 'filler');
  for (let size = 1 << 20; size >= 1; size >>= 1) {
    try {
      for (;;) writeFileSync(filler, new Uint8Array(size), { flag: 'a' });
    } catch {
      // Less than `size` bytes are left.
    }
  }
  return () => rmSync(filler);
};

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
});

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'dragoman-outage-'));
  cleanups.push(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Mounts a small file system; undefined if this user may not. */
function mountSmallDisk(folder: string): boolean {
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=4m', 'tmpfs', folder], { stdio: 'ignore' });
  } catch {
    return false;
  }
  cleanups.push(() => void execFileSync('umount', ['--lazy', folder]));
  return true;
}

const taskCount = 20;

/** An agent whose tasks wait for `go` after their first output. */
async function startAgent(folder: string) {
  const taskStore: TaskStore = await sqliteTaskStore({ file: join(folder, 'tasks.db'), busyTimeout: 0 });
  cleanups.push(() => taskStore[Symbol.asyncDispose]());
  const go = createDeferred();
  const entries: LogEntry[] = [];
  const agent: LocalAgent = defineAgent(
    {
      name: 'Patient',
      description: 'Waits',
      async *process({ text }) {
        yield 'first ';
        await go.promise;
        for (let n = 0; n < 3; n++) yield `${text}${n} `;
      },
    },
    { taskStore, log: (entry) => entries.push(entry) },
  );
  const server = await serve(agent, { port: 0 });
  cleanups.push(async () => {
    await server.stop(0);
    await agent.close();
  });
  const ids: string[] = [];
  for (let n = 0; n < taskCount; n++) {
    const request = userRequest(`t${n}.`, {}, { configuration: { returnImmediately: true } });
    ids.push(expectTask(await agent.send(request)).id);
  }
  return { agent, server, taskStore, go, ids, entries };
}

const rpc = (url: string, method: string, params: object): Promise<Response> =>
  fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'a2a-version': '1.0' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  });

/** Lets running tasks end while nothing can be written, and expects that all of them end when it can. */
async function expectTasksToSurvive(folder: string, fault: Fault): Promise<void> {
  const { agent, server, go, ids, entries } = await startAgent(folder);
  const { url } = server;
  const seen: number[] = [];
  const [first = ''] = ids;
  const streamed = (async () => {
    for await (const event of agent.subscribe({ id: first, afterSequence: 0 }))
      seen.push(event.sequence ?? 0);
  })();
  expect((await fetch(`${url}/readyz`)).status).toBe(200);

  const repair = await fault(folder);
  go.resolve();
  // The first failed commit is visible to a caller as the error of its request.
  const message = { messageId: 'during', role: 'ROLE_USER', parts: [{ text: 'x' }] };
  const refused = await rpc(url, 'SendMessage', { message });
  expect(refused.status).toBe(503);
  expect(refused.headers.get('retry-after')).toBe('1');
  expect(await refused.json()).toMatchObject({ error: { message: 'The task store is not available' } });
  const readiness = await fetch(`${url}/readyz`);
  expect(readiness.status).toBe(503);
  expect(await readiness.json()).toEqual({
    status: 'unavailable',
    reason: 'The task store is not available',
  });
  const rest = await fetch(`${url}/tasks/${first}:cancel`, {
    method: 'POST',
    headers: { 'a2a-version': '1.0' },
  });
  expect([rest.status, rest.headers.get('retry-after')]).toEqual([503, '1']);
  for (const id of ids) {
    const task = await agent.getTask({ id });
    expect(task.status.state).toBe('working');
    expect(artifactTexts(task)).toEqual(['first ']);
  }

  repair();
  await agent.outage()?.ended;
  expect((await fetch(`${url}/readyz`)).status).toBe(200);
  for (const [n, id] of ids.entries()) {
    for await (const _event of agent.subscribe({ id, afterSequence: 1 }));
    const task = await agent.getTask({ id });
    expect(task.status.state).toBe('completed');
    expect(artifactTexts(task)).toEqual([`first t${n}.0 t${n}.1 t${n}.2 `]);
  }
  await streamed;
  expect(seen).toEqual([1, 2, 3, 4, 5, 6, 7]);
  const repeated = await rpc(url, 'SendMessage', { message });
  expect(repeated.status).toBe(200);
  expect(await repeated.json()).toMatchObject({
    result: { task: { status: { state: 'TASK_STATE_COMPLETED' } } },
  });
  expect(await agent.listTasks({})).toMatchObject({ totalSize: taskCount + 1 });
  expect(entries.filter(({ message: text }) => text === 'Process function failed')).toEqual([]);
}

describe('running tasks', () => {
  it('end after a foreign lock on the file; meanwhile requests and /readyz respond 503', async () => {
    await expectTasksToSurvive(newFolder(), foreignLock);
  });

  it('end after a full disk has space again; meanwhile requests and /readyz respond 503', async ({
    skip,
  }) => {
    const folder = newFolder();
    if (!mountSmallDisk(folder)) skip('this user cannot mount a file system');
    await expectTasksToSurvive(folder, fullDisk);
  });

  it('fail if an event cannot be stored at all', async () => {
    const taskStore = await sqliteTaskStore({ file: join(newFolder(), 'tasks.db') });
    cleanups.push(() => taskStore[Symbol.asyncDispose]());
    const agent = defineAgent(
      {
        name: 'T',
        description: 'T',
        async *process() {
          yield 'text';
          await new Promise(setImmediate);
          // JSON has no representation of it.
          yield { state: 'completed', metadata: { number: 1n as unknown as number } };
        },
      },
      { taskStore },
    );
    cleanups.push(() => agent.close());
    await expect(agent.send(userRequest('hi'))).rejects.toMatchObject({ reason: 'INTERNAL_ERROR' });
    const [task] = (await agent.listTasks({})).tasks;
    if (!task) throw new Error('task not stored');
    for await (const _event of agent.subscribe({ id: task.id, afterSequence: 0 }));
    expect((await agent.getTask({ id: task.id })).status.state).toBe('failed');
  });
});
