/** The mock agent over gRPC, with the official clients and our own: script, journal, faults, interception. */
import { ClientFactory as ClientFactory1_3 } from 'sdk-1.3/client';
import { GrpcTransportFactory as Grpc1_3 } from 'sdk-1.3/client/grpc';
import { ClientFactory as ClientFactory0_3 } from 'sdk-0.3/client';
import { GrpcTransportFactory as Grpc0_3 } from 'sdk-0.3/client/grpc';
import { beforeAll, describe, expect, it } from 'vitest';
import { connect } from '../../src/client/connect.ts';
import type { ClientWarning } from '../../src/client/connect-options.ts';
import { createEndpointCache } from '../../src/client/discovery/endpoint-cache.ts';
import { textOf } from '../../src/protocol/part.ts';
import type { Task } from '../../src/protocol/task.ts';
import { VirtualClock } from '../../src/testkit/clock/virtual-clock.ts';
import type { Fault } from '../../src/testkit/faults/fault.ts';
import { TestAgentServer } from '../../src/testkit/test-agent-server.ts';
import type { TestAgentOptions } from '../../src/testkit/test-agent-options.ts';
import { closeAfterEach } from '../support/close-after-each.ts';
import { collectStream } from '../support/collect-stream.ts';
import { collect, say } from './sdk-1.3-messages.ts';

const open = closeAfterEach();

const script = `
rules:
  - when: { transport: GRPC, text: hello }
    then: [{ say: one }, { artifact: { id: a, text: two } }, { complete: three }]
  - then: [{ complete: other }]
`;

async function start(options: TestAgentOptions = {}): Promise<TestAgentServer> {
  const server = await TestAgentServer.start({ script, ...options });
  open.push({ close: () => server.stop() });
  return server;
}

const official1_3 = ({ url }: TestAgentServer) =>
  new ClientFactory1_3({ transports: [new Grpc1_3()], preferredTransports: ['GRPC'] }).createFromUrl(url);

/** Returns the name of the status with which a call of the official client fails. */
async function failureOf(call: Promise<unknown>): Promise<string> {
  const error = (await call.then(
    () => new Error('succeeded'),
    (thrown: unknown) => thrown,
  )) as Error & { code?: number };
  return `${error.code ?? error.name}: ${error.message}`;
}

