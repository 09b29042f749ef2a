import { describe, expect, it } from 'vitest';
import { A2AError } from '../../protocol/errors.ts';
import type { TaskStatusUpdateEvent } from '../../protocol/event.ts';
import type { Part } from '../../protocol/part.ts';
import { taskStates } from '../../protocol/task.ts';
import { compatKey } from '../compat-metadata.ts';
import { type TranslationLoss, lenientMode, strictMode } from '../translation-loss.ts';
import { v0_3 } from '../v0_3/index.ts';
import { v0_3_rest } from './index.ts';

const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value)) as unknown;
const { requests, results } = v0_3_rest;

function writtenParts(...parts: Part[]): unknown {
  const message = plain(v0_3_rest.message.write({ messageId: 'm', role: 'agent', parts }));
  return (message as { content: unknown }).content;
}

describe('v0_3_rest message', () => {
  it('writes parts by member and nests data twice', () => {
    expect(
      writtenParts(
        { text: 'a' },
        { raw: 'AAE=', filename: 'f' },
        { url: 'u' },
        { data: { a: 1 } },
        { data: 1 },
      ),
    ).toEqual([
      { text: 'a' },
      { file: { fileWithBytes: 'AAE=', name: 'f' } },
      { file: { fileWithUri: 'u' } },
      { data: { data: { a: 1 } } },
      { data: { data: { value: 1 } }, metadata: { data_part_compat: true } },
    ]);
  });

  it('stores referenceTaskIds in the metadata', () => {
    const message = {
      messageId: 'm',
      role: 'user' as const,
      parts: [{ text: 'x' }],
      referenceTaskIds: ['t-0'],
      metadata: { mine: 1 },
    };
    const wire = plain(v0_3_rest.message.write(message));
    expect(wire).toEqual({
      messageId: 'm',
      role: 'ROLE_USER',
      content: [{ text: 'x' }],
      metadata: { mine: 1, [compatKey]: { referenceTaskIds: ['t-0'] } },
    });
    expect(v0_3_rest.message.read(wire, strictMode)).toEqual(message);
    expect(v0_3.message.read(wire, strictMode)).toEqual(message);
  });
});

describe('v0_3_rest task', () => {
  it.each(taskStates)('round-trips the state %s and reads its short form', (state) => {
    const task = { id: 't', contextId: 'c', status: { state } };
    const wire = plain(v0_3_rest.task.write(task)) as { status: { state: string } };
    expect(wire.status.state).toMatch(/^TASK_STATE_/);
    expect(v0_3_rest.task.read(wire, lenientMode())).toEqual(task);
    expect(v0_3_rest.task.read(task, lenientMode())).toEqual(task);
  });

  it('writes TASK_STATE_CANCELLED and reads both spellings', () => {
    const task = { id: 't', contextId: 'c', status: { state: 'canceled' as const } };
    expect(plain(v0_3_rest.task.write(task))).toMatchObject({ status: { state: 'TASK_STATE_CANCELLED' } });
    const newer = { ...task, status: { state: 'TASK_STATE_CANCELED' } };
    expect(v0_3_rest.task.read(newer, lenientMode())).toEqual(task);
  });
});

describe('v0_3_rest stream', () => {
  const status = (state: TaskStatusUpdateEvent['status']['state']): TaskStatusUpdateEvent => ({
    kind: 'status',
    taskId: 't',
    contextId: 'c',
    status: { state },
  });

  it('writes final and ends with a final status', () => {
    const writer = v0_3_rest.eventWriter();
    expect(plain(writer.write(status('completed')))).toMatchObject([{ statusUpdate: { final: true } }]);
    expect(plain(writer.write(status('working')))).toMatchObject([{ statusUpdate: { final: false } }]);
    expect(plain(writer.end(status('working')))).toMatchObject([{ statusUpdate: { final: true } }]);
    expect(writer.end(status('completed'))).toEqual([]);
  });
});

