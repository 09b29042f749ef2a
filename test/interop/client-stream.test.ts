import { describe, expect, it } from 'vitest';
import { collectStream } from '../support/collect-stream.ts';
import { ManualClock } from '../support/clocks/manual-clock.ts';
import { respondJson, startEventStream } from '../support/http/raw-server.ts';
import {
  artifactUpdateFixture,
  rpcErrorBody,
  rpcResult,
  statusFixture,
  statusUpdateFixture,
  wireTaskFixture,
} from '../support/http/wire-fixtures-1_0.ts';
import {
  requestsByMethod,
  openScriptedPeer,
  clientWarnings,
  request,
} from '../support/client/scripted-peer.ts';

describe('client stream', () => {
  it('accepts events with the id of another request', async () => {
    const remote = await openScriptedPeer({
      SendStreamingMessage(_asked, response) {
        const stream = startEventStream(response);
        stream.event(rpcResult('somebody else', { task: wireTaskFixture('completed') }));
        stream.end();
      },
    });
    expect(await collectStream(remote.stream(request))).toMatchObject([{ kind: 'task' }]);
  });

  it('rejects an event above the size limit', async () => {
    const remote = await openScriptedPeer(
      {
        SendStreamingMessage({ json: { id } }, response) {
          startEventStream(response).event(
            rpcResult(id, { task: wireTaskFixture('working', ['x'.repeat(5000)]) }),
          );
        },
      },
      { limits: { frame: 1000 } },
    );
    await expect(collectStream(remote.stream(request))).rejects.toMatchObject({
      reason: 'INVALID_AGENT_RESPONSE',
      hint: expect.stringContaining('limits.frame'),
    });
  });

  it('skips a malformed frame and reports it', async () => {
    const remote = await openScriptedPeer({
      SendStreamingMessage({ json: { id } }, response) {
        const stream = startEventStream(response);
        stream.event(rpcResult(id, { task: wireTaskFixture('working') }));
        stream.write('data: {nonsense\n\n');
        stream.event(rpcResult(id, { statusUpdate: { taskId: 't1' } }));
        stream.event(rpcResult(id, statusUpdateFixture('completed')));
        stream.end();
      },
    });
    expect((await collectStream(remote.stream(request))).map(({ kind }) => kind)).toEqual(['task', 'status']);
    expect(clientWarnings.map(({ kind }) => kind)).toEqual(['frame', 'frame']);
  });

  it('ends with the error that the agent sends', async () => {
    const remote = await openScriptedPeer({
      SendStreamingMessage({ json: { id } }, response) {
        const stream = startEventStream(response);
        stream.event(rpcResult(id, { task: wireTaskFixture('working') }));
        stream.event(rpcErrorBody(id, -32603, 'Out of memory'));
        stream.end();
      },
    });
    await expect(collectStream(remote.stream(request))).rejects.toMatchObject({
      reason: 'INTERNAL_ERROR',
      message: 'Out of memory',
    });
    expect(requestsByMethod('SubscribeToTask')).toHaveLength(0);
  });

  it('closes the connection when the subscriber stops while waiting', async () => {
    let closed: Promise<void> | undefined;
    const remote = await openScriptedPeer({
      SendStreamingMessage({ json: { id } }, response) {
        closed = new Promise((resolve) => response.on('close', resolve));
        startEventStream(response).event(rpcResult(id, { task: wireTaskFixture('working') }));
      },
    });
    const events = remote.stream(request)[Symbol.asyncIterator]();
    await events.next();
    const waiting = events.next();
    await events.return?.();
    expect(await waiting).toEqual({ done: true, value: undefined });
    await closed;
  });

  it('closes the connection when the caller aborts', async () => {
    let closed: Promise<void> | undefined;
    const remote = await openScriptedPeer({
      SendStreamingMessage({ json: { id } }, response) {
        closed = new Promise((resolve) => response.on('close', resolve));
        startEventStream(response).event(rpcResult(id, { task: wireTaskFixture('working') }));
      },
    });
    const stop = new AbortController();
    const events = remote.stream(request, { signal: stop.signal })[Symbol.asyncIterator]();
    await events.next();
    const waiting = events.next();
    stop.abort();
    await expect(waiting).rejects.toMatchObject({ reason: 'CANCELED' });
    await closed;
  });

  it('closes the connection if the agent keeps it open after the terminal state', async () => {
    const clock = new ManualClock();
    const remote = await openScriptedPeer(
      {
        SendStreamingMessage({ json: { id } }, response) {
          startEventStream(response).event(rpcResult(id, { task: wireTaskFixture('completed') }));
        },
      },
      { clock },
    );
    const waiting = clock.waitForDelay((delay) => delay === 2000);
    const events = collectStream(remote.stream(request));
    await waiting;
    clock.advance(2000);
    expect(await events).toMatchObject([{ kind: 'task' }]);
    expect(clock.pending).toBe(0);
  });

  it('polls if the card declares no streaming', async () => {
    const clock = new ManualClock();
    const remote = await openScriptedPeer(
      {
        SendMessage: ({ json: { id } }, response) =>
          respondJson(response, rpcResult(id, { task: wireTaskFixture('working') })),
        GetTask: ({ json: { id } }, response) =>
          respondJson(response, rpcResult(id, wireTaskFixture('completed', ['a']))),
      },
      { clock },
      { capabilities: { streaming: false } },
    );
    const waiting = clock.waitForDelay((delay) => delay === 50);
    const events = collectStream(remote.stream(request));
    await waiting;
    clock.advance(50);
    expect((await events).map(({ kind }) => kind)).toEqual(['task', 'artifact', 'status']);
    expect(requestsByMethod('SendMessage')[0]?.json.params.configuration).toEqual({
      returnImmediately: true,
    });
    expect(requestsByMethod('SendStreamingMessage')).toHaveLength(0);
  });

  it('falls back to send if the agent rejects streaming', async () => {
    const remote = await openScriptedPeer({
      SendStreamingMessage: ({ json: { id } }, response) => respondJson(response, rpcErrorBody(id, -32004)),
      SendMessage: ({ json: { id } }, response) =>
        respondJson(response, rpcResult(id, { task: wireTaskFixture('completed') })),
    });
    expect(await collectStream(remote.stream(request))).toMatchObject([{ kind: 'task' }]);
  });

  it('accepts a plain response as its only event', async () => {
    const remote = await openScriptedPeer({
      SendStreamingMessage: ({ json: { id } }, response) =>
        respondJson(
          response,
          rpcResult(id, { task: { ...wireTaskFixture('completed'), status: statusFixture('completed') } }),
        ),
    });
    expect(await collectStream(remote.stream(request))).toMatchObject([{ kind: 'task' }]);
  });
});

