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
  read: (wire, reading) => readTask(wire, 'task', reading),
  write: writeTask,
};

const pushConfig: Dialect['results']['getPushConfig'] = {
  read: (wire, reading) => readPushConfig(wire, 'config', reading),
  write: writePushConfig,
};

/** The results of every operation, as 0.3 has them over REST: a send is wrapped, a task is bare. */
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
        losses?.push({ path: 'nextPageToken', kind: 'dropped', note: 'a list of 0.3 has no pages' });
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
