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
  readNonEmptyString,
  readObject,
  readStrings,
  readOptionalText,
  type WireObject,
} from '../field-readers.ts';
import type { LossList, DecodeMode } from '../translation-loss.ts';
import { requests as newer } from '../v1_0/requests.ts';
import { readMessage, writeMessage } from './message.ts';
import { readPushConfig, readSendPushConfig, writePushConfig, writePushTarget } from './push.ts';

/**
 * Reads how a send wants to be answered.
 *
 * Only `blocking: false` asks for an answer at once; whoever says nothing waits, as the servers of 0.3 have it.
 * `historyLength: 0` asks for no history, as in 1.0, though 0.3 leaves it open; absent leaves it to the agent.
 *
 * @returns undefined when it says nothing beyond that.
 */
function readConfiguration(wire: WireObject, reading: DecodeMode): SendConfiguration | undefined {
  const configuration: SendConfiguration = {};
  const at = 'configuration';
  const modes = readStrings(
    wire.acceptedOutputModes ?? wire.accepted_output_modes,
    `${at}.acceptedOutputModes`,
  );
  if (modes !== undefined) configuration.acceptedOutputModes = modes;
  // The protocol buffers have the shorter name.
  const push = wire.pushNotificationConfig ?? wire.pushNotification ?? wire.push_notification;
  if (push !== undefined && push !== null) {
    configuration.pushConfig = readSendPushConfig(push, `${at}.pushNotificationConfig`, reading);
  }
  const historyLength = readInteger(wire.historyLength ?? wire.history_length, `${at}.historyLength`);
  if (historyLength !== undefined) configuration.historyLength = historyLength;
  if (readBoolean(wire.blocking, `${at}.blocking`) === false) configuration.returnImmediately = true;
  return Object.keys(configuration).length > 0 ? configuration : undefined;
}

/** Reads a send in either form of 0.3; the message may be called `request`, as the protocol buffers call it. */
export function readSend(params: unknown, reading: DecodeMode): SendRequest {
  const wire = readObject(params, '');
  const request: SendRequest = { message: readMessage(wire.message ?? wire.request, 'message', reading) };
  if (wire.configuration !== undefined && wire.configuration !== null) {
    const configuration = readConfiguration(readObject(wire.configuration, 'configuration'), reading);
    if (configuration !== undefined) request.configuration = configuration;
  }
  const metadata = readMetadata(wire.metadata, 'metadata');
  if (metadata !== undefined) request.metadata = metadata;
  return request;
}

/** Notes what a send of 0.3 has no word for. */
export function recordSendLosses({ clientTaskId }: SendRequest, losses: LossList): void {
  if (clientTaskId === undefined || losses === undefined) return;
  losses.push({ path: 'clientTaskId', kind: 'dropped', note: 'only 0.1 lets the caller name its task' });
}

/**
 * Writes a send. The configuration is always there: servers disagree about the meaning of an absent `blocking`, and
 * before 0.2.6 a configuration without `acceptedOutputModes` was illegal.
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

/** Reads the filters of a list, where the time may be a number of milliseconds called `lastUpdatedAfter`. */
export function readListTasks(params: unknown, reading: DecodeMode): ListTasksRequest {
  const wire = params === undefined || params === null ? {} : readObject(params, '');
  const after = wire.lastUpdatedAfter ?? wire.last_updated_after;
  const known = after === undefined || after === null ? wire : { ...wire, statusTimestampAfter: after };
  return newer.listTasks.read(known, reading);
}

/** Writes the filters of a list in the words that 0.3 had for a while. */
export function writeListTasks({ statusTimestampAfter, ...filters }: ListTasksRequest): WireObject {
  return {
    ...filters,
    lastUpdatedAfter: statusTimestampAfter === undefined ? undefined : Date.parse(statusTimestampAfter),
  };
}

/** Notes the metadata of a request that the model has no place for. */
export function recordMetadataLoss(wire: WireObject, { losses }: DecodeMode): void {
  if (losses === undefined || wire.metadata === undefined || wire.metadata === null) return;
  losses.push({ path: 'metadata', kind: 'dropped', note: 'this operation takes no metadata' });
}

/** Notes that a list of push configurations cannot be asked for page by page. */
function notePaging(
  { pageSize, pageToken }: { pageSize?: number; pageToken?: string },
  losses: LossList,
): void {
  if (pageSize === undefined && pageToken === undefined) return;
  losses?.push({ path: 'pageToken', kind: 'dropped', note: '0.3 lists all push configurations at once' });
}

function readRef(params: unknown, reading: DecodeMode): PushConfigRef {
  const wire = readObject(params, '');
  recordMetadataLoss(wire, reading);
  const taskId = readNonEmptyString(wire.id, 'id');
  const id = readOptionalText(wire.pushNotificationConfigId, 'pushNotificationConfigId');
  return id === undefined ? { taskId } : { taskId, id };
}

const ref = {
  read: readRef,
  write: ({ taskId, id }: PushConfigRef) => ({ id: taskId, pushNotificationConfigId: id }),
};

/** The parameters of every operation, as 0.3 has them over JSON-RPC. */
export const requests: Dialect['requests'] = {
  send,
  stream: send,
  getTask: {
    read(params, reading) {
      const wire = readObject(params, '');
      recordMetadataLoss(wire, reading);
      const historyLength = readInteger(wire.historyLength ?? wire.history_length, 'historyLength');
      return { id: readNonEmptyString(wire.id, 'id'), historyLength };
    },
    write: ({ id, historyLength }) => ({ id, historyLength }),
  },
  listTasks: { read: readListTasks, write: writeListTasks },
  cancelTask: newer.cancelTask,
  subscribe: {
    read(params, reading) {
      const wire = readObject(params, '');
      recordMetadataLoss(wire, reading);
      return { id: readNonEmptyString(wire.id, 'id') };
    },
    write: ({ id }) => ({ id }),
  },
  createPushConfig: {
    read: (params, reading) => readPushConfig(params, '', reading),
    write: writePushConfig,
  },
  getPushConfig: ref,
  listPushConfigs: {
    read(params, reading) {
      const wire = readObject(params, '');
      recordMetadataLoss(wire, reading);
      return { taskId: readNonEmptyString(wire.id, 'id') };
    },
    write(request, losses) {
      notePaging(request, losses);
      return { id: request.taskId };
    },
  },
  deletePushConfig: {
    read(params, reading) {
      const { taskId, id } = readRef(params, reading);
      return { taskId, id: readNonEmptyString(id, 'pushNotificationConfigId') };
    },
    write: ref.write,
  },
  // 0.3 has no params here, and a strict server refuses some.
  extendedCard: { read: () => ({}), write: () => undefined },
};
