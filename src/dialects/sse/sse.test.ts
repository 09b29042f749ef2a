import { describe, expect, it } from 'vitest';
import type { ProtocolVersion } from '../../protocol/card.ts';
import type { StreamEvent } from '../../protocol/event.ts';
import { type ReadSseOptions, readSseEvents, type SseReadResult } from './read-sse-events.ts';
import { SseWriter, type SseWriterOptions } from './sse-writer.ts';

const ids = { taskId: 't', contextId: 'c' };
const events: StreamEvent[] = [
  { kind: 'status', ...ids, status: { state: 'working' } },
  { kind: 'artifact', ...ids, artifact: { artifactId: 'a', parts: [{ text: 'line 1\nline 2' }] } },
  { kind: 'status', ...ids, status: { state: 'completed' } },
];

function write(options?: SseWriterOptions): string {
  let text = '';
  const writer = new SseWriter((piece) => (text += piece), options);
  for (const [index, event] of events.entries()) writer.write(event, String(index + 1));
  return text;
}

function bodyOf(...texts: string[]): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      for (const text of texts) controller.enqueue(new TextEncoder().encode(text));
      controller.close();
    },
  });
}

async function readAll(
  body: ReadableStream<Uint8Array> | null,
  options?: ReadSseOptions,
): Promise<SseReadResult[]> {
  const results: SseReadResult[] = [];
  for await (const result of readSseEvents(body, options)) results.push(result);
  return results;
}

describe('SseWriter', () => {
  it('writes one data line and an empty line per event', () => {
    const frames = write().split('\n\n');
    expect(frames).toHaveLength(4);
    expect(frames[0]).toMatch(/^id: 1\ndata: \{"statusUpdate":\{.*\}\}$/);
    expect(frames[1]).toMatch(/^id: 2\ndata: \{"artifactUpdate":\{.*\}\}$/);
    expect(frames[3]).toBe('');
    expect(SseWriter.headers).toMatchObject({
      'Content-Type': 'text/event-stream',
      'Cache-Control': expect.stringContaining('no-cache'),
      Connection: 'keep-alive',
    });
  });

  it('writes heartbeats, which the reader skips', async () => {
    let text = '';
    const writer = new SseWriter((piece) => (text += piece));
    writer.heartbeat();
    expect(text).toBe(':\n\n');
    expect(await readAll(bodyOf(text))).toEqual([]);
  });
});

describe('readSseEvents', () => {
  it.each<[ProtocolVersion, string | undefined]>([
    ['1.0', undefined],
    ['1.0', 'r-1'],
    ['0.3', 'r-1'],
    ['0.3', undefined],
  ])('reads what SseWriter writes in %s with request id %s', async (version, requestId) => {
    const text = write({ version, ...(requestId !== undefined && { requestId }) });
    const results = await readAll(bodyOf(...text.split(/(?=a)/)), { version });
    // In 0.3 the reader adds the task that the stream did not start with.
    const updates = results.filter(({ event }) => event?.kind !== 'task');
    expect(updates.map(({ event }) => event)).toMatchObject(events);
    expect(updates.map(({ id }) => id)).toEqual(['1', '2', '3']);
  });

  it('returns an error for a malformed event and continues', async () => {
    const [first = '', second = ''] = write().split('\n\n');
    const rpc = 'data: {"jsonrpc":"2.0","id":1,"error":{"code":-32001,"message":"Task not found"}}';
    const text = [first, 'data: {oops', 'data: {"statusUpdate":4}', rpc, second, ''].join('\n\n');
    const results = await readAll(bodyOf(text));
    expect(results.map(({ event, error }) => event?.kind ?? error?.reason)).toEqual([
      'status',
      'INVALID_AGENT_RESPONSE',
      'INVALID_AGENT_RESPONSE',
      'TASK_NOT_FOUND',
      'artifact',
    ]);
  });

  it('ends and cancels the stream when the signal aborts', async () => {
    let reason: unknown;
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(new TextEncoder().encode(write())),
      cancel: (given) => void (reason = given),
    });
    const stop = new AbortController();
    const results: SseReadResult[] = [];
    for await (const result of readSseEvents(body, { signal: stop.signal })) {
      results.push(result);
      if (results.length === 3) queueMicrotask(() => stop.abort('enough'));
    }
    expect(results).toHaveLength(3);
    expect(reason).toBe('enough');
    expect(await readAll(bodyOf(write()), { signal: stop.signal })).toEqual([]);
  });

  it('cancels the stream when the loop is left', async () => {
    let isCanceled = false;
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(new TextEncoder().encode(write())),
      cancel: () => void (isCanceled = true),
    });
    for await (const { event } of readSseEvents(body)) if (event) break;
    expect(isCanceled).toBe(true);
  });

  it('rejects an event above the limit, and reads no events without a body', async () => {
    const long = bodyOf(`data: ${'x'.repeat(100)}\n\n`);
    await expect(readAll(long, { maxEventLength: 50 })).rejects.toThrow('exceeds 50 characters');
    expect(await readAll(null)).toEqual([]);
  });
});
