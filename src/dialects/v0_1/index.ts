/**
 * A2A 0.1, before messages had ids: `tasks/send`, task ids chosen by clients, sessions.
 *
 * @module
 */
import type { Dialect } from '../dialect.ts';
import { card } from './card.ts';
import { restError, rpcError } from './error.ts';
import { eventReader, eventWriter, readNotification } from './event.ts';
import { readMessage, writeMessage } from './message.ts';
import { requests } from './requests.ts';
import { results } from './results.ts';
import { readTask, writeTask } from './task.ts';

/** A2A 0.1 over JSON-RPC, from its first publication to the tag v0.1.0. */
export const v0_1: Dialect = {
  name: 'v0_1',
  version: '0.1',
  methods: new Map([
    ['tasks/send', 'send'],
    ['tasks/sendSubscribe', 'stream'],
    ['tasks/get', 'getTask'],
    ['tasks/cancel', 'cancelTask'],
    ['tasks/resubscribe', 'subscribe'],
    ['tasks/pushNotification/set', 'createPushConfig'],
    ['tasks/pushNotification/get', 'getPushConfig'],
  ]),
  routes: [],
  requests,
  results,
  card,
  task: {
    read: (wire, mode) => readTask(wire, 'task', mode),
    write: (task, losses) => writeTask(task, losses),
  },
  message: {
    read: (wire, mode) => readMessage(wire, 'message', mode),
    write: (message, losses) => writeMessage(message, 'message', losses),
  },
  canShareEventJson: false,
  eventWriter,
  eventReader,
  rpcError,
  restError,
  notification: {
    read: readNotification,
    write: (_event, task, losses) => writeTask(task, losses),
  },
  extensionsHeader: undefined,
  restMediaType: 'application/json',
  allowsFinishedSubscribe: true,
};
