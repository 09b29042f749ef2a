/** The preview of 1.1: generations of tasks over JSON-RPC, REST and gRPC, and nothing without the option. */
import { connect as connectHttp2 } from 'node:http2';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { encodeMessage } from '../../../src/dialects/protobuf/encode-message.ts';
import type { MessageType } from '../../../src/dialects/protobuf/message-type.ts';
import { messages1_1 } from '../../../src/dialects/v1_1/protobuf-messages.ts';
import { defineAgent, type LocalAgent } from '../../../src/engine/index.ts';
import { type RunningServer, serve } from '../../../src/server/index.ts';
import { createDeferred } from '../../support/engine/conversation.ts';
import { call as grpcCall, errorOf, frame, messagesOf } from '../../support/grpc/raw-calls.ts';
import { httpGet, httpPost } from '../../support/http/http-calls.ts';
import { readSseFrames } from '../../support/http/sse-frames.ts';

let release = createDeferred();

const define = (): LocalAgent =>
  defineAgent({
    name: 'Counter',
    description: 'Counts',
    async *process({ text, ask }) {
      if (text === 'wait') {
        yield { state: 'working', message: 'waiting' };
        await release.promise;
      }
      if (text === 'ask') await ask('Which one?');
      yield 'one ';
      yield 'two';
    },
  });

let agents: LocalAgent[] = [];
let preview: RunningServer;
let plain: RunningServer;
beforeAll(async () => {
  agents = [define(), define()];
  preview = await serve(agents[0] as LocalAgent, { preview: '1.1' });
  plain = await serve(agents[1] as LocalAgent);
});
afterAll(async () => {
  await preview.stop(0);
  await plain.stop(0);
  for (const agent of agents) await agent.close();
});

const version = { 'a2a-version': '1.0' };
const message = (text: string, more: object = {}) => ({
  messageId: crypto.randomUUID(),
  role: 'ROLE_USER',
  parts: [{ text }],
  ...more,
});

async function rpc(
  method: string,
  params: object,
  url = preview.url,
  headers: object = version,
): Promise<any> {
  return (await httpPost(url, { jsonrpc: '2.0', id: 1, method, params }, { ...headers })).json;
}

async function streamed(url: string, text: string): Promise<any[]> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...version },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'SendStreamingMessage',
      params: { message: message(text) },
    }),
  });
  return (await readSseFrames(response)).map(({ data }) => data.result);
}

/** Returns the generation of each event. */
const generationsOf = (events: any[]): string[] =>
  events.map((event) => (Object.values(event)[0] as any).generation);

/** Starts a task. @returns it when it waits */
async function startWaiting(): Promise<{ id: string; generation: string }> {
  const { result } = await rpc('SendMessage', {
    message: message('wait'),
    configuration: { returnImmediately: true },
  });
  let { task } = result;
  while (!task.status.message)
    task = (await rpc('GetTask', { id: task.id, currentGeneration: task.generation })).result;
  return task;
}

async function grpc(method: string, type: MessageType, request: object, metadata = {}) {
  const session = connectHttp2(preview.url);
  try {
    return await grpcCall(session, method, frame(encodeMessage(type, request)), metadata);
  } finally {
    session.destroy();
  }
}

describe('generation', () => {
  it('counts the changes of a task, on events and tasks, as a string', async () => {
    const events = await streamed(preview.url, 'hello');
    expect(generationsOf(events)).toEqual(events.map((_, i) => String(i + 1)));
    const { id } = events[0].task;
    const last = String(events.length);
    expect((await rpc('GetTask', { id })).result.generation).toBe(last);
    const { result } = await rpc('ListTasks', { contextId: events[0].task.contextId });
    expect(result.tasks).toMatchObject([{ id, generation: last }]);
    expect((await httpGet(`${preview.url}/tasks/${id}`, version)).json.generation).toBe(last);
  });

  it('does not count messages of the user', async () => {
    const asked = (await rpc('SendMessage', { message: message('ask') })).result.task;
    const before = Number(asked.generation);
    const { task } = (await rpc('SendMessage', { message: message('this', { taskId: asked.id }) })).result;
    // Working, two chunks of the artifact, completed.
    expect(Number(task.generation) - before).toBe(4);
  });

  it('is in the answers to requests of 1.1, but not in those of 0.3', async () => {
    const { result } = await rpc('SendMessage', { message: message('hi') }, preview.url, {
      'a2a-version': '1.1',
    });
    expect(result.task.generation).toMatch(/^\d+$/);
    const old = await httpPost(preview.url, {
      jsonrpc: '2.0',
      id: 1,
      method: 'tasks/get',
      params: { id: result.task.id },
    });
    expect(old.json.result.id).toBe(result.task.id);
    expect(old.text).not.toContain('generation');
  });

  it('has its fields over gRPC', async () => {
    const params = { message: message('hello') };
    const answer = await grpc('SendStreamingMessage', messages1_1.SendMessageRequest, params);
    const events = messagesOf(answer, messages1_1.StreamResponse);
    expect(generationsOf(events)).toEqual(events.map((_, i) => String(i + 1)));
    const { id } = events[0].task;
    const request = { id, currentGeneration: '1' };
    const got = await grpc('GetTask', messages1_1.GetTaskRequest, request, { 'a2a-version': '1.1' });
    expect(messagesOf(got, messages1_1.Task)).toMatchObject([{ generation: String(events.length) }]);
  });
});

