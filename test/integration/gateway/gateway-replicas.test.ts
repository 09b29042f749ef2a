/** Two gateways with the same file and store: requests of a conversation reach them in turn. */
import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { connect, type RemoteAgent } from '../../../src/client/connect.ts';
import { bearer } from '../../../src/client/credentials.ts';
import { defineAgent } from '../../../src/engine/local-agent.ts';
import { readGatewayConfig } from '../../../src/gateway/config/read-gateway-config.ts';
import { runGateway } from '../../../src/gateway/run-gateway.ts';
import { connectMemoryBroker } from '../../../src/mesh/brokers/memory/connect-memory.ts';
import { MemoryBroker } from '../../../src/mesh/brokers/memory/memory-broker.ts';
import { serveOnMesh } from '../../../src/mesh/server/serve-on-mesh.ts';
import type { StreamEvent } from '../../../src/protocol/event.ts';
import { textOf } from '../../../src/protocol/part.ts';
import { serve } from '../../../src/server/node/serve.ts';
import { startS3 } from '../../support/artifacts/s3-server.ts';
import { closeAfterEach } from '../../support/close-after-each.ts';
import {
  artifactTexts,
  collectStream,
  expectTask,
  reasonOf,
  statesOf,
  userRequest,
} from '../../support/engine/conversation.ts';
import { MeshTestClient, request0_3 } from '../../support/mesh/mesh-test-client.ts';
import { hasPostgres, usePostgres } from '../../support/store/postgres-server.ts';

const open = closeAfterEach();
const postgres = usePostgres();
let schemas = 0;

function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'dragoman-gateways-'));
  open.push({ close: () => rm(folder, { recursive: true }) });
  return folder;
}

/** Starts an agent that asks, waits until it is canceled, makes or reads a file, or repeats the text. */
async function startAgent() {
  const runs: string[] = [];
  const agent = defineAgent({
    name: 'Up',
    description: 'Repeats',
    async *process({ message, text, ask, signal }) {
      runs.push(text);
      if (text === 'ask') yield `answered ${textOf((await ask('Which one?')).parts)}`;
      else if (text === 'wait') await new Promise((resolve) => signal.addEventListener('abort', resolve));
      else if (text === 'make') {
        const parts = [{ raw: btoa('picture'), filename: 'a.png', mediaType: 'image/png' }];
        yield { artifact: { artifactId: 'a', name: 'a', parts } };
      } else if (text === 'read') {
        for (const part of message.parts) if ('raw' in part) yield `read ${atob(part.raw)}`;
      } else yield text;
    },
  });
  const server = await serve(agent);
  open.push({ close: () => server.stop(0) });
  return { url: server.url, runs };
}

const stores = [
  ['SQLite', false, () => `sqlite:${join(temporaryFolder(), 'gateway.db')}`],
  ['PostgreSQL', !hasPostgres, () => `${postgres().url}?schema=gateway${schemas++}`],
] as const;

