import type { PushConfig } from '../../protocol/push.ts';
import { writePushTarget } from '../v0_3/push.ts';

/** The resource name of a push configuration. */
function nameOf({ taskId, id }: PushConfig): string {
  return `tasks/${taskId}/pushNotificationConfigs/${id}`;
}

/** Writes a push configuration as the protocol buffers of 0.3 have it: a name says whose it is. */
export function writePushConfig(config: PushConfig): unknown {
  return { name: nameOf(config), pushNotificationConfig: writePushTarget(config) };
}

/** Writes the request that creates one; `taskId` is for the path. */
export function writeCreatePushConfig(config: PushConfig): unknown {
  return {
    taskId: config.taskId,
    parent: `tasks/${config.taskId}`,
    configId: config.id,
    config: writePushConfig(config),
  };
}
