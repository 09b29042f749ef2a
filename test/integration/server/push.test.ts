import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { lenientMode, strictMode } from '../../../src/dialects/translation-loss.ts';
import { v0_1 } from '../../../src/dialects/v0_1/index.ts';
import { v0_3 } from '../../../src/dialects/v0_3/index.ts';
import { v1_0 } from '../../../src/dialects/v1_0/index.ts';
import type { AgentOptions, ProcessFunction } from '../../../src/engine/agent-definition.ts';
import { defineAgent } from '../../../src/engine/local-agent.ts';
import { artifact, status } from '../../../src/engine/agent-output.ts';
import type { TaskStore } from '../../../src/store/task-store.ts';
import { memoryTaskStore } from '../../../src/store/memory-task-store.ts';
import { sqliteTaskStore } from '../../../src/store/sqlite.ts';
import type { StreamEvent } from '../../../src/protocol/event.ts';
import { textOf } from '../../../src/protocol/part.ts';
import type { PushOptions } from '../../../src/push/push-options.ts';
import { pushListener } from '../../../src/push/receiving/listener.ts';
import { type ReceivedNotification, pushReceiver } from '../../../src/push/receiving/receiver.ts';
import { pushSigner } from '../../../src/push/sending/signer.ts';
import { serve } from '../../../src/server/node/serve.ts';
import { createDeferred, reasonOf, userRequest, expectTask } from '../../support/engine/conversation.ts';
import { deliveredSequences } from '../../support/push/delivered-sequences.ts';
import { seededRandom } from '../../support/seeded-random.ts';
import { waitUntilTrue, type ReceivedPost, TestWebhook } from '../../support/push/test-webhook.ts';

const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
});

async function webhook(...given: ConstructorParameters<typeof TestWebhook>): Promise<TestWebhook> {
  const hook = await new TestWebhook(...given).start();
  ends.push(() => hook.stop());
  return hook;
}

function agentOf(process: ProcessFunction, push: PushOptions = {}, options: AgentOptions = {}) {
  const egress = { allowLoopback: true, ...push.egress };
  const definition = { name: 'T', description: 'T', pushNotifications: true, process };
  const agent = defineAgent(definition, { push: { ...push, egress }, ...options });
  ends.push(() => agent.close());
  return agent;
}

async function served(process: ProcessFunction, push?: PushOptions) {
  const server = await serve(agentOf(process, push), { port: 0 });
  ends.push(() => server.stop(0));
  const rpc = async (method: string, params: unknown, version?: string) => {
    const response = await fetch(server.url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...(version ? { 'a2a-version': version } : {}) },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    });
    // oxlint-disable-next-line no-explicit-any
    return (await response.json()) as any;
  };
  return { url: server.url, rpc };
}

/** An agent that works, creates an artifact and completes. */
async function* work() {
  yield status('working', 'Hm.');
  yield artifact('a piece', { artifactId: 'a' });
  yield 'Done.';
}

const statesOf = (events: readonly StreamEvent[]): string[] =>
  events.map((event) => {
    if (event.kind === 'task') return event.task.status.state;
    return event.kind === 'status' ? event.status.state : event.kind;
  });