describe.each(stores)('two gateways that share a store in %s', (_name, isSkipped, storeUrl) => {
  /** Starts two gateways and returns clients of a user at both of them. */
  async function openGateways() {
    const upstream = await startAgent();
    const file = `
listen: 0
store: "${storeUrl()}"
auth: { bearer: [{ token: alice, principal: alice }, { token: bob, principal: bob }] }
agents: { up: { url: "${upstream.url}" } }`;
    const urls: string[] = [];
    for (let n = 0; n < 2; n++) {
      const gateway = await runGateway(readGatewayConfig(file, join(tmpdir(), 'dragoman.yaml'), {}));
      open.push({ close: () => gateway.stop(0) });
      urls.push(`${gateway.url}/agents/up`);
    }
    const clientsOf = (user: string, version: '1.0' | '0.3' | '0.1') => {
      const [one = '', two = ''] = urls;
      const toClient = (url: string) => {
        const client = connect(url, { auth: bearer(user), versions: [version] });
        open.push(client);
        return client;
      };
      return { one: toClient(one), two: toClient(two) };
    };
    return { ...upstream, clientsOf };
  }

  it.skipIf(isSkipped).each(['1.0', '0.3', '0.1'] as const)(
    'handle any request of a conversation (%s)',
    async (version) => {
      const { clientsOf, runs } = await openGateways();
      const { one, two } = clientsOf('alice', version);
      const chosen = version === '0.1' ? { clientTaskId: 'chosen' } : {};
      const asked = expectTask(await one.send(userRequest('ask', { contextId: 'c' }, chosen)));
      expect(asked.status.state).toBe('input-required');
      const { id } = asked;
      expect((await two.getTask({ id })).status.state).toBe('input-required');
      const answered = expectTask(
        await two.send(userRequest('L', { taskId: id, contextId: asked.contextId })),
      );
      expect([answered.id, artifactTexts(answered)]).toEqual([id, ['answered L']]);
      expect(artifactTexts(await one.getTask({ id }))).toEqual(['answered L']);
      const { contextId } = expectTask(await two.send(userRequest('next', { contextId: asked.contextId })));
      expect(contextId).toBe(asked.contextId);
      expect(runs).toEqual(['ask', 'next']);
      if (version === '1.0')
        expect(
          (await two.listTasks({ contextId })).tasks.map((task) => artifactTexts(task).join()),
        ).toHaveLength(2);
      const bob = clientsOf('bob', version);
      for (const client of [bob.one, bob.two])
        expect(await reasonOf(client.getTask({ id }))).toBe('TASK_NOT_FOUND');
    },
  );

  it.skipIf(isSkipped)('end the stream of a task that is canceled through the other', async () => {
    const { clientsOf } = await openGateways();
    const { one, two } = clientsOf('alice', '1.0');
    const { id } = expectTask(
      await one.send(userRequest('wait', {}, { configuration: { returnImmediately: true } })),
    );
    const events = two.subscribe({ id })[Symbol.asyncIterator]();
    expect((await events.next()).value).toMatchObject({ kind: 'task' });
    expect((await one.cancelTask({ id })).status.state).toBe('canceled');
    expect(statesOf(await collectStream({ [Symbol.asyncIterator]: () => events })).at(-1)).toBe('canceled');
  });

  it.skipIf(isSkipped).each(['1.0', '0.1'] as const)(
    'start one task for a message that reaches both (%s)',
    async (version) => {
      const { clientsOf, runs } = await openGateways();
      const { one, two } = clientsOf('alice', version);
      const chosen = version === '0.1' ? { clientTaskId: 'chosen' } : {};
      const request = userRequest('hi', { messageId: 'm' }, { ...chosen, idempotencyKey: 'k' });
      const [first, second] = await Promise.all([one.send(request), two.send(request)]);
      expect(expectTask(second).id).toBe(expectTask(first).id);
      expect(expectTask(await two.send(request)).id).toBe(expectTask(first).id);
      expect(runs).toEqual(['hi']);
      // The same id of another user is another message.
      const other = expectTask(await clientsOf('bob', version).two.send(request));
      if (version === '1.0') expect(other.id).not.toBe(expectTask(first).id);
      expect(runs).toEqual(['hi', 'hi']);
    },
  );
});

