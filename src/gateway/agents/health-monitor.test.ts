import { describe, expect, it } from 'vitest';
import { A2AError } from '../../protocol/errors.ts';
import type { AgentCard } from '../../protocol/card.ts';
import { ManualClock } from '../../../test/support/clocks/manual-clock.ts';
import { monitorHealth } from './health-monitor.ts';

/** Monitors an upstream whose first `failures` checks fail. */
function arrange(failures: number, interval = 8000) {
  const clock = new ManualClock();
  let left = failures;
  let checks = 0;
  const reasons: (string | undefined)[] = [];
  let onChecked = () => {};
  const monitor = monitorHealth(
    {
      check() {
        checks++;
        if (left-- > 0) return Promise.reject(new A2AError('UNAVAILABLE'));
        return Promise.resolve({} as AgentCard);
      },
    },
    {
      clock,
      interval,
      random: () => 1,
      onCheck: (error) => {
        reasons.push(error?.reason);
        queueMicrotask(() => onChecked());
      },
    },
  );
  const advance = async (milliseconds: number) => {
    const checked = new Promise<void>((resolve) => (onChecked = resolve));
    clock.advance(milliseconds);
    await checked;
  };
  return { clock, monitor, reasons, advance, checks: () => checks };
}

describe('monitorHealth', () => {
  it('checks immediately and then at the interval', async () => {
    const { monitor, advance, checks, clock } = arrange(0);
    await monitor.firstCheck;
    await advance(8000);
    await advance(8000);
    expect(checks()).toBe(3);
    expect(clock.delays).toEqual([8000, 8000, 8000]);
    monitor.stop();
    expect(clock.pending).toBe(0);
  });

  it('backs off exponentially up to the interval while checks fail', async () => {
    const { monitor, advance, reasons, clock } = arrange(5);
    await monitor.firstCheck;
    for (const delay of [1000, 2000, 4000, 8000, 8000]) await advance(delay);
    expect(clock.delays).toEqual([1000, 2000, 4000, 8000, 8000, 8000]);
    expect(reasons).toEqual([...Array.from({ length: 5 }, () => 'UNAVAILABLE'), undefined]);
    monitor.stop();
  });

  it('checks once when the interval is 0', async () => {
    const { monitor, clock } = arrange(1, 0);
    await monitor.firstCheck;
    expect(clock.pending).toBe(0);
  });
});
