import type { TaskStatusUpdateEvent, StreamEvent } from '../../protocol/event.ts';
import { isTerminal } from '../../protocol/task.ts';
import type { Fault } from './fault.ts';

/**
 * Injects protocol violations into a stream: duplicate or reordered events, events after a terminal state, chunks of
 * unknown artifacts. The server encodes the stream in every protocol version.
 */
export async function* withEventFaults(
  events: AsyncIterable<StreamEvent>,
  faults: readonly Fault[],
): AsyncGenerator<StreamEvent> {
  let source: AsyncIterable<StreamEvent> = events;
  for (const fault of faults) {
    if (fault.kind === 'duplicate') source = duplicateEvent(source, fault.event ?? 2);
    if (fault.kind === 'reorder') source = reorderEvent(source, fault.event ?? 2);
    if (fault.kind === 'wrong-append') source = appendToUnknownArtifact(source);
    if (fault.kind === 'after-terminal') source = continueAfterTerminal(source);
  }
  yield* source;
}

async function* duplicateEvent(events: AsyncIterable<StreamEvent>, nth: number): AsyncGenerator<StreamEvent> {
  let count = 0;
  for await (const event of events) {
    yield event;
    if (++count === nth) yield event;
  }
}

async function* reorderEvent(events: AsyncIterable<StreamEvent>, nth: number): AsyncGenerator<StreamEvent> {
  let count = 0;
  let delayed: StreamEvent | undefined;
  for await (const event of events) {
    if (++count === nth) {
      delayed = event;
      continue;
    }
    yield event;
    if (delayed) yield delayed;
    delayed = undefined;
  }
  if (delayed) yield delayed;
}

const unknownArtifactId = 'unknown-artifact';

async function* appendToUnknownArtifact(events: AsyncIterable<StreamEvent>): AsyncGenerator<StreamEvent> {
  let isSent = false;
  for await (const event of events) {
    if (!isSent && terminalStatus(event)) {
      isSent = true;
      const artifact = { artifactId: unknownArtifactId, parts: [{ text: 'chunk of an unknown artifact' }] };
      yield { kind: 'artifact', ...eventIds(event), artifact, append: true, lastChunk: true };
    }
    yield event;
  }
}

async function* continueAfterTerminal(events: AsyncIterable<StreamEvent>): AsyncGenerator<StreamEvent> {
  for await (const event of events) {
    yield event;
    if (!terminalStatus(event)) continue;
    const status: TaskStatusUpdateEvent['status'] = { ...terminalStatus(event), state: 'working' };
    delete status.message;
    yield { kind: 'status', ...eventIds(event), status };
  }
}

/** Returns the status of an event if it is terminal. */
function terminalStatus(event: StreamEvent): TaskStatusUpdateEvent['status'] | undefined {
  const status =
    event.kind === 'task' ? event.task.status : event.kind === 'status' ? event.status : undefined;
  return status && isTerminal(status.state) ? status : undefined;
}

function eventIds(event: StreamEvent): { taskId: string; contextId: string } {
  if (event.kind === 'task') return { taskId: event.task.id, contextId: event.task.contextId };
  const { taskId = '', contextId = '' } = event.kind === 'message' ? event.message : event;
  return { taskId, contextId };
}
