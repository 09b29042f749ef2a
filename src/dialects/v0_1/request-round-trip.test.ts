import { compatKey } from '../compat-metadata.ts';
import { expect, it } from 'vitest';
import type { StreamEvent } from '../../protocol/event.ts';
import { reduce } from '../../protocol/reduce.ts';
import { lenientMode, strictMode } from '../translation-loss.ts';
import { v0_1 } from './index.ts';

const onWire = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

const params = {
  id: 'cli-1',
  sessionId: 's-1',
  message: {
    role: 'user',
    parts: [
      { type: 'text', text: 'hi' },
      { type: 'file', file: { name: 'a.bin', mimeType: 'application/octet-stream', bytes: 'AAE=' } },
    ],
  },
  historyLength: 0,
};

const lines = [
  { id: 'cli-1', status: { state: 'working', timestamp: '2025-04-09T10:00:00.000Z' }, final: false },
  {
    id: 'cli-1',
    artifact: { name: 'out', index: 0, append: false, parts: [{ type: 'text', text: 'hel' }] },
  },
  {
    id: 'cli-1',
    artifact: {
      name: 'out',
      index: 0,
      append: true,
      lastChunk: true,
      parts: [{ type: 'text', text: 'lo' }],
    },
  },
  { id: 'cli-1', status: { state: 'completed', timestamp: '2025-04-09T10:00:01.000Z' }, final: true },
];

const request = v0_1.requests.stream.read(params, strictMode);
const ids = { taskId: 'cli-1', contextId: 's-1' };

/** The same conversation as events of the model. */
const events: StreamEvent[] = [
  {
    kind: 'task',
    task: {
      id: 'cli-1',
      contextId: 's-1',
      status: { state: 'working', timestamp: '2025-04-09T10:00:00.000Z' },
      history: [request.message],
    },
  },
  {
    kind: 'artifact',
    ...ids,
    artifact: { artifactId: 'artifact-0', name: 'out', parts: [{ text: 'hel' }] },
    append: false,
  },
  {
    kind: 'artifact',
    ...ids,
    artifact: { artifactId: 'artifact-0', name: 'out', parts: [{ text: 'lo' }] },
    append: true,
    lastChunk: true,
  },
  { kind: 'status', ...ids, status: { state: 'completed', timestamp: '2025-04-09T10:00:01.000Z' } },
];

it('v0_1 reads and writes a send request', () => {
  expect(request).toMatchObject({
    clientTaskId: 'cli-1',
    message: {
      contextId: 's-1',
      role: 'user',
      parts: [{ text: 'hi' }, { raw: 'AAE=', filename: 'a.bin', mediaType: 'application/octet-stream' }],
    },
    configuration: { historyLength: 0 },
  });
  const { messageId } = request.message;
  expect(onWire(v0_1.requests.stream.write(request))).toEqual({
    ...params,
    message: { ...params.message, metadata: { [compatKey]: { messageId } } },
  });
});

it('v0_1 reads a stream as a stream that starts with the task', () => {
  const reader = v0_1.eventReader({ ...ids, message: request.message });
  const read = lines.flatMap((line) => reader.read(line, lenientMode()));
  expect(read).toEqual(events);
  expect(reduce(read)).toMatchObject({
    status: { state: 'completed' },
    artifacts: [{ name: 'out', parts: [{ text: 'hello' }] }],
  });
});

it('v0_1 writes the same stream with the context once', () => {
  const writer = v0_1.eventWriter();
  const [first, ...rest] = onWire([
    ...events.flatMap((event) => writer.write(event)),
    ...writer.end(undefined),
  ]) as { metadata?: unknown }[];
  const { metadata, ...bare } = first ?? {};
  expect(metadata).toEqual({ 'urn:a2a:compat:v1': { contextId: 's-1' } });
  expect([bare, ...rest]).toEqual(lines);
});

it('v0_1 notification contains the complete task', () => {
  const task = reduce(events) as never;
  const last = events.at(-1) as StreamEvent;
  expect(onWire(v0_1.notification.write(last, task))).toMatchObject({
    id: 'cli-1',
    sessionId: 's-1',
    status: { state: 'completed' },
    artifacts: [
      {
        name: 'out',
        index: 0,
        parts: [{ type: 'text', text: 'hello' }],
      },
    ],
  });
});
