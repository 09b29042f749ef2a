import type { ChatEvent } from '../../../src/console/console-api.ts';
import type { Message } from '../../../src/protocol/message.ts';
import type { StreamEvent } from '../../../src/protocol/event.ts';
import { beginTurn, hear, type Turn } from '../../../console/src/components/task/chat-turn.ts';

/** The task that everything here is about. */
export const ids = { taskId: 't', contextId: 'c' };

/** An event, as the page hears it. */
export const heard = (event: StreamEvent): ChatEvent => ({ kind: 'event', event, findings: [] });

/** The task in some state, with so many artifacts. */
export const task = (state: 'submitted' | 'working' | 'completed', artifacts = 0): StreamEvent => ({
  kind: 'task',
  task: {
    id: 't',
    contextId: 'c',
    status: { state },
    artifacts: Array.from({ length: artifacts }, (_, at) => ({
      artifactId: `a${at}`,
      parts: [{ text: 'x' }],
    })),
  },
});

/** What the agent says. */
export const says = (text: string): Message => ({ messageId: text, role: 'agent', parts: [{ text }] });

/** The turn in which all this was heard. */
export const all = (events: ChatEvent[], turn: Turn = beginTurn('1', [{ text: 'hi' }], 0)): Turn =>
  hear(turn, events);