describe('push notification format', () => {
  const types = (hook: TestWebhook) => new Set(hook.received.map(({ headers }) => headers['content-type']));
  const credentials = { url: '', token: 'sesame' };

  it('1.0: sends every event as a StreamResponse', async () => {
    const hook = await webhook();
    const { rpc } = await served(work);
    const message = { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'go' }] };
    const taskPushNotificationConfig = {
      ...credentials,
      url: hook.url,
      authentication: { scheme: 'Bearer', credentials: 'abc' },
    };
    const params = { message, configuration: { taskPushNotificationConfig } };
    const { result } = await rpc('SendMessage', params, '1.0');
    expect(result.task.status.state).toBe('TASK_STATE_COMPLETED');
    await hook.waitUntil(() => statesOf(hook.accepted.map(read)).includes('completed'));
    expect(statesOf(hook.accepted.map(read))).toEqual(
      expect.arrayContaining(['submitted', 'working', 'artifact']),
    );
    expect(types(hook)).toEqual(new Set(['application/a2a+json']));
    for (const { headers, id } of hook.accepted) {
      expect(headers).toMatchObject({
        authorization: 'Bearer abc',
        'x-a2a-notification-token': 'sesame',
        'x-a2a-delivery-id': id,
      });
      expect(headers).not.toHaveProperty('a2a-version');
    }

    function read({ body }: ReceivedPost): StreamEvent {
      return v1_0.notification.read(body, strictMode);
    }
  });

  it('0.3: sends the whole task with each status', async () => {
    const hook = await webhook();
    const { rpc } = await served(work);
    const message = { kind: 'message', messageId: 'm', role: 'user', parts: [{ kind: 'text', text: 'go' }] };
    const pushNotificationConfig = {
      ...credentials,
      url: hook.url,
      authentication: { schemes: ['Basic'], credentials: 'abc' },
    };
    await rpc('message/send', { message, configuration: { blocking: true, pushNotificationConfig } });
    const read = ({ body }: ReceivedPost): StreamEvent => v0_3.notification.read(body, strictMode);
    await hook.waitUntil(() => statesOf(hook.accepted.map(read)).includes('completed'));
    expect(hook.accepted.map(({ body }) => body.kind)).toEqual(['task', 'task', 'task', 'task']);
    expect(statesOf(hook.accepted.map(read))).toEqual(['submitted', 'working', 'working', 'completed']);
    expect(hook.accepted[2]?.body.artifacts ?? []).toEqual([]);
    expect(hook.accepted[3]?.body.artifacts).toHaveLength(2);
    expect(types(hook)).toEqual(new Set(['application/json']));
    expect(hook.accepted[0]?.headers).toMatchObject({
      authorization: 'Basic abc',
      'x-a2a-notification-token': 'sesame',
    });
  });

  it('0.1: sends the whole task without kind', async () => {
    const hook = await webhook();
    const { rpc } = await served(work);
    const message = { role: 'user', parts: [{ type: 'text', text: 'go' }] };
    const pushNotification = { ...credentials, url: hook.url };
    await rpc('tasks/send', { id: 't1', sessionId: 's', message, pushNotification });
    const read = ({ body }: ReceivedPost): StreamEvent => v0_1.notification.read(body, strictMode);
    await hook.waitUntil(() => statesOf(hook.accepted.map(read)).includes('completed'));
    for (const { body, id } of hook.accepted) {
      expect(body).toMatchObject({ id: 't1', sessionId: 's' });
      expect(body).not.toHaveProperty('kind');
      expect(id).toMatch(/^t1:t1:\d+$/);
    }
    expect(types(hook)).toEqual(new Set(['application/json']));
  });
});

describe('webhook registered during a task', () => {
  it('receives the current state at once, then all further events', async () => {
    const hook = await webhook();
    const { promise, resolve } = createDeferred();
    const agent = agentOf(async function* () {
      yield status('working', 'Hm.');
      await promise;
      yield 'Done.';
    });
    const { id: taskId } = expectTask(
      await agent.send(userRequest('go', {}, { configuration: { returnImmediately: true } })),
    );
    await waitUntilTrue(async () => (await agent.getTask({ id: taskId })).status.state === 'working');
    await agent.createPushConfig({ taskId, id: 'p', url: hook.url });
    await hook.waitUntil(() => hook.accepted.length === 1);
    expect(hook.accepted[0]?.body.statusUpdate.status.state).toBe('TASK_STATE_WORKING');
    resolve();
    await hook.waitUntil(() =>
      hook.accepted.some(({ body }) => body.statusUpdate?.status.state.endsWith('COMPLETED')),
    );
    await agent.createPushConfig({ taskId, id: 'later', url: `${hook.url}2` });
    await hook.waitUntil(() => hook.accepted.at(-1)?.path === '/hook2');
    expect(hook.accepted.at(-1)?.body.statusUpdate.status.state).toBe('TASK_STATE_COMPLETED');
  });

  it('sends no earlier events to a webhook that is registered with an answer', async () => {
    const hook = await webhook();
    const agent = agentOf(async ({ ask }) => `So ${textOf((await ask('Which?')).parts)}`);
    const { id: taskId } = expectTask(await agent.send(userRequest('go')));
    await agent.send(userRequest('left', { taskId }, { configuration: { pushConfig: { url: hook.url } } }));
    await hook.waitUntil(() =>
      hook.accepted.some(({ body }) => body.statusUpdate?.status.state.endsWith('COMPLETED')),
    );
    const states = hook.accepted.map(({ body }) => body.statusUpdate?.status.state);
    expect(states).not.toContain('TASK_STATE_INPUT_REQUIRED');
  });
});

it('completes the task without waiting for a slow webhook', async () => {
  const hook = await webhook(() => 'hang');
  const agent = agentOf(work);
  const sent = agent.send(userRequest('go', {}, { configuration: { pushConfig: { url: hook.url } } }));
  expect(expectTask(await sent).status.state).toBe('completed');
});

it('denies webhooks in private networks by default', async () => {
  const agent = agentOf(work, { egress: { allowLoopback: false } });
  const sent = agent.send(
    userRequest('go', {}, { configuration: { pushConfig: { url: 'http://127.0.0.1:9/' } } }),
  );
  expect(await reasonOf(sent)).toBe('INVALID_PARAMS');
});

