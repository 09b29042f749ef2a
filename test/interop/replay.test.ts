/** One recording of an agent on the official 0.3 SDK, replayed to the official clients of all versions. */
import { A2AClient } from 'sdk-0.2/client';
import { ClientFactory as ClientFactory03 } from 'sdk-0.3/client';
import { TaskState } from 'sdk-1.3';
import { ClientFactory as ClientFactory13 } from 'sdk-1.3/client';
import { beforeAll, describe, expect, it } from 'vitest';
import type { ProtocolVersion } from '../../src/protocol/card.ts';
import {
  readRecording,
  readTrafficFile,
  type Recording,
  runTap,
  TrafficLog,
  writeTrafficFile,
} from '../../src/tap/index.ts';
import { TestAgentServer } from '../../src/testkit/index.ts';
import { streamSseFrames } from '../support/http/sse-frames.ts';
import { recordsIn } from '../support/tap/traffic-log.ts';
import { start03 } from './official-servers.ts';
import { say as say13 } from './sdk-1.3-messages.ts';

/** What a client sees of a task: its state and the text of its last artifact. */
type Seen = readonly [state: string, text: string];

/** The operations that the tests need of a client, whatever its version. */
interface ReplayClient {
  send(text: string, task?: string): Promise<Seen & { id?: string }>;
  /** Returns the states and texts of all events. @param onTask - called with the task id of the first event */
  stream(text: string, onTask?: (id: string) => Promise<void>): Promise<string[]>;
  get(id: string): Promise<Seen>;
  cancel(id: string): Promise<Seen>;
}

const textOf = (parts: any[] = []): string =>
  parts.map((part) => part.text ?? part.content?.value ?? '').join('');

function seen(state: string, task: any): Seen & { id?: string } {
  const text =
    textOf(task.artifacts?.at(-1)?.parts) ||
    textOf(task.status.message?.parts ?? task.status.message?.content);
  return Object.assign([state, text] as const, { id: task.id });
}

const state13 = (state: number): string =>
  TaskState[state]?.replace('TASK_STATE_', '').toLowerCase().replace('_', '-') ?? '';
const say03 = (text: string, more: object = {}): any => ({
  message: {
    kind: 'message',
    messageId: crypto.randomUUID(),
    role: 'user',
    parts: [{ kind: 'text', text }],
    ...more,
  },
});

/** Describes an event before 1.0. */
function describe03(event: any): string {
  if (event.artifact) return `artifact ${textOf(event.artifact.parts)}`;
  return event.role ? `message ${textOf(event.parts)}` : event.status.state;
}

async function follow(
  events: AsyncIterable<any>,
  read: (event: any) => { text: string; id: string },
  onTask?: (id: string) => Promise<void>,
): Promise<string[]> {
  const texts: string[] = [];
  let pending: Promise<void> | undefined;
  for await (const event of events) {
    const { text, id } = read(event);
    texts.push(text);
    if (text === 'working') pending ??= onTask?.(id);
  }
  await pending;
  return texts;
}

async function client03(url: string): Promise<ReplayClient> {
  const client: any = await new ClientFactory03().createFromUrl(url);
  return {
    async send(text, taskId) {
      const task = await client.sendMessage(say03(text, taskId === undefined ? {} : { taskId }));
      return seen(task.status.state, task);
    },
    stream: (text, onTask) =>
      follow(
        client.sendMessageStream(say03(text)),
        (event) => ({ text: describe03(event), id: event.taskId ?? event.id }),
        onTask,
      ),
    async get(id) {
      const task = await client.getTask({ id });
      return seen(task.status.state, task);
    },
    async cancel(id) {
      const task = await client.cancelTask({ id });
      return seen(task.status.state, task);
    },
  };
}

async function client02(url: string): Promise<ReplayClient> {
  const client: any = new A2AClient(url);
  const result = (response: any): any => {
    if (response.error) throw new Error(response.error.message);
    return response.result;
  };
  const toSeen = (task: any) => seen(task.status.state, task);
  return {
    send: async (text, taskId) =>
      toSeen(result(await client.sendMessage(say03(text, taskId === undefined ? {} : { taskId })))),
    stream: (text, onTask) =>
      follow(
        client.sendMessageStream(say03(text)),
        (event) => ({ text: describe03(event), id: event.taskId ?? event.id }),
        onTask,
      ),
    get: async (id) => toSeen(result(await client.getTask({ id }))),
    cancel: async (id) => toSeen(result(await client.cancelTask({ id }))),
  };
}

