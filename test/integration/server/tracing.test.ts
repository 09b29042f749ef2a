import { context, propagation, trace } from '@opentelemetry/api';
import {
  InMemorySpanExporter,
  NodeTracerProvider,
  type ReadableSpan,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-node';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { connect } from '../../../src/client/connect.ts';
import { defineAgent } from '../../../src/engine/local-agent.ts';
import { serve, type RunningServer } from '../../../src/server/node/serve.ts';
import { injectTraceHeaders } from '../../../src/tracing/tracing.ts';
import { collectStream, reasonOf, userRequest, expectTask } from '../../support/engine/conversation.ts';
import { httpPost } from '../../support/http/http-calls.ts';

const exporter = new InMemorySpanExporter();
const provider = new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
provider.register();

afterAll(async () => {
  await provider.shutdown();
  trace.disable();
  context.disable();
  propagation.disable();
});

let running: RunningServer[] = [];

async function start(agent: Parameters<typeof serve>[0]): Promise<RunningServer> {
  const server = await serve(agent);
  running.push(server);
  return server;
}

beforeEach(() => exporter.reset());

afterEach(async () => {
  await Promise.all(running.map((server) => server.stop()));
  running = [];
});

/** Waits for a number of spans with a name. */
async function spansOf(name: string, count = 1): Promise<ReadableSpan[]> {
  return expect
    .poll(() => exporter.getFinishedSpans().filter((span) => span.name === name))
    .toHaveLength(count)
    .then(() => exporter.getFinishedSpans().filter((span) => span.name === name));
}

async function one(name: string): Promise<ReadableSpan> {
  const [span] = await spansOf(name);
  if (!span) throw new Error(`there is no span ${name}`);
  return span;
}

const echo = () =>
  defineAgent({
    name: 'Echo',
    description: 'Says it back',
    async *process({ text }) {
      yield `You said: ${text}`;
    },
  });

describe('tracing', () => {
  it('propagates from a client through an agent to another agent', async () => {
    const far = await start(echo());
    const near = await start(
      defineAgent({
        name: 'Relay',
        description: 'Asks somebody else',
        async *process({ text }) {
          const remote = connect(far.url);
          for await (const event of remote.stream(userRequest(text))) {
            if (event.kind === 'artifact') yield { artifact: event.artifact };
          }
          await remote.close();
        },
      }),
    );
    const client = connect(near.url);
    const tracer = trace.getTracer('test');
    const answer = await tracer.startActiveSpan('whole', async (root) => {
      const result = await client.send(userRequest('hi'));
      root.end();
      return result;
    });
    await client.close();
    expect(expectTask(answer).status.state).toBe('completed');

    const whole = await one('whole');
    const clientSpan = await one('a2a.client/send');
    const served = await one('a2a.server/send');
    const relayed = await one('a2a.client/stream');
    const servedFar = await one('a2a.server/stream');
    const runs = await spansOf('a2a.engine/run', 2);
    const parentOf = (span: ReadableSpan | undefined) => span?.parentSpanContext?.spanId;
    const runIn = (span: ReadableSpan) => runs.find((run) => parentOf(run) === span.spanContext().spanId);
    expect(parentOf(clientSpan)).toBe(whole.spanContext().spanId);
    expect(parentOf(served)).toBe(clientSpan.spanContext().spanId);
    expect(parentOf(relayed)).toBe(runIn(served)?.spanContext().spanId);
    expect(parentOf(servedFar)).toBe(relayed.spanContext().spanId);
    expect(runIn(servedFar)).toBeDefined();
    const traces = new Set(
      [clientSpan, served, relayed, servedFar, ...runs].map((span) => span.spanContext().traceId),
    );
    expect(traces).toEqual(new Set([whole.spanContext().traceId]));
    expect(served.attributes).toMatchObject({
      'a2a.operation': 'send',
      'a2a.version': '1.0',
      'a2a.transport': 'JSONRPC',
      'a2a.task.id': expectTask(answer).id,
      'a2a.context.id': expectTask(answer).contextId,
      'a2a.outcome': 'OK',
    });
  });

  it('continues the trace of the traceparent header', async () => {
    const server = await start(echo());
    const traceId = 'a'.repeat(32);
    await httpPost(
      server.url,
      { jsonrpc: '2.0', id: 1, method: 'GetTask', params: { id: 'no-such-task' } },
      { 'a2a-version': '1.0', traceparent: `00-${traceId}-${'b'.repeat(16)}-01` },
    );
    const span = await one('a2a.server/getTask');
    expect(span.spanContext().traceId).toBe(traceId);
    expect(span.attributes).toMatchObject({ 'a2a.outcome': 'TASK_NOT_FOUND', 'a2a.task.id': 'no-such-task' });
  });

  it('records the error reason in the client span', async () => {
    const server = await start(echo());
    const client = connect(server.url);
    expect(await reasonOf(client.getTask({ id: 'no-such-task' }))).toBe('TASK_NOT_FOUND');
    await client.close();
    expect((await one('a2a.client/getTask')).attributes['a2a.outcome']).toBe('TASK_NOT_FOUND');
  });

  it('ends the spans of a stream with the stream on both sides', async () => {
    const server = await start(echo());
    const client = connect(server.url);
    const events = await collectStream(client.stream(userRequest('hi')));
    await client.close();
    expect(events.length).toBeGreaterThan(2);
    await one('a2a.server/stream');
    await one('a2a.client/stream');
  });

  it('creates no spans with tracing: false', async () => {
    const server = await serve(defineAgent(echo().definition, { tracing: false }), { tracing: false });
    const client = connect(server.url, { tracing: false });
    await client.send(userRequest('hi'));
    await client.close();
    await server.stop();
    expect(exporter.getFinishedSpans()).toEqual([]);
  });

  it('injects trace headers into any request', async () => {
    const headers = await trace.getTracer('test').startActiveSpan('delivery', async (span) => {
      const injected = await injectTraceHeaders({ a: 'b' });
      span.end();
      return { injected, id: span.spanContext().traceId };
    });
    expect(headers.injected).toMatchObject({ a: 'b' });
    expect(headers.injected.traceparent).toContain(headers.id);
    expect(await injectTraceHeaders({ a: 'b' }, false)).toEqual({ a: 'b' });
  });
});
