import { describe, expect, it } from 'vitest';
import type { Progress } from '../../src/bridge/action.ts';
import { bridge, bridges } from '../../src/bridge/bridge.ts';
import { defineAgent } from '../../src/engine/index.ts';
import { A2AError } from '../../src/protocol/errors.ts';
import type { AgentSkill } from '../../src/protocol/card.ts';
import { sampleAgent } from '../interop/sample-agent.ts';
import { bridgeOver, bridgeTo, later } from '../support/bridged.ts';
import { gate } from '../support/conversation.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { innerTask, startRawAgent, status, task } from '../support/raw-agent.ts';
import { json, startRaw } from '../support/raw-server.ts';

const nothing = { errorInfo: undefined, followUpId: undefined, files: [], data: {} };

describe('an action', () => {
  it('is there for each skill, beside the one for answers', async () => {
    const made = await bridgeOver(sampleAgent());
    expect(made.actions().map(({ name }) => name)).toEqual(['remote/echo', 'provide_required_input']);
    expect(made.actions()[0]).toMatchObject({
      agentName: 'remote',
      skillId: 'echo',
      title: 'Echo',
      description: 'Says it back',
      tags: ['test'],
    });
  });

  it('is completed with texts, in the context of its session', async () => {
    const made = await bridgeOver(sampleAgent());
    const first = await made.invoke('remote/echo', { prompt: 'hello' }, { sessionId: 'session-1' });
    expect(first).toEqual({
      ...nothing,
      success: true,
      status: 'COMPLETED',
      message: 'hello',
      taskId: expect.any(String),
      contextId: 'session-1',
    });
    const second = await made.invoke('remote/echo', { prompt: 'two' }, { sessionId: 'session-1' });
    expect(second.taskId).not.toBe(first.taskId);
    const free = await made.invoke('remote/echo', { prompt: 'three' });
    expect(free.contextId).not.toBe('session-1');
  });

  it('joins chunks, and shows artifacts apart', async () => {
    const made = await bridgeOver(sampleAgent());
    expect((await made.invoke('remote/echo', { prompt: 'stream' })).message).toBe('01234');
    expect((await made.invoke('remote/echo', { prompt: 'two' })).message).toBe('a\n\nbc');
  });

  it('is failed without the secrets of the agent', async () => {
    const made = await bridgeOver(sampleAgent());
    const response = await made.invoke('remote/echo', { prompt: 'fail' });
    expect(response).toMatchObject({ success: false, status: 'FAILED', taskId: expect.any(String) });
    expect(response.errorInfo?.errorMessage).toBe(response.message);
    expect(JSON.stringify(response)).not.toContain('secret of the house');
  });

  it('is rejected with the words of the agent', async () => {
    const made = await bridgeOver(sampleAgent());
    expect(await made.invoke('remote/echo', { prompt: 'reject' })).toMatchObject({
      success: false,
      status: 'REJECTED',
      message: 'Not this one.',
      errorInfo: { errorMessage: 'Not this one.' },
      followUpId: undefined,
    });
  });

  it('is canceled when the agent says so', async () => {
    const raw = await startRawAgent({ stream: () => [task('working'), status('canceled', undefined, true)] });
    later(() => raw.close());
    expect(await (await bridgeTo(raw.url)).invoke('remote/s', { prompt: 'x' })).toMatchObject({
      success: false,
      status: 'CANCELED',
      message: 'The task was canceled',
    });
  });

  it('may be answered without a task', async () => {
    const agent = defineAgent({
      name: 'Direct',
      description: 'Speaks at once',
      mayAnswerDirectly: true,
      process: () => ({ messageId: 'm', role: 'agent', parts: [{ text: 'hello' }] }),
    });
    expect(await (await bridgeOver(agent)).invoke('remote/default', { prompt: 'x' })).toMatchObject({
      success: true,
      status: 'COMPLETED',
      message: 'hello',
      taskId: undefined,
    });
  });

  it('is followed by asking where the agent does not stream', async () => {
    const open = gate();
    const agent = defineAgent({
      name: 'Silent',
      description: 'Does not stream',
      streaming: false,
      process: async () => {
        await open.opened;
        return 'done';
      },
    });
    const clock = new ManualClock();
    const made = await bridge({ agentName: 'local', agent, clock });
    later(() => made.close());
    const polled = clock.asked((milliseconds) => milliseconds === 1_000);
    const response = made.invoke('local/default', { prompt: 'x' });
    await polled;
    open.open();
    const over = response.then(() => true);
    for (let isOver = false; !isOver; ) {
      const again = clock.asked((milliseconds) => milliseconds === 1_000).then(() => false);
      clock.advance(1_000);
      isOver = await Promise.race([over, again]);
    }
    expect(await response).toMatchObject({ success: true, message: 'done' });
  });

  it('gives data apart from texts', async () => {
    const agent = defineAgent({
      name: 'Data',
      description: 'Gives data',
      async *process() {
        yield { artifact: { artifactId: 'a', parts: [{ data: { sum: 3 } }, { text: 'It is 3.' }] } };
        yield { artifact: { artifactId: 'b', parts: [{ data: { unit: 'kg' } }, { data: [1, 2] }] } };
      },
    });
    expect(await (await bridgeOver(agent)).invoke('remote/default', { prompt: 'x' })).toMatchObject({
      message: 'It is 3.',
      data: { sum: 3, unit: 'kg', values: [[1, 2]] },
    });
  });
});

