import type { PushAuthentication, PushConfig } from '../../protocol/push.ts';
import type { SendConfiguration } from '../../protocol/requests.ts';
import {
  readObject,
  fieldPath,
  type WireObject,
  readId,
  readToken,
  readWebhookUrl,
  readNames,
} from '../field-readers.ts';
import type { LossList, DecodeMode } from '../translation-loss.ts';

type Target = Omit<PushConfig, 'taskId' | 'id'>;

/** Reads `{ id, pushNotificationConfig }`. 0.1 has one configuration per task, so its id is the task id. */
export function readPushConfig(value: unknown, at: string, mode: DecodeMode): PushConfig {
  const wire = readObject(value, at);
  const id = readId(wire.id, fieldPath(at, 'id'));
  return {
    taskId: id,
    id,
    ...readTarget(wire.pushNotificationConfig, fieldPath(at, 'pushNotificationConfig'), mode),
  };
}

/** Reads the push configuration of a send. */
export function readSendPushConfig(
  value: unknown,
  taskId: string,
  mode: DecodeMode,
): NonNullable<SendConfiguration['pushConfig']> {
  return { id: taskId, ...readTarget(value, 'pushNotification', mode) };
}

function readTarget(value: unknown, at: string, mode: DecodeMode): Target {
  const wire = readObject(value, at);
  const target: Target = { url: readWebhookUrl(wire.url, fieldPath(at, 'url'), mode) };
  const token = readToken(wire.token, fieldPath(at, 'token'), mode);
  if (token !== undefined) target.token = token;
  if (wire.authentication !== undefined && wire.authentication !== null) {
    const path = fieldPath(at, 'authentication');
    const authentication = readAuthentication(readObject(wire.authentication, path), path, mode);
    if (authentication) target.authentication = authentication;
  }
  return target;
}

/** Reads the first scheme; credentials without a scheme are bearer tokens. */
function readAuthentication(wire: WireObject, at: string, mode: DecodeMode): PushAuthentication | undefined {
  const schemes = readNames(wire.schemes, fieldPath(at, 'schemes'), mode) ?? [];
  const credentials = readToken(wire.credentials, fieldPath(at, 'credentials'), mode);
  if (schemes.length > 1) {
    const note = `only ${schemes[0]} is used`;
    mode.losses?.push({ path: fieldPath(at, 'schemes'), kind: 'dropped', note });
  }
  for (const key of Object.keys(wire)) {
    if (key === 'schemes' || key === 'credentials') continue;
    mode.losses?.push({ path: fieldPath(at, key), kind: 'dropped', note: 'not supported by the model' });
  }
  const scheme = schemes[0] ?? (credentials === undefined ? undefined : 'Bearer');
  if (scheme === undefined) return undefined;
  return credentials === undefined ? { scheme } : { scheme, credentials };
}

/** Writes the inner configuration, as in a send. */
export function writeTarget({ url, token, authentication }: Target): unknown {
  return {
    url,
    token,
    authentication: authentication && {
      schemes: [authentication.scheme],
      credentials: authentication.credentials,
    },
  };
}

/** Writes `{ id, pushNotificationConfig }`. */
export function writePushConfig(config: PushConfig, losses?: LossList): unknown {
  recordPushIdLoss(config.id, config.taskId, losses);
  return { id: config.taskId, pushNotificationConfig: writeTarget(config) };
}

/** Records that 0.1 cannot address one of several configurations. */
export function recordPushIdLoss(id: string | undefined, taskId: string, losses: LossList): void {
  if (id === undefined || id === '' || id === taskId) return;
  losses?.push({ path: 'id', kind: 'dropped', note: '0.1 has one configuration per task, without an id' });
}
