import { describe, expect, it } from 'vitest';
import { connect } from '../../src/client/index.ts';
import { idempotencyExtension } from '../../src/protocol/card.ts';
import type { StreamEvent } from '../../src/protocol/event.ts';
import { collectStream } from '../support/collect-stream.ts';
import { ManualClock } from '../support/clocks/manual-clock.ts';
import { respondJson, startEventStream, startRawServer } from '../support/http/raw-server.ts';
import {
  artifactUpdateFixture,
  wireCardFixture,
  rpcErrorBody,
  isWireCard,
  rpcResult,
  statusUpdateFixture,
  wireTaskFixture,
} from '../support/http/wire-fixtures-1_0.ts';
import {
  requestsByMethod,
  openScriptedPeer,
  clientWarnings,
  request,
  artifactTextsOf,
} from '../support/client/scripted-peer.ts';
import { closeAfterEach } from '../support/close-after-each.ts';

describe('stream resume', () => {
  it('continues after Last-Event-ID without loss and duplicates', async () => {
    const all = [
      { task: wireTaskFixture('working') },
      artifactUpdateFixture('a', false),
      artifactUpdateFixture('b'),
      artifactUpdateFixture('b'),
      artifactUpdateFixture('c'),
      statusUpdateFixture('completed'),
    ];
    const remote = await openScriptedPeer({
      SendStreamingMessage({ json: { id } }, response) {
        const stream = startEventStream(response);
        for (let n = 0; n < 3; n++) stream.event(rpcResult(id, all[n]), n + 1);
        stream.reset();
      },
      SubscribeToTask({ json: { id }, headers }, response) {
        const stream = startEventStream(response);
        // One more than needed, as a careful agent may do.
        for (let n = Number(headers['last-event-id']) - 1; n < all.length; n++)
          stream.event(rpcResult(id, all[n]), n + 1);
        stream.end();
      },
    });
    const events = await collectStream(remote.stream(request));
    expect(events.map(({ sequence }) => sequence)).toEqual([1, 2, 3, 4, 5, 6]);
    expect(artifactTextsOf(events)).toBe('abbc');
    expect(requestsByMethod('SubscribeToTask')[0]?.headers['last-event-id']).toBe('3');
    expect(clientWarnings.map(({ kind }) => kind)).toEqual(['resume']);
  });

  it('continues with the difference to the snapshot if the agent sends no ids', async () => {
    const remote = await openScriptedPeer({
      SendStreamingMessage({ json: { id } }, response) {
        const stream = startEventStream(response);
        stream.event(rpcResult(id, { task: wireTaskFixture('submitted') }));
        stream.event(rpcResult(id, statusUpdateFixture('working')));
        stream.event(rpcResult(id, artifactUpdateFixture('a', false)));
        stream.reset();
      },
      SubscribeToTask({ json: { id } }, response) {
        const stream = startEventStream(response);
        stream.event(rpcResult(id, { task: wireTaskFixture('working', ['a', 'b', 'c']) }));
        stream.event(rpcResult(id, artifactUpdateFixture('c')));
        stream.event(rpcResult(id, statusUpdateFixture('completed')));
        stream.end();
      },
    });
    const events = await collectStream(remote.stream(request));
    expect(events.map(({ kind }) => kind)).toEqual([
      'task',
      'status',
      'artifact',
      'artifact',
      'artifact',
      'status',
    ]);
    expect(artifactTextsOf(events)).toBe('abcc');
    expect(events.every(({ sequence }) => sequence === undefined)).toBe(true);
  });

  it('accepts timestamps as event ids', async () => {
    const remote = await openScriptedPeer({
      SendStreamingMessage({ json: { id } }, response) {
        const stream = startEventStream(response);
        const now = Date.now();
        stream.event(rpcResult(id, { task: wireTaskFixture('working') }), now);
        stream.event(rpcResult(id, artifactUpdateFixture('a', false)), now);
        stream.event(rpcResult(id, artifactUpdateFixture('b')), now);
        stream.event(rpcResult(id, statusUpdateFixture('completed')), now);
        stream.end();
      },
    });
    const events = await collectStream(remote.stream(request));
    expect(artifactTextsOf(events)).toBe('ab');
    expect(events.at(-1)).toMatchObject({ kind: 'status', status: { state: 'completed' } });
  });

  it('loses no events if the ids do not increase', async () => {
    const remote = await openScriptedPeer({
      SendStreamingMessage({ json: { id } }, response) {
        const stream = startEventStream(response);
        stream.event(rpcResult(id, { task: wireTaskFixture('working') }), 7);
        stream.event(rpcResult(id, artifactUpdateFixture('a', false)), 7);
        stream.event(rpcResult(id, statusUpdateFixture('completed')), 7);
        stream.end();
      },
    });
    expect(artifactTextsOf(await collectStream(remote.stream(request)))).toBe('a');
  });

  it('fetches the task if it ended meanwhile', async () => {
    const remote = await openScriptedPeer({
      SendStreamingMessage({ json: { id } }, response) {
        const stream = startEventStream(response);
        stream.event(rpcResult(id, { task: wireTaskFixture('working', ['a']) }));
        stream.end();
      },
      SubscribeToTask: ({ json: { id } }, response) =>
        respondJson(response, rpcErrorBody(id, -32004, 'It is over')),
      GetTask: ({ json: { id } }, response) =>
        respondJson(response, rpcResult(id, wireTaskFixture('completed', ['a', 'b']))),
    });
    const events = await collectStream(remote.stream(request));
    expect(events.map(({ kind }) => kind)).toEqual(['task', 'artifact', 'status']);
    expect(artifactTextsOf(events)).toBe('ab');
  });

  it('polls the task if the agent does not support subscribe', async () => {
    const clock = new ManualClock();
    const pictures = [
      wireTaskFixture('working'),
      wireTaskFixture('working', ['a']),
      wireTaskFixture('completed', ['a', 'b']),
    ];
    const remote = await openScriptedPeer(
      {
        SendStreamingMessage({ json: { id } }, response) {
          const stream = startEventStream(response);
          stream.event(rpcResult(id, { task: wireTaskFixture('working') }));
          stream.end();
        },
        GetTask: ({ json: { id } }, response) => respondJson(response, rpcResult(id, pictures.shift())),
      },
      { clock },
    );
    void clock.waitForDelay((delay) => delay === 0).then(() => clock.advance(0));
    const events: StreamEvent[] = [];
    const polled = clock.waitForDelay((delay) => delay === 50);
    const following = (async () => {
      for await (const event of remote.stream(request)) events.push(event);
    })();
    await polled;
    const again = clock.waitForDelay((delay) => delay === 100);
    clock.advance(50);
    await again;
    clock.advance(100);
    await following;
    expect(artifactTextsOf(events)).toBe('ab');
    expect(clientWarnings.map(({ kind }) => kind)).toEqual(['resume', 'poll']);
  });

  it('gives up after several attempts without progress', async () => {
    const remote = await openScriptedPeer(
      {
        SendStreamingMessage({ json: { id } }, response) {
          const stream = startEventStream(response);
          stream.event(rpcResult(id, { task: wireTaskFixture('working') }));
          stream.reset();
        },
        SubscribeToTask({ json: { id } }, response) {
          const stream = startEventStream(response);
          stream.event(rpcResult(id, { task: wireTaskFixture('working') }));
          stream.reset();
        },
      },
      { maxResumes: 3 },
    );
    await expect(collectStream(remote.stream(request))).rejects.toMatchObject({ reason: 'UNAVAILABLE' });
    expect(requestsByMethod('SubscribeToTask')).toHaveLength(3);
  });

  it('rejects without resending if the stream breaks before the first task event', async () => {
    const remote = await openScriptedPeer({ SendStreamingMessage: (_asked, response) => response.destroy() });
    await expect(collectStream(remote.stream(request))).rejects.toMatchObject({ reason: 'UNAVAILABLE' });
    expect(requestsByMethod('SendStreamingMessage')).toHaveLength(1);
  });

  it('sends the request again with its key if the agent recognizes repetitions', async () => {
    let attempts = 0;
    const remote = await openScriptedPeer(
      {
        SendStreamingMessage({ json: { id } }, response) {
          attempts++;
          if (attempts === 1) return response.destroy();
          const stream = startEventStream(response);
          if (attempts === 2) return stream.reset();
          stream.event(rpcResult(id, { task: wireTaskFixture('completed') }), 1);
          stream.end();
        },
        SendMessage({ json: { id } }, response) {
          attempts++;
          if (attempts < 6) return response.destroy();
          respondJson(response, rpcResult(id, { task: wireTaskFixture('completed') }));
        },
      },
      {},
      { capabilities: { streaming: true, extensions: [{ uri: idempotencyExtension }] } },
    );
    const keysOf = (method: string) =>
      requestsByMethod(method).map(({ headers }) => headers['idempotency-key']);
    expect(await collectStream(remote.stream(request))).toHaveLength(1);
    const streamKeys = keysOf('SendStreamingMessage');
    expect(streamKeys).toEqual([streamKeys[0], streamKeys[0], streamKeys[0]]);
    await remote.send(request);
    const sendKeys = keysOf('SendMessage');
    expect(sendKeys).toEqual([sendKeys[0], sendKeys[0], sendKeys[0]]);
    // Each call has its own key, so that the agent does not take a new message for a repetition.
    expect(new Set([...streamKeys, ...sendKeys]).size).toBe(2);
    expect(sendKeys[0]).toMatch(/^"[0-9a-f-]{36}"$/);
  });

  it('reconnects after the idle timeout, which heartbeats reset', async () => {
    const clock = new ManualClock();
    let live: ReturnType<typeof startEventStream> | undefined;
    const remote = await openScriptedPeer(
      {
        SendStreamingMessage({ json: { id } }, response) {
          live = startEventStream(response);
          live.event(rpcResult(id, { task: wireTaskFixture('working') }));
        },
        SubscribeToTask({ json: { id } }, response) {
          const stream = startEventStream(response);
          stream.event(rpcResult(id, { task: wireTaskFixture('completed') }));
          stream.end();
        },
      },
      { clock, timeouts: { idle: 1000 } },
    );
    const events = remote.stream(request)[Symbol.asyncIterator]();
    expect((await events.next()).value).toMatchObject({ kind: 'task' });
    clock.advance(900);
    // The event after the comment proves that the comment has arrived.
    live?.write(': alive\n\n');
    live?.event(rpcResult(1, artifactUpdateFixture('a', false)));
    expect((await events.next()).value).toMatchObject({ kind: 'artifact' });
    const next = events.next();
    clock.advance(900);
    expect(requestsByMethod('SubscribeToTask')).toHaveLength(0);
    void clock.waitForDelay((delay) => delay === 0).then(() => clock.advance(0));
    clock.advance(200);
    expect((await next).value).toMatchObject({ kind: 'status', status: { state: 'completed' } });
    expect((await events.next()).done).toBe(true);
    expect(clientWarnings[0]?.error.reason).toBe('TIMEOUT');
  });

  it.each(['input-required', 'auth-required'])(
    'does not resume a stream that closes in state %s',
    async (state) => {
      const remote = await openScriptedPeer({
        SendStreamingMessage({ json: { id } }, response) {
          const stream = startEventStream(response);
          stream.event(rpcResult(id, { task: wireTaskFixture('working') }));
          stream.event(rpcResult(id, statusUpdateFixture(state)));
          stream.end();
        },
      });
      expect((await collectStream(remote.stream(request))).at(-1)).toMatchObject({ status: { state } });
      expect(clientWarnings).toEqual([]);
    },
  );
});

