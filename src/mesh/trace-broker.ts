import type { Attributes, LazyTracing } from '../tracing/tracing.ts';
import type { BrokerConnection, MeshMessage, MessageProperties } from './brokers/broker-connection.ts';
import type { MeshTopics } from './mesh-topics.ts';

/**
 * Creates spans for published and received requests and responses and propagates the trace in their properties. Status
 * updates have no span of their own, because there is one for each piece of text. Returns the broker unchanged if tracing is
 * disabled.
 */
export function traceBroker(
  broker: BrokerConnection,
  tracing: LazyTracing,
  topics: MeshTopics,
): BrokerConnection {
  if (!tracing.isEnabled) return broker;
  const describe = (operation: 'send' | 'process', topic: string): [name: string, Attributes] | undefined => {
    const destination = topics.destinationOf(topic);
    if (destination === undefined) return undefined;
    const attributes = {
      'messaging.system': broker.system ?? 'dragoman',
      'messaging.operation.name': operation,
      'messaging.operation.type': operation,
      'messaging.destination.name': topic,
      'messaging.destination.template': destination,
    };
    return [`${operation} ${destination}`, attributes];
  };
  const publish: BrokerConnection['publish'] = async (topic, payload, properties = {}) => {
    if (tracing.pending) await tracing.pending;
    const { current } = tracing;
    if (!current) return broker.publish(topic, payload, properties);
    const [name, attributes] = describe('send', topic) ?? [];
    if (name === undefined) return broker.publish(topic, payload, properties);
    return tracing.traced(name, { kind: 'producer', attributes }, () =>
      broker.publish(topic, payload, { ...withoutTrace(properties), ...current.inject({}) }),
    );
  };
  return {
    system: broker.system,
    publish,
    subscribe: (patterns, handle, options) =>
      broker.subscribe(
        patterns,
        (message) => {
          const [name, attributes] = (tracing.current && describe('process', message.topic)) ?? [];
          if (name === undefined) return handle(message);
          const from = traceOf(message);
          return tracing.traced(name, { kind: 'consumer', root: true, from, attributes }, async () =>
            handle(message),
          );
        },
        options,
      ),
    get state() {
      return broker.state;
    },
    onState: (listener) => broker.onState(listener),
    close: () => broker.close(),
    [Symbol.asyncDispose]: () => broker[Symbol.asyncDispose](),
  };
}

const traceProperties = ['traceparent', 'tracestate', 'baggage'] as const;

/** A reply has the properties of its request, but its own trace. */
function withoutTrace(properties: MessageProperties): MessageProperties {
  const { traceparent: _parent, tracestate: _state, baggage: _baggage, ...rest } = properties;
  return rest;
}

function traceOf({ properties }: MeshMessage): { [name: string]: string } {
  const carrier: { [name: string]: string } = {};
  for (const name of traceProperties) {
    const value = properties[name];
    if (typeof value === 'string') carrier[name] = value;
  }
  return carrier;
}