async function client13(url: string): Promise<ReplayClient> {
  const client: any = await new ClientFactory13().createFromUrl(url);
  const toSeen = (task: any) => seen(state13(task.status.state), task);
  const read = (event: any): { text: string; id: string } => {
    const { $case, value } = event.payload ?? event;
    if ($case === 'artifactUpdate')
      return { text: `artifact ${textOf(value.artifact.parts)}`, id: value.taskId };
    if ($case === 'message') return { text: `message ${textOf(value.parts)}`, id: '' };
    return { text: state13(value.status.state), id: value.taskId ?? value.id };
  };
  return {
    send: async (text, taskId) =>
      toSeen(await client.sendMessage(say13(text, taskId === undefined ? {} : { taskId }))),
    stream: (text, onTask) => follow(client.sendMessageStream(say13(text)), read, onTask),
    get: async (id) => toSeen(await client.getTask({ tenant: '', id, historyLength: undefined })),
    cancel: async (id) => toSeen(await client.cancelTask({ tenant: '', id, metadata: undefined })),
  };
}

/** No client of 0.1 was ever packaged; these are its requests. */
async function client01(url: string): Promise<ReplayClient> {
  const post = (method: string, params: object): Promise<Response> =>
    fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    });
  const call = async (method: string, params: object): Promise<Seen & { id?: string }> => {
    const { result, error } = (await (await post(method, params)).json()) as any;
    if (error) throw new Error(error.message);
    return seen(result.status.state, result);
  };
  const message = (text: string) => ({ role: 'user', parts: [{ type: 'text', text }] });
  return {
    send: (text, id = crypto.randomUUID()) => call('tasks/send', { id, message: message(text) }),
    async stream(text, onTask) {
      const id = crypto.randomUUID();
      const response = await post('tasks/sendSubscribe', { id, message: message(text) });
      async function* results(): AsyncGenerator<any> {
        for await (const { data } of streamSseFrames(response)) yield data.result;
      }
      return follow(results(), (event) => ({ text: describe03(event), id: event.id }), onTask);
    },
    get: (id) => call('tasks/get', { id }),
    cancel: (id) => call('tasks/cancel', { id }),
  };
}

let recording: Recording;

beforeAll(async () => {
  const agent = await start03();
  const trafficLog = new TrafficLog();
  const tap = await runTap({ to: agent.url, trafficLog });
  const client = await client03(tap.url);
  await useAll(client);
  await tap.stop();
  await agent.close();
  recording = readRecording(readTrafficFile(writeTrafficFile(recordsIn(trafficLog))));
});

/** Uses every operation, and returns what the client saw. */
async function useAll(client: ReplayClient) {
  const hello = await client.send('hello');
  const asked = await client.send('ask');
  const answered = await client.send('this one', asked.id);
  let canceled: Seen | undefined;
  return {
    hello: [...hello],
    again: [...(await client.get(hello.id as string))],
    asked: [...asked],
    answered: [...answered],
    streamed: await client.stream('stream'),
    slow: await client.stream('slow', async (id) => {
      canceled = await client.cancel(id);
    }),
    canceled: canceled && canceled[0],
  };
}

const expected = {
  hello: ['completed', 'hello'],
  again: ['completed', 'hello'],
  asked: ['input-required', 'Which one?'],
  answered: ['completed', 'this one'],
  canceled: 'canceled',
};
const chunks = ['artifact 0', 'artifact 1', 'artifact 2', 'artifact 3', 'artifact 4'];

describe('a recorded agent of 0.3', () => {
  it.each<[ProtocolVersion, string, (url: string) => Promise<ReplayClient>]>([
    ['1.0', 'the official 1.0 client', client13],
    ['0.3', 'the official 0.3 client', client03],
    ['0.2', 'the official 0.2 client', client02],
    ['0.1', 'requests of 0.1', client01],
  ])('answers %s, used by %s', async (onlyVersion, _name, connectTo) => {
    await using server = await TestAgentServer.start({ replay: { recording }, onlyVersion });
    const { streamed, slow, ...rest } = await useAll(await connectTo(server.url));
    expect(rest).toEqual(expected);
    expect(streamed.filter((text) => text.startsWith('artifact'))).toEqual(chunks);
    expect(streamed.at(-1)).toBe('completed');
    expect(slow).toContain('working');
    expect(slow.at(-1)).toBe('canceled');
  });
});
