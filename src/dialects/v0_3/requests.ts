import type {
  ListTasksRequest,
  PushConfigRef,
  SendConfiguration,
  SendRequest,
} from '../../protocol/requests.ts';
import type { Dialect } from '../dialect.ts';
import {
  readInteger,
  readBoolean,
  readMetadata,
  readObject,
  type WireObject,
  readId,
  readOptionalId,
  readNames,
} from '../field-readers.ts';
import type { LossList, DecodeMode } from '../translation-loss.ts';
import { requests as newer } from '../v1_0/requests.ts';
import { readMessage, writeMessage } from './message.ts';
import { readPushConfig, readSendPushConfig, writePushConfig, writePushTarget } from './push.ts';

/**
 * Reads the configuration of a send.
 *
 * Only `blocking: false` returns immediately; the default is to wait, as in 0.3 servers.
 * `historyLength: 0` means no history, as in 1.0 (undefined in 0.3); without it the agent decides.
 *
 * @returns undefined if all fields have defaults
 */
function readConfiguration(wire: WireObject, mode: DecodeMode): SendConfiguration | undefined {
  const configuration: SendConfiguration = {};
  const at = 'configuration';
  const modes = readNames(
    wire.acceptedOutputModes ?? wire.accepted_output_modes,
    `${at}.acceptedOutputModes`,
  );
  if (modes !== undefined) configuration.acceptedOutputModes = modes;
  // The protocol buffers use the shorter name.
  const push = wire.pushNotificationConfig ?? wire.pushNotification ?? wire.push_notification;
  if (push !== undefined && push !== null) {
    configuration.pushConfig = readSendPushConfig(push, `${at}.pushNotificationConfig`, mode);
  }
  const historyLength = readInteger(wire.historyLength ?? wire.history_length, `${at}.historyLength`);
  if (historyLength !== undefined) configuration.historyLength = historyLength;
  if (readBoolean(wire.blocking, `${at}.blocking`) === false) configuration.returnImmediately = true;
  return Object.keys(configuration).length > 0 ? configuration : undefined;
}

/** Reads a send in the JSON or protocol buffer format of 0.3, where the message is named `request`. */
export function readSend(params: unknown, mode: DecodeMode): SendRequest {
  const wire = readObject(params, '');
  const request: SendRequest = { message: readMessage(wire.message ?? wire.request, 'message', mode) };
  if (wire.configuration !== undefined && wire.configuration !== null) {
    const configuration = readConfiguration(readObject(wire.configuration, 'configuration'), mode);
    if (configuration !== undefined) request.configuration = configuration;
  }
  const metadata = readMetadata(wire.metadata, 'metadata');
  if (metadata !== undefined) request.metadata = metadata;
  return request;
}

/** Records the fields of a send that 0.3 lacks. */
export function recordSendLosses({ clientTaskId }: SendRequest, losses: LossList): void {
  if (clientTaskId === undefined || losses === undefined) return;
  losses.push({
    path: 'clientTaskId',
    kind: 'dropped',
    note: `the agent assigns task ids; message.taskId must name an existing task, and "${clientTaskId}" may be new`,
  });
}

/**
 * Writes a send, always with a configuration: servers disagree about the meaning of a missing `blocking`, and before
 * 0.2.6 a configuration required `acceptedOutputModes`.
 */
function writeSend(request: SendRequest, losses?: LossList): unknown {
  const { message, configuration, metadata } = request;
  recordSendLosses(request, losses);
  return {
    message: writeMessage(message),
    configuration: {
      acceptedOutputModes: configuration?.acceptedOutputModes ?? [],
      pushNotificationConfig: configuration?.pushConfig && writePushTarget(configuration.pushConfig),
      historyLength: configuration?.historyLength,
      blocking: configuration?.returnImmediately !== true,
    },
    metadata,
  };
}

const send = { read: readSend, write: writeSend };

/** Reads the filters of a list; the time may be `lastUpdatedAfter` in milliseconds. */
export function readListTasks(params: unknown, mode: DecodeMode): ListTasksRequest {
  const wire = params === undefined || params === null ? {} : readObject(params, '');
  const after = wire.lastUpdatedAfter ?? wire.last_updated_after;
  const normalized = after === undefined || after === null ? wire : { ...wire, statusTimestampAfter: after };
  return newer.listTasks.read(normalized, mode);
}

/** Writes the filters of a list with the names of a 0.3 draft. */
export function writeListTasks({ statusTimestampAfter, ...filters }: ListTasksRequest): WireObject {
  return {
    ...filters,
    lastUpdatedAfter: statusTimestampAfter === undefined ? undefined : Date.parse(statusTimestampAfter),
  };
}

/** Records request metadata that the model lacks. */
export function recordMetadataLoss(wire: WireObject, { losses }: DecodeMode): void {
  if (losses === undefined || wire.metadata === undefined || wire.metadata === null) return;
  losses.push({ path: 'metadata', kind: 'dropped', note: 'the operation has no metadata' });
}

/** Records that 0.3 push configurations have no paging. */
function recordPagingLoss(
  { pageSize, pageToken }: { pageSize?: number; pageToken?: string },
  losses: LossList,
): void {
  if (pageSize === undefined && pageToken === undefined) return;
  losses?.push({ path: 'pageToken', kind: 'dropped', note: '0.3 push configurations have no paging' });
}

function readRef(params: unknown, mode: DecodeMode): PushConfigRef {
  const wire = readObject(params, '');
  recordMetadataLoss(wire, mode);
  const taskId = readId(wire.id, 'id');
  const id = readOptionalId(wire.pushNotificationConfigId, 'pushNotificationConfigId');
  return id === undefined ? { taskId } : { taskId, id };
}

const ref = {
  read: readRef,
  write: ({ taskId, id }: PushConfigRef) => ({ id: taskId, pushNotificationConfigId: id }),
};

/** Codecs of the parameters of all 0.3 JSON-RPC operations. */
export const requests: Dialect['requests'] = {
  send,
  stream: send,
  getTask: {
    read(params, mode) {
      const wire = readObject(params, '');
      recordMetadataLoss(wire, mode);
      const historyLength = readInteger(wire.historyLength ?? wire.history_length, 'historyLength');
      return { id: readId(wire.id, 'id'), historyLength };
    },
    write: ({ id, historyLength }) => ({ id, historyLength }),
  },
  listTasks: { read: readListTasks, write: writeListTasks },
  cancelTask: newer.cancelTask,
  subscribe: {
    read(params, mode) {
      const wire = readObject(params, '');
      recordMetadataLoss(wire, mode);
      return { id: readId(wire.id, 'id') };
    },
    write: ({ id }) => ({ id }),
  },
  createPushConfig: {
    read: (params, mode) => readPushConfig(params, '', mode),
    write: writePushConfig,
  },
  getPushConfig: ref,
  listPushConfigs: {
    read(params, mode) {
      const wire = readObject(params, '');
      recordMetadataLoss(wire, mode);
      return { taskId: readId(wire.id, 'id') };
    },
    write(request, losses) {
      recordPagingLoss(request, losses);
      return { id: request.taskId };
    },
  },
  deletePushConfig: {
    read(params, mode) {
      const { taskId, id } = readRef(params, mode);
      return { taskId, id: readId(id, 'pushNotificationConfigId') };
    },
    write: ref.write,
  },
  // 0.3 defines no params, and strict servers reject them.
  extendedCard: { read: () => ({}), write: () => undefined },
};
