/** Every official client, and the oldest callers, get the same conversation from one source. */
import { fileURLToPath } from 'node:url';
import { A2AClient } from 'sdk-0.2/client';
import {
  ClientFactory as ClientFactory0_3,
  JsonRpcTransportFactory as JsonRpc0_3,
  RestTransportFactory as Rest0_3,
} from 'sdk-0.3/client';
import { Role, TaskState } from 'sdk-1.3';
import { ClientFactory, JsonRpcTransportFactory, RestTransportFactory } from 'sdk-1.3/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TestAgentOptions } from '../../../src/testkit/test-agent-options.ts';
import { TestAgentServer } from '../../../src/testkit/test-agent-server.ts';
import { collect, say as say1_3 } from '../../interop/sdk-1.3-messages.ts';
import { readSseFrames } from '../../support/http/sse-frames.ts';

let server: TestAgentServer;

const statusEvent = (state: string, text: string): object => ({
  kind: 'status-update',
  status: { state, message: { role: 'agent', parts: [{ kind: 'text', text }] } },
});
const turns = [
  [
    statusEvent('working', 'Looking'),
    {
      kind: 'artifact-update',
      artifact: { artifact_id: 'report', name: 'report', parts: [{ kind: 'text', text: 'a,b' }] },
      last_chunk: true,
    },
    statusEvent('input-required', 'Which?'),
  ],
  [statusEvent('working', 'Thanks'), statusEvent('completed', 'Done')],
];
const conversation = [
  ['working: Looking', 'report: a,b', 'input-required: Which?'],
  ['working: Thanks', 'completed: Done'],
];
const opening = (id: string): string =>
  `[test_case_id=${id}] [responses_json=${Buffer.from(JSON.stringify(turns)).toString('base64')}]`;

/** Events of one turn and their task. */
interface Told {
  words: string[];
  taskId: string;
}

/** Says a text, in a new task or in one that waits, and follows what happens. */
type Speak = (text: string, taskId?: string) => Promise<Told>;

/** The words of 0.2 and 0.3. */
function told0_3(events: any[]): Told {
  const words = events.flatMap(({ kind, status, artifact }) =>
    kind === 'status-update'
      ? `${status.state}: ${status.message?.parts[0].text}`
      : kind === 'artifact-update'
        ? `${artifact.artifactId}: ${artifact.parts[0].text}`
        : [],
  );
  return { words, taskId: events.find(({ kind }) => kind === 'task').id };
}

const message0_3 = (text: string, taskId?: string): any => ({
  message: {
    kind: 'message',
    messageId: crypto.randomUUID(),
    role: 'user',
    parts: [{ kind: 'text', text }],
    ...(taskId !== undefined && { taskId }),
  },
});

async function all(events: AsyncIterable<any>): Promise<any[]> {
  const list: any[] = [];
  for await (const event of events) list.push(event);
  return list;
}

const by0_2 = async (): Promise<Speak> => {
  const client = new A2AClient(server.url);
  return async (text, taskId) => told0_3(await all(client.sendMessageStream(message0_3(text, taskId))));
};

const by0_3 = (transports: (JsonRpc0_3 | Rest0_3)[], transport: string) => async (): Promise<Speak> => {
  const client = await new ClientFactory0_3({ transports, preferredTransports: [transport] }).createFromUrl(
    server.url,
  );
  return async (text, taskId) => told0_3(await all(client.sendMessageStream(message0_3(text, taskId))));
};

