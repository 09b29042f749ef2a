import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bridge } from '../src/bridge/bridge.ts';
import { connect } from '../src/client/connect.ts';
import { supportedVersions } from '../src/dialects/negotiation.ts';
import { defineAgent } from '../src/engine/local-agent.ts';
import { createGateway } from '../src/gateway/gateway.ts';
import { serveOnMesh } from '../src/mesh/server/serve-on-mesh.ts';
import { connectMemoryBroker } from '../src/mesh/brokers/memory/connect-memory.ts';
import { meshAgent } from '../src/mesh/client/mesh-agent.ts';
import type { ProtocolVersion, Transport } from '../src/protocol/card.ts';
import { serve } from '../src/server/node/serve.ts';
import { httpMatrixClient, meshMatrixClient } from './matrix/clients.ts';
import { grpcMatrixClient } from './matrix/grpc.ts';
import type { Version as Shape, WireVersion } from './matrix/versions.ts';
import { readPage } from './support/docs/code-blocks.ts';

/** Rows of the table: all versions with all transports. */
const rows = supportedVersions.flatMap((version) =>
  (['JSONRPC', 'HTTP+JSON', 'GRPC'] as const).map((transport) => ({ version, transport })),
);
const transportLabels = { JSONRPC: 'JSON-RPC', 'HTTP+JSON': 'REST', GRPC: 'gRPC' };

const open: (() => Promise<unknown>)[] = [];
let serverUrl: string;
/** gRPC has no base path. */
let grpcUrl: string;

const createParrot = () =>
  defineAgent({
    name: 'Parrot',
    description: 'Repeats',
    skills: [{ id: 'repeat', name: 'Repeat', tags: [] }],
    process: ({ text }) => text,
  });

beforeAll(async () => {
  const agent = createParrot();
  const server = await serve(agent, { basePath: '/agents/parrot' });
  open.push(
    () => server.stop(0),
    async () => agent.close(),
  );
  serverUrl = server.url;
  const grpcServer = await serve(agent);
  open.push(() => grpcServer.stop(0));
  grpcUrl = grpcServer.url;
});
afterAll(async () => {
  for (const close of open.toReversed()) await close();
});

/** Wire format of a version: 0.2 uses that of 0.3. */
const shapeOf = (version: ProtocolVersion): Shape => (version === '0.2' ? '0.3' : version);

/** Returns true if a request with manually written JSON gets its text back. */
async function canSend(url: string, version: ProtocolVersion, transport: Transport): Promise<boolean> {
  const shape = shapeOf(version);
  if (transport === 'GRPC') {
    if (shape === '0.1') return false;
    const caller = grpcMatrixClient(url, shape);
    open.push(async () => caller.close());
    return (await caller.client.request('parrot', 'send', { text: 'hello' }).outcome).texts.includes('hello');
  }
  const isRest = transport === 'HTTP+JSON';
  const wireVersion: WireVersion = isRest && shape === '0.3' ? '0.3 REST' : shape;
  const { texts } = await httpMatrixClient(url, wireVersion, isRest ? 'REST' : 'JSONRPC').request(
    'parrot',
    'send',
    {
      text: 'hello',
    },
  ).outcome;
  return texts.includes('hello');
}

const hello = () => ({ messageId: crypto.randomUUID(), role: 'user' as const, parts: [{ text: 'hello' }] });
const remote = (version: ProtocolVersion, transport: Transport) => {
  const url = transport === 'GRPC' ? grpcUrl : `${serverUrl}/agents/parrot`;
  // Servers do not declare 0.2 besides 0.3, so 0.2 clients get a card of that version.
  const card = {
    name: 'Parrot',
    description: 'Repeats',
    version: '1',
    protocolVersion: '0.2.6',
    url,
    preferredTransport: transport,
    capabilities: { streaming: true },
    defaultInputModes: ['text/plain'],
    defaultOutputModes: ['text/plain'],
    skills: [{ id: 'repeat', name: 'Repeat', description: 'Repeats', tags: [] }],
  };
  const agent = connect(version === '0.2' ? card : url, {
    versions: [version],
    transports: [transport],
    maxRetries: 0,
  });
  open.push(async () => agent.close());
  return agent;
};

/** Tries a version over a transport with each component. */
const trials: { [part: string]: (version: ProtocolVersion, transport: Transport) => Promise<boolean> } = {
  server: (version, transport) => canSend(transport === 'GRPC' ? grpcUrl : serverUrl, version, transport),
  async client(version, transport) {
    const agent = remote(version, transport);
    await agent.send({ message: hello() });
    const connection = await agent.describe();
    return shapeOf(connection.version) === shapeOf(version) && connection.transport === transport;
  },
  async gateway(version, transport) {
    const gateway = createGateway({ port: 0 });
    gateway.addAgent('parrot', { agent: remote(version, transport) });
    const server = await gateway.listen();
    open.push(() => server.stop(0));
    return canSend(server.url, version, transport);
  },
  async mesh(version, transport) {
    // The mesh has only JSON-RPC in envelopes, without paths.
    if (transport !== 'JSONRPC') return false;
    const broker = connectMemoryBroker();
    const agent = createParrot();
    const meshServer = await serveOnMesh(agent, { broker, namespace: 'test', name: 'parrot' });
    const card = await agent.card();
    const client = meshAgent({
      broker,
      namespace: 'test',
      name: 'parrot',
      version: shapeOf(version),
      card,
    });
    open.push(
      async () => broker.close(),
      async () => agent.close(),
      async () => meshServer.close(),
      async () => client.close?.(),
    );
    const matrixClient = await meshMatrixClient(broker, 'test', shapeOf(version));
    const { texts } = await matrixClient.request('parrot', 'send', { text: 'hello' }).outcome;
    await client.send({ message: hello() });
    return texts.includes('hello');
  },
  async bridge(version, transport) {
    const tools = await bridge({ agentName: 'parrot', agent: remote(version, transport) });
    open.push(() => tools.close());
    return (await tools.invoke('parrot/repeat', { prompt: 'hello' }, { sessionId: 's' })).success;
  },
};

describe('table of supported versions', () => {
  it('matches the behavior of all components', async () => {
    const lines = [
      `| A2A | over | ${Object.keys(trials).join(' | ')} |`,
      `|---|---|${'---|'.repeat(Object.keys(trials).length)}`,
    ];
    for (const { version, transport } of rows) {
      const cells: string[] = [];
      for (const supports of Object.values(trials))
        cells.push((await supports(version, transport).catch(() => false)) ? 'yes' : '–');
      lines.push(`| ${version} | ${transportLabels[transport]} | ${cells.join(' | ')} |`);
    }
    const page = readPage('docs/guide/versions.md');
    const [, table = ''] = /<!-- what speaks to what -->\n\n([^]*?)\n\n/.exec(page) ?? [];
    expect(table).toBe(lines.join('\n'));
  }, 60_000);
});
