import type { TaskStatusUpdateEvent, StreamEvent } from '../../protocol/event.ts';
import type { EventWriter } from '../dialect.ts';
import { finalStatusWriter, isFinalStatus, removeFinalMark } from '../v0_3/event.ts';
import { writeMessage } from './message.ts';
import { writeArtifact, writeStatus, writeTask } from './task.ts';

function writeStatusEvent(event: TaskStatusUpdateEvent, final: boolean): unknown {
  return {
    statusUpdate: {
      taskId: event.taskId,
      contextId: event.contextId,
      status: writeStatus(event.status),
      final,
      metadata: removeFinalMark(event),
    },
  };
}

/** Writes an event in the one-key wrapper of the 0.3 protocol buffers. */
function writeEvent(event: StreamEvent): unknown {
  switch (event.kind) {
    case 'status':
      return writeStatusEvent(event, isFinalStatus(event));
    case 'artifact':
      return {
        artifactUpdate: {
          taskId: event.taskId,
          contextId: event.contextId,
          artifact: writeArtifact(event.artifact),
          append: event.append,
          lastChunk: event.lastChunk,
          metadata: event.metadata,
        },
      };
    case 'task':
      return { task: writeTask(event.task) };
    case 'message':
      return { message: writeMessage(event.message) };
  }
}

/** Writes the events of 0.3 REST. */
export const eventWriter: EventWriter = finalStatusWriter(writeEvent, writeStatusEvent);