describe('mock over gRPC', () => {
  it('plays its script to the official 1.0 client and records calls', async () => {
    const server = await start();
    const client = await official1_3(server);
    const events = await collect(client.sendMessageStream(say('hello')));
    expect(events.map(({ $case }) => $case)).toEqual([
      'task',
      'statusUpdate',
      'artifactUpdate',
      'statusUpdate',
    ]);
    const [entry] = await server.waitFor({ operation: 'stream' }, { completed: true });
    expect(entry).toMatchObject({
      request: {
        path: '/lf.a2a.v1.A2AService/SendStreamingMessage',
        headers: { 'a2a-version': '1.0' },
        json: { message: { parts: [{ text: 'hello' }] } },
      },
      call: { operation: 'stream', version: '1.0', transport: 'GRPC' },
      response: {
        status: 200,
        headers: { 'grpc-status': '0' },
        frames: [{ task: {} }, { statusUpdate: {} }, { artifactUpdate: {} }, { statusUpdate: {} }],
        end: 'finished',
      },
    });
    const task: any = await client.sendMessage(say('hello'));
    expect(server.canceledTaskIds).toEqual([]);
    expect(await failureOf(client.cancelTask({ tenant: '', id: task.id, metadata: undefined }))).toContain(
      'TaskNotCancelable',
    );
    expect(server.canceledTaskIds).toEqual([task.id]);
    const last = await server.waitFor({ operation: 'cancelTask' }, { completed: true });
    expect(last[0]?.response?.headers['grpc-status']).toBe('9');
  });

  it('plays its script to the official 0.3 client', async () => {
    const server = await start();
    const client = await new ClientFactory0_3({
      transports: [new Grpc0_3()],
      preferredTransports: ['GRPC'],
    }).createFromUrl(server.url);
    const message = {
      kind: 'message',
      messageId: 'm',
      role: 'user',
      parts: [{ kind: 'text', text: 'hello' }],
    };
    expect(await client.sendMessage({ message } as never)).toMatchObject({
      kind: 'task',
      status: { state: 'completed' },
    });
    expect(server.lastRequest?.path).toBe('/a2a.v1.A2AService/SendMessage');
    expect(server.receivedMessages[0]?.call).toMatchObject({ version: '0.3', transport: 'GRPC' });
  });

  it('requires credentials, and answers with injected HTTP errors', async () => {
    const server = await start();
    const client = await official1_3(server);
    server.requireAuth({ expectedValue: 'secret' });
    expect(await failureOf(client.sendMessage(say('hello')))).toMatch(/: 16 /);
    server.clearAuthValidation();
    server.injectHttpError({ status: 503, body: 'asleep' });
    expect(await failureOf(client.sendMessage(say('hello')))).toMatch(/: 14 /);
    expect(await client.sendMessage(say('hello'))).toMatchObject({ id: expect.any(String) });
    expect(server.journal.entries().map(({ responseOrigin }) => responseOrigin)).toEqual([
      'agent',
      'auth-validation',
      'http-error',
      'agent',
    ]);
    expect(server.journal.entries()[2]?.response).toMatchObject({ status: 503, body: 'asleep' });
  });

  it('is turned off with `grpc: false`', async () => {
    const server = await start({ grpc: false });
    const card = (await (await fetch(server.cardUrl)).json()) as { supportedInterfaces: any[] };
    expect(card.supportedInterfaces.map(({ protocolBinding }) => protocolBinding)).not.toContain('GRPC');
    const agent = connect(`grpc://127.0.0.1:${server.port}`, { maxRetries: 0 });
    open.push({ close: () => agent.close() });
    await expect(agent.send('hello')).rejects.toMatchObject({ reason: 'UNAVAILABLE' });
  });

  const story = ['submitted', 'working one', 'two', 'completed three'];
  const done = 'completed';

  /** A fault, what our client streams, its warnings, and what it returns for a message. */
  const rows: [Fault, string[], ClientWarning['kind'][], string][] = [
    [{ kind: 'http', status: 503 }, ['UNAVAILABLE'], [], 'UNAVAILABLE'],
    [{ kind: 'unauthorized' }, ['UNAUTHENTICATED'], [], 'UNAUTHENTICATED'],
    [{ kind: 'rate-limit', retryAfter: 2 }, story, [], done],
    [{ kind: 'delay', duration: 5_000 }, story, [], done],
    [{ kind: 'content-type', type: 'text/html' }, ['INVALID_AGENT_RESPONSE'], [], 'INVALID_AGENT_RESPONSE'],
    [{ kind: 'bad-utf8', after: 2 }, story.toSpliced(2, 1), ['frame'], 'INVALID_AGENT_RESPONSE'],
    [
      { kind: 'oversize', bytes: 200_000, after: 2 },
      [...story.slice(0, 2), 'INVALID_AGENT_RESPONSE'],
      [],
      'INVALID_AGENT_RESPONSE',
    ],
    [{ kind: 'oversize', bytes: 50_000, after: 2 }, story, [], done],
    [
      { kind: 'half-frame', after: 2 },
      [...story.slice(0, 2), 'INVALID_AGENT_RESPONSE'],
      [],
      'INVALID_AGENT_RESPONSE',
    ],
    [{ kind: 'disconnect', after: 2 }, story, ['resume'], 'UNAVAILABLE'],
    [{ kind: 'reset', after: 2 }, story, ['resume'], 'UNAVAILABLE'],
    [{ kind: 'early-end' }, story, ['resume'], done],
    [{ kind: 'duplicate', event: 3 }, story.toSpliced(2, 0, 'two'), [], done],
    [{ kind: 'redirect', status: 307 }, ['INTERNAL_ERROR'], [], 'INTERNAL_ERROR'],
    [{ kind: 'heartbeats' }, ['INTERNAL_ERROR'], [], 'INTERNAL_ERROR'],
  ];

  async function ours(fault: Fault) {
    const clock = new VirtualClock({ auto: true });
    const server = await start({ clock });
    const warnings: ClientWarning[] = [];
    const agent = connect(server.url, {
      clock,
      transports: ['GRPC'],
      random: () => 0.5,
      limits: { body: 100_000, frame: 100_000 },
      endpointCache: createEndpointCache(),
      onWarning: (warning) => warnings.push(warning),
    });
    open.push({ close: () => agent.close() });
    await agent.card();
    server.injectFaults([{ ...fault, times: 1 }]);
    return { server, agent, warnings };
  }

  // Modules are loaded before, because virtual time would advance meanwhile.
  beforeAll(async () => {
    await using server = await TestAgentServer.start({ script });
    const agent = connect(server.url, { transports: ['GRPC'] });
    await collectStream(agent.stream('hello'));
    await agent.close();
  });

  it.each(rows)('streams under %j', async (fault, expected, kinds) => {
    const { agent, warnings, server } = await ours(fault);
    const received: string[] = [];
    try {
      for await (const event of agent.stream('hello')) {
        if (event.kind === 'task') received.push(event.task.status.state);
        else if (event.kind === 'artifact') received.push(textOf(event.artifact.parts));
        else if (event.kind === 'status')
          received.push(`${event.status.state} ${textOf(event.status.message?.parts ?? [])}`);
      }
    } catch (error) {
      received.push((error as { reason: string }).reason);
    }
    expect(received).toEqual(expected);
    expect(warnings.map(({ kind }) => kind)).toEqual(kinds);
    const [entry] = await server.waitFor({ operation: 'stream' }, { completed: true });
    const isInterrupted = fault.kind === 'disconnect' || fault.kind === 'reset';
    if (isInterrupted) expect(entry?.response?.end).toBe('aborted');
  });

  it.each(rows)('sends a message under %j', async (fault, _events, _kinds, expected) => {
    const { agent } = await ours(fault);
    const answer = await agent.send('hello').then(
      (task) => (task as Task).status.state,
      (error: { reason: string }) => error.reason,
    );
    expect(answer).toBe(expected);
  });

  it.each<[Fault, RegExp]>([
    [{ kind: 'unauthorized' }, /: 16 /],
    [{ kind: 'http', status: 503 }, /: 14 /],
    [{ kind: 'reset' }, /: 13 .*RST_STREAM/],
    [{ kind: 'half-frame' }, /: 12 No message/],
    [{ kind: 'redirect', status: 307 }, /The fault "redirect" does not exist over gRPC/],
  ])('fails at the official client under %j', async (fault, expected) => {
    const server = await start();
    const client = await official1_3(server);
    server.injectFaults([fault]);
    expect(await failureOf(client.sendMessage(say('hello')))).toMatch(expected);
  });

  it('refuses connections during an outage, and accepts them afterwards', async () => {
    const { agent, server } = await ours({ kind: 'refuse', duration: 500 });
    await expect(agent.send('hello')).rejects.toMatchObject({ reason: 'UNAVAILABLE' });
    expect(await agent.send('hello')).toMatchObject({ status: { state: 'completed' } });
    expect(server.journal.entries({ operation: 'send' }).map(({ response }) => response?.end)).toEqual([
      'aborted',
      'finished',
    ]);
  });
});