describe('what went wrong', () => {
  it('is an agent that cannot be reached', async () => {
    const raw = await startRawAgent({});
    const made = await bridgeTo(raw.url);
    await raw.close();
    expect(await made.invoke('remote/s', { prompt: 'x' })).toMatchObject({
      success: false,
      status: 'ERROR',
      followUpId: undefined,
      errorInfo: { errorMessage: expect.any(String), code: -32603 },
    });
  });

  it('is an error of the agent', async () => {
    const raw = await startRawAgent({
      stream: () => [{ error: { code: -32602, message: 'No such thing' } }],
    });
    later(() => raw.close());
    expect(await (await bridgeTo(raw.url)).invoke('remote/s', { prompt: 'x' })).toMatchObject({
      status: 'ERROR',
      errorInfo: { code: -32602 },
    });
  });

  it('is an action that is not there, a wrong parameter, or a missing one', async () => {
    const made = await bridgeOver(sampleAgent());
    expect(await made.invoke('remote/other', {})).toMatchObject({
      status: 'ERROR',
      message: 'There is no action remote/other',
    });
    expect(await made.invoke('other', {})).toMatchObject({ status: 'ERROR' });
    expect(await made.invoke('remote/echo', {})).toMatchObject({
      status: 'ERROR',
      message: 'prompt is required',
      errorInfo: { code: -32602 },
    });
    expect((await made.invoke('remote/echo', { prompt: 1 })).message).toBe('prompt must be of type string');
    expect((await made.invoke('remote/echo', { prompt: 'x', promt: 'y' })).message).toBe(
      'promt is not a parameter; there are prompt, files',
    );
  });

  it('is an agent that says nothing within the budget', async () => {
    const clock = new ManualClock();
    const begun = gate();
    const raw = await startRawAgent({ open: () => begun.open() });
    later(() => raw.close());
    const made = await bridgeTo(raw.url, { clock });
    const response = made.invoke('remote/s', { prompt: 'x' }, { waitBudget: 777 });
    await begun.opened;
    clock.advance(777);
    expect(await response).toMatchObject({
      status: 'TIMEOUT',
      message: 'The agent did not answer within 777 ms',
      followUpId: undefined,
    });
  });

  it('is a card that cannot be had, unless that may wait', async () => {
    const gone = await startRaw((_request, response) => json(response, {}, 503));
    later(() => gone.close());
    await expect(bridgeTo(gone.url)).rejects.toBeInstanceOf(A2AError);
    const made = await bridgeTo(gone.url, { whenUnreachable: 'retry' });
    expect(made.actions().map(({ name }) => name)).toEqual(['provide_required_input']);
  });

  it('is a name that two agents have, or one that cannot be told from a skill', async () => {
    const agent = sampleAgent();
    await expect(bridge({ agentName: 'a/b', agent })).rejects.toThrow('without a slash');
    await expect(bridges([1, 2].map(() => ({ agentName: 'a', agent })))).rejects.toThrow('a is there twice');
  });

  it('is one call too many', async () => {
    const made = await bridgeOver(sampleAgent(), { maxCalls: 1 });
    const stop = new AbortController();
    const progress = gate();
    const slow = made.invoke(
      'remote/echo',
      { prompt: 'slow' },
      { signal: stop.signal, onProgress: progress.open },
    );
    await progress.opened;
    expect(await made.invoke('remote/echo', { prompt: 'x' })).toMatchObject({
      status: 'ERROR',
      message: 'No more than 1 calls are made at the same time',
    });
    stop.abort();
    await slow;
    expect((await made.invoke('remote/echo', { prompt: 'x' })).success).toBe(true);
  });

  it('is a bridge that was closed', async () => {
    const agent = sampleAgent();
    const made = await bridge({ agentName: 'a', agent });
    const progress = gate();
    const slow = made.invoke('a/echo', { prompt: 'slow' }, { onProgress: progress.open });
    await progress.opened;
    await made.close();
    expect(await slow).toMatchObject({ status: 'ERROR', message: 'The bridge was closed' });
    expect(await made.invoke('a/echo', { prompt: 'x' })).toMatchObject({ message: 'The bridge is closed' });
    // Its task goes on: only whoever asks for that ends it.
    const [task] = (await agent.listTasks({})).tasks;
    expect(task?.status.state).toBe('working');
    await agent.close();
  });
});

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
    const seen: Progress[] = [];
    const made = await bridgeOver(agent);
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
    const made = await bridgeOver(sampleAgent());
    const onProgress = () => {
      throw new Error('mine');
    };
    expect((await made.invoke('remote/echo', { prompt: 'stream' }, { onProgress })).message).toBe('01234');
  });

  it('is canceled with its task', async () => {
    const agent = sampleAgent();
    const made = await bridgeOver(agent);
    const stop = new AbortController();
    const progress = gate();
    const response = made.invoke(
      'remote/echo',
      { prompt: 'slow' },
      { signal: stop.signal, onProgress: progress.open },
    );
    await progress.opened;
    stop.abort();
    const { status: word, taskId, errorInfo } = await response;
    expect([word, errorInfo]).toEqual(['CANCELED', undefined]);
    expect((await agent.getTask({ id: taskId ?? '' })).status.state).toBe('canceled');
  });

  it('is canceled as soon as its task has a name', async () => {
    const asked = gate();
    const go = gate();
    const raw = await startRawAgent({
      open: async (_request, events) => {
        asked.open();
        await go.opened;
        events.event(task('working'));
      },
    });
    later(() => raw.close());
    const made = await bridgeTo(raw.url);
    const stop = new AbortController();
    const response = made.invoke('remote/s', { prompt: 'x' }, { signal: stop.signal });
    await asked.opened;
    stop.abort();
    go.open();
    expect(await response).toMatchObject({ status: 'CANCELED', taskId: innerTask });
    expect(raw.asked('tasks/cancel')).toHaveLength(1);
  });

  it('says when its task could not be canceled', async () => {
    const raw = await startRawAgent({
      open: (_request, events) => events.event(task('working')),
      cancel: () => ({ error: { code: -32002, message: 'No' } }),
    });
    later(() => raw.close());
    const stop = new AbortController();
    const made = await bridgeTo(raw.url);
    const response = await made.invoke(
      'remote/s',
      { prompt: 'x' },
      { signal: stop.signal, onProgress: () => stop.abort() },
    );
    expect(response).toMatchObject({ status: 'CANCELED', errorInfo: { hint: 'It may go on.' } });
  });

  it('never begins when it was canceled before', async () => {
    const agent = sampleAgent();
    const made = await bridgeOver(agent);
    expect(await made.invoke('remote/echo', { prompt: 'x' }, { signal: AbortSignal.abort() })).toMatchObject({
      status: 'CANCELED',
    });
    expect((await agent.listTasks({})).totalSize).toBe(0);
  });

  it('gives a handle when its time is up, and goes on by it', async () => {
    const open = gate();
    const clock = new ManualClock();
    const agent = defineAgent({
      name: 'Slow',
      description: 'Takes its time',
      async *process() {
        yield { state: 'working', message: 'Wait' };
        await open.opened;
        yield { artifact: { artifactId: 'a', text: 'At last' } };
      },
    });
    const made = await bridgeOver(agent, { clock });
    const ask = (name: string, parameters: object) => {
      const heard = gate();
      const response = made.invoke(
        name,
        { ...parameters },
        { waitBudget: 50, sessionId: 's', onProgress: heard.open },
      );
      return { response, heard: heard.opened };
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
    open.open();
    expect(await third.response).toMatchObject({
      status: 'COMPLETED',
      message: 'At last',
      taskId: running.taskId,
    });
  });

  it('can be waited for when its connection broke', async () => {
    const raw = await startRawAgent({
      open: (_request, events) => {
        events.event(task('working'));
        events.cut();
      },
      get: () => task('completed', 'done after all'),
    });
    later(() => raw.close());
    let isDown = true;
    const made = await bridgeTo(
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

describe('the list of actions', () => {
  it('changes with the card, and tells so', async () => {
    let skills: AgentSkill[] = [{ id: 'one', name: 'One', description: 'First', tags: [] }];
    let etag = '"1"';
    const asked: (string | undefined)[] = [];
    const raw = await startRaw((request, response, url) => {
      if (request.path !== '/.well-known/agent-card.json') return json(response, {}, 404);
      asked.push(request.headers['if-none-match']);
      if (request.headers['if-none-match'] === etag) return response.writeHead(304, { etag }).end();
      return json(
        response,
        {
          protocolVersion: '0.3.0',
          name: 'Changing',
          description: 'Changes',
          url,
          version: '1',
          capabilities: {},
          defaultInputModes: [],
          defaultOutputModes: [],
          skills,
        },
        200,
        { etag },
      );
    });
    later(() => raw.close());
    const clock = new ManualClock();
    const made = await bridgeTo(raw.url, { clock, cardInterval: 5_000 });
    let changes = 0;
    let stop = made.onChange(() => changes++);
    const names = () => made.actions().map(({ name }) => name);
    const turn = async () => {
      const again = clock.asked((milliseconds) => milliseconds === 5_000);
      clock.advance(5_000);
      await again;
    };
    await turn();
    expect([changes, asked.at(-1)]).toEqual([0, '"1"']);
    skills = [...skills, { id: 'two', name: 'Two', description: 'Second', tags: [] }];
    etag = '"2"';
    await turn();
    expect([changes, names()]).toEqual([1, ['remote/one', 'remote/two', 'provide_required_input']]);
    stop();
    stop = made.onChange(() => {
      throw new Error('mine');
    });
    skills = [];
    etag = '"3"';
    await turn();
    expect([changes, names()]).toEqual([1, ['provide_required_input']]);
    stop();
  });
});
