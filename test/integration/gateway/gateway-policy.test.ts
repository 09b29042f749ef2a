/** The policy of a gateway: who is denied what on every path into it, and how the denial looks. */
import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { connectMemoryBroker } from '../../../src/mesh/brokers/memory/connect-memory.ts';
import { MemoryBroker } from '../../../src/mesh/brokers/memory/memory-broker.ts';
import { closeAfterEach } from '../../support/close-after-each.ts';
import { ManualClock } from '../../support/clocks/manual-clock.ts';
import { expectTask } from '../../support/engine/conversation.ts';
import {
  type PolicyClient,
  policyHeaders,
  startPolicyGateway,
  twoClients,
} from '../../support/gateway/policy-gateway.ts';
import { httpGet, httpPost } from '../../support/http/http-calls.ts';
import { MeshTestClient, request0_3 } from '../../support/mesh/mesh-test-client.ts';

const open = closeAfterEach();

const rpc = (method: string, params: unknown) => ({ jsonrpc: '2.0', id: 1, method, params });
const message = (text = 'hi', more: object = {}) => ({
  message: { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: [{ text }], ...more },
});

describe('policy of a gateway', () => {
  it('denies in the error format of each transport, and names the kind of the rule only', async () => {
    const { url, at, logs } = await startPolicyGateway(twoClients, open);
    const agent = `${url}/agents/weather`;
    const { id } = expectTask(await at('weather', 'bob').send('hi'));
    const overRpc = await httpPost(agent, rpc('CancelTask', { id }), policyHeaders('bob'));
    expect(overRpc.status).toBe(403);
    expect(overRpc.json.error).toMatchObject({ code: -32600, message: expect.stringContaining('policy') });
    expect(overRpc.text).toContain('"policy":"access"');
    const overRest = await httpPost(`${agent}/tasks/${id}:cancel`, {}, policyHeaders('bob'));
    expect(overRest.json.error).toMatchObject({ code: 403, status: 'PERMISSION_DENIED' });
    const older = await httpPost(agent, rpc('tasks/cancel', { id }), policyHeaders('bob', '0.3'));
    expect(older.status).toBe(403);
    const overGrpc = at('weather', 'bob', { transports: ['GRPC'] });
    await expect(overGrpc.cancelTask({ id })).rejects.toMatchObject({
      reason: 'PERMISSION_DENIED',
      details: { policy: 'access' },
    });
    await expect(at('ledger', 'alice').card()).rejects.toMatchObject({
      reason: 'PERMISSION_DENIED',
    });
    for (const { text } of [overRpc, overRest, older]) {
      expect(text).not.toContain('alice');
      expect(text).not.toContain('gateway.yaml');
    }
    expect(logs.find(({ message: line }) => line.includes('denied cancel'))).toMatchObject({
      level: 'warn',
      message: expect.stringMatching(/^weather: the policy denied cancel \(access, .*gateway\.yaml:\d+\)$/),
      fields: {
        agent: 'weather',
        operation: 'cancel',
        kind: 'access',
        principal: 'bob',
        transport: 'JSONRPC',
      },
    });
  });

  it('lists an agent, and serves its card, to its callers only', async () => {
    const { url } = await startPolicyGateway(twoClients, open);
    const namesFor = async (client?: PolicyClient) => {
      const headers = policyHeaders(client);
      const list = await httpGet(`${url}/agents`, headers);
      const catalog = await httpGet(`${url}/.well-known/ai-catalog.json`, headers);
      const ready = await httpGet(`${url}/readyz`, headers);
      expect(catalog.headers.get('cache-control')).toMatch(/^private/);
      return {
        list: list.json.agents.map(({ name }: { name: string }) => name),
        catalog: /ledger|weather/.exec(catalog.text)?.[0],
        ready: Object.keys(ready.json.agents),
      };
    };
    expect(await namesFor('alice')).toEqual({ list: ['weather'], catalog: 'weather', ready: ['weather'] });
    expect(await namesFor('bob')).toEqual({ list: ['weather'], catalog: 'weather', ready: ['weather'] });
    expect(await namesFor('trial-1')).toEqual({ list: [], catalog: undefined, ready: [] });
    expect(await namesFor()).toEqual({ list: [], catalog: undefined, ready: [] });
    const cardFor = (client?: PolicyClient, path = 'agent-card.json') =>
      httpGet(`${url}/agents/weather/.well-known/${path}`, policyHeaders(client));
    expect(await cardFor('alice')).toMatchObject({ status: 200 });
    for (const path of ['agent-card.json', 'agent.json']) {
      expect(await cardFor('trial-1', path)).toMatchObject({ status: 403 });
      expect(await cardFor(undefined, path)).toMatchObject({ status: 401 });
    }
    const { headers } = await cardFor('alice');
    expect(headers.get('cache-control')).toMatch(/^private/);
    expect(headers.get('vary')).toContain('Authorization');
    const wrong = await httpGet(`${url}/agents`, { authorization: 'Bearer wrong' });
    expect(wrong).toMatchObject({ status: 401 });
    expect(wrong.headers.get('www-authenticate')).toContain('Bearer');
  });

  it('counts invalid credentials at the list of agents like those at an agent', async () => {
    const { url } = await startPolicyGateway(twoClients, open, {
      more: 'limits: { failed_auth_per_second: 1 }\nauth: { bearer: [{ token: secret, principal: a }] }\n',
    });
    const statuses: number[] = [];
    for (let i = 0; i < 3; i++)
      statuses.push((await httpGet(`${url}/agents`, { authorization: `Bearer ${i}` })).status);
    expect(statuses).toContain(429);
  });

  it('lists only the allowed versions and transports in the card, and denies the others', async () => {
    const { url, at } = await startPolicyGateway(
      'policy: { limits: { modern: { versions: ["1.0"], transports: [JSONRPC, GRPC] } } }\n',
      open,
    );
    const card = await httpGet(`${url}/agents/weather/.well-known/agent-card.json`, policyHeaders('alice'));
    expect(
      card.json.supportedInterfaces.map((each: any) => `${each.protocolVersion} ${each.protocolBinding}`),
    ).toEqual(['1.0 JSONRPC', '1.0 GRPC']);
    const agent = `${url}/agents/weather`;
    expect(await httpPost(agent, rpc('SendMessage', message()), policyHeaders('alice'))).toMatchObject({
      status: 200,
    });
    expect(expectTask(await at('weather', 'alice', { transports: ['GRPC'] }).send('hi'))).toBeDefined();
    const overRest = await httpPost(`${agent}/message:send`, message(), policyHeaders('alice'));
    expect(overRest.text).toContain('"policy":"transport"');
    const older = {
      message: { messageId: 'm', role: 'user', kind: 'message', parts: [{ kind: 'text', text: 'x' }] },
    };
    const over0_3 = await httpPost(agent, rpc('message/send', older), policyHeaders('alice', '0.3'));
    expect(over0_3).toMatchObject({ status: 403, json: { error: { data: expect.anything() } } });
    expect(over0_3.text).toContain('"policy":"version"');
  });

  it('limits the size of requests, the number of parts and the size of files', async () => {
    const { at } = await startPolicyGateway(
      'policy: { limits: { small: { request_bytes: 2000, parts: 2, file_bytes: 10 } } }\n',
      open,
    );
    const tooLarge = { reason: 'PAYLOAD_TOO_LARGE' };
    for (const transport of ['JSONRPC', 'HTTP+JSON', 'GRPC'] as const) {
      const agent = at('weather', 'alice', { transports: [transport] });
      await expect(agent.send('ä'.repeat(1100))).rejects.toMatchObject(tooLarge);
      await expect(
        agent.send({ parts: [{ text: '1' }, { text: '2' }, { text: '3' }] }),
      ).rejects.toMatchObject(tooLarge);
      await expect(agent.send({ parts: [{ raw: btoa('12345678901') }] })).rejects.toMatchObject(tooLarge);
      await agent.send({ parts: [{ text: '1' }, { raw: btoa('1234567890') }] });
    }
  });

  it('limits the rate of a caller, and tells when to try again', async () => {
    const clock = new ManualClock();
    const { url, at } = await startPolicyGateway(
      'policy: { limits: { slow: { callers: { principals: [bob] }, requests_per_second: 1, burst: 2 } } }\n',
      open,
      { clock },
    );
    const call = () => httpPost(`${url}/agents/weather`, rpc('SendMessage', message()), policyHeaders('bob'));
    expect([await call(), await call()].map(({ status }) => status)).toEqual([200, 200]);
    const rejected = await call();
    expect(rejected.status).toBe(429);
    expect(rejected.headers.get('retry-after')).toBe('1');
    expect(rejected.text).toContain('"policy":"rate"');
    // The rate counts all agents and transports of the limit together.
    await expect(at('ledger', 'bob', { transports: ['GRPC'] }).send('x')).rejects.toMatchObject({
      reason: 'RESOURCE_EXHAUSTED',
    });
    await at('weather', 'alice').send('x');
    clock.advance(1000);
    expect((await call()).status).toBe(200);
  });

  it('keeps quotas in the store, over a restart and for two gateways', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'policy-'));
    open.push({ close: () => rm(folder, { recursive: true }) });
    const more = `store: "sqlite:${join(folder, 'gateway.db')}"\nauth: { bearer: [{ token: alice-token, principal: alice }] }\n`;
    const policy =
      'policy: { limits: { daily: { operations: [send], quota: { requests: 3, per: day } } } }\n';
    const clock = new ManualClock();
    const send = async (url: string) =>
      httpPost(`${url}/agents/weather`, rpc('SendMessage', message()), policyHeaders('alice'));
    const one = await startPolicyGateway(policy, open, { more, clock });
    const two = await startPolicyGateway(policy, open, { more, clock });
    expect([await send(one.url), await send(two.url)].map(({ status }) => status)).toEqual([200, 200]);
    await one.running.stop(0);
    const restarted = await startPolicyGateway(policy, open, { more, clock });
    expect((await send(restarted.url)).status).toBe(200);
    for (const { url } of [two, restarted]) {
      const rejected = await send(url);
      expect(rejected).toMatchObject({ status: 429 });
      expect(rejected.text).toContain('"policy":"quota"');
      expect(Number(rejected.headers.get('retry-after'))).toBeGreaterThan(1);
    }
    clock.step(24 * 3600 * 1000);
    expect((await send(two.url)).status).toBe(200);
    const { text } = await httpGet(`${two.url}/metrics`);
    expect(text).toContain('dragoman_gateway_policy_quota_requests_total{limit="daily"} 2');
    expect(text).toContain(
      'dragoman_gateway_policy_decisions_total{agent="weather",operation="send",result="denied",kind="quota"} 1',
    );
    expect(text).toMatch(/dragoman_gateway_policy_quota_used_ratio\{limit="daily"\} 0\.33/);
  });

  it('applies a changed policy to all agents at a reload, and none of an invalid file', async () => {
    const gateway = await startPolicyGateway(twoClients, open);
    const { url, running, settingsWith } = gateway;
    const statusOf = async (agent: string, client: PolicyClient) =>
      (await httpPost(`${url}/agents/${agent}`, rpc('SendMessage', message()), policyHeaders(client))).status;
    expect(await statusOf('ledger', 'bob')).toBe(403);
    await running.reload(settingsWith('policy: { rules: [{ allow: { principals: [bob] } }] }\n'));
    expect([await statusOf('ledger', 'bob'), await statusOf('weather', 'alice')]).toEqual([200, 403]);
    await running.reload(settingsWith(''));
    expect(await statusOf('weather', 'alice')).toBe(200);
    await running.reload(settingsWith('policy: { default: deny }\n'));
    expect(await statusOf('weather', 'alice')).toBe(403);
  });

  it('decides about requests of a mesh by the user, which is never the client with the same id', async () => {
    const broker = new MemoryBroker();
    const more = 'mesh: { url: "memory:", namespace: test_namespace }\n';
    await startPolicyGateway(
      `policy:
  rules:
    - allow: { principals: ["mesh:alice", bob] }
      agents: [weather]
      operations: [stream]
  limits:
    small: { transports: [mesh], parts: 1 }
`,
      open,
      { more, connectBroker: async () => connectMemoryBroker({ broker }) },
    );
    const client = await MeshTestClient.join(connectMemoryBroker({ broker }));
    const replyTo = async (user: string, id: string, request: unknown = request0_3(id, 'hi')) => {
      await client.send('weather', id, request, { user });
      return JSON.stringify((await client.waitForResponse(id)).body);
    };
    expect(await replyTo('alice', 't1')).toContain('weather: hi');
    expect(await replyTo('bob', 't2')).toContain('policy');
    expect(await replyTo('alice', 't3', { ...rpc('tasks/get', { id: 't1' }), id: 't3' })).toContain('policy');
  });
});