describe.each(stores)(
  'two gateways of an agent on the mesh that share a store in %s',
  (_name, isSkipped, storeUrl) => {
    /** Starts an agent on a mesh in one version, and two gateways that serve it over HTTP. */
    async function openGateways(version: '0.3' | '0.1') {
      const { url, runs } = await startAgent();
      const bus = new MemoryBroker();
      const connectBus = () => connectMemoryBroker({ broker: bus });
      const broker = connectBus();
      open.push(broker);
      const upstream = connect(url);
      open.push(upstream);
      const card = { interval: 1_000, version };
      open.push(await serveOnMesh(upstream, { broker, namespace: 'test', name: 'Up', card }));
      const file = `
listen: 0
store: "${storeUrl()}"
mesh: { url: "memory:", namespace: test }
agents: { up: { mesh: Up, expose: [http] } }`;
      const clients: RemoteAgent[] = [];
      for (let n = 0; n < 2; n++) {
        const settings = readGatewayConfig(file, join(tmpdir(), 'dragoman.yaml'), {});
        const gateway = await runGateway(settings, { connectBroker: async () => connectBus() });
        open.push({ close: () => gateway.stop(0) });
        const client = connect(`${gateway.url}/agents/up`);
        open.push(client);
        clients.push(client);
      }
      const [one, two] = clients as [RemoteAgent, RemoteAgent];
      return { one, two, runs };
    }

    it.skipIf(isSkipped).each(['0.3', '0.1'] as const)(
      'handle any request of a conversation (%s)',
      async (version) => {
        const { one, two, runs } = await openGateways(version);
        const asked = expectTask(await one.send(userRequest('ask')));
        const { id, contextId } = asked;
        expect((await two.getTask({ id })).status.state).toBe('input-required');
        const answered = expectTask(await two.send(userRequest('L', { taskId: id, contextId })));
        expect(JSON.stringify(answered)).toContain('answered L');
        expect(await one.getTask({ id })).toEqual(await two.getTask({ id }));
        expect((await one.getTask({ id })).status.state).toBe('completed');
        expect(runs).toEqual(['ask']);
      },
    );

    it.skipIf(isSkipped).each(['0.3', '0.1'] as const)(
      'cancel and follow a task of each other (%s)',
      async (version) => {
        const { one, two } = await openGateways(version);
        const events = one.stream(userRequest('wait'))[Symbol.asyncIterator]();
        const first = (await events.next()).value as StreamEvent;
        const id = first.kind === 'task' ? first.task.id : '';
        const followed = two.subscribe({ id })[Symbol.asyncIterator]();
        expect((await followed.next()).value).toMatchObject({ kind: 'task' });
        expect((await two.cancelTask({ id })).status.state).toBe('canceled');
        for (const stream of [events, followed])
          expect(statesOf(await collectStream({ [Symbol.asyncIterator]: () => stream })).at(-1)).toBe(
            'canceled',
          );
        const asked = expectTask(await one.send(userRequest('ask')));
        expect((await two.cancelTask({ id: asked.id })).status.state).toBe('canceled');
        expect((await one.getTask({ id: asked.id })).status.state).toBe('canceled');
      },
    );
  },
);

describe.each(['filesystem', 's3'] as const)(
  'two gateways that share artifacts in a store of type %s',
  (type) => {
    async function artifactSettings(): Promise<string> {
      if (type === 'filesystem') return `{ type: filesystem, base_path: "${temporaryFolder()}" }`;
      const s3 = await startS3();
      open.push(s3);
      const { endpoint, bucket, accessKeyId, secretAccessKey } = s3;
      return JSON.stringify({
        type,
        endpoint_url: endpoint,
        bucket_name: bucket,
        access_key_id: accessKeyId,
        secret_access_key: secretAccessKey,
      });
    }

    it('read through one what was saved through the other', async () => {
      const { url } = await startAgent();
      const file = `
store: "sqlite:${join(temporaryFolder(), 'gateway.db')}"
mesh: { url: "memory:", namespace: test, queue: requests, shared: true }
artifacts: ${await artifactSettings()}
agents: { Up: { url: "${url}", expose: [mesh] } }`;
      const clients: MeshTestClient[] = [];
      for (let n = 0; n < 2; n++) {
        // Each has its own broker, so that the test decides which of them receives a request.
        const broker = connectMemoryBroker();
        const settings = readGatewayConfig(file, join(tmpdir(), 'dragoman.yaml'), {});
        const gateway = await runGateway(settings, { connectBroker: async () => broker });
        open.push({ close: () => gateway.stop(0) });
        clients.push(await MeshTestClient.join(broker, 'test'));
      }
      const [one, two] = clients as [MeshTestClient, MeshTestClient];
      await one.send('Up', 'make', request0_3('make', 'make'));
      const { uri } = (await one.waitForResponse('make')).body.result.artifacts[0].parts[0].file;
      expect(uri).toMatch(/^artifact:\/\//);
      const parts = [
        { kind: 'text', text: 'read' },
        { kind: 'file', file: { uri } },
      ];
      await two.send('Up', 'read', request0_3('read', '', { message: { parts } }));
      expect(JSON.stringify((await two.waitForResponse('read')).body)).toContain('read picture');
    });
  },
);
