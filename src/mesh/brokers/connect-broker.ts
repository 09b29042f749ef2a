import { invalidField } from '../../protocol/errors.ts';
import type { BrokerConnection } from './broker-connection.ts';
import { MemoryBroker } from './memory/memory-broker.ts';
import { connectMemoryBroker } from './memory/connect-memory.ts';
import type { MqttOptions } from './mqtt/mqtt-options.ts';
import { connectMqtt } from './mqtt/connect-mqtt.ts';
import { type NatsOptions, connectNats } from './nats/connect-nats.ts';

/** Options of {@link connectBroker}: those of whatever the URL names. */
export type ConnectBrokerOptions = MqttOptions & NatsOptions;

/** The brokers of this process, by what follows `memory:`, and how many links each has. */
const brokers = new Map<string, { broker: MemoryBroker; links: number }>();

/**
 * Opens a link to what a URL names: `memory:` (links of this process with the same URL meet), `mqtt://`, `mqtts://`,
 * `ws://`, `wss://`, `nats://` or `tls://`.
 */
export async function connectBroker(
  url: string,
  options: ConnectBrokerOptions = {},
): Promise<BrokerConnection> {
  const protocol = /^([a-z]+):/i.exec(url)?.[1]?.toLowerCase();
  switch (protocol) {
    case 'memory':
      return openMemory(url, options);
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
        'must begin with memory:, mqtt://, mqtts://, ws://, wss://, nats:// or tls://',
      );
  }
}

function openMemory(url: string, options: ConnectBrokerOptions): BrokerConnection {
  const place = brokers.get(url) ?? { broker: new MemoryBroker(), links: 0 };
  brokers.set(url, place);
  place.links++;
  const { closeTimeout, onError, clock } = options;
  const link = connectMemoryBroker({
    broker: place.broker,
    ...(closeTimeout !== undefined && { closeTimeout }),
    ...(onError && { onError }),
    ...(clock && { clock }),
  });
  link.onState(() => {
    if (--place.links === 0) brokers.delete(url);
  });
  return link;
}
