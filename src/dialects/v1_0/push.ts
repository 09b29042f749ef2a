import type { PushAuthentication, PushConfig } from '../../protocol/push.ts';
import type { SendConfiguration } from '../../protocol/requests.ts';
import {
  readNonEmptyString,
  readObject,
  fieldPath,
  type WireObject,
  readId,
  readOptionalId,
  readToken,
  readWebhookUrl,
  checkLength,
} from '../field-readers.ts';

/** Reads a 1.0 push configuration: flat, with one authentication scheme. */
export function readPushConfig(value: unknown, at: string): PushConfig {
  const wire = readObject(value, at);
  return {
    taskId: readId(wire.taskId ?? wire.task_id, fieldPath(at, 'taskId')),
    ...readTarget(wire, at),
    id: readOptionalId(wire.id, fieldPath(at, 'id')) ?? '',
  };
}

/** Reads the push configuration of a send, which has no task id. */
export function readSendPushConfig(value: unknown, at: string): NonNullable<SendConfiguration['pushConfig']> {
  const wire = readObject(value, at);
  return { ...readTarget(wire, at), id: readOptionalId(wire.id, fieldPath(at, 'id')) };
}

function readTarget(wire: WireObject, at: string): Omit<PushConfig, 'taskId' | 'id'> {
  const target: Omit<PushConfig, 'taskId' | 'id'> = {
    url: readWebhookUrl(wire.url, fieldPath(at, 'url')),
  };
  const token = readToken(wire.token, fieldPath(at, 'token'));
  if (token !== undefined) target.token = token;
  if (wire.authentication !== undefined && wire.authentication !== null) {
    target.authentication = readAuthentication(wire.authentication, fieldPath(at, 'authentication'));
  }
  return target;
}

function readAuthentication(value: unknown, at: string): PushAuthentication {
  const wire = readObject(value, at);
  const authentication: PushAuthentication = {
    scheme: checkLength(
      readNonEmptyString(wire.scheme, fieldPath(at, 'scheme')),
      fieldPath(at, 'scheme'),
      'name',
    ),
  };
  const credentials = readToken(wire.credentials, fieldPath(at, 'credentials'));
  if (credentials !== undefined) authentication.credentials = credentials;
  return authentication;
}

/** Writes a 1.0 push configuration. */
export function writePushConfig(config: Partial<PushConfig> & { url: string }): unknown {
  return {
    taskId: config.taskId,
    id: config.id,
    url: config.url,
    token: config.token,
    authentication: config.authentication,
  };
}
