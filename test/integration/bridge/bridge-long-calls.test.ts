import { describe, expect, it } from 'vitest';
import type { ActionProgress } from '../../../src/bridge/action-types.ts';
import { defineAgent } from '../../../src/engine/index.ts';
import { sampleAgent } from '../../interop/sample-agent.ts';
import { bridgeToServedAgent, bridgeToUrl, closeAfterTest } from '../../support/bridge/bridge-fixtures.ts';
import { createDeferred } from '../../support/engine/conversation.ts';
import { ManualClock } from '../../support/clocks/manual-clock.ts';
import { innerTask, startRawAgent, rawTask } from '../../support/mesh/raw-agent.ts';

describe('a long call', () => {
  it('tells what the agent says, and counts', async () => {
    const agent = defineAgent({
      name: 'Steps',
      description: 'Works in steps',
      async *process() {
        yield { state: 'working', message: 'One' };
        yield { state: 'working', message: 'Two' };
        yield { artifact: { artifactId: 'a', text: 'Three' } };
      },
    });
    const seen: ActionProgress[] = [];
    const made = await bridgeToServedAgent(agent);
    const response = await made.invoke(
      'remote/default',
      { prompt: 'x' },
      { onProgress: (each) => seen.push(each) },
    );
    expect(seen.map(({ message }) => message).filter(Boolean)).toEqual(['One', 'Two', 'Three']);
    expect(seen.map(({ count }) => count)).toEqual(seen.map((_, index) => index + 1));
    expect(seen.at(-1)).toMatchObject({ state: 'working', taskId: response.taskId });
  });

  it('is unmoved by a listener that throws', async () => {
    const made = await bridgeToServedAgent(sampleAgent());
    const onProgress = () => {
      throw new Error('mine');
    };
    expect((await made.invoke('remote/echo', { prompt: 'stream' }, { onProgress })).message).toBe('01234');
  });

  it('is canceled with its task', async () => {
    const agent = sampleAgent();
    const made = await bridgeToServedAgent(agent);
    const stop = new AbortController();
    const progress = createDeferred();
    const response = made.invoke(
      'remote/echo',
      { prompt: 'slow' },
      { signal: stop.signal, onProgress: progress.resolve },
    );
    await progress.promise;
    stop.abort();
    const { status: word, taskId, errorInfo } = await response;
    expect([word, errorInfo]).toEqual(['CANCELED', undefined]);
    expect((await agent.getTask({ id: taskId ?? '' })).status.state).toBe('canceled');
  });

  it('is canceled as soon as its task has a name', async () => {
    const asked = createDeferred();
    const go = createDeferred();
    const raw = await startRawAgent({
      open: async (_request, events) => {
        asked.resolve();
        await go.promise;
        events.event(rawTask('working'));
      },
    });
    closeAfterTest(() => raw.close());
    const made = await bridgeToUrl(raw.url);
    const stop = new AbortController();
    const response = made.invoke('remote/s', { prompt: 'x' }, { signal: stop.signal });
    await asked.promise;
    stop.abort();
    go.resolve();
    expect(await response).toMatchObject({ status: 'CANCELED', taskId: innerTask });
    expect(raw.rpcRequests('tasks/cancel')).toHaveLength(1);
  });

  it('says when its task could not be canceled', async () => {
    const raw = await startRawAgent({
      open: (_request, events) => events.event(rawTask('working')),
      cancel: () => ({ error: { code: -32002, message: 'No' } }),
    });
    closeAfterTest(() => raw.close());
    const stop = new AbortController();
    const made = await bridgeToUrl(raw.url);
    const response = await made.invoke(
      'remote/s',
      { prompt: 'x' },
      { signal: stop.signal, onProgress: () => stop.abort() },
    );
    expect(response).toMatchObject({ status: 'CANCELED', errorInfo: { hint: 'It may go on.' } });
  });

  it('never begins when it was canceled before', async () => {
    const agent = sampleAgent();
    const made = await bridgeToServedAgent(agent);
    expect(await made.invoke('remote/echo', { prompt: 'x' }, { signal: AbortSignal.abort() })).toMatchObject({
      status: 'CANCELED',
    });
    expect((await agent.listTasks({})).totalSize).toBe(0);
  });

  it('gives a handle when its time is up, and goes on by it', async () => {
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
    const made = await bridgeToServedAgent(agent, { clock });
    const ask = (name: string, parameters: object) => {
      const heard = createDeferred();
      const response = made.invoke(
        name,
        { ...parameters },
        { waitBudget: 50, sessionId: 's', onProgress: heard.resolve },
      );
      return { response, heard: heard.promise };
    };
    const first = ask('remote/default', { prompt: 'x' });
    await first.heard;
    clock.advance(50);
    const running = await first.response;
    expect(running).toMatchObject({
      success: false,
      status: 'RUNNING',
      followUpId: expect.any(String),
      data: { follow_up_id: expect.any(String) },
    });
    const second = ask('provide_required_input', { follow_up_id: running.followUpId });
    await second.heard;
    clock.advance(50);
    const still = await second.response;
    expect(still).toMatchObject({ status: 'RUNNING', taskId: running.taskId });
    expect(still.followUpId).not.toBe(running.followUpId);
    const third = ask('provide_required_input', { follow_up_id: still.followUpId, user_response: '' });
    await third.heard;
    open.resolve();
    expect(await third.response).toMatchObject({
      status: 'COMPLETED',
      message: 'At last',
      taskId: running.taskId,
    });
  });

  it('can be waited for when its connection broke', async () => {
    const raw = await startRawAgent({
      open: (_request, events) => {
        events.event(rawTask('working'));
        events.reset();
      },
      get: () => rawTask('completed', 'done after all'),
    });
    closeAfterTest(() => raw.close());
    let isDown = true;
    const made = await bridgeToUrl(
      raw.url,
      {},
      {
        fetch: (url, init) =>
          isDown && JSON.stringify(init?.body ?? '').includes('tasks/')
            ? Promise.reject(new Error('down'))
            : fetch(url, init),
      },
    );
    const broken = await made.invoke('remote/s', { prompt: 'x' });
    expect(broken).toMatchObject({ status: 'ERROR', taskId: innerTask, followUpId: expect.any(String) });
    isDown = false;
    expect(
      await made.invoke('provide_required_input', { follow_up_id: broken.followUpId, user_response: '' }),
    ).toMatchObject({ status: 'COMPLETED', message: 'done after all' });
  });
});