describe('v0_3_rest requests', () => {
  it.each([
    [
      { id: 't', historyLength: '3' },
      { id: 't', historyLength: 3 },
    ],
    [
      { id: 't', history_length: '0' },
      { id: 't', historyLength: 0 },
    ],
    [
      { name: 'tasks/t', historyLength: 2 },
      { id: 't', historyLength: 2 },
    ],
  ])('read getTask from %j', (params, model) => {
    expect(requests.getTask.read(params, strictMode)).toEqual(model);
  });

  it.each([['three'], ['-1'], [1.5]])('reject the historyLength %j', (historyLength) => {
    expect(() => requests.getTask.read({ id: 't', historyLength }, strictMode)).toThrow('historyLength');
  });

  it('read cancel and subscribe from the path or the resource name', () => {
    expect(requests.cancelTask.read({ id: 't' }, strictMode)).toEqual({ id: 't' });
    expect(requests.cancelTask.read({ name: 'tasks/a/b' }, strictMode)).toEqual({ id: 'a/b' });
    expect(requests.subscribe.read({ name: 'tasks/t' }, strictMode)).toEqual({ id: 't' });
    expect(() => requests.subscribe.read(null, strictMode)).toThrow('id must be');
  });

  it('record the loss of cancel metadata', () => {
    const losses: TranslationLoss[] = [];
    expect(requests.cancelTask.write({ id: 't', metadata: { why: 1 } }, losses)).toEqual({ id: 't' });
    expect(losses).toEqual([expect.objectContaining({ path: 'metadata', kind: 'dropped' })]);
  });

  it('always write blocking', () => {
    const message = { messageId: 'm', role: 'user' as const, parts: [{ text: 'x' }] };
    expect(plain(requests.send.write({ message }))).toMatchObject({
      configuration: { blocking: true, acceptedOutputModes: [] },
    });
  });

  it.each([
    [
      { taskId: 't', parent: 'tasks/t', configId: 'p', config: { pushNotificationConfig: { url: 'u' } } },
      'p',
    ],
    [
      {
        parent: 'tasks/t',
        config: { name: 'tasks/t/pushNotificationConfigs/p', pushNotificationConfig: { url: 'u' } },
      },
      'p',
    ],
    [{ name: 'tasks/t/pushNotificationConfigs/p', push_notification_config: { url: 'u' } }, 'p'],
    [{ taskId: 't', url: 'u', id: 'p' }, 'p'],
    [{ taskId: 't', url: 'u' }, 't'],
  ])('read a push configuration from %j', (params, id) => {
    expect(requests.createPushConfig.read(params, strictMode)).toEqual({ taskId: 't', id, url: 'u' });
  });

  it('read a push configuration reference from the path or the resource name', () => {
    const model = { taskId: 't', id: 'p' };
    expect(requests.getPushConfig.read(model, strictMode)).toEqual(model);
    expect(requests.deletePushConfig.read({ name: 'tasks/t/pushNotificationConfigs/p' }, strictMode)).toEqual(
      model,
    );
    expect(requests.listPushConfigs.read({ parent: 'tasks/t', page_size: '5' }, strictMode)).toEqual({
      taskId: 't',
      pageSize: 5,
    });
  });

  it('write all path parameters', () => {
    const config = { taskId: 't', id: 'p', url: 'u' };
    const samples = {
      getTask: requests.getTask.write({ id: 't' }),
      cancelTask: requests.cancelTask.write({ id: 't' }),
      subscribe: requests.subscribe.write({ id: 't' }),
      createPushConfig: requests.createPushConfig.write(config),
      getPushConfig: requests.getPushConfig.write(config),
      listPushConfigs: requests.listPushConfigs.write(config),
      deletePushConfig: requests.deletePushConfig.write(config),
    };
    for (const { operation, path } of v0_3_rest.routes) {
      for (const [, name] of path.matchAll(/\{(\w+)\}/g)) {
        expect(samples[operation as keyof typeof samples], path).toHaveProperty(name as string);
      }
    }
  });
});

describe('v0_3_rest results', () => {
  it('write a list of tasks and read a page', () => {
    const task = { id: 't', contextId: 'c', status: { state: 'working' as const } };
    const losses: TranslationLoss[] = [];
    const page = { tasks: [task], nextPageToken: 'n', pageSize: 1, totalSize: 9 };
    expect(results.listTasks.write(page, losses)).toHaveLength(1);
    expect(losses).toEqual([expect.objectContaining({ path: 'nextPageToken', kind: 'dropped' })]);
    expect(results.listTasks.read(page, lenientMode())).toEqual(page);
  });

  it('read push configurations from a list or nothing', () => {
    const config = { name: 'tasks/t/pushNotificationConfigs/p', pushNotificationConfig: { url: 'u' } };
    const configs = [{ taskId: 't', id: 'p', url: 'u' }];
    expect(results.listPushConfigs.read([config], lenientMode()).configs).toEqual(configs);
    expect(results.listPushConfigs.read({}, lenientMode()).configs).toEqual([]);
  });
});

describe('v0_3_rest restError', () => {
  it.each([
    ['TASK_NOT_FOUND', 404, -32001],
    ['TASK_NOT_CANCELABLE', 409, -32002],
    ['PUSH_NOTIFICATION_NOT_SUPPORTED', 400, -32003],
    ['UNSUPPORTED_OPERATION', 400, -32004],
    ['CONTENT_TYPE_NOT_SUPPORTED', 415, -32005],
    ['INVALID_AGENT_RESPONSE', 500, -32006],
    ['EXTENDED_AGENT_CARD_NOT_CONFIGURED', 404, -32007],
    ['INVALID_PARAMS', 400, -32602],
    ['UNAUTHENTICATED', 401, -32600],
  ] as const)('%s has the status %i and the code %i', (reason, status, code) => {
    const written = v0_3_rest.restError.write(new A2AError(reason, 'Words'));
    expect(written).toMatchObject({ status, body: { code, message: 'Words' } });
    expect(v0_3_rest.restError.read(plain(written.body), status).reason).toBe(reason);
  });

  it.each([
    [404, { message: 'Task not found' }, 'TASK_NOT_FOUND'],
    [404, { message: 'Authenticated Extended Card is not configured' }, 'EXTENDED_AGENT_CARD_NOT_CONFIGURED'],
    [404, 'Not Found', 'NOT_FOUND'],
    [409, { message: 'x' }, 'TASK_NOT_CANCELABLE'],
    [422, { message: 'x' }, 'INVALID_PARAMS'],
    [501, { message: 'Push Notification is not supported' }, 'PUSH_NOTIFICATION_NOT_SUPPORTED'],
    [501, { message: 'This operation is not supported' }, 'UNSUPPORTED_OPERATION'],
    [502, { message: 'x' }, 'INVALID_AGENT_RESPONSE'],
    [502, '<html>', 'UNAVAILABLE'],
    [401, undefined, 'UNAUTHENTICATED'],
    [500, { code: -32050, message: 'Odd' }, 'INTERNAL_ERROR'],
  ])('reads status %i with body %j as %s', (status, body, reason) => {
    expect(v0_3_rest.restError.read(body, status).reason).toBe(reason);
  });
});

it('v0_3_rest notification is the tagged task, as with JSON-RPC', () => {
  const task = { id: 't', contextId: 'c', status: { state: 'working' as const } };
  expect(v0_3_rest.notification.write({ kind: 'task', task }, task)).toEqual(v0_3.task.write(task));
});
