/** Calls that end before their tasks, over streams that can be closed and streams that need an abort signal. */
import { describe, expect, it } from 'vitest';
import { bridge } from '../../../src/bridge/bridge.ts';
import { supervise } from '../../../src/bridge/supervisor/supervise.ts';
import { supervisedAgent } from '../../../src/bridge/supervisor/supervised-agent.ts';
import { connect, type RemoteAgent } from '../../../src/client/connect.ts';
import { closeAfterTest } from '../../support/bridge/bridge-fixtures.ts';
import { createDeferred } from '../../support/engine/conversation.ts';
import { ManualClock } from '../../support/clocks/manual-clock.ts';
import {
  innerTask,
  type RawAgent,
  startRawAgent,
  rawStatusUpdate,
  rawTask,
} from '../../support/mesh/raw-agent.ts';

/** Starts an agent that completes its first task immediately and never completes others. */
async function startNeverEnding(): Promise<{
  raw: RawAgent;
  requested: Promise<void>;
  disconnected: Promise<void>;
}> {
  const requested = createDeferred();
  const disconnected = createDeferred();
  let calls = 0;
  const raw = await startRawAgent({
    open: (_request, events, response) => {
      events.event(rawTask('working'));
      if (++calls === 1) {
        events.event(rawStatusUpdate('completed', 'done', true));
        events.end();
        return;
      }
      response.on('close', disconnected.resolve);
      requested.resolve();
    },
  });
  closeAfterTest(() => raw.close());
  return { raw, requested: requested.promise, disconnected: disconnected.promise };
}

/** Wraps streams in generators, which cannot be closed while they wait. */
function withGenerators(agent: RemoteAgent): RemoteAgent {
  return {
    ...agent,
    async *stream(request, call) {
      yield* agent.stream(request, call);
    },
  };
}

describe.each([
  ['can be closed', (agent: RemoteAgent) => agent],
  ['needs an abort signal', withGenerators],
])('bridge call over a stream that %s', (_name, wrap) => {
  async function arrange() {
    const { raw, ...rest } = await startNeverEnding();
    const clock = new ManualClock();
    const remote = connect(raw.url, { maxRetries: 0, maxResumes: 0 });
    closeAfterTest(() => remote.close());
    const actions = await bridge({ agentName: 'remote', agent: wrap(remote), clock });
    closeAfterTest(() => actions.close());
    // The bridge now knows whether streams of the agent can be closed.
    expect(await actions.invoke('remote/s', { prompt: 'x' })).toMatchObject({ status: 'COMPLETED' });
    return { raw, actions, clock, ...rest };
  }

  it('closes the connection when the wait budget is used up', async () => {
    const { actions, clock, requested, disconnected } = await arrange();
    const progress = createDeferred();
    const response = actions.invoke(
      'remote/s',
      { prompt: 'x' },
      { waitBudget: 50, onProgress: progress.resolve },
    );
    await requested;
    await progress.promise;
    clock.advance(50);
    expect(await response).toMatchObject({ status: 'RUNNING', followUpId: expect.any(String) });
    await disconnected;
  });

  it('cancels the task when the signal aborts', async () => {
    const { raw, actions, requested, disconnected } = await arrange();
    const stop = new AbortController();
    const progress = createDeferred();
    const options = { signal: stop.signal, onProgress: progress.resolve };
    const response = actions.invoke('remote/s', { prompt: 'x' }, options);
    await requested;
    await progress.promise;
    stop.abort();
    expect(await response).toMatchObject({ status: 'CANCELED', taskId: innerTask, errorInfo: undefined });
    expect(raw.rpcRequests('tasks/cancel')).toHaveLength(1);
    await disconnected;
  });

  it('cancels the task even if the bridge is closed immediately', async () => {
    const { raw, actions, requested } = await arrange();
    const stop = new AbortController();
    const progress = createDeferred();
    const response = actions.invoke(
      'remote/s',
      { prompt: 'x' },
      { signal: stop.signal, onProgress: progress.resolve },
    );
    await requested;
    await progress.promise;
    stop.abort();
    await actions.close();
    expect(raw.rpcRequests('tasks/cancel')).toHaveLength(1);
    expect(await response).toMatchObject({ status: 'CANCELED' });
  });

  it('ends with an error when the bridge is closed', async () => {
    const { actions, requested, disconnected } = await arrange();
    const progress = createDeferred();
    const response = actions.invoke('remote/s', { prompt: 'x' }, { onProgress: progress.resolve });
    await requested;
    await progress.promise;
    await actions.close();
    expect(await response).toMatchObject({ status: 'ERROR', message: 'The bridge was closed' });
    await disconnected;
  });
});

describe('bridge call before the supervised agent is ready', () => {
  it('does not call the agent after the wait budget is used up', async () => {
    const { raw } = await startNeverEnding();
    const clock = new ManualClock();
    const ready = createDeferred();
    const supervised = supervise({ url: raw.url, probe: () => ready.promise, clock });
    const remote = connect(raw.url, { maxRetries: 0 });
    closeAfterTest(() => remote.close());
    closeAfterTest(() => supervised.stop());
    const actions = await bridge({
      agentName: 'remote',
      agent: { ...supervisedAgent(supervised, remote, { clock }), check: () => remote.check() },
      clock,
    });
    closeAfterTest(() => actions.close());
    const response = actions.invoke('remote/s', { prompt: 'x' }, { waitBudget: 50 });
    clock.advance(50);
    expect(await response).toMatchObject({ status: 'TIMEOUT' });
    ready.resolve();
    await supervised.whenReady();
    expect(await actions.invoke('remote/s', { prompt: 'y' })).toMatchObject({ status: 'COMPLETED' });
    const texts = raw.rpcRequests('message/stream').map(({ params }) => params.message.parts[0].text);
    expect(texts).toEqual(['y']);
  });
});
