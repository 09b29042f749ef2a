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

describe('chat turn', () => {
  it('adds a step for each state with its message', () => {
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

  it('marks an artifact as growing until its last chunk', () => {
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
    expect(whole.task?.artifacts?.[0]?.parts).toEqual([{ text: 'abc' }]);
    expect(half.task?.artifacts?.[0]?.parts).toEqual([{ text: 'ab' }]);
  });

  it('adds no step twice when the task of a stream is canceled', () => {
    const turn = applyAllEvents([
      chatEvent(taskFixture('submitted')),
      chatEvent({ kind: 'status', ...taskIds, status: { state: 'working', message: agentMessage('one') } }),
      chatEvent({ kind: 'status', ...taskIds, status: { state: 'canceled' } }),
      { kind: 'done' },
      {
        kind: 'result',
        result: { id: 't', contextId: 'c', status: { state: 'canceled' }, history: [agentMessage('one')] },
      },
    ]);
    expect(turn.steps.map(({ state }) => state)).toEqual(['submitted', 'working', 'canceled']);
  });

  it('accepts a stream without an initial task', () => {
    const turn = applyAllEvents([
      chatEvent({ kind: 'status', ...taskIds, status: { state: 'working', message: agentMessage('on it') } }),
    ]);
    expect(turn.task?.id).toBe('t');
    expect(turn.steps).toHaveLength(1);
  });

  it('accepts a direct message as result', () => {
    const turn = applyAllEvents([{ kind: 'result', result: agentMessage('hello') }, { kind: 'done' }]);
    expect(turn.message?.parts).toEqual([{ text: 'hello' }]);
    expect(turn.task).toBeUndefined();
  });

  it('shows new history messages of a non-streaming result only', () => {
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
    const turn = applyAllEvents([{ kind: 'result', result: answer }]);
    expect(turn.steps.map(({ parts }) => parts)).toEqual([[{ text: 'new' }], [{ text: 'end' }]]);
  });

  it('does not repeat the question it replies to', () => {
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

  it('adds no step for a repeated snapshot', () => {
    const turn = applyAllEvents([
      chatEvent(taskFixture('working')),
      chatEvent(taskFixture('working')),
      chatEvent(taskFixture('completed')),
    ]);
    expect(turn.steps.map(({ state }) => state)).toEqual(['working', 'completed']);
  });

  it('is independent of event batching', () => {
    const events = [
      chatEvent(taskFixture('working')),
      chatEvent({ kind: 'artifact', ...taskIds, artifact: { artifactId: 'a', parts: [{ text: 'x' }] } }),
      chatEvent({ kind: 'status', ...taskIds, status: { state: 'completed' } }),
    ];
    const { reducer: _one, ...slow } = events.reduce(
      (turn, event) => applyEvents(turn, [event]),
      applyAllEvents([]),
    );
    const { reducer: _other, ...fast } = applyAllEvents(events);
    expect(slow).toEqual(fast);
  });

  it('ends with an error and keeps earlier steps', () => {
    const turn = applyAllEvents([
      chatEvent(taskFixture('working')),
      { kind: 'error', reason: 'TIMEOUT', message: 'too long' },
    ]);
    expect(turn).toMatchObject({ isRunning: false, error: { reason: 'TIMEOUT' } });
    expect(turn.task?.id).toBe('t');
  });

  it('retains only the newest steps', () => {
    const talk = Array.from({ length: 1000 }, (_, at) =>
      chatEvent({ kind: 'status', ...taskIds, status: { state: 'working', message: agentMessage(`${at}`) } }),
    );
    const turn = applyAllEvents(talk);
    expect(turn.steps).toHaveLength(300);
    expect(turn.lostSteps).toBe(700);
    expect(turn.steps.at(-1)?.parts).toEqual([{ text: '999' }]);
  });
});
