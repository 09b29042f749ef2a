import type { TaskStatusUpdateEvent, StreamEvent } from '../../protocol/event.ts';
import { isTerminal } from '../../protocol/task.ts';
import type { Fault } from './fault.ts';

/**
 * Makes a stream illegal: an event that comes twice, too late, after the end, or adds to what was never begun. A server
 * that shows the agent writes such a stream in every version like any other.
 */
export async function* withEventFaults(
  events: AsyncIterable<StreamEvent>,
  faults: readonly Fault[],
): AsyncGenerator<StreamEvent> {
  let source: AsyncIterable<StreamEvent> = events;
  for (const fault of faults) {
    if (fault.kind === 'duplicate') source = duplicated(source, fault.event ?? 2);
    if (fault.kind === 'reorder') source = reordered(source, fault.event ?? 2);
    if (fault.kind === 'wrong-append') source = wronglyAppended(source);
    if (fault.kind === 'after-terminal') source = goingOn(source);
  }
  yield* source;
}

async function* duplicated(events: AsyncIterable<StreamEvent>, nth: number): AsyncGenerator<StreamEvent> {
  let count = 0;
  for await (const event of events) {
    yield event;
    if (++count === nth) yield event;
  }
}

async function* reordered(events: AsyncIterable<StreamEvent>, nth: number): AsyncGenerator<StreamEvent> {
  let count = 0;
  let late: StreamEvent | undefined;
  for await (const event of events) {
    if (++count === nth) {
      late = event;
      continue;
    }
    yield event;
    if (late) yield late;
    late = undefined;
  }
  if (late) yield late;
}

/** What an artifact that was never begun is called. */
const neverBegun = 'never-begun';

async function* wronglyAppended(events: AsyncIterable<StreamEvent>): AsyncGenerator<StreamEvent> {
  let isTold = false;
  for await (const event of events) {
    if (!isTold && endOf(event)) {
      isTold = true;
      const artifact = { artifactId: neverBegun, parts: [{ text: 'the end of nothing' }] };
      yield { kind: 'artifact', ...idsOf(event), artifact, append: true, lastChunk: true };
    }
    yield event;
  }
}

async function* goingOn(events: AsyncIterable<StreamEvent>): AsyncGenerator<StreamEvent> {
  for await (const event of events) {
    yield event;
    if (!endOf(event)) continue;
    const status: TaskStatusUpdateEvent['status'] = { ...endOf(event), state: 'working' };
    delete status.message;
    yield { kind: 'status', ...idsOf(event), status };
  }
}

/** The status with which a task is over, if it is with this event. */
function endOf(event: StreamEvent): TaskStatusUpdateEvent['status'] | undefined {
  const status =
    event.kind === 'task' ? event.task.status : event.kind === 'status' ? event.status : undefined;
  return status && isTerminal(status.state) ? status : undefined;
}

function idsOf(event: StreamEvent): { taskId: string; contextId: string } {
  if (event.kind === 'task') return { taskId: event.task.id, contextId: event.task.contextId };
  const { taskId = '', contextId = '' } = event.kind === 'message' ? event.message : event;
  return { taskId, contextId };
}
