import { describe, expect, it } from 'vitest';
import {
  applyAllEvents,
  chatEvent,
  taskIds,
  agentMessage,
  taskFixture,
} from '../../../../test/support/console/turn-fixtures.ts';
import type { ChatEvent } from '../../../../src/console/console-api.ts';
import type { StreamEvent } from '../../../../src/protocol/event.ts';
import { startTurn, applyEvents } from './chat-turn.ts';

describe('a turn', () => {
  it('has a step for each state, with what was said', () => {
    const turn = applyAllEvents([
      chatEvent(taskFixture('submitted')),
      chatEvent({ kind: 'status', ...taskIds, status: { state: 'working' } }),
      chatEvent({ kind: 'status', ...taskIds, status: { state: 'working', message: agentMessage('one') } }),
      chatEvent({ kind: 'status', ...taskIds, status: { state: 'working' } }),
      chatEvent({ kind: 'status', ...taskIds, status: { state: 'working', message: agentMessage('two') } }),
      chatEvent({
        kind: 'status',
        ...taskIds,
        status: { state: 'completed', message: agentMessage('done') },
      }),
      { kind: 'done' },
    ]);
    expect(turn.steps.map(({ state, parts }) => [state, parts])).toEqual([
      ['submitted', undefined],
      ['working', [{ text: 'one' }]],
      ['working', [{ text: 'two' }]],
      ['completed', [{ text: 'done' }]],
    ]);
    expect(turn.isRunning).toBe(false);
  });

  it('lets an artifact grow until its last chunk', () => {
    const chunk = (text: string, append: boolean, lastChunk: boolean): ChatEvent =>
      chatEvent({
        kind: 'artifact',
        ...taskIds,
        artifact: { artifactId: 'a', parts: [{ text }] },
        append,
        lastChunk,
      });
    const half = applyAllEvents([
      chatEvent(taskFixture('working')),
      chunk('a', false, false),
      chunk('b', true, false),
    ]);
    expect([...half.growing]).toEqual(['a']);
    const whole = applyEvents(half, [chunk('c', true, true)]);
    expect(whole.growing.size).toBe(0);
    expect(whole.task?.artifacts?.[0]?.parts).toEqual([{ text: 'a' }, { text: 'b' }, { text: 'c' }]);
    expect(half.task?.artifacts?.[0]?.parts).toHaveLength(2);
  });

  it('understands a stream that begins without a task', () => {
    const turn = applyAllEvents([
      chatEvent({ kind: 'status', ...taskIds, status: { state: 'working', message: agentMessage('on it') } }),
    ]);
    expect(turn.task?.id).toBe('t');
    expect(turn.steps).toHaveLength(1);
  });

  it('may be answered by a message alone', () => {
    const turn = applyAllEvents([{ kind: 'answer', answer: agentMessage('hello') }, { kind: 'done' }]);
    expect(turn.message?.parts).toEqual([{ text: 'hello' }]);
    expect(turn.task).toBeUndefined();
  });

  it('shows what was said in an answer of one piece, and not what was said before', () => {
    const answer = {
      id: 't',
      contextId: 'c',
      status: { state: 'completed' as const, message: agentMessage('end') },
      history: [
        agentMessage('old'),
        { messageId: 'u', role: 'user' as const, parts: [] },
        agentMessage('new'),
        agentMessage('end'),
      ],
    };
    const turn = applyAllEvents([{ kind: 'answer', answer }]);
    expect(turn.steps.map(({ parts }) => parts)).toEqual([[{ text: 'new' }], [{ text: 'end' }]]);
  });

  it('does not ask again what it answers', () => {
    const question = { state: 'input-required' as const, message: agentMessage('which?') };
    const asking: StreamEvent = { kind: 'task', task: { id: 't', contextId: 'c', status: question } };
    const turn = applyAllEvents(
      [
        chatEvent(asking),
        chatEvent({ kind: 'status', ...taskIds, status: { state: 'working' } }),
        chatEvent({ kind: 'status', ...taskIds, status: question }),
      ],
      startTurn('2', [{ text: 'that' }], 0, {
        ...question,
        message: { ...agentMessage('which?'), messageId: 'other' },
      }),
    );
    expect(turn.steps.map(({ state }) => state)).toEqual(['working', 'input-required']);
  });

  it('has no step for a task that is told again', () => {
    const turn = applyAllEvents([
      chatEvent(taskFixture('working')),
      chatEvent(taskFixture('working')),
      chatEvent(taskFixture('completed')),
    ]);
    expect(turn.steps.map(({ state }) => state)).toEqual(['working', 'completed']);
  });

  it('is the same whether events come at once or one by one', () => {
    const events = [
      chatEvent(taskFixture('working')),
      chatEvent({ kind: 'artifact', ...taskIds, artifact: { artifactId: 'a', parts: [{ text: 'x' }] } }),
      chatEvent({ kind: 'status', ...taskIds, status: { state: 'completed' } }),
    ];
    const { fold: _one, ...slow } = events.reduce(
      (turn, event) => applyEvents(turn, [event]),
      applyAllEvents([]),
    );
    const { fold: _other, ...fast } = applyAllEvents(events);
    expect(slow).toEqual(fast);
  });

  it('ends with a trouble, and keeps what came before', () => {
    const turn = applyAllEvents([
      chatEvent(taskFixture('working')),
      { kind: 'error', reason: 'TIMEOUT', message: 'too long' },
    ]);
    expect(turn).toMatchObject({ isRunning: false, trouble: { reason: 'TIMEOUT' } });
    expect(turn.task?.id).toBe('t');
  });

  it('keeps the newest steps of an agent that never stops talking', () => {
    const talk = Array.from({ length: 1000 }, (_, at) =>
      chatEvent({ kind: 'status', ...taskIds, status: { state: 'working', message: agentMessage(`${at}`) } }),
    );
    const turn = applyAllEvents(talk);
    expect(turn.steps).toHaveLength(300);
    expect(turn.lostSteps).toBe(700);
    expect(turn.steps.at(-1)?.parts).toEqual([{ text: '999' }]);
  });
});
