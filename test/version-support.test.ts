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
import { httpCaller, meshCaller } from './matrix/clients.ts';
import type { Spoken, Version as Shape } from './matrix/versions.ts';
import { readPage } from './support/docs/code-blocks.ts';

/** The rows of the table: each version and each transport that any version has. */
const rows = supportedVersions.flatMap((version) =>
  (['JSONRPC', 'HTTP+JSON'] as const).map((transport) => ({ version, transport })),
);
const told: { [transport in Transport]: string } = { JSONRPC: 'JSON-RPC', 'HTTP+JSON': 'REST' };

const open: (() => Promise<unknown>)[] = [];
let address: string;

const parrot = () =>
  defineAgent({
    name: 'Parrot',
    description: 'Repeats',
    skills: [{ id: 'repeat', name: 'Repeat', tags: [] }],
    process: ({ text }) => text,
  });

beforeAll(async () => {
  const agent = parrot();
  const server = await serve(agent, { basePath: '/agents/parrot' });
  open.push(
    () => server.stop(0),
    async () => agent.close(),
  );
  address = server.url;
});
afterAll(async () => {
  for (const close of open.toReversed()) await close();
});

/** The words that a version is spoken with: 0.2 has those of 0.3. */
const shapeOf = (version: ProtocolVersion): Shape => (version === '0.2' ? '0.3' : version);

/** Whether somebody who writes the wire by hand gets their words back. */
async function answers(url: string, version: ProtocolVersion, transport: Transport): Promise<boolean> {
  const shape = shapeOf(version);
  const isRest = transport === 'HTTP+JSON';
  const spoken: Spoken = isRest && shape === '0.3' ? '0.3 REST' : shape;
  const { texts } = await httpCaller(url, spoken, isRest ? 'REST' : 'JSONRPC').ask('parrot', 'send', {
    text: 'hello',
  }).outcome;
  return texts.includes('hello');
}

const hello = () => ({ messageId: crypto.randomUUID(), role: 'user' as const, parts: [{ text: 'hello' }] });
const remote = (version: ProtocolVersion, transport: Transport) => {
  const url = `${address}/agents/parrot`;
  // Nobody declares 0.2 beside 0.3, so its caller meets a card of that time.
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

/** Whether each part of the package speaks a version over a transport, found out by trying. */
const trials: { [part: string]: (version: ProtocolVersion, transport: Transport) => Promise<boolean> } = {
  server: (version, transport) => answers(address, version, transport),
  async client(version, transport) {
    const agent = remote(version, transport);
    await agent.send({ message: hello() });
    const spoken = await agent.describe();
    return shapeOf(spoken.version) === shapeOf(version) && spoken.transport === transport;
  },
  async gateway(version, transport) {
    const gateway = createGateway({ port: 0 });
    gateway.addAgent('parrot', { agent: remote(version, transport) });
    const server = await gateway.listen();
    open.push(() => server.stop(0));
    return answers(server.url, version, transport);
  },
  async mesh(version, transport) {
    // On a mesh there is JSON-RPC in envelopes, and nothing that has paths.
    if (transport !== 'JSONRPC') return false;
    const link = connectMemoryBroker();
    const agent = parrot();
    const face = await serveOnMesh(agent, { broker: link, namespace: 'test', name: 'parrot' });
    const card = await agent.card();
    const source = meshAgent({
      broker: link,
      namespace: 'test',
      name: 'parrot',
      version: shapeOf(version),
      card,
    });
    open.push(
      async () => link.close(),
      async () => agent.close(),
      async () => face.close(),
      async () => source.close?.(),
    );
    const caller = await meshCaller(link, 'test', shapeOf(version));
    const { texts } = await caller.ask('parrot', 'send', { text: 'hello' }).outcome;
    await source.send({ message: hello() });
    return texts.includes('hello');
  },
  async bridge(version, transport) {
    const tools = await bridge({ agentName: 'parrot', agent: remote(version, transport) });
    open.push(() => tools.close());
    return (await tools.invoke('parrot/repeat', { prompt: 'hello' }, { sessionId: 's' })).success;
  },
};

describe('what speaks to what', () => {
  it('is as the table says', async () => {
    const lines = [
      `| A2A | over | ${Object.keys(trials).join(' | ')} |`,
      `|---|---|${'---|'.repeat(Object.keys(trials).length)}`,
    ];
    for (const { version, transport } of rows) {
      const cells: string[] = [];
      for (const speaks of Object.values(trials))
        cells.push((await speaks(version, transport).catch(() => false)) ? 'yes' : '–');
      lines.push(`| ${version} | ${told[transport]} | ${cells.join(' | ')} |`);
    }
    const page = readPage('docs/guide/versions.md');
    const [, table = ''] = /<!-- what speaks to what -->\n\n([^]*?)\n\n/.exec(page) ?? [];
    expect(table).toBe(lines.join('\n'));
  }, 60_000);
});
