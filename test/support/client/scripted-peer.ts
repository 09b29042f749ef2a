import type { ServerResponse } from 'node:http';
import { afterEach } from 'vitest';
import {
  type ConnectOptions,
  connect,
  type ClientWarning,
  type RemoteAgent,
} from '../../../src/client/index.ts';
import type { StreamEvent } from '../../../src/protocol/event.ts';
import { textOf } from '../../../src/protocol/part.ts';
import { reduce } from '../../../src/protocol/reduce.ts';
import type { Task } from '../../../src/protocol/task.ts';
import { respondJson, type RawServerRequest, type RawServer, startRawServer } from '../http/raw-server.ts';
import { wireCardFixture, rpcErrorBody, isWireCard } from '../http/wire-fixtures-1_0.ts';

const say = { message: { messageId: 'm', role: 'user', parts: [{ text: 'hi' }] } } as const;
/** What is asked. */
export const request = { message: { ...say.message, parts: [...say.message.parts] } };

type Handlers = Partial<Record<string, (asked: RawServerRequest, response: ServerResponse) => void>>;

let server: RawServer | undefined;
let agent: RemoteAgent | undefined;
/** What the client told of since the last agent was opened. */
export const clientWarnings: ClientWarning[] = [];

/** An agent of 1.0 whose methods are written out in the test. */
export async function openScriptedPeer(
  handlers: Handlers,
  options: ConnectOptions = {},
  cardMore: object = {},
) {
  clientWarnings.length = 0;
  server = await startRawServer((asked, response, url) => {
    if (isWireCard(asked.path)) return respondJson(response, wireCardFixture(url, cardMore));
    const handle = handlers[asked.json?.method];
    if (handle) return handle(asked, response);
    respondJson(response, rpcErrorBody(asked.json?.id, -32601));
  });
  agent = connect(server.url, {
    random: () => 0,
    onWarning: (problem) => clientWarnings.push(problem),
    ...options,
  });
  return agent;
}

afterEach(async () => {
  await agent?.close();
  await server?.close();
});

/** The text of all artifacts that events tell of. */
export const artifactTextsOf = (events: StreamEvent[]) =>
  textOf((reduce(events) as Task).artifacts?.flatMap(({ parts }) => parts) ?? []);

/** What the agent was asked, by method. */
export const requestsByMethod = (method: string) =>
  server?.requests.filter(({ json }) => json?.method === method) ?? [];
