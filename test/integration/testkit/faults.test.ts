import { beforeAll, describe, expect, it } from 'vitest';
import { connect } from '../../../src/client/connect.ts';
import { bearer } from '../../../src/client/credentials.ts';
import { createEndpointCache } from '../../../src/client/discovery/endpoint-cache.ts';
import type { ConnectOptions, ClientWarning } from '../../../src/client/connect-options.ts';
import type { Agent } from '../../../src/protocol/agent.ts';
import type { StreamEvent } from '../../../src/protocol/event.ts';
import { textOf } from '../../../src/protocol/part.ts';
import { VirtualClock } from '../../../src/testkit/clock/virtual-clock.ts';
import type { Fault } from '../../../src/testkit/faults/fault.ts';
import { artifactTexts, reasonOf, userRequest, expectTask } from '../../support/engine/conversation.ts';
import { type FaultyServer, startFaultyServer } from '../../support/testkit/faulty-server.ts';

/** An event in a word. */
function brief(event: StreamEvent): string {
  if (event.kind === 'task') return event.task.status.state;
  if (event.kind === 'status') return event.status.state;
  if (event.kind === 'message') return 'message';
  return `${event.append ? '+' : ''}${textOf(event.artifact.parts)}`;
}

/** Events of a stream without faults. */
const story = ['submitted', 'working', 'working', 'one', '+two', 'completed'];

/** Our client at a faulty server, by the clock of the server: waiting takes no time. */
function ours(server: FaultyServer, options: ConnectOptions = {}): Agent & { problems: ClientWarning[] } {
  const problems: ClientWarning[] = [];
  const { clock } = server;
  const agent = connect(server.url, {
    clock,
    random: () => 0.5,
    endpointCache: createEndpointCache(),
    limits: { frame: 100_000, body: 100_000 },
    onWarning: (problem) => problems.push(problem),
    ...options,
  });
  return Object.assign(agent, { problems });
}

/** Returns the events of a stream and its error. */
async function hear(agent: Agent): Promise<string[]> {
  const received: string[] = [];
  try {
    for await (const event of agent.stream(userRequest('go'))) received.push(brief(event));
  } catch (error) {
    received.push((error as { reason: string }).reason);
  }
  return received;
}

// Loaded before the test, because virtual time would advance while modules are loaded.
beforeAll(async () => {
  await using server = await startFaultyServer([], { clock: new VirtualClock() });
  const agent = ours(server);
  expect(await hear(agent)).toEqual(story);
  await agent.close?.();
});

const doors: [string, ConnectOptions][] = [
  ['1.0 over JSON-RPC', {}],
  ['1.0 over REST', { transports: ['HTTP+JSON'] }],
  ['0.3 over JSON-RPC', { versions: ['0.3'] }],
  ['0.1', { versions: ['0.1'] }],
];

/** A fault, the events of a stream under it, the warnings, and the response to a message. */
type Row = [Fault, string[], ClientWarning['kind'][], string];

/** Faults that interrupt a request before the first byte of its response. */
const unanswered: Fault[] = [
  { kind: 'disconnect', after: 0 },
  { kind: 'reset' },
  { kind: 'refuse', duration: 2_000 },
];

const done = 'completed onetwo';

