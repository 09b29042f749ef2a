import type { PushAuthentication, PushConfig } from '../../protocol/push.ts';
import type { SendConfiguration } from '../../protocol/requests.ts';
import {
  isSet,
  readObject,
  fieldPath,
  type WireObject,
  readId,
  readOptionalId,
  readToken,
  readWebhookUrl,
  readName,
  readNames,
} from '../field-readers.ts';
import type { DecodeMode } from '../translation-loss.ts';

/**
 * Reads a push configuration in any format of 0.3: nested in `pushNotificationConfig`, also in `config`, or bare; named
 * by `taskId` or a resource name. Without an id it gets the task id, as in the 0.3 SDKs, so that setting it again
 * replaces it.
 */
export function readPushConfig(value: unknown, at: string, mode: DecodeMode): PushConfig {
  const outer = readObject(value, at);
  const wire = isSet(outer.config) ? readObject(outer.config, fieldPath(at, 'config')) : outer;
  const nested = wire.pushNotificationConfig ?? wire.push_notification_config;
  const inner = fieldPath(at, 'pushNotificationConfig');
  const config = isSet(nested) ? readObject(nested, inner) : wire;
  const named = readResourceName(wire.name ?? outer.name ?? outer.parent);
  const taskId = readId(outer.taskId ?? outer.task_id ?? named.taskId, fieldPath(at, 'taskId'), mode);
  const id = readOptionalId(
    config.id ?? outer.configId ?? outer.config_id ?? named.id,
    fieldPath(inner, 'id'),
    mode,
  );
  if (id === undefined) {
    mode.losses?.push({
      path: fieldPath(inner, 'id'),
      kind: 'defaulted',
      note: 'the task id is used',
    });
  }
  return { taskId, id: id ?? named.id ?? taskId, ...readTarget(config, inner, mode) };
}

const configsSegment = /\/pushNotification(?:Config)?s(?:\/|$)/;

/** Parses a 0.3 resource name: `tasks/{taskId}` or `tasks/{taskId}/pushNotificationConfigs/{id}`. */
export function readResourceName(value: unknown): { taskId?: string; id?: string } {
  if (typeof value !== 'string' || !value.startsWith('tasks/')) return {};
  const rest = value.slice('tasks/'.length);
  const found = configsSegment.exec(rest);
  if (!found) return { taskId: rest };
  const id = rest.slice(found.index + found[0].length);
  return { taskId: rest.slice(0, found.index), ...(id !== '' && { id }) };
}

/** Reads the push configuration of a send, which has no task id. */
export function readSendPushConfig(
  value: unknown,
  at: string,
  mode: DecodeMode,
): NonNullable<SendConfiguration['pushConfig']> {
  const wire = readObject(value, at);
  return { ...readTarget(wire, at, mode), id: readOptionalId(wire.id, fieldPath(at, 'id'), mode) };
}

function readTarget(wire: WireObject, at: string, mode: DecodeMode): Omit<PushConfig, 'taskId' | 'id'> {
  const target: Omit<PushConfig, 'taskId' | 'id'> = {
    url: readWebhookUrl(wire.url, fieldPath(at, 'url'), mode),
  };
  const token = readToken(wire.token, fieldPath(at, 'token'), mode);
  if (token !== undefined) target.token = token;
  if (isSet(wire.authentication)) {
    const authentication = readAuthentication(wire.authentication, fieldPath(at, 'authentication'), mode);
    if (authentication !== undefined) target.authentication = authentication;
  }
  return target;
}

/** Reads the first scheme: the model has one, as 1.0. */
function readAuthentication(value: unknown, at: string, mode: DecodeMode): PushAuthentication | undefined {
  const wire = readObject(value, at);
  const schemes = readNames(wire.schemes, fieldPath(at, 'schemes'), mode) ?? [];
  const credentials = readToken(wire.credentials, fieldPath(at, 'credentials'), mode);
  if (schemes.length > 1) {
    mode.losses?.push({
      path: fieldPath(at, 'schemes'),
      kind: 'dropped',
      note: `only ${JSON.stringify(schemes[0])} of ${schemes.length} schemes is used`,
    });
  }
  const scheme = schemes[0] ?? readName(wire.scheme, fieldPath(at, 'scheme'), mode);
  if (scheme !== undefined) return credentials === undefined ? { scheme } : { scheme, credentials };
  if (credentials === undefined) return undefined;
  mode.losses?.push({
    path: fieldPath(at, 'schemes'),
    kind: 'guessed',
    note: 'credentials without a scheme',
  });
  return { scheme: 'Bearer', credentials };
}

/** Writes the configuration without its task. */
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

/** Writes a 0.3 JSON-RPC push configuration. */
export function writePushConfig(config: PushConfig): unknown {
  return { taskId: config.taskId, pushNotificationConfig: writePushTarget(config) };
}
