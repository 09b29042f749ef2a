import type { PushConfigRef, SendRequest } from '../../protocol/requests.ts';
import type { Dialect } from '../dialect.ts';
import {
  readInteger,
  readMetadata,
  readObject,
  type WireObject,
  readId,
  readToken,
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

/** Writes a send, always with a configuration: a missing `blocking` would mean false. */
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

/** ProtoJSON omits false, so a configuration without `blocking` means false. */
function readProtoSend(params: unknown, mode: DecodeMode): SendRequest {
  const request = readSend(params, mode);
  const { configuration } = params as { configuration?: WireObject | null };
  if (configuration && (configuration.blocking ?? undefined) === undefined) {
    request.configuration = { ...request.configuration, returnImmediately: true };
  }
  return request;
}

const send = { read: readProtoSend, write: writeSend };

/** Converts a query parameter: numbers and booleans arrive as text. */
function plain(value: unknown): unknown {
  if (typeof value !== 'string') return value;
  if (/^-?\d+$/.test(value)) return Number(value);
  if (value === 'true' || value === 'false') return value === 'true';
  return value === '' ? undefined : value;
}

/** Reads the task id from the path, or from the resource name in the body. */
function readTaskId(wire: WireObject): string {
  return readId(wire.id ?? readResourceName(wire.name).taskId, 'id');
}

/** The body of cancel and subscribe may be `null` or missing. */
function readBody(params: unknown): WireObject {
  return params === undefined || params === null ? {} : readObject(params, '');
}

function readOwner(wire: WireObject): string {
  const { taskId } = readResourceName(wire.name ?? wire.parent);
  return readId(wire.taskId ?? wire.task_id ?? taskId, 'taskId');
}

const ref: Dialect['requests']['getPushConfig'] = {
  read(params) {
    const wire = readObject(params, '');
    return { taskId: readOwner(wire), id: readId(wire.id ?? readResourceName(wire.name).id, 'id') };
  },
  write: ({ taskId, id }: PushConfigRef) => ({ taskId, id }),
};

/**
 * Codecs of body, path and query of all operations in the 0.3 protocol buffer format. `id` and `taskId` are path
 * parameters; query numbers may be text, and query names may be snake_case.
 */
export const requests: Dialect['requests'] = {
  send,
  stream: send,
  getTask: {
    read(params, mode) {
      const wire = readObject(params, '');
      recordMetadataLoss(wire, mode);
      const historyLength = readInteger(plain(wire.historyLength ?? wire.history_length), 'historyLength');
      return { id: readTaskId(wire), historyLength };
    },
    write: ({ id, historyLength }) => ({ id, historyLength }),
  },
  listTasks: {
    read(params, mode) {
      const wire = { ...readBody(params) };
      for (const name of ['pageSize', 'historyLength', 'lastUpdatedAfter', 'includeArtifacts'] as const) {
        const inSnakeCase = name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
        wire[name] = plain(wire[name] ?? wire[inSnakeCase]);
      }
      return readListTasks(wire, mode);
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
          note: '0.3 REST cancel has no metadata',
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
    read: (params, mode) => readPushConfig(params, '', mode),
    write: writeCreatePushConfig,
  },
  getPushConfig: ref,
  listPushConfigs: {
    read(params) {
      const wire = readObject(params, '');
      return {
        taskId: readOwner(wire),
        pageSize: readInteger(plain(wire.pageSize ?? wire.page_size), 'pageSize'),
        pageToken: readToken(wire.pageToken ?? wire.page_token, 'pageToken'),
      };
    },
    write: ({ taskId, pageSize, pageToken }) => ({ taskId, pageSize, pageToken }),
  },
  deletePushConfig: ref,
  extendedCard: { read: () => ({}), write: () => ({}) },
};
