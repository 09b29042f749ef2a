import { A2AError } from '../protocol/errors.ts';
import type { Attributes, AttributeValue, Carrier, Span, SpanOptions, Tracing } from './tracing.ts';

type Api = typeof import('@opentelemetry/api');

/** Loads the OpenTelemetry API. Without an SDK its spans are no-ops. */
export async function loadTracing(): Promise<Tracing> {
  try {
    return tracingOf(await import('@opentelemetry/api'));
  } catch (cause) {
    // Bundlers accept a library that is not installed only inside of `try`.
    throw new A2AError('UNAVAILABLE', 'Tracing requires @opentelemetry/api', {
      cause,
      hint: 'Run npm install @opentelemetry/api.',
    });
  }
}

/** Maximum length of an attribute, in characters. Peers choose ids and names. */
const maxLength = 1_024;

/** Maximum number of values of an attribute that is a list. */
const maxValues = 32;

/** Keys of the W3C trace context. Baggage is not stored: it may contain anything. */
const contextKeys = ['traceparent', 'tracestate'] as const;

const read = {
  get: (carrier: Carrier, key: string): string | string[] | undefined => {
    const value = carrier[key];
    return typeof value === 'string' || value === undefined ? value : [...value];
  },
  keys: (carrier: Carrier): string[] => Object.keys(carrier),
};

function tracingOf({ context, propagation, ROOT_CONTEXT, SpanKind, SpanStatusCode, trace }: Api): Tracing {
  const kinds = {
    server: SpanKind.SERVER,
    client: SpanKind.CLIENT,
    internal: SpanKind.INTERNAL,
    producer: SpanKind.PRODUCER,
    consumer: SpanKind.CONSUMER,
  };
  const contextOf = (carrier: Carrier) =>
    trace.getSpanContext(propagation.extract(ROOT_CONTEXT, carrier, read));
  return {
    start(name: string, { kind, from, root, links = [], attributes = {} }: SpanOptions): Span {
      // Not cached: the provider may be registered after the server has started.
      const tracer = trace.getTracer('dragoman');
      const active = root ? ROOT_CONTEXT : context.active();
      const parent = from ? propagation.extract(active, from, read) : active;
      const linked = links.flatMap((carrier) => contextOf(carrier) ?? []).map((each) => ({ context: each }));
      const options = { kind: kinds[kind], attributes: bounded(attributes), links: linked };
      const span = tracer.startSpan(bound(name) as string, options, parent);
      const inside = trace.setSpan(parent, span);
      let isOver = false;
      return {
        set: (more) => span.setAttributes(bounded(more)),
        addEvent: (event, more = {}) => span.addEvent(event, bounded(more)),
        linkActive() {
          const linkedContext = trace.getSpanContext(context.active());
          if (linkedContext && linkedContext.spanId !== span.spanContext().spanId)
            span.addLink({ context: linkedContext });
        },
        run: (work) => context.with(inside, work),
        end(reason) {
          if (isOver) return;
          isOver = true;
          if (reason !== undefined) {
            span.setAttribute('error.type', reason);
            span.setStatus({ code: SpanStatusCode.ERROR, message: reason });
          }
          span.end();
        },
      };
    },
    inject(headers) {
      const carried = { ...headers };
      propagation.inject(context.active(), carried);
      return carried;
    },
    activeContext() {
      const carried: Record<string, string> = {};
      propagation.inject(context.active(), carried);
      const kept = contextKeys.flatMap((key) => (carried[key] ? [[key, carried[key]] as const] : []));
      return kept.length > 0 ? Object.fromEntries(kept) : undefined;
    },
    runFrom: (carrier, work) => context.with(propagation.extract(ROOT_CONTEXT, carrier, read), work),
    failActive(reason) {
      const span = trace.getActiveSpan();
      span?.setAttribute('error.type', reason);
      span?.setStatus({ code: SpanStatusCode.ERROR, message: reason });
    },
  };
}

function bounded(attributes: Attributes): { [name: string]: string | number | boolean | string[] } {
  const known: { [name: string]: string | number | boolean | string[] } = {};
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== undefined) known[name] = bound(value);
  }
  return known;
}

function bound(value: AttributeValue): string | number | boolean | string[] {
  if (typeof value === 'string') return value.slice(0, maxLength);
  return typeof value === 'object'
    ? value.slice(0, maxValues).map((each) => each.slice(0, maxLength))
    : value;
}
