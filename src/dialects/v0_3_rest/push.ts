import type { PushConfig } from '../../protocol/push.ts';
import { writePushTarget } from '../v0_3/push.ts';

function resourceName({ taskId, id }: PushConfig): string {
  return `tasks/${taskId}/pushNotificationConfigs/${id}`;
}

/** Writes a push configuration in the 0.3 protocol buffer format, with a resource name. */
export function writePushConfig(config: PushConfig): unknown {
  return { name: resourceName(config), pushNotificationConfig: writePushTarget(config) };
}

/** Writes a create request; `taskId` belongs to the path. */
export function writeCreatePushConfig(config: PushConfig): unknown {
  return {
    taskId: config.taskId,
    parent: `tasks/${config.taskId}`,
    configId: config.id,
    config: writePushConfig(config),
  };
}
