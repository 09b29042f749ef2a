import { LazyTracing, type Carrier } from '../../../tracing/tracing.ts';
import { toolCallAttributes } from '../tool-call-attributes.ts';

/** Runs the call of a tool in a span, in the trace that the client names in `_meta`. */
export function traceToolCall<T extends object>(
  tool: string,
  meta: { readonly [key: string]: unknown } | undefined,
  call: () => Promise<T>,
): Promise<T> {
  const tracing = new LazyTracing(undefined);
  if (!tracing.isEnabled) return call();
  const attributes = toolCallAttributes(tool);
  const from = traceOf(meta);
  return tracing.traced(`tools/call ${tool}`, { kind: 'server', from, attributes }, async (span) => {
    const result = await call();
    if ('isError' in result && result.isError === true) span?.end('tool_error');
    return result;
  });
}

/** MCP transports trace contexts in the keys of the W3C. */
function traceOf(meta: { readonly [key: string]: unknown } = {}): Carrier {
  const { traceparent, tracestate, baggage } = meta;
  const text = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);
  return { traceparent: text(traceparent), tracestate: text(tracestate), baggage: text(baggage) };
}
