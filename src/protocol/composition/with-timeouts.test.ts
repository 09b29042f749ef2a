import { describe, expect, it } from 'vitest';
import { stubAgent } from '../../../test/support/agent-stub.ts';
import { ManualClock } from '../../../test/support/clocks/manual-clock.ts';
import { collectStream } from '../../../test/support/collect-stream.ts';
import { defineAgent } from '../../engine/local-agent.ts';
import type { Agent, CallContext } from '../agent.ts';
import type { StreamEvent } from '../event.ts';
import { type TimeoutOptions, withTimeouts } from './with-timeouts.ts';

const echo = defineAgent({ name: 'Echo', description: 'Repeats', process: ({ text }) => text });
const update: StreamEvent = { kind: 'status', taskId: 't', contextId: 'c', status: { state: 'working' } };
const never = new Promise<never>(() => {});

/** Wraps an agent that never answers and ignores the signal; it sends `events` first. */
function silentAgent(options: Partial<TimeoutOptions>, events: StreamEvent[] = []) {
  const clock = new ManualClock();
  const signals: (AbortSignal | undefined)[] = [];
  const agent: Agent = withTimeouts(
    stubAgent(echo, {
      send: (_request, call?: CallContext) => {
        signals.push(call?.signal);
        return never;
      },
      async *stream(_request, call?: CallContext) {
        signals.push(call?.signal);
        yield* events;
        await never;
      },
    }),
    { clock, describe: (timeout, milliseconds) => `${timeout} ${milliseconds}`, ...options },
  );
  return { agent, clock, signals };
}

describe('withTimeouts', () => {
  it.each([
    ['idle', { idle: 1_000 }],
    ['total', { total: 1_000 }],
  ] as const)('rejects a send after the %s timeout and aborts it at the agent', async (timeout, options) => {
    const { agent, clock, signals } = silentAgent(options);
    const sent = agent.send('hello');
    clock.advance(999);
    expect(signals[0]?.aborted).toBe(false);
    clock.advance(1);
    await expect(sent).rejects.toMatchObject({ reason: 'TIMEOUT', message: `${timeout} 1000` });
    expect(signals[0]?.aborted).toBe(true);
    expect(clock.pending).toBe(0);
  });

  it('restarts the idle timeout of a stream with each event, but not the total timeout', async () => {
    const { agent, clock } = silentAgent({ idle: 1_000, total: 1_500 }, [update, update]);
    const events = agent.stream('hello')[Symbol.asyncIterator]();
    await events.next();
    clock.advance(900);
    await events.next();
    const last = events.next();
    clock.advance(600);
    await expect(last).rejects.toMatchObject({ reason: 'TIMEOUT', message: 'total 1500' });
    expect(clock.pending).toBe(0);
  });

  it('stops its timers when a call ends or a stream is left', async () => {
    const clock = new ManualClock();
    const agent = withTimeouts(echo, { idle: 1_000, total: 1_000, clock, describe: (timeout) => timeout });
    await agent.send('hello');
    await collectStream(agent.stream('hello'));
    for await (const _first of agent.stream('hello')) break;
    expect(clock.pending).toBe(0);
  });

  it('limits only the operations that are named', () => {
    const { agent, clock } = silentAgent({ total: 1_000, operations: ['stream'] });
    void agent.send('hello');
    expect(clock.pending).toBe(0);
  });
});
