/**
 * A2A 0.3 over REST: ProtoJSON of its last maintained protocol buffers. `v0_3` reads all formats of 0.3, so this folder
 * contains only the writers.
 *
 * @module
 */
import type { Dialect } from '../dialect.ts';
import { restError, rpcError } from '../v0_3/error.ts';
import { eventReader, readEvent } from '../v0_3/event.ts';
import { readMessage } from '../v0_3/message.ts';
import { readTask, writeTask as writeTaggedTask } from '../v0_3/task.ts';
import { card } from './card.ts';
import { eventWriter } from './event.ts';
import { writeMessage } from './message.ts';
import { requests } from './requests.ts';
import { results } from './results.ts';
import { writeTask } from './task.ts';

/** A2A 0.3 over REST. */
export const v0_3_rest: Dialect = {
  name: 'v0_3_rest',
  version: '0.3',
  methods: new Map(),
  routes: [
    { operation: 'send', verb: 'POST', path: '/v1/message:send' },
    { operation: 'stream', verb: 'POST', path: '/v1/message:stream' },
    { operation: 'getTask', verb: 'GET', path: '/v1/tasks/{id}' },
    { operation: 'listTasks', verb: 'GET', path: '/v1/tasks' },
    { operation: 'cancelTask', verb: 'POST', path: '/v1/tasks/{id}:cancel' },
    // GET in the protocol buffers, which all servers implement; POST in the specification.
    { operation: 'subscribe', verb: 'GET', path: '/v1/tasks/{id}:subscribe' },
    { operation: 'subscribe', verb: 'POST', path: '/v1/tasks/{id}:subscribe' },
    { operation: 'createPushConfig', verb: 'POST', path: '/v1/tasks/{taskId}/pushNotificationConfigs' },
    { operation: 'getPushConfig', verb: 'GET', path: '/v1/tasks/{taskId}/pushNotificationConfigs/{id}' },
    { operation: 'listPushConfigs', verb: 'GET', path: '/v1/tasks/{taskId}/pushNotificationConfigs' },
    {
      operation: 'deletePushConfig',
      verb: 'DELETE',
      path: '/v1/tasks/{taskId}/pushNotificationConfigs/{id}',
    },
    { operation: 'extendedCard', verb: 'GET', path: '/v1/card' },
    // Path of 0.2.2 to 0.2.4.
    { operation: 'createPushConfig', verb: 'POST', path: '/v1/tasks/{taskId}/pushNotifications' },
    { operation: 'getPushConfig', verb: 'GET', path: '/v1/tasks/{taskId}/pushNotifications/{id}' },
    { operation: 'listPushConfigs', verb: 'GET', path: '/v1/tasks/{taskId}/pushNotifications' },
    // Typing error in the 0.3.0 protocol buffers.
    { operation: 'createPushConfig', verb: 'POST', path: '/v1/task/{taskId}/pushNotificationConfigs' },
  ],
  requests,
  results,
  card,
  task: { read: (wire, mode) => readTask(wire, 'task', mode), write: writeTask },
  message: { read: (wire, mode) => readMessage(wire, 'message', mode), write: writeMessage },
  canShareEventJson: true,
  eventWriter: () => eventWriter,
  eventReader,
  rpcError,
  restError,
  // Webhooks receive the tagged task, regardless of the transport of the registration.
  notification: {
    read: (wire, mode) => readEvent(wire, mode),
    write: (_event, task) => writeTaggedTask(task),
  },
  extensionsHeader: 'x-a2a-extensions',
  restMediaType: 'application/json',
  allowsFinishedSubscribe: true,
};
