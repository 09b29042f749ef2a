/**
 * Two mesh servers, or two clients, of one agent that share a register. Each server has its own broker, so that a test decides which of them receives a
 * request.
 */
import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Pool } from 'pg';
import { describe, expect, it } from 'vitest';
import { defineAgent } from '../../../src/engine/local-agent.ts';
import type { OwnershipRegister } from '../../../src/gateway/ownership/ownership-register.ts';
import { postgresOwnershipRegister } from '../../../src/gateway/ownership/postgres-ownership-register.ts';
import { sqliteOwnershipRegister } from '../../../src/gateway/ownership/sqlite-ownership-register.ts';
import { connectMemoryBroker } from '../../../src/mesh/brokers/memory/connect-memory.ts';
import { MemoryBroker } from '../../../src/mesh/brokers/memory/memory-broker.ts';
import { meshAgent } from '../../../src/mesh/client/mesh-agent.ts';
import type { MeshRegister } from '../../../src/mesh/sharing/mesh-register.ts';
import { serveOnMesh } from '../../../src/mesh/server/serve-on-mesh.ts';
import type { Agent } from '../../../src/protocol/agent.ts';
import { textOf } from '../../../src/protocol/part.ts';
import { openDatabase } from '../../../src/store/sqlite/database.ts';
import { closeAfterEach } from '../../support/close-after-each.ts';
import { createDeferred, expectTask, reasonOf, userRequest } from '../../support/engine/conversation.ts';
import { MeshTestClient, request0_1, request0_3, request1_0 } from '../../support/mesh/mesh-test-client.ts';
import { hasPostgres, usePostgres } from '../../support/store/postgres-server.ts';

const open = closeAfterEach();
const postgres = usePostgres();

/** Registers of two servers on the same storage, and a function that ends all claims, as if their servers had been killed. */
interface SharedRegisters {
  readonly registers: readonly OwnershipRegister[];
  readonly endClaims: () => Promise<void>;
}

async function openSqlite(): Promise<SharedRegisters> {
  const folder = mkdtempSync(join(tmpdir(), 'register-'));
  open.push({ close: () => rm(folder, { recursive: true }) });
  const file = join(folder, 'gateway.db');
  const endClaims = async (): Promise<void> => {
    const database = await openDatabase(file);
    database.exec('update gateway_mesh_entries set claimed_until = 1 where claimed_until is not null');
    database.close();
  };
  return {
    registers: [await sqliteOwnershipRegister({ file }), await sqliteOwnershipRegister({ file })],
    endClaims,
  };
}

let schemas = 0;

async function openPostgres(): Promise<SharedRegisters> {
  const options = { url: postgres().url, schema: `mesh${schemas++}` };
  const endClaims = async (): Promise<void> => {
    const pool = new Pool({ connectionString: postgres().url });
    await pool.query(
      `update ${options.schema}.gateway_mesh_entries set claimed_until = 'epoch' where claimed_until is not null`,
    );
    await pool.end();
  };
  return {
    registers: [await postgresOwnershipRegister(options), await postgresOwnershipRegister(options)],
    endClaims,
  };
}

/** Serves an agent twice. `onClaimed` is called when a server knows whether it may process a request. */
async function serveTwice(
  agent: Agent,
  { registers, endClaims }: SharedRegisters,
  onClaimed: () => void = () => undefined,
) {
  const clients: MeshTestClient[] = [];
  for (const register of registers) {
    open.push({ close: async () => register.close?.() });
    const broker = connectMemoryBroker();
    open.push(broker);
    clients.push(await MeshTestClient.join(broker));
    const server = await serveOnMesh(agent, {
      broker,
      namespace: 'test_namespace',
      name: 'Shared',
      timeouts: { close: 10 },
      register: observeClaims(register.meshRegister?.('Shared'), onClaimed),
    });
    open.push(server);
  }
  const [one, two] = clients as [MeshTestClient, MeshTestClient];
  return { one, two, endClaims };
}

function observeClaims(register: MeshRegister | undefined, onClaimed: () => void): MeshRegister | undefined {
  if (!register) return undefined;
  return {
    get: (key) => register.get(key),
    set: (key, value) => register.set(key, value),
    renew: (keys) => register.renew(keys),
    delete: (key, value) => register.delete(key, value),
    async claim(key) {
      const entry = await register.claim(key);
      onClaimed();
      return entry;
    },
  };
}

/** Agent that asks, waits until it is canceled, or repeats the text. `runs` contains the texts of its runs. */
function createAgent(go: Promise<void> = Promise.resolve()) {
  const runs: string[] = [];
  const agent = defineAgent({
    name: 'Shared',
    description: 'Repeats',
    async *process({ message, ask, signal }) {
      const text = textOf(message.parts);
      runs.push(text);
      if (text === 'ask') yield `answered ${textOf((await ask('Which one?')).parts)}`;
      else if (text === 'wait') await new Promise((resolve) => signal.addEventListener('abort', resolve));
      else {
        if (text === 'slow') await go;
        yield text;
      }
    },
  });
  return { agent, runs };
}

