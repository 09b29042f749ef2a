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
import type { DecodeMode } from '../translation-loss.ts';

/**
 * Reads a push configuration in any form of 0.3: nested in `pushNotificationConfig`, nested once more in `config`, or
 * bare; named by `taskId` or by a resource name. Without an id it gets that of its task, as the SDKs of 0.3 do it, so
 * that setting it again replaces it.
 */
export function readPushConfig(value: unknown, at: string, reading: DecodeMode): PushConfig {
  const outer = readObject(value, at);
  const wire = isSet(outer.config) ? readObject(outer.config, fieldPath(at, 'config')) : outer;
  const nested = wire.pushNotificationConfig ?? wire.push_notification_config;
  const inner = fieldPath(at, 'pushNotificationConfig');
  const config = isSet(nested) ? readObject(nested, inner) : wire;
  const named = readResourceName(wire.name ?? outer.name ?? outer.parent);
  const taskId = readNonEmptyString(outer.taskId ?? outer.task_id ?? named.taskId, fieldPath(at, 'taskId'));
  const id = readOptionalText(
    config.id ?? outer.configId ?? outer.config_id ?? named.id,
    fieldPath(inner, 'id'),
  );
  if (id === undefined) {
    reading.losses?.push({
      path: fieldPath(inner, 'id'),
      kind: 'defaulted',
      note: 'the id of the task stands in',
    });
  }
  return { taskId, id: id ?? named.id ?? taskId, ...readTarget(config, inner, reading) };
}

function isSet(value: unknown): boolean {
  return value !== undefined && value !== null;
}

const resourceName = /^tasks\/(.+?)(?:\/pushNotification(?:Config)?s(?:\/(.+))?)?$/;

/** Takes a resource name of the 0.3 protocol buffers apart: `tasks/{taskId}` or `tasks/{taskId}/pushNotificationConfigs/{id}`. */
export function readResourceName(value: unknown): { taskId?: string; id?: string } {
  const match = typeof value === 'string' ? resourceName.exec(value) : null;
  return match ? { taskId: match[1], id: match[2] } : {};
}

/** Reads the push configuration inside a send, which has no task yet. */
export function readSendPushConfig(
  value: unknown,
  at: string,
  reading: DecodeMode,
): NonNullable<SendConfiguration['pushConfig']> {
  const wire = readObject(value, at);
  return { ...readTarget(wire, at, reading), id: readOptionalText(wire.id, fieldPath(at, 'id')) };
}

function readTarget(wire: WireObject, at: string, reading: DecodeMode): Omit<PushConfig, 'taskId' | 'id'> {
  const target: Omit<PushConfig, 'taskId' | 'id'> = {
    url: readNonEmptyString(wire.url, fieldPath(at, 'url')),
  };
  const token = readOptionalText(wire.token, fieldPath(at, 'token'));
  if (token !== undefined) target.token = token;
  if (isSet(wire.authentication)) {
    const authentication = readAuthentication(wire.authentication, fieldPath(at, 'authentication'), reading);
    if (authentication !== undefined) target.authentication = authentication;
  }
  return target;
}

/** Reads the first of several schemes: the model, like 1.0, has room for one. */
function readAuthentication(value: unknown, at: string, reading: DecodeMode): PushAuthentication | undefined {
  const wire = readObject(value, at);
  const schemes = readStrings(wire.schemes, fieldPath(at, 'schemes')) ?? [];
  const credentials = readOptionalText(wire.credentials, fieldPath(at, 'credentials'));
  if (schemes.length > 1) {
    reading.losses?.push({
      path: fieldPath(at, 'schemes'),
      kind: 'dropped',
      note: `only ${JSON.stringify(schemes[0])} of ${schemes.length} schemes is kept`,
    });
  }
  const scheme = schemes[0] ?? readOptionalText(wire.scheme, fieldPath(at, 'scheme'));
  if (scheme !== undefined) return credentials === undefined ? { scheme } : { scheme, credentials };
  if (credentials === undefined) return undefined;
  reading.losses?.push({
    path: fieldPath(at, 'schemes'),
    kind: 'guessed',
    note: 'credentials without a scheme',
  });
  return { scheme: 'Bearer', credentials };
}

/** Writes the configuration itself, without its task. */
export function writePushTarget(config: Omit<PushConfig, 'taskId' | 'id'> & { id?: string }): unknown {
  const { authentication } = config;
  return {
    id: config.id === '' ? undefined : config.id,
    url: config.url,
    token: config.token,
    authentication: authentication && {
      schemes: [authentication.scheme],
      credentials: authentication.credentials,
    },
  };
}

/** Writes a push configuration as 0.3 has it over JSON-RPC. */
export function writePushConfig(config: PushConfig): unknown {
  return { taskId: config.taskId, pushNotificationConfig: writePushTarget(config) };
}
