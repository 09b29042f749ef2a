import { describe, expect, it } from 'vitest';
import {
  applyAllEvents,
  chatEvent,
  taskIds,
  agentMessage,
  taskFixture,
} from '../../../../test/support/console/turn-fixtures.ts';
import { startTurn, applyEvents } from '../../components/task/chat-turn.ts';
import {
  artifactsOf,
  type ChatConversation,
  isCancelable,
  isPlainAnswer,
  titleOf,
  withTurn,
} from './conversation.ts';
const empty: ChatConversation = { id: 'x', agentId: 'a', turns: [] };

describe('conversation', () => {
  it('has a pending question until the user replies', () => {
    const asking = applyAllEvents([
      chatEvent(taskFixture('working')),
      chatEvent({
        kind: 'status',
        ...taskIds,
        status: { state: 'input-required', message: agentMessage('which?') },
      }),
      { kind: 'done' },
    ]);
    const waiting = withTurn(empty, asking);
    expect(waiting.waiting?.id).toBe('t');
    expect(waiting.contextId).toBe('c');
    const answered = withTurn(waiting, startTurn('2', [{ text: 'that' }], 1));
    expect(answered.waiting).toBeUndefined();
    expect(answered.contextId).toBe('c');
  });

  it('shows an artifact with the turns that created or changed it', () => {
    const first = applyAllEvents([chatEvent(taskFixture('working', 1)), { kind: 'done' }]);
    const one = withTurn(empty, first);
    expect(artifactsOf(one, first)).toHaveLength(1);
    const second = applyAllEvents([chatEvent(taskFixture('working', 2))], startTurn('2', [], 1));
    expect(artifactsOf(withTurn(one, second), second).map(({ artifactId }) => artifactId)).toEqual(['a1']);
    const third = applyEvents(second, [
      chatEvent({ kind: 'artifact', ...taskIds, artifact: { artifactId: 'a0', parts: [{ text: 'y' }] } }),
    ]);
    expect(artifactsOf(withTurn(one, third), third)).toHaveLength(2);
  });

  it('allows canceling in the last turn of a task', () => {
    const first = applyAllEvents([chatEvent(taskFixture('working')), { kind: 'done' }]);
    const one = withTurn(empty, first);
    expect(isCancelable(one, first)).toBe(true);
    const second = applyAllEvents([chatEvent(taskFixture('working'))], startTurn('2', [], 1));
    const two = withTurn(one, second);
    expect(isCancelable(two, first)).toBe(false);
    expect(isCancelable(two, second)).toBe(true);
    const over = applyAllEvents([chatEvent(taskFixture('completed'))], startTurn('2', [], 1));
    expect(isCancelable(withTurn(one, over), over)).toBe(false);
  });

  it('treats unnamed text as a chat message', () => {
    expect(isPlainAnswer({ artifactId: 'a', parts: [{ text: 'x' }, { text: 'y' }] })).toBe(true);
    expect(isPlainAnswer({ artifactId: 'a', name: 'x.txt', parts: [{ text: 'x' }] })).toBe(false);
    expect(isPlainAnswer({ artifactId: 'a', parts: [{ text: 'a,b', mediaType: 'text/csv' }] })).toBe(false);
    expect(isPlainAnswer({ artifactId: 'a', parts: [{ data: 1 }] })).toBe(false);
  });

  it('is titled by its first message', () => {
    expect(titleOf(empty)).toBe('New conversation');
    expect(titleOf(withTurn(empty, startTurn('1', [{ text: ' a \n b ' }], 0)))).toBe('a b');
    expect(titleOf(withTurn(empty, startTurn('1', [{ raw: '', filename: 'x.pdf' }], 0)))).toBe('x.pdf');
  });
});
