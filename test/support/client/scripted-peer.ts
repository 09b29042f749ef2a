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
import type { SendRequest } from '../../../src/protocol/requests.ts';
import { reduce } from '../../../src/protocol/reduce.ts';
import type { Task } from '../../../src/protocol/task.ts';
import { respondJson, type RawServerRequest, type RawServer, startRawServer } from '../http/raw-server.ts';
import { wireCardFixture, rpcErrorBody, isWireCard } from '../http/wire-fixtures-1_0.ts';

/** The request that the tests send. */
export const request: SendRequest = { message: { messageId: 'm', role: 'user', parts: [{ text: 'hi' }] } };

type Handlers = Partial<Record<string, (received: RawServerRequest, response: ServerResponse) => void>>;

let server: RawServer | undefined;
let agent: RemoteAgent | undefined;
/** Warnings of the client since the last agent was opened. */
export const clientWarnings: ClientWarning[] = [];

/** Starts a 1.0 agent with a handler per method and connects a client to it. */
export async function openScriptedPeer(
  handlers: Handlers,
  options: ConnectOptions = {},
  cardMore: object = {},
) {
  clientWarnings.length = 0;
  server = await startRawServer((received, response, url) => {
    if (isWireCard(received.path)) return respondJson(response, wireCardFixture(url, cardMore));
    const handle = handlers[received.json?.method];
    if (handle) return handle(received, response);
    respondJson(response, rpcErrorBody(received.json?.id, -32601));
  });
  agent = connect(server.url, {
    random: () => 0,
    onWarning: (warning) => clientWarnings.push(warning),
    ...options,
  });
  return agent;
}

afterEach(async () => {
  await agent?.close();
  await server?.close();
});

/** Returns the text of all artifacts in a stream of events. */
export const artifactTextsOf = (events: StreamEvent[]) =>
  textOf((reduce(events) as Task).artifacts?.flatMap(({ parts }) => parts) ?? []);

/** Returns the received requests of one method. */
export const requestsByMethod = (method: string) =>
  server?.requests.filter(({ json }) => json?.method === method) ?? [];