describe('currentGeneration', () => {
  it.each(['JSON-RPC', 'REST', 'gRPC'])('waits for the next change over %s', async (transport) => {
    const { id, generation } = await startWaiting();
    const waiting =
      transport === 'REST'
        ? httpGet(`${preview.url}/tasks/${id}?currentGeneration=${generation}`, version).then(
            ({ json }) => json,
          )
        : transport === 'gRPC'
          ? grpc('GetTask', messages1_1.GetTaskRequest, { id, currentGeneration: generation }).then(
              (answer) => messagesOf(answer, messages1_1.Task)[0],
            )
          : rpc('GetTask', { id, currentGeneration: Number(generation) }).then(({ result }) => result);
    // A request without the member is answered at once, while the other one waits.
    expect((await rpc('GetTask', { id })).result.generation).toBe(generation);
    expect(await Promise.race([waiting, Promise.resolve('still waiting')])).toBe('still waiting');
    release.resolve();
    release = createDeferred();
    expect(Number((await waiting).generation)).toBeGreaterThan(Number(generation));
  });

  it('is answered at once if the task has ended, or has no generation', async () => {
    const { id, generation } = (await rpc('SendMessage', { message: message('hi') })).result.task;
    expect((await rpc('GetTask', { id, currentGeneration: generation })).result.generation).toBe(generation);
    const { task } = (await rpc('SendMessage', { message: message('hi') }, plain.url)).result;
    const got = await rpc('GetTask', { id: task.id, currentGeneration: 'x' }, plain.url);
    expect(got.result).not.toHaveProperty('generation');
  });

  it('must be an integer', async () => {
    expect((await rpc('GetTask', { id: 'x', currentGeneration: '-1' })).error).toMatchObject({
      code: -32602,
      message: 'currentGeneration must be a non-negative integer',
    });
  });
});

describe('ifGenerationMatch', () => {
  const answer = (taskId: string, ifGenerationMatch: unknown) => ({
    message: message('this', { taskId }),
    configuration: { ifGenerationMatch },
  });

  it('accepts a message for the current generation, and rejects it for others', async () => {
    const { id, generation } = (await rpc('SendMessage', { message: message('ask') })).result.task;
    const metadata = { taskId: id, expectedGeneration: '1', currentGeneration: generation };
    const { error } = await rpc('SendMessage', answer(id, '1'));
    expect(error).toMatchObject({
      code: -32010,
      data: [{ reason: 'TASK_GENERATION_MISMATCH', metadata }],
    });
    const rest = await httpPost(`${preview.url}/message:send`, answer(id, 1), version);
    expect(rest.status).toBe(409);
    expect(rest.json.error).toMatchObject({
      status: 'ABORTED',
      details: [{ reason: 'TASK_GENERATION_MISMATCH', metadata }],
    });
    const called = await grpc('SendMessage', messages1_1.SendMessageRequest, answer(id, '1'));
    expect(called.trailers['grpc-status'] ?? called.headers['grpc-status']).toBe('10');
    expect(errorOf(called)).toMatchObject({ reason: 'TASK_GENERATION_MISMATCH', details: metadata });
    expect((await rpc('GetTask', { id })).result.generation).toBe(generation);
    const { result } = await rpc('SendMessage', answer(id, generation));
    expect(result.task.status.state).toBe('TASK_STATE_COMPLETED');
  });
});

describe('a server without preview', () => {
  it('ignores the members and returns the same bytes', async () => {
    const events = await streamed(plain.url, 'hello');
    expect(JSON.stringify(events)).not.toContain('eneration');
    const { task } = (await rpc('SendMessage', { message: message('ask') }, plain.url)).result;
    const params = {
      message: message('this', { taskId: task.id }),
      configuration: { ifGenerationMatch: '77' },
    };
    expect((await rpc('SendMessage', params, plain.url)).result.task.status.state).toBe(
      'TASK_STATE_COMPLETED',
    );
    const rejected = await rpc('GetTask', { id: task.id }, plain.url, { 'a2a-version': '1.1' });
    expect(rejected.error.code).toBe(-32009);
  });
});
