import type { IClientOptions } from 'mqtt';
import type { MqttOptions } from './mqtt-options.ts';

/** Converts the options to those of mqtt.js. Public types do not refer to this file, because mqtt is optional. */
export function toClientOptions(options: MqttOptions): IClientOptions {
  const { username, password, tls, keepalive = 30, connectTimeout = 10_000 } = options;
  return {
    ...tls,
    ...(username !== undefined && { username }),
    ...(password !== undefined && { password }),
    keepalive,
    connectTimeout,
    properties: { maximumPacketSize: options.maxMessageBytes ?? 33_554_432 },
  };
}
