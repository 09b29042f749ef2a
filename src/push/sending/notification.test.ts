import { describe, expect, it } from 'vitest';
import type { StreamEvent } from '../../protocol/event.ts';
import type { PushConfig } from '../../protocol/push.ts';
import type { Task } from '../../protocol/task.ts';
import { writeNotification } from './notification.ts';

const task: Task = { id: 't', contextId: 'c', status: { state: 'working' }, generation: 2 };
const status = (generation?: number): StreamEvent => ({
  kind: 'status',
  taskId: 't',
  contextId: 'c',
  status: { state: 'working' },
  sequence: 2,
  ...(generation !== undefined && { generation }),
});
const config: PushConfig = { taskId: 't', id: 'p', url: 'https://client.example/hook' };
const bodyOf = (event: StreamEvent, version = '1.0'): unknown =>
  JSON.parse(writeNotification({ ...config, version } as PushConfig, event, () => task).body);

describe('writeNotification', () => {
  it('contains the generation of tasks that have one, in 1.0', () => {
    expect(bodyOf(status(2))).toMatchObject({ statusUpdate: { generation: '2' } });
    expect(bodyOf({ kind: 'task', task, sequence: 1 })).toMatchObject({ task: { generation: '2' } });
    expect(JSON.stringify(bodyOf(status()))).not.toContain('generation');
    expect(JSON.stringify(bodyOf(status(2), '0.3'))).not.toContain('generation');
  });
});
