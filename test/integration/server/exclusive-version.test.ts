import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connect } from '../../../src/client/connect.ts';
import { defineAgent } from '../../../src/engine/local-agent.ts';
import { type RunningServer, serve } from '../../../src/server/index.ts';
import { httpGet, httpPost } from '../../support/http/http-calls.ts';

const agent = defineAgent({ name: 'Old', description: 'Old', process: async ({ text }) => `heard ${text}` });
const servers = new Map<string, RunningServer>();

beforeAll(async () => {
  for (const speaks of ['0.1', '0.3'] as const)
    servers.set(speaks, await serve(agent, { onlyVersion: speaks }));
});
afterAll(async () => {
  for (const server of servers.values()) await server.stop();
  await agent.close();
});

const asked = (method: string, params: unknown) => ({ jsonrpc: '2.0', id: 1, method, params });
const modern = { message: { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'hi' }] } };

describe('an agent that speaks one version alone', () => {
  it.each([
    ['0.1', 'agent.json', 'agent-card.json'],
    ['0.3', 'agent-card.json', 'agent.json'],
  ])('has in %s its card as %s and nowhere else', async (version, path, other) => {
    const url = servers.get(version)?.url ?? '';
    const { status, json } = await httpGet(`${url}/.well-known/${path}`, { 'a2a-version': '1.0' });
    expect(status).toBe(200);
    expect(json).toMatchObject({ url });
    expect(json).not.toHaveProperty('supportedInterfaces');
    expect(json.protocolVersion === undefined).toBe(version === '0.1');
    expect((await httpGet(`${url}/.well-known/${other}`)).status).toBe(404);
  });

  it.each(['0.1', '0.3'])('knows in %s no method of 1.0, whatever the caller names', async (version) => {
    const url = servers.get(version)?.url ?? '';
    const { json } = await httpPost(url, asked('SendMessage', modern), { 'a2a-version': '1.0' });
    expect(json).toMatchObject({ id: 1, error: { code: -32601 } });
  });

  it('knows in 0.1 no method of 0.3 and no REST', async () => {
    const url = servers.get('0.1')?.url ?? '';
    const { json } = await httpPost(url, asked('message/send', modern));
    expect(json).toMatchObject({ error: { code: -32601 } });
    expect((await httpPost(`${url}/message:send`, modern, { 'a2a-version': '1.0' })).status).toBe(400);
  });

  it.each(['0.1', '0.3'])('is understood by a client when it speaks %s', async (version) => {
    await using client = connect(servers.get(version)?.url ?? '');
    const task = await client.send({ message: { messageId: 'x', role: 'user', parts: [{ text: 'hi' }] } });
    expect(task).toMatchObject({ artifacts: [{ parts: [{ text: 'heard hi' }] }] });
    expect((await client.describe()).version).toBe(version);
  });

  it.each(['0.1', '0.3'] as const)('may be asked in %s from the beginning', async (version) => {
    await using client = connect(servers.get(version)?.url ?? '', { versions: [version] });
    const task = await client.send({ message: { messageId: 'y', role: 'user', parts: [{ text: 'hi' }] } });
    expect(task).toMatchObject({ artifacts: [{ parts: [{ text: 'heard hi' }] }] });
  });
});
