/** Attempts of clients to get around the policy of a gateway. */
import { describe, expect, it } from 'vitest';
import { bearer, connect } from '../../../src/client/index.ts';
import { readGatewayConfig } from '../../../src/gateway/config/read-gateway-config.ts';
import { runGateway } from '../../../src/gateway/run-gateway.ts';
import type { Task } from '../../../src/protocol/task.ts';
import { serve } from '../../../src/server/node/serve.ts';
import { closeAfterEach } from '../../support/close-after-each.ts';
import { expectTask } from '../../support/engine/conversation.ts';
import {
  createWaitingAgent,
  policyHeaders,
  startPolicyGateway,
  twoClients,
} from '../../support/gateway/policy-gateway.ts';
import { httpPost } from '../../support/http/http-calls.ts';

const open = closeAfterEach();

const rpc = (method: string, params: unknown) => ({ jsonrpc: '2.0', id: 1, method, params });
const message = (text = 'hi', more: object = {}) => ({
  message: { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: [{ text }], ...more },
});

describe('attempts to bypass a policy', () => {
  it('denies a batch, a method in other case, a tenant in the path and a version in another place', async () => {
    const { url, at } = await startPolicyGateway(twoClients, open);
    const agent = `${url}/agents/weather`;
    const bob = policyHeaders('bob');
    const { id } = expectTask(await at('weather', 'bob').send('hi'));
    const batch = await httpPost(agent, [rpc('GetTask', { id }), rpc('CancelTask', { id })], bob);
    expect(batch.json.error.code).toBe(-32600);
    for (const method of ['canceltask', 'CANCELTASK', 'Tasks/Cancel', ' CancelTask'])
      expect((await httpPost(agent, rpc(method, { id }), bob)).json).toMatchObject({
        error: { code: -32601 },
      });
    for (const path of [
      `/any/tasks/${id}:cancel`,
      `//tasks/${id}:cancel`,
      `/tasks/${id}:cancel?tenant=alice`,
    ])
      expect((await httpPost(agent + path, {}, bob)).status).toBe(403);
    for (const [path, version] of [
      [`/v1/tasks/${id}:cancel`, '0.3'],
      ['?a2a-version=0.3', ''],
      ['/subscribe', ''],
      ['/', '0.1'],
    ] as const) {
      const body = path.startsWith('/v1') ? {} : rpc('tasks/cancel', { id });
      const { status } = await httpPost(agent + path, body, { ...policyHeaders('bob', version) });
      expect([path, status]).toEqual([path, 403]);
    }
  });

  it('denies another agent in the tenant, host, path or metadata of gRPC', async () => {
    const { url, at } = await startPolicyGateway(twoClients, open);
    const port = new URL(url).port;
    const metadata = { 'a2a-agent': 'weather', 'x-tenant': 'weather', 'a2a-tenant': 'weather' };
    for (const options of [
      { tenant: 'ledger' },
      { tenant: 'ledger/weather' },
      { headers: { host: `ledger.localhost:${port}`, ...metadata } },
      { tenant: 'ledger', headers: metadata },
    ]) {
      const remote = connect(`grpc://127.0.0.1:${port}`, { auth: bearer('alice-token'), ...options });
      open.push({ close: () => remote.close() });
      await expect(remote.send('x')).rejects.toMatchObject({ reason: 'PERMISSION_DENIED' });
    }
    await expect(at('weather', 'alice', { transports: ['GRPC'] }).send('x')).resolves.toBeDefined();
  });

  it('denies a webhook in a message to clients that may not create webhooks', async () => {
    const { url } = await startPolicyGateway(twoClients, open);
    const configuration = {
      pushNotificationConfig: { url: 'https://hook.example' },
      taskPushNotificationConfig: { url: 'https://hook.example' },
    };
    for (const method of ['SendMessage', 'SendStreamingMessage']) {
      const body = rpc(method, { ...message(), configuration });
      const bob = await httpPost(`${url}/agents/weather`, body, policyHeaders('bob'));
      expect([method, bob.status]).toEqual([method, 403]);
      const alice = await httpPost(`${url}/agents/weather`, body, policyHeaders('alice'));
      expect(alice.status).toBe(200);
    }
  });

  it('does not find a task under the name of another agent with the same upstream', async () => {
    const upstream = await serve(createWaitingAgent('shared'));
    open.push({ close: () => upstream.stop(0) });
    const text = `listen: 0
agents: { strict: { url: "${upstream.url}" }, open: { url: "${upstream.url}" } }
policy:
  rules:
    - { allow: anyone, agents: [strict], operations: [send, get] }
    - { allow: anyone, agents: [open] }
`;
    const running = await runGateway(readGatewayConfig(text, 'gateway.yaml', {}));
    open.push({ close: () => running.stop(0) });
    const call = async (agent: string, method: string, params: object) =>
      (await httpPost(`${running.url}/agents/${agent}`, rpc(method, params), policyHeaders())).json;
    const sent = await call('strict', 'SendMessage', {
      ...message('wait'),
      configuration: { returnImmediately: true },
    });
    const { id, contextId } = sent.result.task as Task;
    expect(await call('strict', 'CancelTask', { id })).toMatchObject({ error: { code: -32600 } });
    expect(await call('open', 'CancelTask', { id })).toMatchObject({ error: { code: -32001 } });
    expect(await call('open', 'SubscribeToTask', { id })).toMatchObject({ error: { code: -32001 } });
    expect(await call('open', 'SendMessage', message('x', { taskId: id }))).toMatchObject({
      error: { code: -32001 },
    });
    // A context of another agent starts a new one.
    const inContext = await call('open', 'SendMessage', message('x', { contextId }));
    expect(inContext.result.task.id).not.toBe(id);
    expect(await call('open', 'ListTasks', {})).toMatchObject({ result: { totalSize: 1 } });
    expect(await call('strict', 'GetTask', { id })).toMatchObject({ result: { id } });
  });

  it('denies follow-ups to tasks by the policy of their agent', async () => {
    const gateway = await startPolicyGateway('', open);
    const { url, running, settingsWith } = gateway;
    const sent = await httpPost(
      `${url}/agents/weather`,
      rpc('SendMessage', { ...message('wait'), configuration: { returnImmediately: true } }),
      policyHeaders('bob'),
    );
    const { id } = sent.json.result.task;
    await running.reload(
      settingsWith('policy: { rules: [{ allow: { principals: [bob] }, agents: [ledger] }] }\n'),
    );
    for (const method of ['GetTask', 'CancelTask', 'SubscribeToTask', 'ListTaskPushNotificationConfigs']) {
      const params = method.startsWith('List') ? { taskId: id } : { id };
      const { status } = await httpPost(`${url}/agents/weather`, rpc(method, params), policyHeaders('bob'));
      expect([method, status]).toEqual([method, 403]);
    }
  });
});
