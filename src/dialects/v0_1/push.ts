import type { PushAuthentication, PushConfig } from '../../protocol/push.ts';
import type { SendConfiguration } from '../../protocol/requests.ts';
import {
  readNonEmptyString,
  readObject,
  readStrings,
  readOptionalText,
  fieldPath,
  type WireObject,
} from '../field-readers.ts';
import type { LossList, DecodeMode } from '../translation-loss.ts';

type Target = Omit<PushConfig, 'taskId' | 'id'>;

/** Reads `{ id, pushNotificationConfig }`. 0.1 has one configuration per task, so it is named like the task. */
export function readPushConfig(value: unknown, at: string, reading: DecodeMode): PushConfig {
  const wire = readObject(value, at);
  const id = readNonEmptyString(wire.id, fieldPath(at, 'id'));
  return {
    taskId: id,
    id,
    ...readTarget(wire.pushNotificationConfig, fieldPath(at, 'pushNotificationConfig'), reading),
  };
}

/** Reads the push configuration inside a send. */
export function readSendPushConfig(
  value: unknown,
  taskId: string,
  reading: DecodeMode,
): NonNullable<SendConfiguration['pushConfig']> {
  return { id: taskId, ...readTarget(value, 'pushNotification', reading) };
}

function readTarget(value: unknown, at: string, reading: DecodeMode): Target {
  const wire = readObject(value, at);
  const target: Target = { url: readNonEmptyString(wire.url, fieldPath(at, 'url')) };
  const token = readOptionalText(wire.token, fieldPath(at, 'token'));
  if (token !== undefined) target.token = token;
  if (wire.authentication !== undefined && wire.authentication !== null) {
    const path = fieldPath(at, 'authentication');
    const authentication = readAuthentication(readObject(wire.authentication, path), path, reading);
    if (authentication) target.authentication = authentication;
  }
  return target;
}

/** Of several schemes the first counts; credentials without a scheme are a bearer's. */
function readAuthentication(
  wire: WireObject,
  at: string,
  reading: DecodeMode,
): PushAuthentication | undefined {
  const schemes = readStrings(wire.schemes, fieldPath(at, 'schemes')) ?? [];
  const credentials = readOptionalText(wire.credentials, fieldPath(at, 'credentials'));
  if (schemes.length > 1) {
    const note = `only ${schemes[0]} is kept`;
    reading.losses?.push({ path: fieldPath(at, 'schemes'), kind: 'dropped', note });
  }
  for (const key of Object.keys(wire)) {
    if (key === 'schemes' || key === 'credentials') continue;
    reading.losses?.push({ path: fieldPath(at, key), kind: 'dropped', note: 'there is no place for it' });
  }
  const scheme = schemes[0] ?? (credentials === undefined ? undefined : 'Bearer');
  if (scheme === undefined) return undefined;
  return credentials === undefined ? { scheme } : { scheme, credentials };
}

/** Writes the inner configuration, which stands alone inside a send. */
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

/** Notes that 0.1 cannot name one configuration among several. */
export function recordPushIdLoss(id: string | undefined, taskId: string, losses: LossList): void {
  if (id === undefined || id === '' || id === taskId) return;
  losses?.push({ path: 'id', kind: 'dropped', note: '0.1 has one configuration per task, without an id' });
}
