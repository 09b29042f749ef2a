/**
 * The part of A2A 1.1 that is merged: 1.0 with generations of tasks. Not released; servers offer it as a preview.
 *
 * @module
 */
import { invalidField } from '../../protocol/errors.ts';
import type { StreamEvent } from '../../protocol/event.ts';
import type { SendRequest } from '../../protocol/requests.ts';
import { isTask, type Task } from '../../protocol/task.ts';
import type { Dialect, RequestCodec } from '../dialect.ts';
import type { WireObject } from '../field-readers.ts';
import { v1_0 } from '../v1_0/index.ts';

/** 1.0 over JSON-RPC and REST, with generations. */
export const v1_1: Dialect = {
  ...v1_0,
  requests: {
    ...v1_0.requests,
    send: withIfGenerationMatch(v1_0.requests.send),
    stream: withIfGenerationMatch(v1_0.requests.stream),
    getTask: {
      ...v1_0.requests.getTask,
      read(params, mode) {
        const request = v1_0.requests.getTask.read(params, mode);
        const { currentGeneration, current_generation: other } = params as WireObject;
        const generation = readGeneration(currentGeneration ?? other, 'currentGeneration');
        return generation === undefined ? request : { ...request, currentGeneration: generation };
      },
    },
  },
  results: {
    ...v1_0.results,
    send: {
      ...v1_0.results.send,
      write: (result) => (isTask(result) ? { task: writeTask(result) } : v1_0.results.send.write(result)),
    },
    getTask: { ...v1_0.results.getTask, write: writeTask },
    cancelTask: { ...v1_0.results.cancelTask, write: writeTask },
    listTasks: {
      ...v1_0.results.listTasks,
      write: (page) => ({
        ...(v1_0.results.listTasks.write(page) as object),
        tasks: page.tasks.map(writeTask),
      }),
    },
  },
  task: { ...v1_0.task, write: writeTask },
  // The fast serializers are those of 1.0.
  texts: undefined,
  eventWriter: () => ({ write: (event) => [writeEvent(event)], end: () => [] }),
  notification: { ...v1_0.notification, write: writeEvent },
};

/** Returns the dialect of a server that previews 1.1. */
export function previewOf(dialect: Dialect): Dialect {
  return dialect === v1_0 ? v1_1 : dialect;
}

function withIfGenerationMatch(codec: RequestCodec<SendRequest>): RequestCodec<SendRequest> {
  return {
    ...codec,
    read(params, mode) {
      const request = codec.read(params, mode);
      const wire = ((params as WireObject).configuration ?? {}) as WireObject;
      const at = 'configuration.ifGenerationMatch';
      const ifGenerationMatch = readGeneration(wire.ifGenerationMatch ?? wire.if_generation_match, at);
      if (ifGenerationMatch === undefined) return request;
      return { ...request, configuration: { ...request.configuration, ifGenerationMatch } };
    },
  };
}

/** Reads an integer of 64 bits, which is a string in ProtoJSON; numbers are accepted. */
function readGeneration(value: unknown, at: string): number | undefined {
  if (value === undefined || value === null) return undefined;
  const isInteger = typeof value === 'string' ? /^\d{1,16}$/.test(value) : Number.isSafeInteger(value);
  const generation = Number(value);
  if (isInteger && generation >= 0 && Number.isSafeInteger(generation)) return generation;
  throw invalidField(at, 'must be a non-negative integer');
}

function writeTask(task: Task): unknown {
  return withGeneration(v1_0.task.write(task), task.generation);
}

function writeEvent(event: StreamEvent): unknown {
  switch (event.kind) {
    case 'task':
      return { task: writeTask(event.task) };
    case 'message':
      return writeBaseEvent(event);
    case 'status': {
      const { statusUpdate } = writeBaseEvent(event);
      return { statusUpdate: withGeneration(statusUpdate, event.generation) };
    }
    case 'artifact': {
      const { artifactUpdate } = writeBaseEvent(event);
      return { artifactUpdate: withGeneration(artifactUpdate, event.generation) };
    }
  }
}

function writeBaseEvent(event: StreamEvent): WireObject {
  return v1_0.eventWriter().write(event)[0] as WireObject;
}

function withGeneration(wire: unknown, generation: number | undefined): unknown {
  return generation === undefined ? wire : { ...(wire as object), generation: String(generation) };
}
