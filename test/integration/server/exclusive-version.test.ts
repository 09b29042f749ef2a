import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connect } from '../../../src/client/connect.ts';
import { defineAgent } from '../../../src/engine/local-agent.ts';
import { type RunningServer, serve } from '../../../src/server/index.ts';
import { httpGet, httpPost } from '../../support/http/http-calls.ts';

const agent = defineAgent({ name: 'Old', description: 'Old', process: async ({ text }) => `heard ${text}` });
const servers = new Map<string, RunningServer>();

beforeAll(async () => {
  for (const speaks of ['0.1', '0.2', '0.3', '1.0'] as const)
    servers.set(speaks, await serve(agent, { onlyVersion: speaks }));
});
afterAll(async () => {
  for (const server of servers.values()) await server.stop();
  await agent.close();
});

const rpcRequest = (method: string, params: unknown) => ({ jsonrpc: '2.0', id: 1, method, params });
const modern = { message: { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'hi' }] } };

describe('onlyVersion', () => {
  it.each([
    ['0.1', 'agent.json', 'agent-card.json'],
    ['0.2', 'agent.json', 'agent-card.json'],
    ['0.3', 'agent-card.json', 'agent.json'],
  ])('%s serves the card as %s only', async (version, path, other) => {
    const url = servers.get(version)?.url ?? '';
    const { status, json } = await httpGet(`${url}/.well-known/${path}`, { 'a2a-version': '1.0' });
    expect(status).toBe(200);
    expect(json).toMatchObject({ url });
    expect(json).not.toHaveProperty('supportedInterfaces');
    expect(json.protocolVersion === undefined).toBe(version === '0.1');
    expect((await httpGet(`${url}/.well-known/${other}`)).status).toBe(404);
  });

  it.each(['0.1', '0.2', '0.3'])(
    '%s rejects 1.0 methods regardless of the requested version',
    async (version) => {
      const url = servers.get(version)?.url ?? '';
      const { json } = await httpPost(url, rpcRequest('SendMessage', modern), { 'a2a-version': '1.0' });
      expect(json).toMatchObject({ id: 1, error: { code: -32601 } });
    },
  );

  it('0.1 rejects 0.3 methods and REST', async () => {
    const url = servers.get('0.1')?.url ?? '';
    const { json } = await httpPost(url, rpcRequest('message/send', modern));
    expect(json).toMatchObject({ error: { code: -32601 } });
    expect((await httpPost(`${url}/message:send`, modern, { 'a2a-version': '1.0' })).status).toBe(400);
  });

  it.each(['0.1', '0.3', '1.0'])('lets the client negotiate %s', async (version) => {
    await using client = connect(servers.get(version)?.url ?? '');
    const task = await client.send({ message: { messageId: 'x', role: 'user', parts: [{ text: 'hi' }] } });
    expect(task).toMatchObject({ artifacts: [{ parts: [{ text: 'heard hi' }] }] });
    expect((await client.describe()).version).toBe(version);
  });

  it('1.0 serves its card at the new path only and rejects methods of 0.3', async () => {
    const url = servers.get('1.0')?.url ?? '';
    const { json } = await httpGet(`${url}/.well-known/agent-card.json`);
    expect(json).not.toHaveProperty('url');
    expect(json.supportedInterfaces.map((each: any) => each.protocolVersion)).toEqual(['1.0', '1.0', '1.0']);
    expect((await httpGet(`${url}/.well-known/agent.json`)).status).toBe(404);
    expect((await httpPost(url, rpcRequest('message/send', modern))).json).toMatchObject({
      error: { code: -32601 },
    });
  });

  it.each(['0.1', '0.2', '0.3', '1.0'] as const)(
    '%s works with a client of the same version only',
    async (version) => {
      await using client = connect(servers.get(version)?.url ?? '', { versions: [version] });
      const task = await client.send({ message: { messageId: 'y', role: 'user', parts: [{ text: 'hi' }] } });
      expect(task).toMatchObject({ artifacts: [{ parts: [{ text: 'heard hi' }] }] });
    },
  );
});
