/**
 * A2A 0.3 over REST: ProtoJSON of its protocol buffers, as last maintained. Whatever form of 0.3 a peer sends is
 * understood, so only the writing lives here; the reading is that of `v0_3`.
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
    // The protocol buffers say GET, which every server has; the text says POST.
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
    // The spelling of 0.2.2 to 0.2.4.
    { operation: 'createPushConfig', verb: 'POST', path: '/v1/tasks/{taskId}/pushNotifications' },
    { operation: 'getPushConfig', verb: 'GET', path: '/v1/tasks/{taskId}/pushNotifications/{id}' },
    { operation: 'listPushConfigs', verb: 'GET', path: '/v1/tasks/{taskId}/pushNotifications' },
    // A slip of the 0.3.0 protocol buffers.
    { operation: 'createPushConfig', verb: 'POST', path: '/v1/task/{taskId}/pushNotificationConfigs' },
  ],
  requests,
  results,
  card,
  task: { read: (wire, reading) => readTask(wire, 'task', reading), write: writeTask },
  message: { read: (wire, reading) => readMessage(wire, 'message', reading), write: writeMessage },
  canShareEventJson: true,
  eventWriter: () => eventWriter,
  eventReader,
  rpcError,
  restError,
  // A webhook gets the tagged task whatever the binding that registered it.
  notification: {
    read: (wire, reading) => readEvent(wire, reading),
    write: (_event, task) => writeTaggedTask(task),
  },
  extensionsHeader: 'x-a2a-extensions',
  restMediaType: 'application/json',
  allowsFinishedSubscribe: true,
};