describe('push delivery after a restart', () => {
  it('continues without loss', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'dragoman-push-'));
    ends.push(async () => rmSync(folder, { recursive: true, force: true }));
    const open = async (): Promise<TaskStore> => {
      const taskStore = await sqliteTaskStore({ file: join(folder, 'tasks.db') });
      ends.push(async () => taskStore[Symbol.asyncDispose]());
      return taskStore;
    };
    const random = seededRandom(11);
    const hook = await webhook(() => (hook.accepted.length >= 150 || random() < 0.3 ? 500 : 200));
    const push = { minDelay: 1, maxDelay: 20, maxAttempts: 1_000 };
    const first = await open();
    const agent = agentOf(work, push, { taskStore: first });
    const configuration = { pushConfig: { url: hook.url, id: 'p' } };
    const ids = await Promise.all(
      Array.from(
        { length: 100 },
        async () => expectTask(await agent.send(userRequest('go', {}, { configuration }))).id,
      ),
    );
    await hook.waitUntil(() => hook.accepted.length === 150);
    await agent.close();
    await first[Symbol.asyncDispose]();
    hook.behavior = () => (random() < 0.3 ? 500 : 200);

    const taskStore = await open();
    expect((await taskStore.listDeliveries()).length).toBeGreaterThan(50);
    const next = agentOf(work, push, { taskStore });
    await next.ready();
    await waitUntilTrue(async () => (await taskStore.listDeliveries()).length === 0);
    const deliveredByTask = deliveredSequences(hook.accepted);
    for (const id of ids) {
      const last = (await taskStore.open('', id))?.sequence ?? 0;
      expect(deliveredByTask.get(`${id}:p`)?.at(-1)).toBe(last);
    }
    expect(deliveredByTask.size).toBe(100);
  });

  it('notifies the webhook of a task that the restart failed', async () => {
    const taskStore = memoryTaskStore();
    const hook = await webhook();
    // Not closed, as after a crash.
    const dead = defineAgent(
      { name: 'T', description: 'T', pushNotifications: true, process: () => new Promise<void>(() => {}) },
      { taskStore, push: { egress: { allowLoopback: true, resolve: async () => [] } } },
    );
    const configuration = { pushConfig: { url: 'https://hook.example', id: 'p' }, returnImmediately: true };
    const { id: taskId } = expectTask(await dead.send(userRequest('go', {}, { configuration })));
    await taskStore.putPushConfig('', { taskId, id: 'p', url: hook.url });
    await agentOf(work, {}, { taskStore }).ready();
    await hook.waitUntil(() => hook.accepted.at(-1)?.body.statusUpdate?.status.state === 'TASK_STATE_FAILED');
    expect(hook.accepted[0]?.body.task.id).toBe(taskId);
  });
});

describe('pushReceiver with a served agent', () => {
  it('verifies signatures with the JWKS of the agent and deduplicates', async () => {
    const notifications: ReceivedNotification[] = [];
    let failures = 2;
    const { url, rpc } = await served(work, { signer: pushSigner(), minDelay: 1 });
    const receiver = pushReceiver({ keys: `${url}/.well-known/jwks.json` });
    const server = createServer(
      pushListener(receiver, (each) => {
        if (failures-- > 0) throw new Error('not now');
        notifications.push(each);
      }),
    );
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    ends.push(async () => {
      server.closeAllConnections();
      server.close();
    });
    const hook = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    const message = { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'go' }] };
    const params = { message, configuration: { taskPushNotificationConfig: { url: hook } } };
    await rpc('SendMessage', params, '1.0');
    await waitUntilTrue(() => statesOf(notifications.map(({ event }) => event)).includes('completed'));
    const ids = notifications.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    expect(notifications.every(({ version, isDuplicate }) => version === '1.0' && !isDuplicate)).toBe(true);

    const body = JSON.stringify(v1_0.notification.write(notifications[0]?.event as StreamEvent, {} as never));
    const forged = await fetch(hook, { method: 'POST', body, headers: { authorization: 'Bearer x' } });
    expect(forged.status).toBe(401);
    expect((await fetch(`${hook}?validationToken=a-b.c`)).status).toBe(200);
    expect(await (await fetch(`${hook}?validationToken=a-b.c`)).text()).toBe('a-b.c');
    expect((await fetch(`${hook}?validationToken=<b>`)).status).toBe(405);
    expect((await fetch(hook, { method: 'PUT', body })).status).toBe(405);
    expect(v1_0.notification.read(JSON.parse(body), lenientMode())).toMatchObject({ kind: 'task' });
  });

  it('gets 404 for the JWKS of an agent without signer', async () => {
    const { url } = await served(work);
    expect((await fetch(`${url}/.well-known/jwks.json`)).status).toBe(404);
  });

  it('responds 413 to a notification above maxBytes', async () => {
    const receiver = pushReceiver({ allowUnauthenticated: true });
    const server = createServer(pushListener(receiver, () => {}, { maxBytes: 1_000 }));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    ends.push(async () => {
      server.closeAllConnections();
      server.close();
    });
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    const headers = { 'content-type': 'application/json' };
    expect((await fetch(url, { method: 'POST', headers, body: 'x'.repeat(2_000) })).status).toBe(413);
  });
});
