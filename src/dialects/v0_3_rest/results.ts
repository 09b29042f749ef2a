import { isTask } from '../../protocol/task.ts';
import type { Dialect } from '../dialect.ts';
import { readPushConfig } from '../v0_3/push.ts';
import { readSendResult, readPushPage, readTaskPage } from '../v0_3/results.ts';
import { readTask } from '../v0_3/task.ts';
import { card } from './card.ts';
import { writeMessage } from './message.ts';
import { writePushConfig } from './push.ts';
import { writeTask } from './task.ts';

const task: Dialect['results']['getTask'] = {
  read: (wire, mode) => readTask(wire, 'task', mode),
  write: writeTask,
};

const pushConfig: Dialect['results']['getPushConfig'] = {
  read: (wire, mode) => readPushConfig(wire, 'config', mode),
  write: writePushConfig,
};

/** Codecs of the results of all 0.3 REST operations: a send result is wrapped, a task is not. */
export const results: Dialect['results'] = {
  send: {
    read: readSendResult,
    write: (answer) => (isTask(answer) ? { task: writeTask(answer) } : { message: writeMessage(answer) }),
  },
  getTask: task,
  cancelTask: task,
  listTasks: {
    read: readTaskPage,
    write({ tasks, nextPageToken }, losses) {
      if (nextPageToken !== '') {
        losses?.push({ path: 'nextPageToken', kind: 'dropped', note: '0.3 lists have no paging' });
      }
      return tasks.map(writeTask);
    },
  },
  createPushConfig: pushConfig,
  getPushConfig: pushConfig,
  listPushConfigs: {
    read: readPushPage,
    write: ({ configs, nextPageToken }) => ({ configs: configs.map(writePushConfig), nextPageToken }),
  },
  deletePushConfig: {
    read: () => undefined,
    write: () => ({}),
  },
  extendedCard: card,
};