const rows: Row[] = [
  [{ kind: 'http', status: 503, body: 'asleep' }, ['UNAVAILABLE'], [], 'UNAVAILABLE'],
  [
    { kind: 'http', status: 200, body: { odd: true } },
    ['INVALID_AGENT_RESPONSE'],
    [],
    'INVALID_AGENT_RESPONSE',
  ],
  [{ kind: 'unauthorized' }, ['UNAUTHENTICATED'], [], 'UNAUTHENTICATED'],
  [{ kind: 'rate-limit', retryAfter: 2 }, story, [], done],
  [{ kind: 'redirect', status: 307 }, ['INVALID_AGENT_RESPONSE'], [], 'INVALID_AGENT_RESPONSE'],
  [
    { kind: 'redirect', status: 302, location: '/' },
    ['INVALID_AGENT_RESPONSE'],
    [],
    'INVALID_AGENT_RESPONSE',
  ],
  [{ kind: 'delay', duration: 30_000 }, story, [], done],
  [{ kind: 'delay', duration: 600_000 }, ['TIMEOUT'], [], 'TIMEOUT'],
  [{ kind: 'content-type', type: 'text/html' }, ['INVALID_AGENT_RESPONSE'], [], done],
  [{ kind: 'bad-utf8', after: 3 }, story.with(3, '\uFFFD(one'), [], 'completed \uFFFD(onetwo'],
  [
    { kind: 'oversize', bytes: 1_000_000, after: 3 },
    [...story.slice(0, 3), 'INVALID_AGENT_RESPONSE'],
    [],
    'INVALID_AGENT_RESPONSE',
  ],
  [{ kind: 'half-frame', after: 4 }, story, ['resume'], 'INVALID_AGENT_RESPONSE'],
  [{ kind: 'disconnect', after: 4 }, story, ['resume'], 'UNAVAILABLE'],
  [{ kind: 'early-end' }, story, ['resume'], done],
  [{ kind: 'early-end', after: 3 }, story, ['resume'], done],
  [{ kind: 'stall', after: 4 }, story, ['resume'], 'TIMEOUT'],
  [{ kind: 'duplicate', event: 5 }, story, [], done],
  [{ kind: 'reorder', event: 4 }, story.with(3, '+two').with(4, 'one'), [], done],
  [{ kind: 'wrong-append' }, story.toSpliced(5, 0, '+chunk of an unknown artifact'), [], done],
  [{ kind: 'reset', after: 4 }, story, ['resume'], 'UNAVAILABLE'],
];

describe.each(doors)('Dragoman client with %s', (_door, options) => {
  // 0.1 has no list of tasks, so the task of an unanswered request cannot be found.
  const found = options.versions?.includes('0.1') ? 'UNAVAILABLE' : 'completed';

  it.each(unanswered)('streams the task of a request without response under %j', async (fault) => {
    await using server = await startFaultyServer([{ ...fault, times: 1 }]);
    const agent = ours(server, options);
    expect((await hear(agent)).at(-1)).toBe(found);
    // While the port is closed, the client also tries the other endpoints of the card.
    expect(agent.problems[0]?.kind).toBe('resume');
    await agent.close?.();
  });

  it.each(unanswered)('does not repeat a message without response under %j', async (fault) => {
    await using server = await startFaultyServer([{ ...fault, times: 1 }]);
    const agent = ours(server, options);
    expect(await reasonOf(agent.send(userRequest('go')))).toBe('UNAVAILABLE');
    expect(server.requests.filter((each) => each.startsWith('POST '))).toHaveLength(1);
    await agent.close?.();
  });

  it.each(unanswered)('repeats a request that the agent recognizes under %j', async (fault) => {
    await using server = await startFaultyServer([{ ...fault, times: 1 }], { recognizesRepeats: true });
    const agent = ours(server, { ...options, maxRetries: 10 });
    expect(textOf(expectTask(await agent.send(userRequest('go'))))).toBe('onetwo');
    server.faults = [{ ...fault, times: 1 }];
    expect((await hear(agent)).at(-1)).toBe('completed');
    if (!options.versions?.includes('0.1')) expect((await agent.listTasks({})).totalSize).toBe(2);
    await agent.close?.();
  });

  it.each(rows)('streams under %j', async (fault, expected, problems) => {
    await using server = await startFaultyServer([{ ...fault, times: 1 }]);
    const agent = ours(server, options);
    expect(await hear(agent)).toEqual(expected);
    expect(agent.problems.map(({ kind }) => kind)).toEqual(problems);
    await agent.close?.();
  });

  it.each(rows)('sends a message under %j', async (fault, _stream, _problems, expected) => {
    await using server = await startFaultyServer([{ ...fault, times: 1 }]);
    const agent = ours(server, options);
    const answer = await agent.send(userRequest('go')).then(
      (sent) => `${expectTask(sent).status.state} ${textOf(expectTask(sent))}`,
      (error: { reason: string }) => error.reason,
    );
    expect(answer).toBe(expected);
    await agent.close?.();
  });

  it('ignores events after the terminal state', async () => {
    await using server = await startFaultyServer([{ kind: 'after-terminal' }]);
    const agent = ours(server, options);
    expect((await hear(agent)).slice(0, 7)).toEqual([...story, 'working']);
    expect(agent.problems).toEqual([]);
    await agent.close?.();
  });

  it('waits while heartbeats arrive and stops when aborted', async () => {
    const clock = new VirtualClock();
    await using server = await startFaultyServer([{ kind: 'heartbeats', after: 3, every: 10_000 }], {
      clock,
    });
    const agent = ours(server, options);
    const leaving = new AbortController();
    const events = agent.stream(userRequest('go'), { signal: leaving.signal })[Symbol.asyncIterator]();
    for (const expected of story.slice(0, 3)) expect(brief((await events.next()).value)).toBe(expected);
    const waiting = reasonOf(events.next());
    await clock.advance(600_000);
    expect(agent.problems).toEqual([]);
    leaving.abort();
    expect(await waiting).toBe('CANCELED');
    await agent.close?.();
  });

  it('gives up a stream that repeatedly disconnects, with a hint', async () => {
    await using server = await startFaultyServer([{ kind: 'early-end' }]);
    const agent = ours(server, options);
    expect(await hear(agent)).toEqual([...story.slice(0, 5), 'UNAVAILABLE']);
    expect(agent.problems.map(({ kind }) => kind)).toEqual(Array(5).fill('resume'));
    await agent.close?.();
  });
});

