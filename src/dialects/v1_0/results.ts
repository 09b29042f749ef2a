import { invalidField } from '../../protocol/errors.ts';
import { isTask } from '../../protocol/task.ts';
import type { Dialect } from '../dialect.ts';
import { readArray, readObject, readToken } from '../field-readers.ts';
import { readTaskPageWith } from '../task.ts';
import { card } from './card.ts';
import { readMessage, writeMessage } from './message.ts';
import { readPushConfig, writePushConfig } from './push.ts';
import { readTask, writeTask } from './task.ts';

const task: Dialect['results']['getTask'] = {
  read: (wire, mode) => readTask(wire, 'task', mode),
  write: writeTask,
};

const pushConfig: Dialect['results']['getPushConfig'] = {
  read: (wire) => readPushConfig(wire, 'config'),
  write: writePushConfig,
};

/** Codecs of the results of all 1.0 operations: a send result is wrapped, a task is not. */
export const results: Dialect['results'] = {
  send: {
    read(wire, mode) {
      const result = readObject(wire, 'result');
      if (result.task !== undefined && result.task !== null) return readTask(result.task, 'task', mode);
      if (result.message !== undefined && result.message !== null) {
        return readMessage(result.message, 'message', mode);
      }
      // Some servers omit the wrapper.
      if (result.status !== undefined) return readTask(result, 'task', mode);
      if (result.parts !== undefined) return readMessage(result, 'message', mode);
      throw invalidField('result', 'must have a task or a message');
    },
    write: (answer) => (isTask(answer) ? { task: writeTask(answer) } : { message: writeMessage(answer) }),
  },
  getTask: task,
  cancelTask: task,
  listTasks: {
    read: (wire, mode) => readTaskPageWith(readTask, readObject(wire, 'result'), mode),
    write: ({ tasks, nextPageToken, pageSize, totalSize }) => ({
      tasks: tasks.map(writeTask),
      nextPageToken,
      pageSize,
      totalSize,
    }),
  },
  createPushConfig: pushConfig,
  getPushConfig: pushConfig,
  listPushConfigs: {
    read(wire, mode) {
      const page = readObject(wire, 'result');
      return {
        configs: readArray(page.configs ?? [], 'configs').map((each, i) =>
          readPushConfig(each, `configs[${i}]`),
        ),
        nextPageToken: readToken(page.nextPageToken ?? page.next_page_token, 'nextPageToken', mode) ?? '',
      };
    },
    write: ({ configs, nextPageToken }) => ({ configs: configs.map(writePushConfig), nextPageToken }),
  },
  deletePushConfig: { read: () => undefined, write: () => ({}) },
  extendedCard: card,
};
