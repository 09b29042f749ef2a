import { describe, expect, it } from 'vitest';
import type { ActionProgress } from '../../../src/bridge/action-types.ts';
import { defineAgent } from '../../../src/engine/index.ts';
import { sampleAgent } from '../../interop/sample-agent.ts';
import { bridgeToServedAgent, bridgeToUrl, closeAfterTest } from '../../support/bridge/bridge-fixtures.ts';
import { createDeferred } from '../../support/engine/conversation.ts';
import { ManualClock } from '../../support/clocks/manual-clock.ts';
import { innerTask, startRawAgent, rawTask } from '../../support/mesh/raw-agent.ts';

describe('long bridge call', () => {
  it('reports progress with an increasing count', async () => {
    const agent = defineAgent({
      name: 'Steps',
      description: 'Works in steps',
      async *process() {
        yield { state: 'working', message: 'One' };
        yield { state: 'working', message: 'Two' };
        yield { artifact: { artifactId: 'a', text: 'Three' } };
      },
    });
    const reports: ActionProgress[] = [];
    const actions = await bridgeToServedAgent(agent);
    const response = await actions.invoke(
      'remote/default',
      { prompt: 'x' },
      { onProgress: (each) => reports.push(each) },
    );
    expect(reports.map(({ message }) => message).filter(Boolean)).toEqual(['One', 'Two', 'Three']);
    expect(reports.map(({ count }) => count)).toEqual(reports.map((_, index) => index + 1));
    expect(reports.at(-1)).toMatchObject({ state: 'working', taskId: response.taskId });
  });

  it('ignores errors thrown by onProgress', async () => {
    const actions = await bridgeToServedAgent(sampleAgent());
    const onProgress = () => {
      throw new Error('mine');
    };
    expect((await actions.invoke('remote/echo', { prompt: 'stream' }, { onProgress })).message).toBe('01234');
  });

  it('cancels the task when the signal aborts', async () => {
    const agent = sampleAgent();
    const actions = await bridgeToServedAgent(agent);
    const stop = new AbortController();
    const progress = createDeferred();
    const response = actions.invoke(
      'remote/echo',
      { prompt: 'slow' },
      { signal: stop.signal, onProgress: progress.resolve },
    );
    await progress.promise;
    stop.abort();
    const { status, taskId, errorInfo } = await response;
    expect([status, errorInfo]).toEqual(['CANCELED', undefined]);
    expect((await agent.getTask({ id: taskId ?? '' })).status.state).toBe('canceled');
  });

  it('cancels the task as soon as its id is known', async () => {
    const requested = createDeferred();
    const proceed = createDeferred();
    const raw = await startRawAgent({
      open: async (_request, events) => {
        requested.resolve();
        await proceed.promise;
        events.event(rawTask('working'));
      },
    });
    closeAfterTest(() => raw.close());
    const actions = await bridgeToUrl(raw.url);
    const stop = new AbortController();
    const response = actions.invoke('remote/s', { prompt: 'x' }, { signal: stop.signal });
    await requested.promise;
    stop.abort();
    proceed.resolve();
    expect(await response).toMatchObject({ status: 'CANCELED', taskId: innerTask });
    expect(raw.rpcRequests('tasks/cancel')).toHaveLength(1);
  });

  it('reports when the task cannot be canceled', async () => {
    const raw = await startRawAgent({
      open: (_request, events) => events.event(rawTask('working')),
      cancel: () => ({ error: { code: -32002, message: 'No' } }),
    });
    closeAfterTest(() => raw.close());
    const stop = new AbortController();
    const actions = await bridgeToUrl(raw.url);
    const response = await actions.invoke(
      'remote/s',
      { prompt: 'x' },
      { signal: stop.signal, onProgress: () => stop.abort() },
    );
    expect(response).toMatchObject({
      status: 'CANCELED',
      errorInfo: { hint: 'The task may still be running.' },
    });
  });

  it('does not start when the signal is already aborted', async () => {
    const agent = sampleAgent();
    const actions = await bridgeToServedAgent(agent);
    expect(
      await actions.invoke('remote/echo', { prompt: 'x' }, { signal: AbortSignal.abort() }),
    ).toMatchObject({
      status: 'CANCELED',
    });
    expect((await agent.listTasks({})).totalSize).toBe(0);
  });

  it('returns a follow-up ID after the wait budget and continues by it', async () => {
    const open = createDeferred();
    const clock = new ManualClock();
    const agent = defineAgent({
      name: 'Slow',
      description: 'Takes its time',
      async *process() {
        yield { state: 'working', message: 'Wait' };
        await open.promise;
        yield { artifact: { artifactId: 'a', text: 'At last' } };
      },
    });
    const actions = await bridgeToServedAgent(agent, { clock });
    const invoke = (name: string, parameters: object) => {
      const progress = createDeferred();
      const response = actions.invoke(
        name,
        { ...parameters },
        { waitBudget: 50, sessionId: 's', onProgress: progress.resolve },
      );
      return { response, progress: progress.promise };
    };
    const first = invoke('remote/default', { prompt: 'x' });
    await first.progress;
    clock.advance(50);
    const running = await first.response;
    expect(running).toMatchObject({
      success: false,
      status: 'RUNNING',
      followUpId: expect.any(String),
      data: { follow_up_id: expect.any(String) },
    });
    const second = invoke('provide_required_input', { follow_up_id: running.followUpId });
    await second.progress;
    clock.advance(50);
    const still = await second.response;
    expect(still).toMatchObject({ status: 'RUNNING', taskId: running.taskId });
    expect(still.followUpId).not.toBe(running.followUpId);
    const third = invoke('provide_required_input', { follow_up_id: still.followUpId, user_response: '' });
    await third.progress;
    open.resolve();
    expect(await third.response).toMatchObject({
      status: 'COMPLETED',
      message: 'At last',
      taskId: running.taskId,
    });
  });

  it('returns a follow-up ID when the connection breaks', async () => {
    const raw = await startRawAgent({
      open: (_request, events) => {
        events.event(rawTask('working'));
        events.reset();
      },
      get: () => rawTask('completed', 'done after all'),
    });
    closeAfterTest(() => raw.close());
    let isDown = true;
    const actions = await bridgeToUrl(
      raw.url,
      {},
      {
        fetch: (url, init) =>
          isDown && JSON.stringify(init?.body ?? '').includes('tasks/')
            ? Promise.reject(new Error('down'))
            : fetch(url, init),
      },
    );
    const broken = await actions.invoke('remote/s', { prompt: 'x' });
    expect(broken).toMatchObject({ status: 'ERROR', taskId: innerTask, followUpId: expect.any(String) });
    isDown = false;
    expect(
      await actions.invoke('provide_required_input', { follow_up_id: broken.followUpId, user_response: '' }),
    ).toMatchObject({ status: 'COMPLETED', message: 'done after all' });
  });
});
