/** Calls that end before their tasks do, over streams that are left and streams that need a signal. */
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

/** An agent whose first task is done at once, and whose others never are. */
async function lingering(): Promise<{ raw: RawAgent; asked: Promise<void>; left: Promise<void> }> {
  const asked = createDeferred();
  const left = createDeferred();
  let calls = 0;
  const raw = await startRawAgent({
    open: (_request, events, response) => {
      events.event(rawTask('working'));
      if (++calls === 1) {
        events.event(rawStatusUpdate('completed', 'done', true));
        events.end();
        return;
      }
      response.on('close', left.resolve);
      asked.resolve();
    },
  });
  closeAfterTest(() => raw.close());
  return { raw, asked: asked.promise, left: left.promise };
}

/** The same agent in the hands of somebody whose streams are generators, which cannot be left while they wait. */
function wrapped(agent: RemoteAgent): RemoteAgent {
  return {
    ...agent,
    async *stream(request, call) {
      yield* agent.stream(request, call);
    },
  };
}

describe.each([
  ['can be left', (agent: RemoteAgent) => agent],
  ['needs a signal', wrapped],
])('a stream that %s', (_name, wrap) => {
  async function scene() {
    const { raw, ...rest } = await lingering();
    const clock = new ManualClock();
    const remote = connect(raw.url, { maxRetries: 0, maxResumes: 0 });
    closeAfterTest(() => remote.close());
    const made = await bridge({ agentName: 'remote', agent: wrap(remote), clock });
    closeAfterTest(() => made.close());
    // By now it is known what kind of streams the agent has.
    expect(await made.invoke('remote/s', { prompt: 'x' })).toMatchObject({ status: 'COMPLETED' });
    return { raw, made, clock, ...rest };
  }

  it('ends with the budget, and its connection with it', async () => {
    const { made, clock, asked, left } = await scene();
    const heard = createDeferred();
    const response = made.invoke('remote/s', { prompt: 'x' }, { waitBudget: 50, onProgress: heard.resolve });
    await asked;
    await heard.promise;
    clock.advance(50);
    expect(await response).toMatchObject({ status: 'RUNNING', followUpId: expect.any(String) });
    await left;
  });

  it('ends with the signal of the caller, and its task with it', async () => {
    const { raw, made, asked, left } = await scene();
    const stop = new AbortController();
    const heard = createDeferred();
    const meta = { signal: stop.signal, onProgress: heard.resolve };
    const response = made.invoke('remote/s', { prompt: 'x' }, meta);
    await asked;
    await heard.promise;
    stop.abort();
    expect(await response).toMatchObject({ status: 'CANCELED', taskId: innerTask, errorInfo: undefined });
    expect(raw.rpcRequests('tasks/cancel')).toHaveLength(1);
    await left;
  });

  it('is canceled though the bridge is closed at once', async () => {
    const { raw, made, asked } = await scene();
    const stop = new AbortController();
    const heard = createDeferred();
    const response = made.invoke(
      'remote/s',
      { prompt: 'x' },
      { signal: stop.signal, onProgress: heard.resolve },
    );
    await asked;
    await heard.promise;
    stop.abort();
    await made.close();
    expect(raw.rpcRequests('tasks/cancel')).toHaveLength(1);
    expect(await response).toMatchObject({ status: 'CANCELED' });
  });

  it('ends with the bridge', async () => {
    const { made, asked, left } = await scene();
    const heard = createDeferred();
    const response = made.invoke('remote/s', { prompt: 'x' }, { onProgress: heard.resolve });
    await asked;
    await heard.promise;
    await made.close();
    expect(await response).toMatchObject({ status: 'ERROR', message: 'The bridge was closed' });
    await left;
  });
});

describe('a call that is over before its agent is ready', () => {
  it('never reaches the agent', async () => {
    const { raw } = await lingering();
    const clock = new ManualClock();
    const ready = createDeferred();
    const supervised = supervise({ url: raw.url, probe: () => ready.promise, clock });
    const remote = connect(raw.url, { maxRetries: 0 });
    closeAfterTest(() => remote.close());
    closeAfterTest(() => supervised.stop());
    const made = await bridge({
      agentName: 'remote',
      agent: { ...supervisedAgent(supervised, remote, { clock }), check: () => remote.check() },
      clock,
    });
    closeAfterTest(() => made.close());
    const response = made.invoke('remote/s', { prompt: 'x' }, { waitBudget: 50 });
    clock.advance(50);
    expect(await response).toMatchObject({ status: 'TIMEOUT' });
    ready.resolve();
    await supervised.whenReady();
    expect(await made.invoke('remote/s', { prompt: 'y' })).toMatchObject({ status: 'COMPLETED' });
    const texts = raw.rpcRequests('message/stream').map(({ params }) => params.message.parts[0].text);
    expect(texts).toEqual(['y']);
  });
});
