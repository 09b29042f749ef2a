import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import type { Bridge } from '../../../src/bridge/action-types.ts';
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

const goOn = (made: Bridge, followUpId: string | undefined, words: string, meta = {}) =>
  made.invoke('provide_required_input', { follow_up_id: followUpId, user_response: words }, meta);

const invalid = {
  success: false,
  status: 'ERROR',
  message: 'Invalid or expired follow-up ID.',
  followUpId: undefined,
};

describe('a question of an agent', () => {
  it('comes with a follow-up ID, which leads to the same task', async () => {
    const made = await bridgeToServedAgent(sampleAgent());
    const asked = await made.invoke('remote/echo', { prompt: 'ask' }, { sessionId: 's' });
    expect(asked).toMatchObject({
      success: false,
      status: 'INPUT_REQUIRED',
      message: 'Which one?',
      errorInfo: undefined,
      data: { follow_up_id: asked.followUpId },
    });
    const answered = await goOn(made, asked.followUpId, 'The red one', { sessionId: 's' });
    expect(answered).toMatchObject({
      success: true,
      status: 'COMPLETED',
      message: 'The red one',
      taskId: asked.taskId,
      contextId: asked.contextId,
      followUpId: undefined,
    });
  });

  it('may be followed by another, with an ID of its own', async () => {
    const made = await bridgeToServedAgent(sampleAgent());
    const first = await made.invoke('remote/echo', { prompt: 'ask twice' });
    const second = await goOn(made, first.followUpId, 'a');
    expect(second).toMatchObject({ status: 'INPUT_REQUIRED', message: 'Really?', taskId: first.taskId });
    expect(second.followUpId).not.toBe(first.followUpId);
    expect(await goOn(made, first.followUpId, 'b')).toMatchObject(invalid);
    expect(await goOn(made, second.followUpId, 'b')).toMatchObject({ message: 'ab' });
  });

  it('is answered once, in time, and by whoever was asked', async () => {
    const clock = new ManualClock();
    const made = await bridgeToServedAgent(sampleAgent(), { clock });
    const ask = () => made.invoke('remote/echo', { prompt: 'ask' }, { sessionId: 's', userId: 'alice' });
    const asked = await ask();
    expect(await goOn(made, asked.followUpId, 'x', { sessionId: 's', userId: 'bob' })).toMatchObject(invalid);
    expect(await goOn(made, asked.followUpId, 'x', { sessionId: 't', userId: 'alice' })).toMatchObject(
      invalid,
    );
    expect(await goOn(made, 'something', 'x')).toMatchObject(invalid);
    expect((await goOn(made, asked.followUpId, 'x', { sessionId: 's', userId: 'alice' })).success).toBe(true);
    expect(await goOn(made, asked.followUpId, 'x', { sessionId: 's', userId: 'alice' })).toMatchObject(
      invalid,
    );
    const late = await ask();
    clock.advance(299_999);
    const later = await ask();
    clock.advance(1);
    expect(await goOn(made, late.followUpId, 'x', { sessionId: 's', userId: 'alice' })).toMatchObject(
      invalid,
    );
    expect((await goOn(made, later.followUpId, 'x', { sessionId: 's', userId: 'alice' })).success).toBe(true);
  });

  it('can be answered for as long as its own agent allows', async () => {
    const clock = new ManualClock();
    const server = await serve(sampleAgent());
    closeAfterTest(() => server.stop(0));
    const remote = connect(server.url);
    closeAfterTest(() => remote.close());
    const made = await bridgeAgents(
      [
        { agentName: 'short', agent: remote, inputRequiredTtl: 1 },
        { agentName: 'long', agent: remote },
      ],
      { clock },
    );
    closeAfterTest(() => made.close());
    const [short, long] = [
      await made.invoke('short/echo', { prompt: 'ask' }),
      await made.invoke('long/echo', { prompt: 'ask' }),
    ];
    clock.advance(1_000);
    expect(await goOn(made, short.followUpId, 'x')).toMatchObject(invalid);
    expect(await goOn(made, long.followUpId, 'x')).toMatchObject({ success: true });
  });

  it('needs an answer', async () => {
    const made = await bridgeToServedAgent(sampleAgent());
    const asked = await made.invoke('remote/echo', { prompt: 'ask' });
    const empty = await goOn(made, asked.followUpId, '');
    expect(empty).toMatchObject({ status: 'ERROR', followUpId: asked.followUpId });
    expect(await made.invoke('provide_required_input', { user_response: 'x' })).toMatchObject({
      message: 'follow_up_id is required',
    });
    expect((await goOn(made, asked.followUpId, 'x')).success).toBe(true);
  });

  it('stays open when the answer did not arrive, or its file is not there', async () => {
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
    const made = await bridgeToUrl(raw.url);
    const asked = await made.invoke('remote/s', { prompt: 'x' });
    isDown = true;
    expect(await goOn(made, asked.followUpId, 'this')).toMatchObject({
      status: 'ERROR',
      followUpId: asked.followUpId,
    });
    isDown = false;
    const lost = await made.invoke('provide_required_input', {
      follow_up_id: asked.followUpId,
      user_response: 'this',
      files: ['artifact://a/default_user/s/lost.txt'],
    });
    expect(lost).toMatchObject({ status: 'ERROR', followUpId: asked.followUpId });
    expect(lost.message).toContain('lost.txt');
    expect(await goOn(made, asked.followUpId, 'this')).toMatchObject({ success: true, message: 'this' });
    const [, answer] = raw.rpcRequests('message/stream');
    expect(answer.params.message).toMatchObject({ taskId: innerTask, contextId: innerContext });
  });

  it('is not taken for the answer to its answer when time is up', async () => {
    const clock = new ManualClock();
    const raw = await startRawAgent({
      open: (request, events) => {
        const isAnswer = request.params.message.taskId !== undefined;
        events.event(isAnswer ? rawTask('input-required', 'Which?') : rawTask('working'));
        if (!isAnswer) events.event(rawStatusUpdate('input-required', 'Which?', true));
      },
    });
    closeAfterTest(() => raw.close());
    const made = await bridgeToUrl(raw.url, { clock });
    const asked = await made.invoke('remote/s', { prompt: 'x' });
    expect(asked.status).toBe('INPUT_REQUIRED');
    const waiting = clock.waitForDelay((milliseconds) => milliseconds === 50);
    const response = made.invoke(
      'provide_required_input',
      { follow_up_id: asked.followUpId, user_response: 'this' },
      { waitBudget: 50 },
    );
    await waiting;
    while (raw.rpcRequests('message/stream').length < 2) await new Promise(setImmediate);
    clock.advance(50);
    expect((await response).status).not.toBe('INPUT_REQUIRED');
  });

  it('goes to the agent that asked', async () => {
    const [one, two] = [sampleAgent(), sampleAgent()];
    const made = await bridgeAgents([
      { agentName: 'one', agent: one },
      { agentName: 'two', agent: two },
    ]);
    closeAfterTest(() => made.close());
    const first = await made.invoke('one/echo', { prompt: 'ask' });
    const second = await made.invoke('two/echo', { prompt: 'ask' });
    expect((await goOn(made, second.followUpId, 'to two')).message).toBe('to two');
    expect((await goOn(made, first.followUpId, 'to one')).message).toBe('to one');
    expect((await one.getTask({ id: first.taskId ?? '' })).status.state).toBe('completed');
    expect((await two.getTask({ id: second.taskId ?? '' })).status.state).toBe('completed');
  });

  it('is kept under its key with task, context and agent', async () => {
    const puts: [string, FollowUp, number][] = [];
    const memory = memoryFollowUpStore();
    const made = await bridge({
      agentName: 'a',
      agent: sampleAgent(),
      inputRequiredTtl: 7,
      newId: (() => {
        let n = 0;
        return () => `id-${++n}`;
      })(),
      followUps: {
        take: (key, caller) => memory.take(key, caller),
        put: (...given) => {
          puts.push(given);
          return memory.put(...given);
        },
      },
    });
    closeAfterTest(() => made.close());
    const { taskId, contextId } = await made.invoke('a/echo', { prompt: 'ask' }, { sessionId: 's' });
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

  it('is there after a restart of the bridge', async () => {
    const agent = sampleAgent();
    const file = join(folder, 'follow-ups.db');
    const before = await bridge({ agentName: 'a', agent, followUps: await sqliteFollowUpStore({ file }) });
    const asked = await before.invoke('a/echo', { prompt: 'ask' }, { sessionId: 's' });
    await before.close();
    const after = await bridge({ agentName: 'a', agent, followUps: await sqliteFollowUpStore({ file }) });
    closeAfterTest(() => after.close());
    expect(await goOn(after, asked.followUpId, 'still here', { sessionId: 's' })).toMatchObject({
      success: true,
      message: 'still here',
    });
  });
});

describe('an agent that wants a proof', () => {
  it('gives a follow-up ID, which says so or waits', async () => {
    const made = await bridgeToServedAgent(sampleAgent());
    const asked = await made.invoke('remote/echo', { prompt: 'auth' });
    expect(asked).toMatchObject({
      success: false,
      status: 'AUTH_REQUIRED',
      message: 'Sign in first.',
      followUpId: expect.any(String),
    });
    const still = await goOn(made, asked.followUpId, '');
    expect(still).toMatchObject({ status: 'AUTH_REQUIRED', taskId: asked.taskId });
    expect(await goOn(made, still.followUpId, 'Done')).toMatchObject({
      status: 'COMPLETED',
      message: 'signed in',
    });
  });
});

describe('users', () => {
  it('do not share a conversation, whatever their sessions are called', async () => {
    const made = await bridgeToServedAgent(sampleAgent());
    const contextOf = async (userId?: string) =>
      (await made.invoke('remote/echo', { prompt: 'x' }, { sessionId: 's', ...(userId && { userId }) }))
        .contextId;
    const contexts = [await contextOf('alice'), await contextOf('bob'), await contextOf()];
    expect(new Set(contexts).size).toBe(3);
    expect(await contextOf('alice')).toBe(contexts[0]);
    expect(contexts[2]).toBe('s');
  });

  it('are led back to the context that the agent chose', async () => {
    const raw = await startRawAgent({ stream: () => [rawTask('completed', 'x')] });
    closeAfterTest(() => raw.close());
    const made = await bridgeToUrl(raw.url);
    await made.invoke('remote/s', { prompt: 'x' }, { sessionId: 's' });
    await made.invoke('remote/s', { prompt: 'x' }, { sessionId: 's' });
    await made.invoke('remote/s', { prompt: 'x' }, { sessionId: 't' });
    expect(raw.rpcRequests('message/stream').map(({ params }) => params.message.contextId)).toEqual([
      's',
      innerContext,
      't',
    ]);
  });
});