const by1_3 =
  (transports: (JsonRpcTransportFactory | RestTransportFactory)[], transport: string) =>
  async (): Promise<Speak> => {
    const client = await new ClientFactory({ transports, preferredTransports: [transport] }).createFromUrl(
      server.url,
    );
    const name = (state: TaskState): string =>
      TaskState[state].replace('TASK_STATE_', '').toLowerCase().replace('_', '-');
    return async (text, taskId = '') => {
      const payloads = await collect(
        client.sendMessageStream(say1_3(text, { taskId, role: Role.ROLE_USER })),
      );
      const words = payloads.flatMap(({ $case, value }) =>
        $case === 'statusUpdate'
          ? `${name(value.status.state)}: ${value.status.message?.parts[0].content.value}`
          : $case === 'artifactUpdate'
            ? `${value.artifact.artifactId}: ${value.artifact.parts[0].content.value}`
            : [],
      );
      return { words, taskId: payloads.find(({ $case }) => $case === 'task').value.id };
    };
  };

/**
 * There is no packaged client of 0.1, so its requests are written out. That version has no event for the task that a turn
 * starts with, so known content is sent again as events.
 */
const by0_1 = async (): Promise<Speak> => {
  const known = new Set<string>();
  return async (text, taskId = crypto.randomUUID()) => {
    const words = await wordsOf0_1(text, taskId);
    const news = words.filter((each) => !known.has(each));
    for (const each of words) known.add(each);
    return { words: news, taskId };
  };
};

async function wordsOf0_1(text: string, id: string): Promise<string[]> {
  const params = { id, message: { role: 'user', parts: [{ type: 'text', text }] } };
  const response = await fetch(server.url, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: crypto.randomUUID(), method: 'tasks/sendSubscribe', params }),
  });
  const results = (await readSseFrames(response)).map(({ data }) => data.result);
  return results.flatMap(({ status, artifact }) => {
    if (artifact) return `report: ${artifact.parts[0].text}`;
    return status.message ? `${status.state}: ${status.message.parts[0].text}` : [];
  });
}

/** Returns the texts of both turns and the origins of the responses in the journal. */
interface Source {
  readonly options: TestAgentOptions;
  readonly sayings: (id: string) => [string, string];
  readonly origins: (id: string) => [string, string];
}

const scriptFile = fileURLToPath(new URL('../fixtures/one-conversation.yaml', import.meta.url));
const sources: [string, Source][] = [
  [
    'directives',
    {
      options: { lenientVersion: false },
      sayings: (id) => [opening(id), `this one [test_case_id=${id}]`],
      origins: (id) => [`directive ${id}, turn 0`, `directive ${id}, turn 1`],
    },
  ],
  [
    'one script',
    {
      options: { scriptFile },
      sayings: (id) => [`find it for ${id}`, 'this one'],
      origins: () => [`rule asks (${scriptFile}:4)`, `rule finishes (${scriptFile}:11)`],
    },
  ],
];

describe.each(sources)('mock agent with %s clients', (_source, { options, sayings, origins }) => {
  beforeAll(async () => {
    server = await TestAgentServer.start(options);
  });
  afterAll(() => server.stop());

  it.each<[string, () => Promise<Speak>]>([
    ['raw 0.1', by0_1],
    ['the client of 0.2', by0_2],
    ['the client of 0.3 over JSON-RPC', by0_3([new JsonRpc0_3()], 'JSONRPC')],
    ['the client of 0.3 over REST', by0_3([new Rest0_3()], 'HTTP+JSON')],
    ['the client of 1.3 over JSON-RPC', by1_3([new JsonRpcTransportFactory()], 'JSONRPC')],
    ['the client of 1.3 over REST', by1_3([new RestTransportFactory()], 'HTTP+JSON')],
  ])('%s', async (who, open) => {
    const id = who.replaceAll(' ', '-');
    const speak = await open();
    const [opens, goesOn] = sayings(id);
    const first = await speak(opens);
    const second = await speak(goesOn, first.taskId);
    expect([first.words, second.words]).toEqual(conversation);
    expect(second.taskId).toBe(first.taskId);
    const captured = server.receivedMessages.filter(({ call }) => call?.taskId === first.taskId);
    expect(captured.map(({ origin }) => origin)).toEqual(origins(id));
  });
});
