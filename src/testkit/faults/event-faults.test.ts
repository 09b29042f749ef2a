import { describe, expect, it } from 'vitest';
import type { StreamEvent } from '../../protocol/event.ts';
import { VirtualClock } from '../clock/virtual-clock.ts';
import { createSeededRandom } from '../seeded-random.ts';
import type { Fault } from './fault.ts';
import { withTransportFaults } from './transport-faults.ts';
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

describe('withTransportFaults', () => {
  const context = { clock: new VirtualClock({ start: 0, auto: true }), random: createSeededRandom(1) };

  it('delays the stream', async () => {
    const { clock } = context;
    await collect(withTransportFaults(events(), [{ kind: 'delay', duration: 5_000 }], context));
    expect(clock.now()).toBe(5_000);
  });

  it.each<[Fault, unknown[]]>([
    [{ kind: 'early-end' }, [1, 2, 3, 4]],
    [{ kind: 'early-end', after: 2 }, [1, 2]],
  ])('ends the stream early: %j', async (fault, expected) => {
    expect(await collect(withTransportFaults(events(), [fault], context))).toEqual(expected);
  });

  it.each<Fault>([{ kind: 'disconnect', after: 2 }, { kind: 'reset' }, { kind: 'half-frame' }])(
    'rejects with UNAVAILABLE: %j',
    async (fault) => {
      await expect(collect(withTransportFaults(events(), [fault], context))).rejects.toMatchObject({
        reason: 'UNAVAILABLE',
      });
    },
  );

  it('suppresses events until the subscriber disconnects', async () => {
    const controller = new AbortController();
    const stream = withTransportFaults(events(), [{ kind: 'stall' }], context, controller.signal);
    expect((await stream.next()).value).toMatchObject({ kind: 'task' });
    const waiting = stream.next();
    controller.abort();
    await expect(waiting).rejects.toMatchObject({ reason: 'CANCELED' });
  });
});
