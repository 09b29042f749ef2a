/** Effects of each fault on the official clients. */
import {
  ClientFactory,
  DefaultAgentCardResolver,
  JsonRpcTransportFactory,
  RestTransportFactory,
} from 'sdk-1.3/client';
import {
  ClientFactory as ClientFactory0_3,
  DefaultAgentCardResolver as DefaultAgentCardResolver0_3,
  JsonRpcTransportFactory as JsonRpcTransportFactory0_3,
  RestTransportFactory as RestTransportFactory0_3,
} from 'sdk-0.3/client';
import { describe, expect, it } from 'vitest';
import { waitForIdle } from '../../../src/testkit/clock/wait-for-idle.ts';
import type { Fault } from '../../../src/testkit/faults/fault.ts';
import { say } from '../../interop/sdk-1.3-messages.ts';
import { type FaultyServer, startFaultyServer } from '../../support/testkit/faulty-server.ts';

interface Client {
  /** Reads a stream, each event in a word. */
  stream(): AsyncGenerator<string>;
}

/** The numbers that this client has for states. */
const states1_0 = ['unspecified', 'submitted', 'working', 'completed'];

const brief = (event: any, state: (value: any) => string): string => {
  if (event.artifact)
    return event.artifact.parts.map((part: any) => part.text ?? part.content.value).join('');
  return `${state(event.status.state)}${event.final ? '!' : ''}`;
};

async function client1_3(server: FaultyServer, factory: any, transport: string): Promise<Client> {
  const client: any = await new ClientFactory({
    transports: [new factory({ fetchImpl: fetch })],
    preferredTransports: [transport],
    cardResolver: new DefaultAgentCardResolver({ fetchImpl: fetch }),
  }).createFromUrl(server.url);
  return {
    async *stream() {
      for await (const { payload } of client.sendMessageStream(say('go')))
        yield brief(payload.value, (value) => states1_0[value] ?? '?');
    },
  };
}

async function client0_3(server: FaultyServer, factory: any, transport: string): Promise<Client> {
  const client: any = await new ClientFactory0_3({
    transports: [new factory({ fetchImpl: fetch })],
    preferredTransports: [transport],
    cardResolver: new DefaultAgentCardResolver0_3({ fetchImpl: fetch }),
  }).createFromUrl(server.url);
  const parts = [{ kind: 'text', text: 'go' }];
  return {
    async *stream() {
      const message = { kind: 'message', messageId: crypto.randomUUID(), role: 'user', parts };
      for await (const event of client.sendMessageStream({ message })) yield brief(event, String);
    },
  };
}

async function hear(client: Client): Promise<string[]> {
  const received: string[] = [];
  try {
    for await (const event of client.stream()) received.push(event);
  } catch (error) {
    received.push(`error: ${(error as Error).message}`);
  }
  return received;
}

const clients: [string, string, (server: FaultyServer) => Promise<Client>][] = [
  ['1.0 over JSON-RPC', 'completed', (server) => client1_3(server, JsonRpcTransportFactory, 'JSONRPC')],
  ['1.0 over REST', 'completed', (server) => client1_3(server, RestTransportFactory, 'HTTP+JSON')],
  ['0.3 over JSON-RPC', 'completed!', (server) => client0_3(server, JsonRpcTransportFactory0_3, 'JSONRPC')],
  ['0.3 over REST', 'completed!', (server) => client0_3(server, RestTransportFactory0_3, 'HTTP+JSON')],
];

describe.each(clients)('official client of %s under faults', (_name, end, make) => {
  const story = ['submitted', 'working', 'working', 'one', 'two', end];

  const cases: [Fault, (string | RegExp)[]][] = [
    [{ kind: 'http', status: 503, body: 'asleep' }, [/503/]],
    [{ kind: 'unauthorized' }, [/401/]],
    [{ kind: 'rate-limit', retryAfter: 2 }, [/429/]],
    [{ kind: 'redirect', status: 307 }, [/307/]],
    [{ kind: 'delay', duration: 600_000 }, story],
    [{ kind: 'content-type', type: 'text/html' }, [/Content-Type/]],
    [{ kind: 'bad-utf8', after: 3 }, story.with(3, '\uFFFD(one')],
    [{ kind: 'oversize', bytes: 1_000_000, after: 3 }, story],
    [{ kind: 'half-frame', after: 4 }, story.slice(0, 4)],
    [{ kind: 'disconnect', after: 4 }, [...story.slice(0, 4), /terminated/]],
    [{ kind: 'disconnect', after: 0 }, [/fetch failed/]],
    [{ kind: 'early-end' }, story.slice(0, 5)],
    [{ kind: 'early-end', after: 2 }, story.slice(0, 2)],
    [{ kind: 'duplicate', event: 5 }, story.toSpliced(5, 0, 'two')],
    [{ kind: 'reorder', event: 4 }, story.with(3, 'two').with(4, 'one')],
    [{ kind: 'wrong-append' }, story.toSpliced(5, 0, 'chunk of an unknown artifact')],
    [{ kind: 'reset' }, [/fetch failed/]],
    [{ kind: 'reset', after: 4 }, [...story.slice(0, 4), /terminated/]],
    [{ kind: 'refuse' }, [/fetch failed/]],
  ];

  it.each(cases)('fails under %j', async (fault, expected) => {
    await using server = await startFaultyServer();
    const client = await make(server);
    server.faults = [fault];
    const received = await hear(client);
    expect(received).toHaveLength(expected.length);
    for (const [i, each] of expected.entries()) expect(received[i]).toMatch(each);
    // The agent works again as soon as the fault is removed.
    server.faults = [];
    await server.outage.end();
    expect(await hear(client)).toEqual(story);
  });

  it('receives an event after the terminal state', async () => {
    await using server = await startFaultyServer();
    const client = await make(server);
    server.faults = [{ kind: 'after-terminal' }];
    expect((await hear(client)).slice(0, 7)).toEqual([...story, 'working']);
  });

  it.each<Fault>([
    { kind: 'stall', after: 3 },
    { kind: 'heartbeats', after: 3 },
  ])('waits without a timeout under %j', async (fault) => {
    await using server = await startFaultyServer();
    const client = await make(server);
    server.faults = [fault];
    const events = client.stream();
    for (const expected of story.slice(0, 3)) expect((await events.next()).value).toBe(expected);
    const next = events.next().then(
      () => 'heard',
      () => 'broken',
    );
    expect(await Promise.race([next, waitForIdle(100).then(() => 'waiting')])).toBe('waiting');
    server.server.closeAllConnections();
    expect(await next).toBe('broken');
  });

  it.each<[Fault, RegExp]>([
    [{ kind: 'http', status: 503 }, /503/],
    [{ kind: 'half-frame' }, /JSON/],
    [{ kind: 'reset' }, /fetch failed/],
    [{ kind: 'disconnect' }, /terminated/],
  ])('fails to load the card under %j', async (fault, complaint) => {
    await using server = await startFaultyServer([{ ...fault, on: 'card' }]);
    await expect(make(server)).rejects.toThrow(complaint);
  });

  it('accepts a delayed card', async () => {
    await using server = await startFaultyServer([{ kind: 'delay', duration: 600_000, on: 'card' }]);
    const began = server.clock.now();
    expect(await hear(await make(server))).toEqual(story);
    expect(server.clock.now() - began).toBeGreaterThanOrEqual(600_000);
  });
});