describe('client subscription', () => {
  it('continues after a sequence number and skips duplicates', async () => {
    const remote = await openScriptedPeer({
      SubscribeToTask({ json: { id } }, response) {
        const stream = startEventStream(response);
        stream.event(rpcResult(id, artifactUpdateFixture('b')), 4);
        stream.event(rpcResult(id, statusUpdateFixture('completed')), 5);
        stream.end();
      },
    });
    const events = await collectStream(remote.subscribe({ id: 't1', afterSequence: 4 }));
    expect(events).toMatchObject([{ kind: 'status', sequence: 5 }]);
    expect(requestsByMethod('SubscribeToTask')[0]?.headers['last-event-id']).toBe('4');
  });

  it('to a finished task rejects with the error of the agent', async () => {
    const remote = await openScriptedPeer({
      SubscribeToTask: ({ json: { id } }, response) =>
        respondJson(response, rpcErrorBody(id, -32004, 'It is over')),
      GetTask: ({ json: { id } }, response) =>
        respondJson(response, rpcResult(id, wireTaskFixture('completed'))),
    });
    await expect(collectStream(remote.subscribe({ id: 't1' }))).rejects.toMatchObject({
      reason: 'UNSUPPORTED_OPERATION',
      message: 'It is over',
    });
  });
});
