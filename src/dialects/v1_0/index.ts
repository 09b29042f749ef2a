/**
 * A2A 1.0: ProtoJSON, PascalCase methods, wrapped results.
 *
 * @module
 */
import { type Operation, operationNames } from '../../protocol/agent.ts';
import type { Dialect } from '../dialect.ts';
import { card } from './card.ts';
import { restError, rpcError } from './error.ts';
import { eventReader, eventWriter, readEvent, writeEvent } from './event.ts';
import { serializeEvent } from './serialize-event.ts';
import { serializeSendResult, serializeTask } from './serialize-task.ts';
import { readMessage, writeMessage } from './message.ts';
import { requests } from './requests.ts';
import { results } from './results.ts';
import { readTask, writeTask } from './task.ts';

/** A2A 1.0 over JSON-RPC and REST; writes the format of 1.0.1. */
export const v1_0: Dialect = {
  name: 'v1_0',
  version: '1.0',
  methods: new Map(Object.entries(operationNames).map(([operation, name]) => [name, operation as Operation])),
  routes: [
    { operation: 'send', verb: 'POST', path: '/message:send' },
    { operation: 'stream', verb: 'POST', path: '/message:stream' },
    { operation: 'getTask', verb: 'GET', path: '/tasks/{id}' },
    { operation: 'listTasks', verb: 'GET', path: '/tasks' },
    { operation: 'cancelTask', verb: 'POST', path: '/tasks/{id}:cancel' },
    { operation: 'subscribe', verb: 'POST', path: '/tasks/{id}:subscribe' },
    { operation: 'subscribe', verb: 'GET', path: '/tasks/{id}:subscribe' },
    { operation: 'createPushConfig', verb: 'POST', path: '/tasks/{taskId}/pushNotificationConfigs' },
    { operation: 'getPushConfig', verb: 'GET', path: '/tasks/{taskId}/pushNotificationConfigs/{id}' },
    { operation: 'listPushConfigs', verb: 'GET', path: '/tasks/{taskId}/pushNotificationConfigs' },
    { operation: 'deletePushConfig', verb: 'DELETE', path: '/tasks/{taskId}/pushNotificationConfigs/{id}' },
    { operation: 'extendedCard', verb: 'GET', path: '/extendedAgentCard' },
  ],
  requests,
  results,
  card,
  task: { read: (wire, mode) => readTask(wire, 'task', mode), write: writeTask },
  message: { read: (wire, mode) => readMessage(wire, 'message', mode), write: writeMessage },
  canShareEventJson: true,
  eventWriter: () => eventWriter,
  texts: { event: serializeEvent, task: serializeTask, sent: serializeSendResult },
  eventReader: () => eventReader,
  rpcError,
  restError,
  notification: { read: readEvent, write: writeEvent },
  extensionsHeader: 'a2a-extensions',
  restMediaType: 'application/a2a+json',
  allowsFinishedSubscribe: false,
};
