import { invalidField } from '../../protocol/errors.ts';
import type { BrokerConnection } from './broker-connection.ts';
import { MemoryBroker } from './memory/memory-broker.ts';
import { connectMemoryBroker } from './memory/connect-memory.ts';
import type { MqttOptions } from './mqtt/mqtt-options.ts';
import { connectMqtt } from './mqtt/connect-mqtt.ts';
import { type NatsOptions, connectNats } from './nats/connect-nats.ts';

/** Options of {@link connectBroker}: those of the protocol of the URL. */
export type ConnectBrokerOptions = MqttOptions & NatsOptions;

/** Memory brokers of this process by URL, with the number of their connections. */
const brokers = new Map<string, { broker: MemoryBroker; connections: number }>();

/**
 * Connects to the broker of a URL: `memory:` (shared by connections of this process with the same URL), `mqtt://`,
 * `mqtts://`, `ws://`, `wss://`, `nats://` or `tls://`.
 */
export async function connectBroker(
  url: string,
  options: ConnectBrokerOptions = {},
): Promise<BrokerConnection> {
  const protocol = /^([a-z]+):/i.exec(url)?.[1]?.toLowerCase();
  switch (protocol) {
    case 'memory':
      return connectMemory(url, options);
    case 'mqtt':
    case 'mqtts':
    case 'ws':
    case 'wss':
      return connectMqtt(url, options);
    case 'nats':
    case 'tls':
      return connectNats(url, options);
    default:
      throw invalidField(
        'url',
        'must start with memory:, mqtt://, mqtts://, ws://, wss://, nats:// or tls://',
      );
  }
}

function connectMemory(url: string, options: ConnectBrokerOptions): BrokerConnection {
  const entry = brokers.get(url) ?? { broker: new MemoryBroker(), connections: 0 };
  brokers.set(url, entry);
  entry.connections++;
  const { closeTimeout, onError, clock } = options;
  const connection = connectMemoryBroker({
    broker: entry.broker,
    ...(closeTimeout !== undefined && { closeTimeout }),
    ...(onError && { onError }),
    ...(clock && { clock }),
  });
  connection.onState(() => {
    if (--entry.connections === 0) brokers.delete(url);
  });
  return connection;
}
