import type { ChatEvent } from '../../../src/console/console-api.ts';
import type { Message } from '../../../src/protocol/message.ts';
import type { StreamEvent } from '../../../src/protocol/event.ts';
import { startTurn, applyEvents, type ChatTurn } from '../../../console/src/components/task/chat-turn.ts';

/** The task that everything here is about. */
export const taskIds = { taskId: 't', contextId: 'c' };

/** An event, as the page hears it. */
export const chatEvent = (event: StreamEvent): ChatEvent => ({ kind: 'event', event, findings: [] });

/** The task in some state, with so many artifacts. */
export const taskFixture = (state: 'submitted' | 'working' | 'completed', artifacts = 0): StreamEvent => ({
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
export const agentMessage = (text: string): Message => ({
  messageId: text,
  role: 'agent',
  parts: [{ text }],
});

/** The turn in which all this was heard. */
export const applyAllEvents = (
  events: ChatEvent[],
  turn: ChatTurn = startTurn('1', [{ text: 'hi' }], 0),
): ChatTurn => applyEvents(turn, events);
