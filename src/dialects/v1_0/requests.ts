import { invalidField } from '../../protocol/errors.ts';
import type { SendConfiguration, SendRequest } from '../../protocol/requests.ts';
import type { Dialect } from '../dialect.ts';
import {
  readInteger,
  readBoolean,
  readMetadata,
  readObject,
  readTimestamp,
  type WireObject,
  readId,
  readOptionalId,
  readToken,
  readNames,
} from '../field-readers.ts';
import { type DecodeMode, strictMode } from '../translation-loss.ts';
import { readMessage, writeMessage } from './message.ts';
import { readPushConfig, readSendPushConfig, writePushConfig } from './push.ts';
import { readState, wireStates } from './task.ts';

function readConfiguration(wire: WireObject): SendConfiguration {
  const configuration: SendConfiguration = {};
  const at = 'configuration';
  const modes = readNames(
    wire.acceptedOutputModes ?? wire.accepted_output_modes,
    `${at}.acceptedOutputModes`,
  );
  if (modes !== undefined) configuration.acceptedOutputModes = modes;
  // An example of 1.0.0 has the shorter name, which some clients use.
  const push =
    wire.taskPushNotificationConfig ?? wire.task_push_notification_config ?? wire.pushNotificationConfig;
  if (push !== undefined && push !== null) {
    configuration.pushConfig = readSendPushConfig(push, `${at}.taskPushNotificationConfig`);
  }
  const historyLength = readInteger(wire.historyLength ?? wire.history_length, `${at}.historyLength`);
  if (historyLength !== undefined) configuration.historyLength = historyLength;
  const immediately = readBoolean(
    wire.returnImmediately ?? wire.return_immediately,
    `${at}.returnImmediately`,
  );
  if (immediately !== undefined) configuration.returnImmediately = immediately;
  return configuration;
}

function readSend(params: unknown, mode: DecodeMode): SendRequest {
  const wire = readObject(params, '');
  const request: SendRequest = { message: readMessage(wire.message, 'message', mode) };
  if (wire.configuration !== undefined && wire.configuration !== null) {
    request.configuration = readConfiguration(readObject(wire.configuration, 'configuration'));
  }
  const metadata = readMetadata(wire.metadata, 'metadata');
  if (metadata !== undefined) request.metadata = metadata;
  return request;
}

function writeSend({ message, configuration, metadata }: SendRequest): unknown {
  return {
    message: writeMessage(message),
    configuration: configuration && {
      acceptedOutputModes: configuration.acceptedOutputModes,
      taskPushNotificationConfig: configuration.pushConfig && writePushConfig(configuration.pushConfig),
      historyLength: configuration.historyLength,
      returnImmediately: configuration.returnImmediately,
    },
    metadata,
  };
}

const send = { read: readSend, write: writeSend };

function readRef(params: unknown): { taskId: string; id: string } {
  const wire = readObject(params, '');
  return { taskId: readId(wire.taskId ?? wire.task_id, 'taskId'), id: readId(wire.id, 'id') };
}

function readPageSize(value: unknown): number | undefined {
  const size = readInteger(value, 'pageSize', 1);
  if (size !== undefined && size > 100) throw invalidField('pageSize', 'must be at most 100');
  return size;
}

/** Codecs of the parameters of all 1.0 operations; snake_case names are accepted. */
export const requests: Dialect['requests'] = {
  send,
  stream: send,
  getTask: {
    read(params) {
      const wire = readObject(params, '');
      const historyLength = readInteger(wire.historyLength ?? wire.history_length, 'historyLength');
      return { id: readId(wire.id, 'id'), historyLength };
    },
    write: ({ id, historyLength }) => ({ id, historyLength }),
  },
  listTasks: {
    read(params) {
      const wire = params === undefined || params === null ? {} : readObject(params, '');
      return {
        contextId: readOptionalId(wire.contextId ?? wire.context_id, 'contextId'),
        status: isUnset(wire.status) ? undefined : readState(wire.status, 'status', strictMode),
        pageSize: readPageSize(wire.pageSize ?? wire.page_size),
        pageToken: readToken(wire.pageToken ?? wire.page_token, 'pageToken'),
        historyLength: readInteger(wire.historyLength ?? wire.history_length, 'historyLength'),
        statusTimestampAfter: readTimestamp(
          wire.statusTimestampAfter ?? wire.status_timestamp_after,
          'statusTimestampAfter',
          strictMode,
        ),
        includeArtifacts: readBoolean(wire.includeArtifacts ?? wire.include_artifacts, 'includeArtifacts'),
      };
    },
    write: ({ status, ...rest }) => ({ ...rest, status: status && wireStates[status] }),
  },
  cancelTask: {
    read(params) {
      const wire = readObject(params, '');
      return { id: readId(wire.id, 'id'), metadata: readMetadata(wire.metadata, 'metadata') };
    },
    write: ({ id, metadata }) => ({ id, metadata }),
  },
  subscribe: {
    read: (params) => ({ id: readId(readObject(params, '').id, 'id') }),
    write: ({ id }) => ({ id }),
  },
  createPushConfig: { read: (params) => readPushConfig(params, ''), write: writePushConfig },
  getPushConfig: { read: readRef, write: ({ taskId, id }) => ({ taskId, id }) },
  listPushConfigs: {
    read(params) {
      const wire = readObject(params, '');
      return {
        taskId: readId(wire.taskId ?? wire.task_id, 'taskId'),
        pageSize: readInteger(wire.pageSize ?? wire.page_size, 'pageSize'),
        pageToken: readToken(wire.pageToken ?? wire.page_token, 'pageToken'),
      };
    },
    write: ({ taskId, pageSize, pageToken }) => ({ taskId, pageSize, pageToken }),
  },
  deletePushConfig: { read: readRef, write: ({ taskId, id }) => ({ taskId, id }) },
  extendedCard: { read: () => ({}), write: () => ({}) },
};

/** Returns true for unset enum values: absent, null or the zero value. */
function isUnset(value: unknown): boolean {
  return (
    value === undefined || value === null || value === '' || value === 'TASK_STATE_UNSPECIFIED' || value === 0
  );
}