it('requests a new token after a 401 response', async () => {
  await using server = await startFaultyServer([
    { kind: 'unauthorized', times: 1, challenge: 'Bearer realm="agent"' },
  ]);
  let tokens = 0;
  const agent = ours(server, { auth: bearer(async () => `token ${++tokens}`) });
  expect(await hear(agent)).toEqual(story);
  expect(tokens).toBeGreaterThan(1);
  expect(server.requests.filter((each) => each === 'POST /')).toHaveLength(2);
  await agent.close?.();
});

it('waits for Retry-After before it retries', async () => {
  await using server = await startFaultyServer([{ kind: 'rate-limit', retryAfter: 7, times: 2 }]);
  const began = server.clock.now();
  const agent = ours(server);
  expect(await hear(agent)).toEqual(story);
  expect(server.clock.now() - began).toBeGreaterThanOrEqual(14_000);
  await agent.close?.();
});

it('follows redirects within the origin', async () => {
  await using server = await startFaultyServer([{ kind: 'redirect', status: 307, location: '/', times: 2 }]);
  const agent = ours(server);
  expect(await hear(agent)).toEqual(story);
  expect(server.requests.filter((each) => each === 'POST /')).toHaveLength(3);
  await agent.close?.();
});

it('reconnects to an agent after an outage', async () => {
  await using server = await startFaultyServer([{ kind: 'refuse', duration: 500, times: 1 }]);
  const agent = ours(server);
  expect(await reasonOf(agent.send(userRequest('go')))).toBe('UNAVAILABLE');
  expect(server.outage.isActive).toBe(true);
  // No byte was sent, so the request may be retried until the port is open.
  expect(await hear(agent)).toEqual(story);
  await agent.close?.();
});

