import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadAgent } from '../cli/inputs/load-agent.ts';
import { type MeshDirectory, meshDirectory } from '../mesh/mesh-directory.ts';
import type { BrokerConnection } from '../mesh/brokers/broker-connection.ts';
import { connectBroker } from '../mesh/brokers/connect-broker.ts';
import { connect } from '../client/connect.ts';
import { meshAgent } from '../mesh/client/mesh-agent.ts';
import { readTrafficFile } from '../tap/traffic-file.ts';
import { readUpConfig } from './up-config.ts';
import { type RunningUp, runUp } from './run-up.ts';
import type { UpSettings } from './up-settings.ts';

/** A request to the console. */
async function asked(path: string): Promise<string> {
  const { origin, searchParams } = new URL(running.consoleUrl ?? '');
  const headers = { authorization: `Bearer ${searchParams.get('token')}` };
  return (await fetch(`${origin}/api/${path}`, { headers })).text();
}

/** The requests on the tape, by who asked whom; cards are left out. */
async function requests(): Promise<string[]> {
  return readTrafficFile(await asked('wire/file'))
    .filter(({ kind, decoded: meaning }) => kind === 'request' && meaning?.operation !== 'card')
    .map(({ from, to }) => `${from} → ${to}`);
}

const sample = fileURLToPath(new URL('../../examples/up/dragoman.yaml', import.meta.url));
const namespace = 'bazaar';
let link: BrokerConnection;
let directory: MeshDirectory;
let settings: UpSettings;
let running: RunningUp;

beforeAll(async () => {
  // The same, but wherever there is room, and on a mesh that nobody else is on.
  const text = readFileSync(sample, 'utf8')
    .replaceAll(/\b4[012]00\b/g, '0')
    .replace('memory:', 'memory:up');
  link = await connectBroker('memory:up');
  directory = await meshDirectory({ link, namespace });
  settings = readUpConfig(text, sample, {});
  running = await runUp(settings, { log: () => {}, note: () => {}, loadModule: loadAgent });
});
afterAll(async () => {
  await running.stop();
  await directory.close();
  await link.close();
});

describe('what is up', () => {
  it('is on the mesh too', async () => {
    await expect.poll(() => directory.agents().map(({ name }) => name)).toEqual(['caravan', 'interpreter']);
    const agent = meshAgent({ broker: link, namespace, name: 'caravan', directory });
    const answer = await agent.send({
      message: { messageId: 'm', role: 'user', parts: [{ text: 'hello' }] },
    });
    expect(JSON.stringify(answer)).toContain('Welcome, traveller');
    await agent.close();
  });

  it('is seen on the tape once, asked through the gateway or directly, and the console looks around unseen', async () => {
    await asked('agents');
    const before = (await requests()).length;
    const here = running.hosted.find(({ settings: { name } }) => name === 'interpreter');
    for (const url of [`${running.gateway.url}/agents/interpreter`, here?.url ?? '']) {
      const agent = connect(url);
      await agent.send({
        message: { messageId: url, role: 'user', parts: [{ text: 'say hello in French' }] },
      });
      await agent.close();
    }
    const seen = (await requests()).slice(before);
    expect(seen).toEqual(['dragoman → gateway', 'gateway → interpreter', 'dragoman → interpreter']);
    expect(await asked('wire/file')).not.toContain('dragoman-scout');
  });

  it('is shown by the console and by MCP as it is after a change', async () => {
    const tools = async (): Promise<string[]> => {
      const client = new Client({ name: 'test', version: '1' });
      await client.connect(new StreamableHTTPClientTransport(new URL(running.mcpUrl ?? '')));
      const listed = await client.listTools();
      await client.close();
      return listed.tools.map(({ name }) => name);
    };
    const agents = async (): Promise<string[]> =>
      (JSON.parse(await asked('agents')) as { name: string }[]).map(({ name }) => name).sort();
    expect(await agents()).toEqual(['Caravan', 'Caravan', 'Interpreter', 'Interpreter']);
    expect((await tools()).some((name) => name.includes('postcard'))).toBe(true);
    const isCaravan = ({ name }: { name: string }): boolean => name === 'caravan';
    const { gateway, hosted } = settings;
    const alone = { ...gateway, agents: gateway.agents.filter(isCaravan) };
    const reloaded = await running.reload({ ...settings, gateway: alone, hosted: hosted.filter(isCaravan) });
    expect(reloaded).toMatchObject({ removed: ['interpreter'], later: [] });
    expect(await agents()).toEqual(['Caravan', 'Caravan']);
    const left = await tools();
    expect(left.some((name) => name.includes('timetable'))).toBe(true);
    expect(left.some((name) => name.includes('postcard'))).toBe(false);
    await running.reload(settings);
    expect(await agents()).toEqual(['Caravan', 'Caravan', 'Interpreter', 'Interpreter']);
    await expect.poll(async () => (await tools()).some((name) => name.includes('postcard'))).toBe(true);
  });

  it('stops twice as well as once', async () => {
    await running.stop();
    await running.stop();
    expect(running.mcpUrl).toMatch(/mcp$/);
  });
});
