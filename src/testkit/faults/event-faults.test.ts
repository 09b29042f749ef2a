import { describe, expect, it } from 'vitest';
import type { StreamEvent } from '../../protocol/event.ts';
import { VirtualClock } from '../clock/virtual-clock.ts';
import { createSeededRandom } from '../seeded-random.ts';
import type { Fault } from './fault.ts';
import { withTransportFaults } from './transport-faults.ts';
import { withEventFaults } from './event-faults.ts';

const ids = { taskId: 't', contextId: 'c' };

/** Five events: the task, a status, two chunks, the end. */
async function* story(): AsyncGenerator<StreamEvent> {
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

const heard = async (events: AsyncIterable<StreamEvent>): Promise<unknown[]> => {
  const all: unknown[] = [];
  for await (const event of events) all.push(event.sequence ?? event.kind);
  return all;
};

describe('a stream that is made illegal', () => {
  it.each<[string, Fault[], unknown[]]>([
    ['not at all', [{ kind: 'cut' }], [1, 2, 3, 4, 5]],
    ['by an event that comes twice', [{ kind: 'duplicate', event: 4 }], [1, 2, 3, 4, 4, 5]],
    ['by an event that comes late', [{ kind: 'reorder', event: 3 }], [1, 2, 4, 3, 5]],
    [
      'by an end that comes early, which is the same as late',
      [{ kind: 'reorder', event: 4 }],
      [1, 2, 3, 5, 4],
    ],
    ['by a chunk of nothing', [{ kind: 'wrong-append' }], [1, 2, 3, 4, 'artifact', 5]],
    ['by going on after its end', [{ kind: 'after-terminal' }], [1, 2, 3, 4, 5, 'status']],
    ['in two ways', [{ kind: 'duplicate' }, { kind: 'after-terminal' }], [1, 2, 2, 3, 4, 5, 'status']],
  ])('%s', async (_how, faults, expected) => {
    expect(await heard(withEventFaults(story(), faults))).toEqual(expected);
  });
});

describe('a stream over another line than HTTP', () => {
  const tools = { clock: new VirtualClock({ start: 0, auto: true }), random: createSeededRandom(1) };

  it('comes late', async () => {
    const { clock } = tools;
    await heard(withTransportFaults(story(), [{ kind: 'delay', duration: 5_000 }], tools));
    expect(clock.now()).toBe(5_000);
  });

  it.each<[Fault, unknown[]]>([
    [{ kind: 'stop' }, [1, 2, 3, 4]],
    [{ kind: 'stop', after: 2 }, [1, 2]],
  ])('stops: %j', async (fault, expected) => {
    expect(await heard(withTransportFaults(story(), [fault], tools))).toEqual(expected);
  });

  it.each<Fault>([{ kind: 'cut', after: 2 }, { kind: 'reset' }, { kind: 'half-frame' }])(
    'breaks: %j',
    async (fault) => {
      await expect(heard(withTransportFaults(story(), [fault], tools))).rejects.toMatchObject({
        reason: 'UNAVAILABLE',
      });
    },
  );

  it('says nothing more until nobody listens', async () => {
    const controller = new AbortController();
    const events = withTransportFaults(story(), [{ kind: 'silence' }], tools, controller.signal);
    expect((await events.next()).value).toMatchObject({ kind: 'task' });
    const waiting = events.next();
    controller.abort();
    await expect(waiting).rejects.toMatchObject({ reason: 'CANCELED' });
  });
});
