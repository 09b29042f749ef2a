import { asJsonObject } from '../../primitives/json.ts';
import { A2AError } from '../../protocol/errors.ts';
import type { SendConfiguration, SendRequest } from '../../protocol/requests.ts';
import type { Dialect } from '../dialect.ts';
import {
  readInteger,
  readMetadata,
  readObject,
  type WireObject,
  readId,
  readOptionalId,
  readNames,
} from '../field-readers.ts';
import type { LossList, DecodeMode } from '../translation-loss.ts';
import { readModes } from './card.ts';
import { readMessage, writeMessage } from './message.ts';
import { uuidV5 } from './message-id.ts';
import {
  recordPushIdLoss,
  readPushConfig,
  readSendPushConfig,
  writePushConfig,
  writeTarget,
} from './push.ts';

/** `historyLength` for the complete history: in 0.1 a missing value means no history. */
export const unlimitedHistory = 2 ** 31 - 1;

/** In 0.1 a missing value and 0 both mean no history. */
function readHistoryLength(value: unknown): number | undefined {
  const length = readInteger(value, 'historyLength') ?? 0;
  return length >= unlimitedHistory ? undefined : length;
}

/**
 * 0.1 lets the server choose when to respond to a send, and has no field for the wish of a client. The field of the next
 * version is used; peers that do not know it ignore it.
 */
function asksForImmediateResponse(configuration: unknown): boolean {
  return asJsonObject(configuration)?.blocking === false;
}

function readConfiguration(wire: WireObject, taskId: string, mode: DecodeMode): SendConfiguration {
  const configuration: SendConfiguration = { historyLength: readHistoryLength(wire.historyLength) };
  const modes = readNames(wire.acceptedOutputModes, 'acceptedOutputModes');
  if (modes !== undefined) {
    configuration.acceptedOutputModes = readModes(modes, 'acceptedOutputModes', mode);
  }
  if (asksForImmediateResponse(wire.configuration)) configuration.returnImmediately = true;
  const push = wire.pushNotification;
  if (push !== undefined && push !== null) {
    configuration.pushConfig = readSendPushConfig(push, taskId, mode);
  }
  return configuration;
}

function readSend(params: unknown, mode: DecodeMode): SendRequest {
  const wire = readObject(params, '');
  const id = readId(wire.id, 'id');
  // Equal messages are different turns of a conversation: an answer may be given twice.
  const message = readMessage(wire.message, 'message', mode, {
    newMessageId: mode.newMessageId ?? (() => crypto.randomUUID()),
  });
  const sessionId = readOptionalId(wire.sessionId, 'sessionId');
  if (sessionId !== undefined) message.contextId = sessionId;
  const request: SendRequest = {
    message,
    clientTaskId: id,
    configuration: readConfiguration(wire, id, mode),
  };
  const metadata = readMetadata(wire.metadata, 'metadata');
  if (metadata !== undefined) request.metadata = metadata;
  return request;
}

/**
 * Returns the id of the task that a send starts or continues. 0.1 requires one from the client: without one it is
 * derived from the message id, so that a retransmission reaches the same task.
 */
function taskIdOf({ message, clientTaskId }: SendRequest, losses: LossList): string {
  if (clientTaskId !== undefined) return clientTaskId;
  if (message.taskId !== undefined) {
    losses?.push({
      path: 'message.taskId',
      kind: 'guessed',
      note: 'sent as the id of the request; a 0.1 agent creates unknown tasks',
    });
    return message.taskId;
  }
  const id = uuidV5(`task\n${message.messageId}`);
  losses?.push({ path: 'id', kind: 'defaulted', note: `0.1 requires a task id from the client: ${id}` });
  return id;
}

function writeSend(request: SendRequest, losses?: LossList): unknown {
  const { message, configuration, metadata } = request;
  const id = taskIdOf(request, losses);
  if (configuration?.returnImmediately) {
    losses?.push({
      path: 'configuration.returnImmediately',
      kind: 'guessed',
      note: 'sent as configuration.blocking, which 0.1 does not define; the agent decides when to respond',
    });
  }
  if (configuration?.pushConfig) recordPushIdLoss(configuration.pushConfig.id, id, losses);
  return {
    id,
    sessionId: message.contextId,
    message: writeMessage(message, 'message', losses, { taskId: id, contextId: message.contextId ?? '' }),
    acceptedOutputModes: configuration?.acceptedOutputModes,
    pushNotification: configuration?.pushConfig && writeTarget(configuration.pushConfig),
    historyLength: configuration?.historyLength ?? unlimitedHistory,
    configuration: configuration?.returnImmediately ? { blocking: false } : undefined,
    metadata,
  };
}

const send = { read: readSend, write: writeSend };

/** Creates the codec of an operation that 0.1 does not have. */
export function unsupportedCodec(what: string): { read: () => never; write: () => never } {
  const refuse = (): never => {
    throw new A2AError('UNSUPPORTED_OPERATION', `A2A 0.1 cannot ${what}`);
  };
  return { read: refuse, write: refuse };
}

/** Codecs of the parameters of all 0.1 operations. */
export const requests: Dialect['requests'] = {
  send,
  stream: send,
  getTask: {
    read(params) {
      const wire = readObject(params, '');
      return { id: readId(wire.id, 'id'), historyLength: readHistoryLength(wire.historyLength) };
    },
    write: ({ id, historyLength }) => ({ id, historyLength: historyLength ?? unlimitedHistory }),
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
  createPushConfig: {
    read: (params, mode) => readPushConfig(params, '', mode),
    write: writePushConfig,
  },
  getPushConfig: {
    read(params) {
      const id = readId(readObject(params, '').id, 'id');
      return { taskId: id, id };
    },
    write({ taskId, id }, losses) {
      recordPushIdLoss(id, taskId, losses);
      return { id: taskId };
    },
  },
  listTasks: unsupportedCodec('list tasks'),
  listPushConfigs: unsupportedCodec('list push configurations'),
  deletePushConfig: unsupportedCodec('delete push configurations'),
  extendedCard: unsupportedCodec('give an extended card'),
};
