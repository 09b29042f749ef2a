/**
 * A2A 0.2 and 0.3 over JSON-RPC: slash-separated methods, `kind` tags, lower-case states.
 *
 * @module
 */
import type { Dialect } from '../dialect.ts';
import { card } from './card.ts';
import { restError, rpcError } from './error.ts';
import { eventReader, eventWriter, readEvent } from './event.ts';
import { readMessage, writeMessage } from './message.ts';
import { requests } from './requests.ts';
import { results } from './results.ts';
import { readTask, writeTask } from './task.ts';

/** A2A 0.3 over JSON-RPC, compatible with 0.2. */
export const v0_3: Dialect = {
  name: 'v0_3',
  version: '0.3',
  methods: new Map([
    ['message/send', 'send'],
    ['message/stream', 'stream'],
    ['tasks/get', 'getTask'],
    // Never released, but some peers implement it.
    ['tasks/list', 'listTasks'],
    ['tasks/cancel', 'cancelTask'],
    ['tasks/resubscribe', 'subscribe'],
    ['tasks/pushNotificationConfig/set', 'createPushConfig'],
    ['tasks/pushNotificationConfig/get', 'getPushConfig'],
    ['tasks/pushNotificationConfig/list', 'listPushConfigs'],
    ['tasks/pushNotificationConfig/delete', 'deletePushConfig'],
    ['agent/getAuthenticatedExtendedCard', 'extendedCard'],
    // The specification uses this name once.
    ['agent/authenticatedExtendedCard', 'extendedCard'],
  ]),
  routes: [],
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
  notification: {
    read: (wire, mode) => readEvent(wire, mode),
    write: (_event, task) => writeTask(task),
  },
  extensionsHeader: 'x-a2a-extensions',
  restMediaType: 'application/json',
  allowsFinishedSubscribe: true,
};