const stateOf = ({ body }: { body: any }): string => body.result?.status?.state;

const stores = [
  ['SQLite', false, openSqlite],
  ['PostgreSQL', !hasPostgres, openPostgres],
] as const;

describe.each(stores)('two mesh servers that share a register in %s', (_name, isSkipped, openRegisters) => {
  const serveShared = async (agent: Agent, onClaimed?: () => void) =>
    serveTwice(agent, await openRegisters(), onClaimed);

  it.skipIf(isSkipped).each([
    ['the id of the task', (text: string) => request0_3('u', text, { message: { taskId: 't' } })],
    ['the context only', (text: string) => request0_3('u', text)],
    ['the same id', (text: string) => request0_3('t', text, { message: { messageId: 'later' } })],
  ])('continue a task of each other that waits for input, by %s', async (_by, reply) => {
    const { agent, runs } = createAgent();
    const { one, two } = await serveShared(agent);
    await one.send('Shared', 't', request0_3('t', 'ask'));
    expect(stateOf(await one.waitForResponse('t'))).toBe('input-required');
    await two.send('Shared', 'u', reply('L'));
    const answered = await two.waitForResponse('u');
    expect(stateOf(answered)).toBe('completed');
    expect(JSON.stringify(answered.body)).toContain('answered L');
    // The next message of the context starts a task.
    await one.send('Shared', 'v', request0_3('v', 'next'));
    expect(stateOf(await one.waitForResponse('v'))).toBe('completed');
    expect(runs).toEqual(['ask', 'next']);
  });

  it.skipIf(isSkipped)('return a task of each other, in the version that started it', async () => {
    const { agent } = createAgent();
    const { one, two } = await serveShared(agent);
    await one.send('Shared', 't', request1_0('t', 'hi'));
    await one.waitForResponse('t');
    await two.send('Shared', 'g', { jsonrpc: '2.0', id: 'g', method: 'GetTask', params: { id: 't' } });
    expect((await two.waitForResponse('g')).body.result).toMatchObject({
      id: 't',
      status: { state: 'TASK_STATE_COMPLETED' },
    });
    await one.send('Shared', 'old', request0_1('old', 'hi'));
    await one.waitForResponse('old');
    await two.send('Shared', 'h', { jsonrpc: '2.0', id: 'h', method: 'tasks/get', params: { id: 'old' } });
    expect((await two.waitForResponse('h')).body.result).toMatchObject({ id: 'old', sessionId: 'session-1' });
  });

  it.skipIf(isSkipped)('do not return a task to another user', async () => {
    const { agent } = createAgent();
    const { one, two } = await serveShared(agent);
    await one.send('Shared', 't', request0_3('t', 'ask'));
    await one.waitForResponse('t');
    const get = { jsonrpc: '2.0', id: 'g', method: 'tasks/get', params: { id: 't' } };
    await two.send('Shared', 'g', get, { user: 'mallory' });
    expect((await two.waitForResponse('g')).body.error).toMatchObject({ code: -32001 });
    await two.send('Shared', 'u', request0_3('t', 'mine'), { user: 'mallory' });
    expect((await two.waitForResponse('u')).body.error.message).toMatch(/another user/);
  });

  it.skipIf(isSkipped)('cancel a running task of each other, which its client learns once', async () => {
    const { agent } = createAgent();
    const { one, two } = await serveShared(agent);
    await one.send('Shared', 't', request0_3('t', 'wait'));
    await one.waitFor(({ channel }) => channel === 'status');
    await two.cancel('Shared', 't');
    expect(stateOf(await one.waitForResponse('t'))).toBe('canceled');
    const cancel = { jsonrpc: '2.0', id: 'c', method: 'tasks/cancel', params: { id: 't' } };
    await two.send('Shared', 'c', cancel);
    expect((await two.waitForResponse('c')).body.error).toMatchObject({ code: -32002 });
    expect(one.repliesFor('t', 'response')).toHaveLength(1);
    expect(two.repliesFor('t')).toEqual([]);
  });

  it.skipIf(isSkipped)('cancel a task of each other that waits for input', async () => {
    const { agent } = createAgent();
    const { one, two } = await serveShared(agent);
    await one.send('Shared', 't', request0_3('t', 'ask'));
    await one.waitForResponse('t');
    await two.cancel('Shared', 't');
    // The cancellation is sent to the topic of the request that it ends.
    expect(stateOf(await two.waitForResponse('t'))).toBe('canceled');
  });

  it.skipIf(isSkipped)('cancel a task of each other whose id at the agent is not known yet', async () => {
    const go = createDeferred();
    const { agent } = createAgent();
    const isCalled = createDeferred();
    const late: Agent = {
      ...agent,
      async *stream(request, call) {
        isCalled.resolve();
        await go.promise;
        yield* agent.stream(request, call);
      },
    };
    const { one, two } = await serveShared(late);
    await one.send('Shared', 't', request0_3('t', 'wait'));
    await isCalled.promise;
    await two.send('Shared', 'c', { jsonrpc: '2.0', id: 'c', method: 'tasks/cancel', params: { id: 't' } });
    expect(stateOf(await two.waitForResponse('c'))).toBe('canceled');
    go.resolve();
    expect(stateOf(await one.waitForResponse('t'))).toBe('canceled');
    expect((await agent.listTasks({}, { owner: 'alice' })).tasks.map(({ status }) => status.state)).toEqual([
      'canceled',
    ]);
  });

  it.skipIf(isSkipped)('cancel a task whose message reaches the other later', async () => {
    const { agent } = createAgent();
    const { one, two } = await serveShared(agent);
    const cancel = { jsonrpc: '2.0', id: 'c', method: 'tasks/cancel', params: { id: 't' } };
    await two.send('Shared', 'c', cancel);
    expect((await two.waitForResponse('c')).body.error).toMatchObject({ code: -32001 });
    await one.send('Shared', 't', request0_3('t', 'wait'));
    expect(stateOf(await one.waitForResponse('t'))).toBe('canceled');
  });

  it.skipIf(isSkipped)('answer a repeated request with the response of the other', async () => {
    const { agent, runs } = createAgent();
    const { one, two } = await serveShared(agent);
    await one.send('Shared', 't', request0_3('t', 'hi'));
    const first = await one.waitForResponse('t');
    await two.send('Shared', 't', request0_3('t', 'hi'));
    const second = await two.waitForResponse('t');
    expect(second.body).toEqual(first.body);
    expect(second.properties['a2aResponseId']).toBe(first.properties['a2aResponseId']);
    expect(runs).toEqual(['hi']);
  });

  it.skipIf(isSkipped)('answer a request once that both receive at the same time', async () => {
    const go = createDeferred();
    const { agent, runs } = createAgent(go.promise);
    // The run ends after both servers have tried to claim the request: a later one is a repeated request.
    let claims = 0;
    const { one, two } = await serveShared(agent, () => {
      claims += 1;
      if (claims === 2) go.resolve();
    });
    const request = request0_3('t', 'slow');
    await Promise.all([one.send('Shared', 't', request), two.send('Shared', 't', request)]);
    const responses = () => [one, two].flatMap((client) => client.repliesFor('t', 'response'));
    await Promise.race([one.waitForResponse('t'), two.waitForResponse('t')]);
    // A later request that both have processed shows that nothing is left to do for the first one.
    for (const client of [one, two]) {
      await client.send('Shared', 'last', request0_3('last', 'hi', { contextId: null }));
      await client.waitForResponse('last');
    }
    expect(responses()).toHaveLength(1);
    expect(runs.filter((text) => text === 'slow')).toHaveLength(1);
  });

  it.skipIf(isSkipped)('process a request again whose server was killed', async () => {
    const { agent, runs } = createAgent();
    const isCalled = createDeferred();
    let isKilled = true;
    const dying: Agent = {
      ...agent,
      async *stream(request, call) {
        if (isKilled) {
          isCalled.resolve();
          await new Promise(() => {});
        }
        yield* agent.stream(request, call);
      },
    };
    const { one, two, endClaims } = await serveShared(dying);
    await one.send('Shared', 't', request0_3('t', 'hi'));
    await isCalled.promise;
    isKilled = false;
    await endClaims();
    await two.send('Shared', 't', request0_3('t', 'hi'));
    expect(stateOf(await two.waitForResponse('t'))).toBe('completed');
    expect(runs).toEqual(['hi']);
  });
});

