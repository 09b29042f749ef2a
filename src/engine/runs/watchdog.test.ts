import { describe, expect, it } from 'vitest';
import { defineAgent } from '../local-agent.ts';
import { systemClock } from '../../primitives/clock.ts';
import type { Message } from '../../protocol/message.ts';

const hello = (): Message => ({ messageId: crypto.randomUUID(), role: 'user', parts: [{ text: 'x' }] });

/** A clock that records its periodic timers. */
function recordingClock() {
  let now = 1_000;
  const timers = new Set<() => void>();
  return {
    timers,
    advance: (milliseconds: number) => {
      now += milliseconds;
      for (const tick of timers) tick();
    },
    /** Lets time pass without any tick, as if the runtime had ended the timers. */
    skip: (milliseconds: number) => {
      now += milliseconds;
    },
    clock: {
      ...systemClock,
      monotonic: () => now,
      every(_milliseconds: number, tick: () => void) {
        timers.add(tick);
        return () => timers.delete(tick);
      },
    },
  };
}

describe('Watchdog', () => {
  it('sets a timer only while tasks are running', async () => {
    const { clock, timers, advance } = recordingClock();
    const agent = defineAgent({ name: 'A', description: 'A', process: ({ text }) => text }, { clock });
    expect(timers.size).toBe(0);
    await agent.send({ message: hello() });
    expect(timers.size).toBe(1);
    advance(1_000);
    expect(timers.size).toBe(0);
    await agent.send({ message: hello() });
    expect(timers.size).toBe(1);
    await agent.close();
    expect(timers.size).toBe(0);
  });

  it('fails a task without output after the idle timeout', async () => {
    const { clock, advance } = recordingClock();
    const agent = defineAgent(
      { name: 'A', description: 'A', process: () => new Promise<string>(() => {}) },
      { clock, idleTimeout: 5_000, log: () => {} },
    );
    const sending = agent.send({ message: hello() });
    advance(4_000);
    advance(1_000);
    expect(await sending).toMatchObject({ status: { state: 'failed' } });
    await agent.close();
  });

  it('replaces a timer that the runtime has ended', async () => {
    const { clock, timers, skip } = recordingClock();
    const agent = defineAgent({ name: 'A', description: 'A', process: ({ text }) => text }, { clock });
    await agent.send({ message: hello() });
    const [ended] = timers;
    skip(60_000);
    await agent.send({ message: hello() });
    expect(timers.size).toBe(1);
    expect(timers.has(ended as () => void)).toBe(false);
    await agent.close();
  });
});
