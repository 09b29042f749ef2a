import { describe, expect, it } from 'vitest';
import type { StreamEvent } from '../../protocol/event.ts';
import type { Fault } from './fault.ts';
import { withEventFaults } from './event-faults.ts';

const ids = { taskId: 't', contextId: 'c' };

/** Five events: task, status, two chunks, terminal status. */
async function* events(): AsyncGenerator<StreamEvent> {
  yield { kind: 'task', sequence: 1, task: { id: 't', contextId: 'c', status: { state: 'submitted' } } };
  yield { kind: 'status', sequence: 2, ...ids, status: { state: 'working' } };
  yield { kind: 'artifact', sequence: 3, ...ids, artifact: { artifactId: 'a', parts: [{ text: 'one' }] } };
  yield {
    kind: 'artifact',
    sequence: 4,
    ...ids,
    append: true,
    artifact: { artifactId: 'a', parts: [{ text: 'two' }] },
  };
  yield { kind: 'status', sequence: 5, ...ids, status: { state: 'completed' } };
}

const collect = async (stream: AsyncIterable<StreamEvent>): Promise<unknown[]> => {
  const all: unknown[] = [];
  for await (const event of stream) all.push(event.sequence ?? event.kind);
  return all;
};

describe('withEventFaults', () => {
  it.each<[string, Fault[], unknown[]]>([
    ['ignores transport faults', [{ kind: 'disconnect' }], [1, 2, 3, 4, 5]],
    ['duplicates an event', [{ kind: 'duplicate', event: 4 }], [1, 2, 3, 4, 4, 5]],
    ['swaps two events', [{ kind: 'reorder', event: 3 }], [1, 2, 4, 3, 5]],
    ['swaps the terminal event with its predecessor', [{ kind: 'reorder', event: 4 }], [1, 2, 3, 5, 4]],
    ['sends a chunk of an unknown artifact', [{ kind: 'wrong-append' }], [1, 2, 3, 4, 'artifact', 5]],
    ['sends a status after the terminal event', [{ kind: 'after-terminal' }], [1, 2, 3, 4, 5, 'status']],
    ['combines faults', [{ kind: 'duplicate' }, { kind: 'after-terminal' }], [1, 2, 2, 3, 4, 5, 'status']],
  ])('%s', async (_name, faults, expected) => {
    expect(await collect(withEventFaults(events(), faults))).toEqual(expected);
  });
});