describe.each(stores)('two mesh clients that share a register in %s', (_name, isSkipped, openRegisters) => {
  it.skipIf(isSkipped).each(['1.0', '0.3', '0.1'] as const)(
    'continue and cancel tasks of each other (%s)',
    async (version) => {
      const { agent, runs } = createAgent();
      const { registers } = await openRegisters();
      const broker = new MemoryBroker();
      const server = connectMemoryBroker({ broker });
      open.push(server, await serveOnMesh(agent, { broker: server, namespace: 'test', name: 'Shared' }));
      const card = await agent.card();
      const [one, two] = registers.map((register) => {
        open.push({ close: async () => register.close?.() });
        const link = connectMemoryBroker({ broker });
        const client = meshAgent({
          broker: link,
          namespace: 'test',
          name: 'Shared',
          card,
          version,
          register: register.meshRegister?.('Shared'),
        });
        open.push(link, client);
        return client;
      }) as unknown as [Agent, Agent];
      const ask = async () => expectTask(await one.send(userRequest('ask')));
      const { id } = await ask();
      const answered = expectTask(await two.send(userRequest('L', { taskId: id })));
      expect([answered.id, answered.status.state]).toEqual([id, 'completed']);
      expect(await one.getTask({ id })).toEqual(await two.getTask({ id }));
      expect(await reasonOf(two.getTask({ id }, { owner: 'mallory' }))).toBe('TASK_NOT_FOUND');
      const waiting = await ask();
      expect((await two.cancelTask({ id: waiting.id })).status.state).toBe('canceled');
      expect((await one.getTask({ id: waiting.id })).status.state).toBe('canceled');
      expect(runs).toEqual(['ask', 'ask']);
    },
  );
});