describe('0.3 stream resume', () => {
  const opened = closeAfterEach();
  const old = (state: string) => ({ taskId: 't1', contextId: 'c1', status: { state } });
  const chunk = (text: string, append = true) => ({
    kind: 'artifact-update',
    taskId: 't1',
    contextId: 'c1',
    append,
    artifact: { artifactId: 'a', parts: [{ kind: 'text', text }] },
  });
  const whole = (state: string, ...texts: string[]) => ({
    kind: 'task',
    id: 't1',
    contextId: 'c1',
    status: { state },
    artifacts: [{ artifactId: 'a', parts: texts.map((text) => ({ kind: 'text', text })) }],
  });
  const oldCard = {
    supportedInterfaces: undefined,
    protocolVersion: '0.3.0',
    preferredTransport: 'JSONRPC',
  };

  it.each([
    ['before', ['a', 'b']],
    ['after', ['a', 'b', 'c']],
  ])(
    'fetches the task when the server resumes after the missed event (%s that event happened)',
    async (_when, texts) => {
      const server = await startRawServer((received, response, url) => {
        if (isWireCard(received.path))
          return respondJson(response, { ...wireCardFixture(url), ...oldCard, url: `${url}/rpc` });
        const { id, method } = received.json;
        if (method === 'tasks/get') return respondJson(response, rpcResult(id, whole('working', ...texts)));
        const stream = startEventStream(response);
        if (method === 'message/stream') {
          stream.event(rpcResult(id, { ...whole('working'), artifacts: [] }));
          stream.event(rpcResult(id, chunk('a', false)));
          return stream.reset();
        }
        stream.event(rpcResult(id, chunk('c')));
        stream.event(rpcResult(id, { kind: 'status-update', ...old('completed'), final: true }));
        stream.end();
      });
      const agent = connect(server.url, { random: () => 0 });
      opened.push(server, agent);
      const events = await collectStream(agent.stream(request));
      expect(artifactTextsOf(events)).toBe('abc');
      expect(events.at(-1)).toMatchObject({ kind: 'status', status: { state: 'completed' } });
    },
  );
});
