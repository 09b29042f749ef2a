import type {
  MeshMessage,
  BrokerConnection,
  MessageProperties,
} from '../../mesh/brokers/broker-connection.ts';
import { parseRequestProperties } from '../../mesh/request-properties.ts';
import { MeshDecoder, decodeAnnouncement, undecodableContent } from '../decode/mesh-decoder.ts';
import { classifyTopic } from './topic-role.ts';
import type { DecodedContent } from '../traffic-record.ts';
import { maxDecodedLength, TrafficRecorder, type TrafficRecorderOptions } from './traffic-recorder.ts';
import { LruMap, LruSet } from '../../primitives/lru-map.ts';
import type { TrafficLog } from '../traffic-log.ts';

/** Options of {@link tapBroker}. */
export interface TapBrokerOptions extends TrafficRecorderOptions {
  /** Name of the owner of the connection in the traffic log. */
  readonly name: string;
}

interface ObservedMessage {
  readonly topic: string;
  readonly payload: string;
  readonly properties: MessageProperties;
  readonly at: number;
  /** True if this side published the message. */
  readonly isOutgoing: boolean;
}

/** State of a request that its responses refer to. */
interface MeshExchange {
  readonly exchangeId: string;
  readonly began: number;
  readonly client: string;
  readonly agent: string;
  readonly decoder: MeshDecoder;
}

/** Maximum number of remembered exchanges and of remembered published messages. */
const limit = { maxEntries: 2_000 };

/** State that all recorders of one traffic log share, because several of them may record the same mesh. */
interface SharedState {
  /** Keys of published messages, which deduplicate their deliveries. */
  readonly published: LruSet<string>;
  /** Exchanges by their reply and status topics. */
  readonly exchanges: LruMap<string, MeshExchange>;
}

const sharedStates = new WeakMap<TrafficLog, SharedState>();

function sharedStateOf(log: TrafficLog): SharedState {
  let state = sharedStates.get(log);
  if (!state) sharedStates.set(log, (state = { published: new LruSet(limit), exchanges: new LruMap(limit) }));
  return state;
}

/** Records the messages that a broker connection publishes and receives. */
export function tapBroker(
  broker: BrokerConnection,
  log: TrafficLog,
  options: TapBrokerOptions,
): BrokerConnection {
  const record = createMessageRecorder(log, options);
  return {
    system: broker.system,
    async publish(topic, payload, properties = {}) {
      record(topic, payload, properties, true);
      await broker.publish(topic, payload, properties);
    },
    subscribe(patterns, handler, subscribing) {
      const recordAndHandle = (message: MeshMessage): void | Promise<void> => {
        record(message.topic, message.payload, message.properties, false);
        return handler(message);
      };
      return broker.subscribe(patterns, recordAndHandle, subscribing);
    },
    get state() {
      return broker.state;
    },
    onState: (changed) => broker.onState(changed),
    close: () => broker.close(),
    [Symbol.asyncDispose]: () => broker.close(),
  };
}

function createMessageRecorder(
  log: TrafficLog,
  options: TapBrokerOptions,
): (topic: string, payload: string, properties: MessageProperties, isOutgoing: boolean) => void {
  const recorder = new TrafficRecorder(log, options);
  const { decodeQueue } = recorder;
  const { published, exchanges } = sharedStateOf(log);
  return (topic, payload, properties, isOutgoing) => {
    const key = `${topic} ${payload.length} ${payload.slice(0, 200)} ${payload.slice(-200)}`;
    if (!isOutgoing && published.has(key)) return;
    if (isOutgoing) published.add(key);
    const at = recorder.now();
    const text = decodeQueue.isFull ? '' : payload;
    decodeQueue.add(text.length, () => {
      const redacted = recorder.redactor.redactText(text.slice(0, maxDecodedLength));
      const described = describe({ topic, payload: redacted, properties, at, isOutgoing });
      const missing = payload.length - Math.min(text.length, maxDecodedLength);
      recorder.add({
        at,
        kind: 'message',
        ...described,
        mesh: { topic, properties: recorder.redactor.redactDeep({ ...properties }) },
        ...recorder.truncate(redacted, missing),
      });
    });
  };

  function describe({ topic, payload, properties, at, isOutgoing }: ObservedMessage): {
    exchangeId: string;
    from: string;
    to: string;
    elapsed?: number;
    decoded: DecodedContent;
  } {
    const { role, party = '' } = classifyTopic(topic);
    const between = (other: string) =>
      isOutgoing ? { from: options.name, to: other } : { from: other, to: options.name };
    if (role === 'request') {
      const { clientId, delegatingAgent, replyTo, statusTopic } = parseRequestProperties(properties);
      const client = isOutgoing ? options.name : (delegatingAgent ?? clientId ?? 'client');
      const exchangeId = recorder.nextExchangeId();
      const decoder = new MeshDecoder();
      const exchange = { exchangeId, began: at, client, agent: party, decoder };
      for (const each of [replyTo, statusTopic]) if (each !== undefined) exchanges.set(each, exchange);
      return { exchangeId, ...between(isOutgoing ? party : client), decoded: decoder.request(payload) };
    }
    if (role === 'discovery') {
      const exchangeId = recorder.nextExchangeId();
      return { exchangeId, ...between('mesh'), decoded: decodeAnnouncement(payload) };
    }
    const known = exchanges.get(topic);
    const decoder = known?.decoder ?? new MeshDecoder();
    const other = isOutgoing ? party || (known?.client ?? 'mesh') : (known?.agent ?? 'mesh');
    return {
      exchangeId: known?.exchangeId ?? recorder.nextExchangeId(),
      ...between(other),
      ...(known && { elapsed: at - known.began }),
      decoded:
        role === 'other' && !known
          ? undecodableContent(payload)
          : decoder.response(payload, role === 'status'),
    };
  }
}
