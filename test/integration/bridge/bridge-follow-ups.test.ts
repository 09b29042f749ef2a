import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import type { ActionCallOptions, Bridge } from '../../../src/bridge/action-types.ts';
import { bridge, bridgeAgents } from '../../../src/bridge/bridge.ts';
import { type FollowUp, memoryFollowUpStore } from '../../../src/bridge/follow-ups/follow-up-store.ts';
import { sqliteFollowUpStore } from '../../../src/bridge/follow-ups/sqlite-follow-up-store.ts';
import { connect } from '../../../src/client/connect.ts';
import { serve } from '../../../src/server/node/serve.ts';
import { sampleAgent } from '../../interop/sample-agent.ts';
import { bridgeToServedAgent, bridgeToUrl, closeAfterTest } from '../../support/bridge/bridge-fixtures.ts';
import { ManualClock } from '../../support/clocks/manual-clock.ts';
import {
  innerContext,
  innerTask,
  startRawAgent,
  rawStatusUpdate,
  rawTask,
} from '../../support/mesh/raw-agent.ts';

const folder = mkdtempSync(join(tmpdir(), 'dragoman-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const provideInput = (
  actions: Bridge,
  followUpId: string | undefined,
  input: string,
  options: ActionCallOptions = {},
) => actions.invoke('provide_required_input', { follow_up_id: followUpId, user_response: input }, options);

const invalid = {
  success: false,
  status: 'ERROR',
  message: 'Invalid or expired follow-up ID.',
  followUpId: undefined,
};

describe('provide_required_input', () => {
  it('continues an input-required task by follow-up ID', async () => {
    const actions = await bridgeToServedAgent(sampleAgent());
    const question = await actions.invoke('remote/echo', { prompt: 'ask' }, { sessionId: 's' });
    expect(question).toMatchObject({
      success: false,
      status: 'INPUT_REQUIRED',
      message: 'Which one?',
      errorInfo: undefined,
      data: { follow_up_id: question.followUpId },
    });
    const completed = await provideInput(actions, question.followUpId, 'The red one', { sessionId: 's' });
    expect(completed).toMatchObject({
      success: true,
      status: 'COMPLETED',
      message: 'The red one',
      taskId: question.taskId,
      contextId: question.contextId,
      followUpId: undefined,
    });
  });

  it('returns a new follow-up ID for each further question', async () => {
    const actions = await bridgeToServedAgent(sampleAgent());
    const first = await actions.invoke('remote/echo', { prompt: 'ask twice' });
    const second = await provideInput(actions, first.followUpId, 'a');
    expect(second).toMatchObject({ status: 'INPUT_REQUIRED', message: 'Really?', taskId: first.taskId });
    expect(second.followUpId).not.toBe(first.followUpId);
    expect(await provideInput(actions, first.followUpId, 'b')).toMatchObject(invalid);
    expect(await provideInput(actions, second.followUpId, 'b')).toMatchObject({ message: 'ab' });
  });

  it('redeems a follow-up ID once, before it expires, for the same user and session', async () => {
    const clock = new ManualClock();
    const actions = await bridgeToServedAgent(sampleAgent(), { clock });
    const askQuestion = () =>
      actions.invoke('remote/echo', { prompt: 'ask' }, { sessionId: 's', userId: 'alice' });
    const question = await askQuestion();
    expect(
      await provideInput(actions, question.followUpId, 'x', { sessionId: 's', userId: 'bob' }),
    ).toMatchObject(invalid);
    expect(
      await provideInput(actions, question.followUpId, 'x', { sessionId: 't', userId: 'alice' }),
    ).toMatchObject(invalid);
    expect(await provideInput(actions, 'something', 'x')).toMatchObject(invalid);
    expect(
      (await provideInput(actions, question.followUpId, 'x', { sessionId: 's', userId: 'alice' })).success,
    ).toBe(true);
    expect(
      await provideInput(actions, question.followUpId, 'x', { sessionId: 's', userId: 'alice' }),
    ).toMatchObject(invalid);
    const late = await askQuestion();
    clock.advance(299_999);
    const later = await askQuestion();
    clock.advance(1);
    expect(
      await provideInput(actions, late.followUpId, 'x', { sessionId: 's', userId: 'alice' }),
    ).toMatchObject(invalid);
    expect(
      (await provideInput(actions, later.followUpId, 'x', { sessionId: 's', userId: 'alice' })).success,
    ).toBe(true);
  });

  it('applies the inputRequiredTtl of the agent', async () => {
    const clock = new ManualClock();
    const server = await serve(sampleAgent());
    closeAfterTest(() => server.stop(0));
    const remote = connect(server.url);
    closeAfterTest(() => remote.close());
    const actions = await bridgeAgents(
      [
        { agentName: 'short', agent: remote, inputRequiredTtl: 1 },
        { agentName: 'long', agent: remote },
      ],
      { clock },
    );
    closeAfterTest(() => actions.close());
    const [short, long] = [
      await actions.invoke('short/echo', { prompt: 'ask' }),
      await actions.invoke('long/echo', { prompt: 'ask' }),
    ];
    clock.advance(1_000);
    expect(await provideInput(actions, short.followUpId, 'x')).toMatchObject(invalid);
    expect(await provideInput(actions, long.followUpId, 'x')).toMatchObject({ success: true });
  });

  it('rejects empty input and a missing follow-up ID', async () => {
    const actions = await bridgeToServedAgent(sampleAgent());
    const question = await actions.invoke('remote/echo', { prompt: 'ask' });
    const empty = await provideInput(actions, question.followUpId, '');
    expect(empty).toMatchObject({ status: 'ERROR', followUpId: question.followUpId });
    expect(await actions.invoke('provide_required_input', { user_response: 'x' })).toMatchObject({
      message: 'follow_up_id is required',
    });
    expect((await provideInput(actions, question.followUpId, 'x')).success).toBe(true);
  });

  it('keeps the follow-up ID valid when delivery fails or a file is missing', async () => {
    let isDown = false;
    const raw = await startRawAgent({
      http: (request, response) => {
        if (!isDown || request.method !== 'POST') return false;
        response.writeHead(503).end();
        return true;
      },
      stream: ({ params }) =>
        params.message.taskId === undefined
          ? [rawTask('working'), rawStatusUpdate('input-required', 'Which?', true)]
          : [rawTask('working'), rawStatusUpdate('completed', params.message.parts[0].text, true)],
    });
    closeAfterTest(() => raw.close());
    const actions = await bridgeToUrl(raw.url);
    const question = await actions.invoke('remote/s', { prompt: 'x' });
    isDown = true;
    expect(await provideInput(actions, question.followUpId, 'this')).toMatchObject({
      status: 'ERROR',
      followUpId: question.followUpId,
    });
    isDown = false;
    const lost = await actions.invoke('provide_required_input', {
      follow_up_id: question.followUpId,
      user_response: 'this',
      files: ['artifact://a/default_user/s/lost.txt'],
    });
    expect(lost).toMatchObject({ status: 'ERROR', followUpId: question.followUpId });
    expect(lost.message).toContain('lost.txt');
    expect(await provideInput(actions, question.followUpId, 'this')).toMatchObject({
      success: true,
      message: 'this',
    });
    const [, answer] = raw.rpcRequests('message/stream');
    expect(answer.params.message).toMatchObject({ taskId: innerTask, contextId: innerContext });
  });

  it('does not return the previous question when the wait budget is used up', async () => {
    const clock = new ManualClock();
    const raw = await startRawAgent({
      open: (request, events) => {
        const isAnswer = request.params.message.taskId !== undefined;
        events.event(isAnswer ? rawTask('input-required', 'Which?') : rawTask('working'));
        if (!isAnswer) events.event(rawStatusUpdate('input-required', 'Which?', true));
      },
    });
    closeAfterTest(() => raw.close());
    const actions = await bridgeToUrl(raw.url, { clock });
    const question = await actions.invoke('remote/s', { prompt: 'x' });
    expect(question.status).toBe('INPUT_REQUIRED');
    const waiting = clock.waitForDelay((milliseconds) => milliseconds === 50);
    const response = actions.invoke(
      'provide_required_input',
      { follow_up_id: question.followUpId, user_response: 'this' },
      { waitBudget: 50 },
    );
    await waiting;
    while (raw.rpcRequests('message/stream').length < 2) await new Promise(setImmediate);
    clock.advance(50);
    expect((await response).status).not.toBe('INPUT_REQUIRED');
  });

  it('sends the input to the agent that requested it', async () => {
    const [one, two] = [sampleAgent(), sampleAgent()];
    const actions = await bridgeAgents([
      { agentName: 'one', agent: one },
      { agentName: 'two', agent: two },
    ]);
    closeAfterTest(() => actions.close());
    const first = await actions.invoke('one/echo', { prompt: 'ask' });
    const second = await actions.invoke('two/echo', { prompt: 'ask' });
    expect((await provideInput(actions, second.followUpId, 'to two')).message).toBe('to two');
    expect((await provideInput(actions, first.followUpId, 'to one')).message).toBe('to one');
    expect((await one.getTask({ id: first.taskId ?? '' })).status.state).toBe('completed');
    expect((await two.getTask({ id: second.taskId ?? '' })).status.state).toBe('completed');
  });

  it('stores the follow-up with task, context, agent and user', async () => {
    const puts: [string, FollowUp, number][] = [];
    const memory = memoryFollowUpStore();
    const actions = await bridge({
      agentName: 'a',
      agent: sampleAgent(),
      inputRequiredTtl: 7,
      newId: (() => {
        let n = 0;
        return () => `id-${++n}`;
      })(),
      followUps: {
        take: (key, client) => memory.take(key, client),
        put: (...args) => {
          puts.push(args);
          return memory.put(...args);
        },
      },
    });
    closeAfterTest(() => actions.close());
    const { taskId, contextId } = await actions.invoke('a/echo', { prompt: 'ask' }, { sessionId: 's' });
    expect(puts).toEqual([
      [
        'a2a_follow_up:id-2',
        {
          agentName: 'a',
          taskId,
          contextId,
          action: 'a/echo',
          kind: 'input',
          userId: 'default_user',
          sessionId: 's',
        },
        7_000,
      ],
    ]);
  });

  it('works after a restart of the bridge with a SQLite store', async () => {
    const agent = sampleAgent();
    const file = join(folder, 'follow-ups.db');
    const before = await bridge({ agentName: 'a', agent, followUps: await sqliteFollowUpStore({ file }) });
    const question = await before.invoke('a/echo', { prompt: 'ask' }, { sessionId: 's' });
    await before.close();
    const after = await bridge({ agentName: 'a', agent, followUps: await sqliteFollowUpStore({ file }) });
    closeAfterTest(() => after.close());
    expect(await provideInput(after, question.followUpId, 'still here', { sessionId: 's' })).toMatchObject({
      success: true,
      message: 'still here',
    });
  });
});

describe('auth-required task', () => {
  it('returns a follow-up ID that waits or sends input', async () => {
    const actions = await bridgeToServedAgent(sampleAgent());
    const question = await actions.invoke('remote/echo', { prompt: 'auth' });
    expect(question).toMatchObject({
      success: false,
      status: 'AUTH_REQUIRED',
      message: 'Sign in first.',
      followUpId: expect.any(String),
    });
    const still = await provideInput(actions, question.followUpId, '');
    expect(still).toMatchObject({ status: 'AUTH_REQUIRED', taskId: question.taskId });
    expect(await provideInput(actions, still.followUpId, 'Done')).toMatchObject({
      status: 'COMPLETED',
      message: 'signed in',
    });
  });
});

describe('bridge sessions', () => {
  it('do not share a context between users with the same session id', async () => {
    const actions = await bridgeToServedAgent(sampleAgent());
    const contextOf = async (userId?: string) =>
      (await actions.invoke('remote/echo', { prompt: 'x' }, { sessionId: 's', ...(userId && { userId }) }))
        .contextId;
    const contexts = [await contextOf('alice'), await contextOf('bob'), await contextOf()];
    expect(new Set(contexts).size).toBe(3);
    expect(await contextOf('alice')).toBe(contexts[0]);
    expect(contexts[2]).toBe('s');
  });

  it('reuse the context id that the agent chose', async () => {
    const raw = await startRawAgent({ stream: () => [rawTask('completed', 'x')] });
    closeAfterTest(() => raw.close());
    const actions = await bridgeToUrl(raw.url);
    await actions.invoke('remote/s', { prompt: 'x' }, { sessionId: 's' });
    await actions.invoke('remote/s', { prompt: 'x' }, { sessionId: 's' });
    await actions.invoke('remote/s', { prompt: 'x' }, { sessionId: 't' });
    expect(raw.rpcRequests('message/stream').map(({ params }) => params.message.contextId)).toEqual([
      's',
      innerContext,
      't',
    ]);
  });
});
