import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
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
import { ConsolePage } from '../../test/support/console/console-page.ts';
import { type RunningUp, runUp } from './run-up.ts';
import type { UpSettings } from './up-settings.ts';

async function requestConsole(path: string): Promise<string> {
  const { origin, searchParams } = new URL(running.consoleUrl ?? '');
  const headers = { authorization: `Bearer ${searchParams.get('token')}` };
  return (await fetch(`${origin}/api/${path}`, { headers })).text();
}

/** Returns the recorded requests as `sender → receiver`, without card requests. */
async function requests(): Promise<string[]> {
  return readTrafficFile(await requestConsole('traffic/file'))
    .filter(({ kind, decoded }) => kind === 'request' && decoded?.operation !== 'card')
    .map(({ from, to }) => `${from} → ${to}`);
}

const sample = fileURLToPath(new URL('../../examples/up/dragoman.yaml', import.meta.url));
const namespace = 'bazaar';
let link: BrokerConnection;
let directory: MeshDirectory;
let settings: UpSettings;
let running: RunningUp;

beforeAll(async () => {
  // Any free ports and a separate mesh, so that other tests do not interfere.
  const text = readFileSync(sample, 'utf8')
    .replaceAll(/\b4[012]00\b/g, '0')
    .replace('memory:', 'memory:up');
  link = await connectBroker('memory:up');
  directory = await meshDirectory({ broker: link, namespace });
  settings = readUpConfig(text, sample, {});
  running = await runUp(settings, { log: () => {}, note: () => {}, loadModule: loadAgent });
});
afterAll(async () => {
  await running.stop();
  await directory.close();
  await link.close();
});

describe('runUp', () => {
  it('exposes the agents on the mesh', async () => {
    await expect.poll(() => directory.agents().map(({ name }) => name)).toEqual(['caravan', 'interpreter']);
    const agent = meshAgent({ broker: link, namespace, name: 'caravan', directory });
    const response = await agent.send({
      message: { messageId: 'm', role: 'user', parts: [{ text: 'hello' }] },
    });
    expect(JSON.stringify(response)).toContain('Welcome, traveller');
    await agent.close();
  });

  it('records each request once, through the gateway or direct, without console probes', async () => {
    await requestConsole('agents');
    const before = (await requests()).length;
    const here = running.hosted.find(({ settings: { name } }) => name === 'interpreter');
    for (const url of [`${running.gateway.url}/agents/interpreter`, here?.url ?? '']) {
      const agent = connect(url);
      await agent.send({
        message: { messageId: url, role: 'user', parts: [{ text: 'say hello in French' }] },
      });
      await agent.close();
    }
    const recorded = (await requests()).slice(before);
    expect(recorded).toEqual(['dragoman → gateway', 'gateway → interpreter', 'dragoman → interpreter']);
    expect(await requestConsole('traffic/file')).not.toContain('dragoman-console-probe');
  });

  it('updates the agents of the console and of MCP on reload', async () => {
    const tools = async (): Promise<string[]> => {
      const client = new Client({ name: 'test', version: '1' });
      await client.connect(new StreamableHTTPClientTransport(new URL(running.mcpUrl ?? '')));
      const listed = await client.listTools();
      await client.close();
      return listed.tools.map(({ name }) => name);
    };
    const agents = async (): Promise<string[]> =>
      (JSON.parse(await requestConsole('agents')) as { name: string }[]).map(({ name }) => name).sort();
    expect(await agents()).toEqual(['Caravan', 'Caravan', 'Interpreter', 'Interpreter']);
    expect((await tools()).some((name) => name.includes('postcard'))).toBe(true);
    const isCaravan = ({ name }: { name: string }): boolean => name === 'caravan';
    const { gateway, hosted } = settings;
    const alone = { ...gateway, agents: gateway.agents.filter(isCaravan) };
    const reloaded = await running.reload({ ...settings, gateway: alone, hosted: hosted.filter(isCaravan) });
    expect(reloaded).toMatchObject({ removed: ['interpreter'], needsRestart: [] });
    expect(await agents()).toEqual(['Caravan', 'Caravan']);
    const remaining = await tools();
    expect(remaining.some((name) => name.includes('timetable'))).toBe(true);
    expect(remaining.some((name) => name.includes('postcard'))).toBe(false);
    await running.reload(settings);
    expect(await agents()).toEqual(['Caravan', 'Caravan', 'Interpreter', 'Interpreter']);
    await expect.poll(async () => (await tools()).some((name) => name.includes('postcard'))).toBe(true);
  });

  it('lists the conversations with each agent after a restart on other ports', async () => {
    const sessions = await mkdtemp(join(tmpdir(), 'dragoman-up-'));
    // The mesh belongs to the other process.
    const alone = { ...settings, gateway: { ...settings.gateway, mesh: undefined } };
    const withConsole = async <T>(work: (page: ConsolePage) => Promise<T>): Promise<T> => {
      const context = { log: () => {}, note: () => {}, loadModule: loadAgent, sessions };
      const up = await runUp(alone, context);
      try {
        const { origin, searchParams } = new URL(up.consoleUrl ?? '');
        return await work(new ConsolePage({ origin, token: searchParams.get('token') ?? '' }));
      } finally {
        await up.stop();
      }
    };
    type Listed = { id: string; url: string; name: string }[];
    const before = await withConsole(async (page) => {
      const agents: Listed = await page.requestJson('agents');
      for (const { id } of agents) {
        const conversation = { id: `with-${id}`, turn: 't' };
        await page.collect(`agents/${id}/messages`, { parts: [{ text: 'hello' }], conversation });
      }
      return agents;
    });
    const after = await withConsole(async (page) => ({
      agents: (await page.requestJson('agents')) as Listed,
      conversations: (await page.requestJson('conversations')) as { agentId: string }[],
    }));
    expect(before).toHaveLength(4);
    expect(after.agents.map(({ id, name }) => `${id} ${name}`)).toEqual(
      before.map(({ id, name }) => `${id} ${name}`),
    );
    expect(new Set(before.map(({ id }) => id)).size).toBe(4);
    for (const [at, { url }] of after.agents.entries()) expect(url).not.toBe(before[at]?.url);
    expect(after.conversations.map(({ agentId }) => agentId).toSorted()).toEqual(
      before.map(({ id }) => id).toSorted(),
    );
    await rm(sessions, { recursive: true });
  });

  it('accepts a second stop()', async () => {
    await running.stop();
    await running.stop();
    expect(running.mcpUrl).toMatch(/mcp$/);
  });
});
