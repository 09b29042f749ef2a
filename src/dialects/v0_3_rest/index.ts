/**
 * A2A 0.3 over REST: ProtoJSON of its last maintained protocol buffers. `v0_3` reads all formats of 0.3, so this folder
 * contains only the writers.
 *
 * @module
 */
import type { Dialect } from '../dialect.ts';
import { v0_3 } from '../v0_3/index.ts';
import { card } from './card.ts';
import { eventWriter } from './event.ts';
import { writeMessage } from './message.ts';
import { requests } from './requests.ts';
import { results } from './results.ts';
import { writeTask } from './task.ts';

/** A2A 0.3 over REST. */
export const v0_3_rest: Dialect = {
  // Webhooks receive the tagged task of v0_3, regardless of the transport of the registration.
  ...v0_3,
  name: 'v0_3_rest',
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
  task: { ...v0_3.task, write: writeTask },
  message: { ...v0_3.message, write: writeMessage },
  eventWriter: () => eventWriter,
};
