import { isTask } from '../../protocol/task.ts';
import type { Dialect } from '../dialect.ts';
import { readObject } from '../field-readers.ts';
import { readPushConfig, writePushConfig } from './push.ts';
import { unsupportedCodec } from './requests.ts';
import { readTask, writeTask } from './task.ts';
import { readMessageFromTask, writeMessageAsTask } from './message-as-task.ts';

const task: Dialect['results']['getTask'] = {
  read: (wire, mode) => readTask(wire, 'task', mode),
  write: (value, losses) => writeTask(value, losses),
};

const pushConfig: Dialect['results']['getPushConfig'] = {
  read: (wire, mode) => readPushConfig(wire, 'config', mode),
  write: writePushConfig,
};

/** Codecs of the results of all 0.1 operations, which return tasks. */
export const results: Dialect['results'] = {
  send: {
    read: (wire, mode) =>
      readMessageFromTask(readObject(wire, 'task'), 'task', mode) ?? readTask(wire, 'task', mode),
    write: (answer, losses) =>
      isTask(answer) ? writeTask(answer, losses) : writeMessageAsTask(answer, losses),
  },
  getTask: task,
  cancelTask: task,
  createPushConfig: pushConfig,
  getPushConfig: pushConfig,
  listTasks: unsupportedCodec('list tasks'),
  listPushConfigs: unsupportedCodec('list push configurations'),
  deletePushConfig: unsupportedCodec('delete push configurations'),
  extendedCard: unsupportedCodec('give an extended card'),
};
