import { describe, expect, it } from 'vitest';
import { A2AError } from '../../protocol/errors.ts';
import type { AgentCard } from '../../protocol/card.ts';
import { ManualClock } from '../../../test/support/clocks/manual-clock.ts';
import { monitorHealth } from './health-monitor.ts';

/** Looks at something that fails as often as it is told. */
function arrange(failures: number, interval = 8000) {
  const clock = new ManualClock();
  let left = failures;
  let looks = 0;
  const seen: (string | undefined)[] = [];
  let told = () => {};
  const watch = monitorHealth(
    {
      check() {
        looks++;
        if (left-- > 0) return Promise.reject(new A2AError('UNAVAILABLE'));
        return Promise.resolve({} as AgentCard);
      },
    },
    {
      clock,
      interval,
      random: () => 1,
      onCheck: (error) => {
        seen.push(error?.reason);
        queueMicrotask(() => told());
      },
    },
  );
  const after = async (milliseconds: number) => {
    const looked = new Promise<void>((resolve) => (told = resolve));
    clock.advance(milliseconds);
    await looked;
  };
  return { clock, watch, seen, after, looks: () => looks };
}

describe('a watch over an upstream', () => {
  it('looks at once and then at its interval', async () => {
    const { watch, after, looks, clock } = arrange(0);
    await watch.firstCheck;
    await after(8000);
    await after(8000);
    expect(looks()).toBe(3);
    expect(clock.delays).toEqual([8000, 8000, 8000]);
    watch.stop();
    expect(clock.pending).toBe(0);
  });

  it('looks more often while there is nothing, and less and less so', async () => {
    const { watch, after, seen, clock } = arrange(5);
    await watch.firstCheck;
    for (const delay of [1000, 2000, 4000, 8000, 8000]) await after(delay);
    expect(clock.delays).toEqual([1000, 2000, 4000, 8000, 8000, 8000]);
    expect(seen).toEqual([...Array.from({ length: 5 }, () => 'UNAVAILABLE'), undefined]);
    watch.stop();
  });

  it('looks once where nobody wants more', async () => {
    const { watch, clock } = arrange(1, 0);
    await watch.firstCheck;
    expect(clock.pending).toBe(0);
  });
});
