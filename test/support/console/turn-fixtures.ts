import type { ChatEvent } from '../../../src/console/console-api.ts';
import type { Message } from '../../../src/protocol/message.ts';
import type { StreamEvent } from '../../../src/protocol/event.ts';
import { startTurn, applyEvents, type ChatTurn } from '../../../console/src/components/task/chat-turn.ts';

/** Ids of the task in all fixtures. */
export const taskIds = { taskId: 't', contextId: 'c' };

/** Wraps a stream event as the console API sends it. */
export const chatEvent = (event: StreamEvent): ChatEvent => ({ kind: 'event', event, findings: [] });

/** A task snapshot in a state, with a number of artifacts. */
export const taskFixture = (state: 'submitted' | 'working' | 'completed', artifacts = 0): StreamEvent => ({
  kind: 'task',
  task: {
    id: 't',
    contextId: 'c',
    status: { state },
    artifacts: Array.from({ length: artifacts }, (_, index) => ({
      artifactId: `a${index}`,
      parts: [{ text: 'x' }],
    })),
  },
});

/** A text message of the agent. */
export const agentMessage = (text: string): Message => ({
  messageId: text,
  role: 'agent',
  parts: [{ text }],
});

/** Applies chat events to a turn, by default a new one. */
export const applyAllEvents = (
  events: ChatEvent[],
  turn: ChatTurn = startTurn('1', [{ text: 'hi' }], 0),
): ChatTurn => applyEvents(turn, events);
