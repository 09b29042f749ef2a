import { invalidField } from '../../protocol/errors.ts';
import type { Message } from '../../protocol/message.ts';
import type { PushConfigPage, TaskPage } from '../../protocol/requests.ts';
import { isTask, type Task } from '../../protocol/task.ts';
import type { Dialect } from '../dialect.ts';
import { readArray, readObject, readToken } from '../field-readers.ts';
import { readTaskPageWith } from '../task.ts';
import type { DecodeMode } from '../translation-loss.ts';
import { card } from './card.ts';
import { readEvent } from './event.ts';
import { writeMessage } from './message.ts';
import { readPushConfig, writePushConfig } from './push.ts';
import { readTask, writeTask } from './task.ts';

/** Reads the result of a 0.3 send: tagged by `kind`, wrapped, or neither. */
function readSendResult(wire: unknown, mode: DecodeMode): Task | Message {
  const event = readEvent(wire, mode, 'result');
  if (event.kind === 'task') return event.task;
  if (event.kind === 'message') return event.message;
  throw invalidField('result', 'must be a task or a message');
}

/** Reads tasks as a page, or as a list as in the 0.3 specification. */
function readTaskPage(wire: unknown, mode: DecodeMode): TaskPage {
  const page = Array.isArray(wire) ? { tasks: wire as unknown[] } : readObject(wire, 'result');
  return readTaskPageWith(readTask, page, mode);
}

/** Reads push configurations as a list or as a page. */
function readPushPage(wire: unknown, mode: DecodeMode): PushConfigPage {
  const page = Array.isArray(wire) ? { configs: wire as unknown[] } : readObject(wire ?? {}, 'result');
  const configs = readArray(page.configs ?? [], 'configs');
  return {
    configs: configs.map((each, i) => readPushConfig(each, `configs[${i}]`, mode)),
    nextPageToken: readToken(page.nextPageToken ?? page.next_page_token, 'nextPageToken', mode) ?? '',
  };
}

const task: Dialect['results']['getTask'] = {
  read: (wire, mode) => readTask(wire, 'task', mode),
  write: writeTask,
};

const pushConfig: Dialect['results']['getPushConfig'] = {
  read: (wire, mode) => readPushConfig(wire, 'config', mode),
  write: writePushConfig,
};

/** Codecs of the results of all 0.3 JSON-RPC operations: not wrapped, tagged by `kind`. */
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
        losses?.push({ path: 'nextPageToken', kind: 'dropped', note: '0.3 lists have no paging' });
      }
      return configs.map(writePushConfig);
    },
  },
  deletePushConfig: { read: () => undefined, write: () => null },
  extendedCard: card,
};