describe('card faults', () => {
  const onCard = (fault: Fault): Fault => ({ on: 'card', ...fault });

  it.each<[Fault, string[]]>([
    [{ kind: 'delay', duration: 20_000 }, story],
    [{ kind: 'delay', duration: 120_000 }, ['TIMEOUT']],
    [{ kind: 'http', status: 503 }, ['UNAVAILABLE']],
    [{ kind: 'http', status: 503, times: 2 }, story],
    [{ kind: 'http', status: 401 }, ['UNAUTHENTICATED']],
    [{ kind: 'redirect', status: 302 }, ['INVALID_AGENT_RESPONSE']],
    [{ kind: 'content-type', type: 'text/html' }, story],
    [{ kind: 'bad-utf8' }, story],
    [{ kind: 'oversize', bytes: 1_000_000 }, ['INVALID_AGENT_RESPONSE']],
    // Invalid content is not a card, and the client probes the versions of an agent without a card.
    [{ kind: 'half-frame' }, story],
    [{ kind: 'disconnect' }, ['UNAVAILABLE']],
    [{ kind: 'disconnect', times: 1 }, story],
    [{ kind: 'reset', times: 1 }, story],
    [{ kind: 'stall' }, ['TIMEOUT']],
    [{ kind: 'card', override: { supportedInterfaces: null } }, story],
  ])('%j', async (fault, expected) => {
    await using server = await startFaultyServer([onCard(fault)]);
    const agent = ours(server);
    expect(await hear(agent)).toEqual(expected);
    await agent.close?.();
  });

  it('override one field and keep the others', async () => {
    await using server = await startFaultyServer([
      {
        kind: 'card',
        on: 'card',
        override: {
          name: 'liar',
          description: null,
          provider: { organization: 'x', url: 'https://x.example' },
        },
      },
    ]);
    const agent = ours(server);
    const card = await agent.card();
    expect(card).toMatchObject({
      name: 'liar',
      provider: { organization: 'x' },
      capabilities: { streaming: true },
    });
    expect(card.description ?? '').toBe('');
    await agent.close?.();
  });

  it('declare a wrong interface, which the client detects', async () => {
    await using server = await startFaultyServer();
    const interfaces = [
      { url: `${server.url}/no/where/at/all`, protocolBinding: 'HTTP+JSON', protocolVersion: '1.0' },
      { url: server.url, protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
    ];
    server.faults = [{ kind: 'card', on: 'card', override: { supportedInterfaces: interfaces } }];
    const agent = ours(server);
    expect(await hear(agent)).toEqual(story);
    expect(agent.problems.map(({ kind }) => kind)).toEqual(['fallback']);
    await agent.close?.();
  });

  it('deny streaming, so that the client polls', async () => {
    const override = { capabilities: { streaming: false } };
    await using server = await startFaultyServer([{ kind: 'card', on: 'card', override }]);
    const agent = ours(server);
    expect((await hear(agent)).at(-1)).toBe('completed');
    expect((await agent.card()).capabilities.streaming).toBe(false);
    await agent.close?.();
  });
});

describe('seed', () => {
  const faults: Fault[] = [
    { kind: 'http', status: 503, probability: 0.3 },
    { kind: 'disconnect', after: 4, probability: 0.3 },
    { kind: 'delay', duration: { mean: 1_000, deviation: 300 } },
  ];

  async function run(seed: number): Promise<string[]> {
    const clock = new VirtualClock({ start: 0, auto: true });
    await using server = await startFaultyServer(faults, { seed, clock });
    const agent = ours(server);
    const received: string[] = [];
    for (let i = 0; i < 10; i++) received.push(`${(await hear(agent)).join()} at ${clock.now()}`);
    await agent.close?.();
    return received;
  }

  it('reproduces random delays to the millisecond', async () => {
    const first = await run(42);
    expect(await run(42)).toEqual(first);
    expect(await run(43)).not.toEqual(first);
    expect(first.some((received) => received.startsWith('UNAVAILABLE'))).toBe(true);
    expect(first.some((received) => received.startsWith(story.join()))).toBe(true);
  });
});

it('keeps concurrent conversations separate with a virtual clock', async () => {
  await using server = await startFaultyServer([{ kind: 'delay', duration: { min: 1_000, max: 600_000 } }]);
  const agent = ours(server, { timeouts: { idle: 0, send: 10_000_000 } });
  const began = server.clock.now();
  const answers = await Promise.all(Array.from({ length: 100 }, () => agent.send(userRequest('go'))));
  expect(new Set(answers.map((answer) => expectTask(answer).id)).size).toBe(100);
  for (const answer of answers) expect(artifactTexts(expectTask(answer))).toEqual(['onetwo']);
  expect(server.clock.now() - began).toBeGreaterThan(500_000);
  await agent.close?.();
});
