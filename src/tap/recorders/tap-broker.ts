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
import type { TrafficLog } from '../traffic-log.ts';

/** How the messages of a link are recorded. */
export interface TapBrokerOptions extends TrafficRecorderOptions {
  /** What whoever uses the link is called on the tape. */
  readonly name: string;
}

/** A message as it was seen. */
interface Seen {
  readonly topic: string;
  readonly payload: string;
  readonly properties: MessageProperties;
  readonly at: number;
  /** The side that is not ours. */
  readonly isOut: boolean;
}

/** What is remembered of a request, for what comes of it. */
interface MeshTrip {
  readonly trip: string;
  readonly began: number;
  readonly asker: string;
  readonly asked: string;
  readonly meaning: MeshDecoder;
}

/** How many requests are remembered, and how many messages that others may see as well. */
const maxRemembered = 2_000;

/** What those who record on one tape remember together: several of them may be at the ends of one mesh. */
interface Memory {
  /** Messages that were published, by what they look like, so that nothing is told twice. */
  readonly sent: Set<string>;
  /** Requests by the topics on which they are answered. */
  readonly trips: Map<string, MeshTrip>;
}

const memories = new WeakMap<TrafficLog, Memory>();

function memoryOf(tape: TrafficLog): Memory {
  let memory = memories.get(tape);
  if (!memory) memories.set(tape, (memory = { sent: new Set(), trips: new Map() }));
  return memory;
}

/** Records what is published and what is delivered. */
export function tapBroker(
  link: BrokerConnection,
  tape: TrafficLog,
  options: TapBrokerOptions,
): BrokerConnection {
  const record = recorderOf(tape, options);
  return {
    async publish(topic, payload, properties = {}) {
      record(topic, payload, properties, true);
      await link.publish(topic, payload, properties);
    },
    subscribe(patterns, work, subscribing) {
      const seen = (delivery: MeshMessage): void | Promise<void> => {
        record(delivery.topic, delivery.payload, delivery.properties, false);
        return work(delivery);
      };
      return link.subscribe(patterns, seen, subscribing);
    },
    get state() {
      return link.state;
    },
    onState: (changed) => link.onState(changed),
    close: () => link.close(),
    [Symbol.asyncDispose]: () => link.close(),
  };
}

function recorderOf(
  tape: TrafficLog,
  options: TapBrokerOptions,
): (topic: string, payload: string, properties: MessageProperties, isOut: boolean) => void {
  const recorder = new TrafficRecorder(tape, options);
  const { backlog } = recorder;
  const { sent, trips } = memoryOf(tape);
  return (topic, payload, properties, isOut) => {
    const key = `${topic} ${payload.length} ${payload.slice(0, 200)} ${payload.slice(-200)}`;
    if (!isOut && sent.has(key)) return;
    if (isOut) remember(sent, key);
    const at = recorder.now();
    const text = backlog.isFull ? '' : payload;
    backlog.add(text.length, () => {
      const clean = recorder.secrets.redactText(text.slice(0, maxDecodedLength));
      const told = tell({ topic, payload: clean, properties, at, isOut });
      const missing = payload.length - Math.min(text.length, maxDecodedLength);
      recorder.add({
        at,
        kind: 'message',
        ...told,
        mesh: { topic, properties: recorder.secrets.redactDeep({ ...properties }) },
        ...recorder.kept(clean, missing),
      });
    });
  };

  function tell({ topic, payload, properties, at, isOut }: Seen): {
    exchangeId: string;
    from: string;
    to: string;
    elapsed?: number;
    decoded: DecodedContent;
  } {
    const { role, party = '' } = classifyTopic(topic);
    const between = (other: string) =>
      isOut ? { from: options.name, to: other } : { from: other, to: options.name };
    if (role === 'request') {
      const { clientId, delegatingAgent, replyTo, statusTopic } = parseRequestProperties(properties);
      const asker = isOut ? options.name : (delegatingAgent ?? clientId ?? 'caller');
      const trip = { trip: recorder.nextTrip(), began: at, asker, asked: party, meaning: new MeshDecoder() };
      for (const each of [replyTo, statusTopic]) if (each !== undefined) keep(trips, each, trip);
      return {
        exchangeId: trip.trip,
        ...between(isOut ? party : asker),
        decoded: trip.meaning.request(payload),
      };
    }
    if (role === 'discovery')
      return { exchangeId: recorder.nextTrip(), ...between('mesh'), decoded: decodeAnnouncement(payload) };
    const known = trips.get(topic);
    const meaning = known?.meaning ?? new MeshDecoder();
    const other = isOut ? party || (known?.asker ?? 'mesh') : (known?.asked ?? 'mesh');
    return {
      exchangeId: known?.trip ?? recorder.nextTrip(),
      ...between(other),
      ...(known && { elapsed: at - known.began }),
      decoded:
        role === 'other' && !known ? undecodableContent(payload) : meaning.answer(payload, role === 'status'),
    };
  }
}

function keep(trips: Map<string, MeshTrip>, topic: string, trip: MeshTrip): void {
  trips.set(topic, trip);
  const [oldest] = trips.keys();
  if (trips.size > maxRemembered && oldest !== undefined) trips.delete(oldest);
}

function remember(sent: Set<string>, key: string): void {
  sent.delete(key);
  sent.add(key);
  const [oldest] = sent;
  if (sent.size > maxRemembered && oldest !== undefined) sent.delete(oldest);
}
