import { describe, expect, it } from 'vitest';
import { bridge } from '../../../src/bridge/bridge.ts';
import { defineAgent } from '../../../src/engine/index.ts';
import type { AgentSkill } from '../../../src/protocol/card.ts';
import { sampleAgent } from '../../interop/sample-agent.ts';
import { bridgeToServedAgent, bridgeToUrl, closeAfterTest } from '../../support/bridge/bridge-fixtures.ts';
import { createDeferred } from '../../support/engine/conversation.ts';
import { ManualClock } from '../../support/clocks/manual-clock.ts';
import { startRawAgent, rawStatusUpdate, rawTask } from '../../support/mesh/raw-agent.ts';
import { respondJson, startRawServer } from '../../support/http/raw-server.ts';

const emptyFields = { errorInfo: undefined, followUpId: undefined, files: [], data: {} };

describe('bridge', () => {
  it('exposes one action per skill and provide_required_input', async () => {
    const actions = await bridgeToServedAgent(sampleAgent());
    expect(actions.actions().map(({ name }) => name)).toEqual(['remote/echo', 'provide_required_input']);
    expect(actions.actions()[0]).toMatchObject({
      agentName: 'remote',
      skillId: 'echo',
      title: 'Echo',
      description: 'Says it back',
      tags: ['test'],
    });
  });

  it('returns the text of a completed task in the context of the session', async () => {
    const actions = await bridgeToServedAgent(sampleAgent());
    const first = await actions.invoke('remote/echo', { prompt: 'hello' }, { sessionId: 'session-1' });
    expect(first).toEqual({
      ...emptyFields,
      success: true,
      status: 'COMPLETED',
      message: 'hello',
      taskId: expect.any(String),
      contextId: 'session-1',
    });
    const second = await actions.invoke('remote/echo', { prompt: 'two' }, { sessionId: 'session-1' });
    expect(second.taskId).not.toBe(first.taskId);
    const free = await actions.invoke('remote/echo', { prompt: 'three' });
    expect(free.contextId).not.toBe('session-1');
  });

  it('joins the chunks of an artifact and separates artifacts', async () => {
    const actions = await bridgeToServedAgent(sampleAgent());
    expect((await actions.invoke('remote/echo', { prompt: 'stream' })).message).toBe('01234');
    expect((await actions.invoke('remote/echo', { prompt: 'two' })).message).toBe('a\n\nbc');
  });

  it('returns FAILED without internal errors of the agent', async () => {
    const actions = await bridgeToServedAgent(sampleAgent());
    const response = await actions.invoke('remote/echo', { prompt: 'fail' });
    expect(response).toMatchObject({ success: false, status: 'FAILED', taskId: expect.any(String) });
    expect(response.errorInfo?.errorMessage).toBe(response.message);
    expect(JSON.stringify(response)).not.toContain('secret of the house');
  });

  it('returns REJECTED with the message of the agent', async () => {
    const actions = await bridgeToServedAgent(sampleAgent());
    expect(await actions.invoke('remote/echo', { prompt: 'reject' })).toMatchObject({
      success: false,
      status: 'REJECTED',
      message: 'Not this one.',
      errorInfo: { errorMessage: 'Not this one.' },
      followUpId: undefined,
    });
  });

  it('returns CANCELED when the agent cancels the task', async () => {
    const raw = await startRawAgent({
      stream: () => [rawTask('working'), rawStatusUpdate('canceled', undefined, true)],
    });
    closeAfterTest(() => raw.close());
    expect(await (await bridgeToUrl(raw.url)).invoke('remote/s', { prompt: 'x' })).toMatchObject({
      success: false,
      status: 'CANCELED',
      message: 'The task was canceled',
    });
  });

  it('returns a direct message without a task', async () => {
    const agent = defineAgent({
      name: 'Direct',
      description: 'Speaks at once',
      allowDirectReply: true,
      process: () => ({ messageId: 'm', role: 'agent', parts: [{ text: 'hello' }] }),
    });
    expect(await (await bridgeToServedAgent(agent)).invoke('remote/default', { prompt: 'x' })).toMatchObject({
      success: true,
      status: 'COMPLETED',
      message: 'hello',
      taskId: undefined,
    });
  });

  it('polls the task when the agent does not stream', async () => {
    const open = createDeferred();
    const agent = defineAgent({
      name: 'Silent',
      description: 'Does not stream',
      streaming: false,
      process: async () => {
        await open.promise;
        return 'done';
      },
    });
    const clock = new ManualClock();
    const actions = await bridge({ agentName: 'local', agent, clock });
    closeAfterTest(() => actions.close());
    const polled = clock.waitForDelay((milliseconds) => milliseconds === 1_000);
    const response = actions.invoke('local/default', { prompt: 'x' });
    await polled;
    open.resolve();
    const over = response.then(() => true);
    for (let isOver = false; !isOver; ) {
      const again = clock.waitForDelay((milliseconds) => milliseconds === 1_000).then(() => false);
      clock.advance(1_000);
      isOver = await Promise.race([over, again]);
    }
    expect(await response).toMatchObject({ success: true, message: 'done' });
  });

  it('returns data separate from text', async () => {
    const agent = defineAgent({
      name: 'Data',
      description: 'Gives data',
      async *process() {
        yield { artifact: { artifactId: 'a', parts: [{ data: { sum: 3 } }, { text: 'It is 3.' }] } };
        yield { artifact: { artifactId: 'b', parts: [{ data: { unit: 'kg' } }, { data: [1, 2] }] } };
      },
    });
    expect(await (await bridgeToServedAgent(agent)).invoke('remote/default', { prompt: 'x' })).toMatchObject({
      message: 'It is 3.',
      data: { sum: 3, unit: 'kg', values: [[1, 2]] },
    });
  });
});

describe('Bridge.onChange', () => {
  it('is called when a card refresh changes the actions', async () => {
    let skills: AgentSkill[] = [{ id: 'one', name: 'One', description: 'First', tags: [] }];
    let etag = '"1"';
    const etags: (string | undefined)[] = [];
    const raw = await startRawServer((request, response, url) => {
      if (request.path !== '/.well-known/agent-card.json') return respondJson(response, {}, 404);
      etags.push(request.headers['if-none-match']);
      if (request.headers['if-none-match'] === etag) return response.writeHead(304, { etag }).end();
      return respondJson(
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
    closeAfterTest(() => raw.close());
    const clock = new ManualClock();
    const actions = await bridgeToUrl(raw.url, { clock, cardInterval: 5_000 });
    let changes = 0;
    let stop = actions.onChange(() => changes++);
    const names = () => actions.actions().map(({ name }) => name);
    const refresh = async () => {
      const again = clock.waitForDelay((milliseconds) => milliseconds === 5_000);
      clock.advance(5_000);
      await again;
    };
    await refresh();
    expect([changes, etags.at(-1)]).toEqual([0, '"1"']);
    skills = [...skills, { id: 'two', name: 'Two', description: 'Second', tags: [] }];
    etag = '"2"';
    await refresh();
    expect([changes, names()]).toEqual([1, ['remote/one', 'remote/two', 'provide_required_input']]);
    stop();
    stop = actions.onChange(() => {
      throw new Error('mine');
    });
    skills = [];
    etag = '"3"';
    await refresh();
    expect([changes, names()]).toEqual([1, ['provide_required_input']]);
    stop();
  });
});
