import { isTask } from '../../protocol/task.ts';
import type { Dialect } from '../dialect.ts';
import { results as tagged } from '../v0_3/results.ts';
import { card } from './card.ts';
import { writeMessage } from './message.ts';
import { writePushConfig } from './push.ts';
import { writeTask } from './task.ts';

const task = { ...tagged.getTask, write: writeTask };
const pushConfig = { ...tagged.getPushConfig, write: writePushConfig };

/** Codecs of the results of all 0.3 REST operations: a send result is wrapped, a task is not. */
export const results: Dialect['results'] = {
  send: {
    ...tagged.send,
    write: (answer) => (isTask(answer) ? { task: writeTask(answer) } : { message: writeMessage(answer) }),
  },
  getTask: task,
  cancelTask: task,
  listTasks: {
    ...tagged.listTasks,
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
    ...tagged.listPushConfigs,
    write: ({ configs, nextPageToken }) => ({ configs: configs.map(writePushConfig), nextPageToken }),
  },
  deletePushConfig: { read: () => undefined, write: () => ({}) },
  extendedCard: card,
};
