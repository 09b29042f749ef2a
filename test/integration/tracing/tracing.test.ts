import { trace } from '@opentelemetry/api';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { connect } from '../../../src/client/connect.ts';
import { defineAgent } from '../../../src/engine/local-agent.ts';
import { serve, type RunningServer } from '../../../src/server/node/serve.ts';
import { sqliteTaskStore } from '../../../src/store/sqlite.ts';
import { closeAfterEach } from '../../support/close-after-each.ts';
import { collectStream, reasonOf, userRequest, expectTask } from '../../support/engine/conversation.ts';
import { httpPost } from '../../support/http/http-calls.ts';
import { TestWebhook } from '../../support/push/test-webhook.ts';
import { recordSpans } from '../../support/tracing/span-recorder.ts';

const recorder = recordSpans();
const open = closeAfterEach();

async function start(agent: Parameters<typeof serve>[0]): Promise<RunningServer> {
  const server = await serve(agent);
  open.push({ close: () => server.stop(0) });
  return server;
}

function at(url: string) {
  const client = connect(url);
  open.push(client);
  return client;
}

const echo = () =>
  defineAgent({
    name: 'Echo',
    description: 'Says it back',
    async *process({ text }) {
      yield `You said: ${text}`;
    },
  });

describe('tracing', () => {
  it('names spans and attributes after the semantic conventions and records no content', async () => {
    const { url } = await start(echo());
    const client = at(url);
    const task = expectTask(await client.send(userRequest('the secret text')));
    const served = await recorder.one('server SendMessage');
    const called = await recorder.one('client SendMessage');
    const run = await recorder.one('invoke_agent Echo');
    const shared = {
      'a2a.method.name': 'SendMessage',
      'a2a.protocol.version': '1.0',
      'a2a.protocol.binding': 'JSONRPC',
      'a2a.message.id': expect.any(String),
      'a2a.task.id': task.id,
      'a2a.task.state': 'TASK_STATE_COMPLETED',
      'gen_ai.conversation.id': task.contextId,
    };
    const named = { 'gen_ai.agent.name': 'Echo', 'gen_ai.agent.version': expect.any(String) };
    expect(served.attributes).toEqual({ ...shared, ...named });
    expect(called.attributes).toEqual({
      ...shared,
      ...named,
      'a2a.agent.card.url': `${url}/.well-known/agent-card.json`,
      'server.address': '127.0.0.1',
      'server.port': Number(new URL(url).port),
    });
    expect(run.attributes).toMatchObject({
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.agent.name': 'Echo',
      'gen_ai.conversation.id': task.contextId,
      'a2a.task.id': task.id,
      'a2a.task.state': 'TASK_STATE_COMPLETED',
    });
    const recorded = recorder.spans.map(({ name, attributes, events }) => [name, attributes, events]);
    expect(JSON.stringify(recorded)).not.toContain('secret');
  });

  it('continues the trace of the traceparent header and sets the error', async () => {
    const { url } = await start(echo());
    const traceId = 'a'.repeat(32);
    await httpPost(
      url,
      { jsonrpc: '2.0', id: 1, method: 'GetTask', params: { id: 'no-such-task' } },
      { 'a2a-version': '1.0', traceparent: `00-${traceId}-${'b'.repeat(16)}-01` },
    );
    const span = await recorder.one('server GetTask');
    expect(span.spanContext().traceId).toBe(traceId);
    expect(span.attributes).toMatchObject({ 'error.type': 'TASK_NOT_FOUND', 'a2a.task.id': 'no-such-task' });
    expect(span.status).toEqual({ code: 2, message: 'TASK_NOT_FOUND' });
  });

  it('does not record a trace that the caller has not sampled, and passes its decision on', async () => {
    const received: (string | undefined)[] = [];
    const { url } = await start(
      defineAgent({
        name: 'Header',
        description: 'Reads headers',
        process: async ({ call }) => {
          received.push(call.headers?.traceparent as string);
        },
      }),
    );
    const relay = await start(
      defineAgent({
        name: 'Relay',
        description: 'Calls another agent',
        process: async () => void (await at(url).send(userRequest('hi'))),
      }),
    );
    const params = { message: { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'hi' }] } };
    const traceparent = `00-${'c'.repeat(32)}-${'d'.repeat(16)}-00`;
    await httpPost(
      relay.url,
      { jsonrpc: '2.0', id: 1, method: 'SendMessage', params },
      { 'a2a-version': '1.0', traceparent },
    );
    expect(received[0]).toMatch(new RegExp(`^00-${'c'.repeat(32)}-[0-9a-f]{16}-00$`));
    expect(recorder.spans.map(({ name }) => name)).toEqual([]);
  });

  it('shortens attributes that a client chooses', async () => {
    const { url } = await start(echo());
    const referenceTaskIds = Array.from({ length: 100 }, (_, index) => `task-${index}`);
    const message = { messageId: 'm', role: 'user' as const, parts: [{ text: 'hi' }], referenceTaskIds };
    await at(url).send({ message });
    const { attributes } = await recorder.one('client SendMessage');
    expect(attributes['a2a.message.reference_task_ids']).toHaveLength(32);
  });

  it('sets the error of the client and of a failed run', async () => {
    const { url } = await start(
      defineAgent(
        {
          name: 'Broken',
          description: 'Fails',
          process: async () => {
            throw new TypeError('wrong');
          },
        },
        { log: () => {} },
      ),
    );
    const client = at(url);
    expect(await reasonOf(client.getTask({ id: 'no-such-task' }))).toBe('TASK_NOT_FOUND');
    expect((await recorder.one('client GetTask')).attributes['error.type']).toBe('TASK_NOT_FOUND');
    await client.send(userRequest('hi'));
    const run = await recorder.one('invoke_agent Broken');
    expect(run.status.code).toBe(2);
    expect(run.attributes).toMatchObject({
      'a2a.task.state': 'TASK_STATE_FAILED',
      'error.type': 'INTERNAL_ERROR',
    });
  });

  it('ends the spans of a stream with the stream on both sides', async () => {
    let release = (): void => {};
    const released = new Promise<void>((resolve) => (release = resolve));
    const { url } = await start(
      defineAgent({
        name: 'Slow',
        description: 'Waits',
        async *process() {
          yield 'one';
          await released;
          yield 'two';
        },
      }),
    );
    const events = at(url).stream(userRequest('hi'))[Symbol.asyncIterator]();
    for (let each = await events.next(); !each.done && each.value.kind !== 'artifact'; )
      each = await events.next();
    expect(recorder.spans).toEqual([]);
    release();
    while (!(await events.next()).done);
    expect((await recorder.one('client SendStreamingMessage')).attributes).toMatchObject({
      'a2a.task.state': 'TASK_STATE_COMPLETED',
    });
    await recorder.one('server SendStreamingMessage');
  });

  it('links a run that waited for input to the request that continued it', async () => {
    const { url } = await start(
      defineAgent({
        name: 'Asker',
        description: 'Asks',
        process: async ({ ask }) => `Hello ${(await ask('Name?')).messageId}`,
      }),
    );
    const client = at(url);
    const first = await recorder.inRoot(() => client.send(userRequest('hi')));
    const { id: taskId, contextId } = expectTask(first.result);
    const message = { ...userRequest('Ada').message, taskId, contextId };
    const second = await recorder.inRoot(() => client.send({ message }));
    const run = await recorder.one('invoke_agent Asker');
    expect(run.spanContext().traceId).toBe(first.traceId);
    expect(run.events.map(({ name }) => name)).toEqual(['gen_ai.agent.paused', 'gen_ai.agent.resumed']);
    expect(run.links.map(({ context }) => context.traceId)).toEqual([second.traceId]);
    expect(expectTask(second.result).status.state).toBe('completed');
  });

  it('links the run of a later message to the trace of the task', async () => {
    const { url } = await start(
      defineAgent({
        name: 'Turns',
        description: 'Needs two messages',
        async *process({ text }) {
          if (text === 'hi') yield { state: 'input-required', message: 'More?' };
          else yield 'done';
        },
      }),
    );
    const client = at(url);
    const first = await recorder.inRoot(() => client.send(userRequest('hi')));
    const { id: taskId, contextId } = expectTask(first.result);
    const message = { ...userRequest('more').message, taskId, contextId };
    const second = await recorder.inRoot(() => client.send({ message }));
    const [, run] = await recorder.named('invoke_agent Turns', 2);
    expect(run?.spanContext().traceId).toBe(second.traceId);
    expect(run?.links.map(({ context }) => context.traceId)).toEqual([first.traceId]);
  });

  it('continues the trace of a task and of its webhook after a restart', async () => {
    const webhook = await new TestWebhook(() => (isRestarted ? 200 : 503)).start();
    open.push({ close: () => webhook.stop() });
    let isRestarted = false;
    const folder = await mkdtemp(join(tmpdir(), 'dragoman-tracing-'));
    open.push({ close: () => rm(folder, { recursive: true }) });
    const file = join(folder, 'tasks.db');
    const definition = {
      name: 'Long',
      description: 'Survives a restart',
      pushNotifications: true,
      process: () => new Promise<string>(() => {}),
      resume: async () => 'done',
    };
    const push = { egress: { allowLoopback: true }, minDelay: 1, maxDelay: 5 };
    const openAgent = async () =>
      defineAgent(definition, { taskStore: await sqliteTaskStore({ file }), push });
    const before = await openAgent();
    const server = await serve(before);
    const request = userRequest('hi');
    const configuration = { returnImmediately: true, pushConfig: { url: webhook.url } };
    const { traceId } = await recorder.inRoot(async () => {
      const client = connect(server.url);
      await client.send({ ...request, configuration });
      await client.close();
    });
    await webhook.waitUntil(() => webhook.received.length > 1);
    await server.stop(0);
    await before.close();
    await before.options.taskStore?.[Symbol.asyncDispose]();
    recorder.exporter.reset();
    isRestarted = true;
    const after = await openAgent();
    open.push(
      { close: () => after.close() },
      { close: async () => after.options.taskStore?.[Symbol.asyncDispose]() },
    );
    await after.ready();
    const run = await recorder.one('invoke_agent Long');
    expect(run.spanContext().traceId).toBe(traceId);
    await webhook.waitUntil(() => webhook.accepted.some(({ text }) => text.includes('COMPLETED')));
    const last = webhook.accepted.at(-1);
    expect(last?.headers.traceparent).toContain(traceId);
    await expect
      .poll(() => recorder.spans.filter(({ name }) => name === 'push notification').length)
      .toBeGreaterThanOrEqual(2);
    for (const span of recorder.spans) expect(span.spanContext().traceId).toBe(traceId);
  });

  it('creates no spans with tracing: false', async () => {
    const server = await serve(defineAgent(echo().definition, { tracing: false }), { tracing: false });
    open.push({ close: () => server.stop(0) });
    const client = connect(server.url, { tracing: false });
    open.push(client);
    await client.send(userRequest('hi'));
    await collectStream(client.stream(userRequest('hi')));
    expect(recorder.spans).toEqual([]);
    expect(trace.getActiveSpan()).toBeUndefined();
  });
});
