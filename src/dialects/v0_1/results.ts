import { isTask } from '../../protocol/task.ts';
import type { Dialect } from '../dialect.ts';
import { readObject } from '../field-readers.ts';
import { readPushConfig, writePushConfig } from './push.ts';
import { unsupported } from './requests.ts';
import { readTask, writeTask } from './task.ts';
import { readWrapped, writeWrapped } from './message-as-task.ts';

const task: Dialect['results']['getTask'] = {
  read: (wire, reading) => readTask(wire, 'task', reading),
  write: (value, losses) => writeTask(value, losses),
};

const pushConfig: Dialect['results']['getPushConfig'] = {
  read: (wire, reading) => readPushConfig(wire, 'config', reading),
  write: writePushConfig,
};

/** The results of every operation that 0.1 has: a task, always. */
export const results: Dialect['results'] = {
  send: {
    read: (wire, reading) =>
      readWrapped(readObject(wire, 'task'), 'task', reading) ?? readTask(wire, 'task', reading),
    write: (answer, losses) => (isTask(answer) ? writeTask(answer, losses) : writeWrapped(answer, losses)),
  },
  getTask: task,
  cancelTask: task,
  createPushConfig: pushConfig,
  getPushConfig: pushConfig,
  listTasks: unsupported('list tasks'),
  listPushConfigs: unsupported('list push configurations'),
  deletePushConfig: unsupported('delete push configurations'),
  extendedCard: unsupported('give an extended card'),
};
