import type { PushConfigRef, SendRequest } from '../../protocol/requests.ts';
import type { Dialect } from '../dialect.ts';
import {
  readInteger,
  readMetadata,
  readNonEmptyString,
  readObject,
  readOptionalText,
  type WireObject,
} from '../field-readers.ts';
import type { LossList, DecodeMode } from '../translation-loss.ts';
import { readPushConfig, readResourceName, writePushTarget } from '../v0_3/push.ts';
import {
  recordMetadataLoss,
  recordSendLosses,
  readListTasks,
  readSend,
  writeListTasks,
} from '../v0_3/requests.ts';
import { writeMessage } from './message.ts';
import { writeCreatePushConfig } from './push.ts';
import { wireStates } from './task.ts';

/** Writes a send. The configuration is always there: an absent `blocking` would read as false. */
function writeSend(request: SendRequest, losses?: LossList): unknown {
  const { message, configuration, metadata } = request;
  recordSendLosses(request, losses);
  return {
    message: writeMessage(message),
    configuration: {
      acceptedOutputModes: configuration?.acceptedOutputModes ?? [],
      pushNotification: configuration?.pushConfig && writePushTarget(configuration.pushConfig),
      historyLength: configuration?.historyLength,
      blocking: configuration?.returnImmediately !== true,
    },
    metadata,
  };
}

/** ProtoJSON leaves out what is false, so a configuration that does not say `blocking` says that it is not. */
function readProtoSend(params: unknown, reading: DecodeMode): SendRequest {
  const request = readSend(params, reading);
  const { configuration } = params as { configuration?: WireObject | null };
  if (configuration && (configuration.blocking ?? undefined) === undefined) {
    request.configuration = { ...request.configuration, returnImmediately: true };
  }
  return request;
}

const send = { read: readProtoSend, write: writeSend };

/** The value of a query parameter: a number or a flag arrives as text. */
function plain(value: unknown): unknown {
  if (typeof value !== 'string') return value;
  if (/^-?\d+$/.test(value)) return Number(value);
  if (value === 'true' || value === 'false') return value === 'true';
  return value === '' ? undefined : value;
}

/** Reads the task that a path names by its id, or a body by its resource name. */
function readTaskId(wire: WireObject): string {
  return readNonEmptyString(wire.id ?? readResourceName(wire.name).taskId, 'id');
}

/** Cancel and subscribe may come with the body `null`, or with none. */
function readBody(params: unknown): WireObject {
  return params === undefined || params === null ? {} : readObject(params, '');
}

function readOwner(wire: WireObject): string {
  const { taskId } = readResourceName(wire.name ?? wire.parent);
  return readNonEmptyString(wire.taskId ?? wire.task_id ?? taskId, 'taskId');
}

const ref: Dialect['requests']['getPushConfig'] = {
  read(params) {
    const wire = readObject(params, '');
    return {
      taskId: readOwner(wire),
      id: readNonEmptyString(wire.id ?? readResourceName(wire.name).id, 'id'),
    };
  },
  write: ({ taskId, id }: PushConfigRef) => ({ taskId, id }),
};

/**
 * The body, path and query of every operation, as the protocol buffers of 0.3 have them. `id` and `taskId` are the
 * parameters of the path; numbers of a query may be text, and its names may be in snake case.
 */
export const requests: Dialect['requests'] = {
  send,
  stream: send,
  getTask: {
    read(params, reading) {
      const wire = readObject(params, '');
      recordMetadataLoss(wire, reading);
      const historyLength = readInteger(plain(wire.historyLength ?? wire.history_length), 'historyLength');
      return { id: readTaskId(wire), historyLength };
    },
    write: ({ id, historyLength }) => ({ id, historyLength }),
  },
  listTasks: {
    read(params, reading) {
      const wire = { ...readBody(params) };
      for (const name of ['pageSize', 'historyLength', 'lastUpdatedAfter', 'includeArtifacts'] as const) {
        const inSnakeCase = name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
        wire[name] = plain(wire[name] ?? wire[inSnakeCase]);
      }
      return readListTasks(wire, reading);
    },
    write: (request) => ({
      ...writeListTasks(request),
      status: request.status && wireStates[request.status],
    }),
  },
  cancelTask: {
    read(params) {
      const wire = readBody(params);
      return { id: readTaskId(wire), metadata: readMetadata(wire.metadata, 'metadata') };
    },
    write({ id, metadata }, losses) {
      if (metadata !== undefined) {
        losses?.push({
          path: 'metadata',
          kind: 'dropped',
          note: 'a cancel of 0.3 over REST has no metadata',
        });
      }
      return { id };
    },
  },
  subscribe: {
    read: (params) => ({ id: readTaskId(readBody(params)) }),
    write: ({ id }) => ({ id }),
  },
  createPushConfig: {
    read: (params, reading) => readPushConfig(params, '', reading),
    write: writeCreatePushConfig,
  },
  getPushConfig: ref,
  listPushConfigs: {
    read(params) {
      const wire = readObject(params, '');
      return {
        taskId: readOwner(wire),
        pageSize: readInteger(plain(wire.pageSize ?? wire.page_size), 'pageSize'),
        pageToken: readOptionalText(wire.pageToken ?? wire.page_token, 'pageToken'),
      };
    },
    write: ({ taskId, pageSize, pageToken }) => ({ taskId, pageSize, pageToken }),
  },
  deletePushConfig: ref,
  extendedCard: { read: () => ({}), write: () => ({}) },
};
