import { invalidField } from '../../protocol/errors.ts';
import { isTask } from '../../protocol/task.ts';
import type { Dialect } from '../dialect.ts';
import { readInteger, readArray, readObject, readOptionalText } from '../field-readers.ts';
import { card } from './card.ts';
import { readMessage, writeMessage } from './message.ts';
import { readPushConfig, writePushConfig } from './push.ts';
import { readTask, writeTask } from './task.ts';

const task: Dialect['results']['getTask'] = {
  read: (wire, reading) => readTask(wire, 'task', reading),
  write: writeTask,
};

const pushConfig: Dialect['results']['getPushConfig'] = {
  read: (wire) => readPushConfig(wire, 'config'),
  write: writePushConfig,
};

/** The results of every operation, as 1.0 has them: a send is wrapped, a task is bare. */
export const results: Dialect['results'] = {
  send: {
    read(wire, reading) {
      const result = readObject(wire, 'result');
      if (result.task !== undefined && result.task !== null) return readTask(result.task, 'task', reading);
      if (result.message !== undefined && result.message !== null) {
        return readMessage(result.message, 'message', reading);
      }
      // Some servers forget the wrapper.
      if (result.status !== undefined) return readTask(result, 'task', reading);
      if (result.parts !== undefined) return readMessage(result, 'message', reading);
      throw invalidField('result', 'must have a task or a message');
    },
    write: (answer) => (isTask(answer) ? { task: writeTask(answer) } : { message: writeMessage(answer) }),
  },
  getTask: task,
  cancelTask: task,
  listTasks: {
    read(wire, reading) {
      const page = readObject(wire, 'result');
      const tasks = readArray(page.tasks ?? [], 'tasks').map((each, i) =>
        readTask(each, `tasks[${i}]`, reading),
      );
      return {
        tasks,
        nextPageToken: readOptionalText(page.nextPageToken ?? page.next_page_token, 'nextPageToken') ?? '',
        pageSize: readInteger(page.pageSize ?? page.page_size, 'pageSize') ?? tasks.length,
        totalSize: readInteger(page.totalSize ?? page.total_size, 'totalSize') ?? tasks.length,
      };
    },
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
    read(wire) {
      const page = readObject(wire, 'result');
      return {
        configs: readArray(page.configs ?? [], 'configs').map((each, i) =>
          readPushConfig(each, `configs[${i}]`),
        ),
        nextPageToken: readOptionalText(page.nextPageToken ?? page.next_page_token, 'nextPageToken') ?? '',
      };
    },
    write: ({ configs, nextPageToken }) => ({ configs: configs.map(writePushConfig), nextPageToken }),
  },
  deletePushConfig: {
    read: () => undefined,
    write: () => ({}),
  },
  extendedCard: card,
};
