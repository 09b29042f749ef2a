import { invalidField } from '../../protocol/errors.ts';
import type { Message } from '../../protocol/message.ts';
import type { PushConfigPage, TaskPage } from '../../protocol/requests.ts';
import { isTask, type Task } from '../../protocol/task.ts';
import type { Dialect } from '../dialect.ts';
import { readInteger, readArray, readObject, readOptionalText } from '../field-readers.ts';
import type { DecodeMode } from '../translation-loss.ts';
import { card } from './card.ts';
import { readEvent } from './event.ts';
import { writeMessage } from './message.ts';
import { readPushConfig, writePushConfig } from './push.ts';
import { readTask, writeTask } from './task.ts';

/** Reads the answer to a send in either form of 0.3: tagged by `kind`, wrapped, or neither. */
export function readSendResult(wire: unknown, reading: DecodeMode): Task | Message {
  const event = readEvent(wire, reading, 'result');
  if (event.kind === 'task') return event.task;
  if (event.kind === 'message') return event.message;
  throw invalidField('result', 'must be a task or a message');
}

/** Reads tasks as a page, or as the bare list that the text of 0.3 speaks of. */
export function readTaskPage(wire: unknown, reading: DecodeMode): TaskPage {
  const page = Array.isArray(wire) ? { tasks: wire as unknown[] } : readObject(wire, 'result');
  const tasks = readArray(page.tasks ?? [], 'tasks').map((each, i) => readTask(each, `tasks[${i}]`, reading));
  return {
    tasks,
    nextPageToken: readOptionalText(page.nextPageToken ?? page.next_page_token, 'nextPageToken') ?? '',
    pageSize: readInteger(page.pageSize ?? page.page_size, 'pageSize') ?? tasks.length,
    totalSize: readInteger(page.totalSize ?? page.total_size, 'totalSize') ?? tasks.length,
  };
}

/** Reads push configurations as a list or as a page. */
export function readPushPage(wire: unknown, reading: DecodeMode): PushConfigPage {
  const page = Array.isArray(wire) ? { configs: wire as unknown[] } : readObject(wire ?? {}, 'result');
  const configs = readArray(page.configs ?? [], 'configs');
  return {
    configs: configs.map((each, i) => readPushConfig(each, `configs[${i}]`, reading)),
    nextPageToken: readOptionalText(page.nextPageToken ?? page.next_page_token, 'nextPageToken') ?? '',
  };
}

const task: Dialect['results']['getTask'] = {
  read: (wire, reading) => readTask(wire, 'task', reading),
  write: writeTask,
};

const pushConfig: Dialect['results']['getPushConfig'] = {
  read: (wire, reading) => readPushConfig(wire, 'config', reading),
  write: writePushConfig,
};

/** The results of every operation, as 0.3 has them over JSON-RPC: everything is bare, and `kind` tells what it is. */
export const results: Dialect['results'] = {
  send: {
    read: readSendResult,
    write: (answer) => (isTask(answer) ? writeTask(answer) : writeMessage(answer)),
  },
  getTask: task,
  cancelTask: task,
  listTasks: {
    read: readTaskPage,
    write: ({ tasks, totalSize, pageSize, nextPageToken }) => ({
      tasks: tasks.map(writeTask),
      totalSize,
      pageSize,
      nextPageToken,
    }),
  },
  createPushConfig: pushConfig,
  getPushConfig: pushConfig,
  listPushConfigs: {
    read: readPushPage,
    write({ configs, nextPageToken }, losses) {
      if (nextPageToken !== '') {
        losses?.push({ path: 'nextPageToken', kind: 'dropped', note: 'a list of 0.3 has no pages' });
      }
      return configs.map(writePushConfig);
    },
  },
  deletePushConfig: {
    read: () => undefined,
    write: () => null,
  },
  extendedCard: card,
};
