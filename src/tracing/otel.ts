import { A2AError } from '../protocol/errors.ts';
import type { Attributes, Carrier, Span, SpanOptions, Tracing } from './tracing.ts';

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

const read = {
  get: (carrier: Carrier, key: string): string | string[] | undefined => {
    const value = carrier[key];
    return typeof value === 'string' || value === undefined ? value : [...value];
  },
  keys: (carrier: Carrier): string[] => Object.keys(carrier),
};

function tracingOf({ context, propagation, SpanKind, SpanStatusCode, trace }: Api): Tracing {
  const kinds = { server: SpanKind.SERVER, client: SpanKind.CLIENT, internal: SpanKind.INTERNAL };
  return {
    start(name: string, { kind, from, attributes = {} }: SpanOptions): Span {
      // Not cached: the provider may be registered after the server has started.
      const tracer = trace.getTracer('dragoman');
      const active = context.active();
      const parent = from ? propagation.extract(active, from, read) : active;
      const span = tracer.startSpan(name, { kind: kinds[kind], attributes: said(attributes) }, parent);
      const inside = trace.setSpan(parent, span);
      let isOver = false;
      return {
        set: (more) => span.setAttributes(said(more)),
        run: (work) => context.with(inside, work),
        end(reason) {
          if (isOver) return;
          isOver = true;
          span.setAttribute('a2a.outcome', reason ?? 'OK');
          if (reason !== undefined) span.setStatus({ code: SpanStatusCode.ERROR, message: reason });
          span.end();
        },
      };
    },
    inject(headers) {
      const carried = { ...headers };
      propagation.inject(context.active(), carried);
      return carried;
    },
  };
}

function said(attributes: Attributes): { [name: string]: string | number | boolean } {
  const known: { [name: string]: string | number | boolean } = {};
  for (const [name, value] of Object.entries(attributes)) if (value !== undefined) known[name] = value;
  return known;
}
