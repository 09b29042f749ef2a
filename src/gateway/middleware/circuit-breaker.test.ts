import { describe, expect, it } from 'vitest';
import { HttpTransportError } from '../../client/http/http-client.ts';
import { defineAgent } from '../../engine/index.ts';
import { A2AError } from '../../protocol/errors.ts';
import type { StreamEvent } from '../../protocol/event.ts';
import { ManualClock } from '../../../test/support/clocks/manual-clock.ts';
import { stubAgent } from '../../../test/support/agent-stub.ts';
import { CircuitBreaker, type CircuitBreakerState, withCircuitBreaker } from './circuit-breaker.ts';

const request = { message: { messageId: 'm', role: 'user' as const, parts: [{ text: 'hi' }] } };
const outage = () => {
  const refused = Object.assign(new Error('refused'), { code: 'ECONNREFUSED' });
  return new A2AError('UNAVAILABLE', 'Connection refused by http://10.0.0.1:9', {
    cause: new HttpTransportError(refused, false),
  });
};

/** An agent behind a circuit breaker; the test sets the result of the next call. */
function arrange() {
  const clock = new ManualClock();
  const states: CircuitBreakerState[] = [];
  const breaker = new CircuitBreaker({
    name: 'weather',
    failures: 3,
    openFor: 1000,
    maxOpenFor: 3000,
    clock,
    onState: (state) => states.push(state),
  });
  const next: { error: A2AError | undefined; calls: number; wait?: Promise<void> } = {
    error: undefined,
    calls: 0,
  };
  const local = defineAgent({ name: 'A', description: 'a', process: () => 'x' });
  const agent = withCircuitBreaker(
    stubAgent(local, {
      async send() {
        next.calls++;
        await next.wait;
        if (next.error) throw next.error;
        return { messageId: 'a', role: 'agent', parts: [] };
      },
      async *stream(): AsyncGenerator<StreamEvent> {
        next.calls++;
        if (next.error) throw next.error;
        yield { kind: 'message', message: { messageId: 'a', role: 'agent', parts: [] } };
        await next.wait;
      },
    }),
    breaker,
  );
  const fail = async (error: A2AError) => {
    next.error = error;
    await expect(agent.send(request)).rejects.toBe(error);
  };
  return { clock, states, breaker, next, agent, fail };
}

describe('CircuitBreaker', () => {
  it('opens after consecutive failures and reports since when and why', async () => {
    const { clock, next, agent, fail, breaker } = arrange();
    const startedAt = new Date(clock.now()).toISOString();
    for (let i = 0; i < 3; i++) {
      expect(breaker.state).toBe('closed');
      await fail(outage());
      clock.advance(100);
    }
    await expect(agent.send(request)).rejects.toMatchObject({
      reason: 'UNAVAILABLE',
      message: `The agent weather has been unavailable since ${startedAt}: connection failed (ECONNREFUSED)`,
      details: { agent: 'weather', circuit: 'open', since: startedAt, retryAfter: '1' },
    });
    await expect(agent.stream(request)[Symbol.asyncIterator]().next()).rejects.toMatchObject({
      reason: 'UNAVAILABLE',
    });
    expect(next.calls).toBe(3);
  });

  it('admits one probe call after openFor and closes when it succeeds', async () => {
    const { clock, next, agent, fail, states } = arrange();
    for (let i = 0; i < 3; i++) await fail(outage());
    clock.advance(1000);
    next.error = undefined;
    let release = () => {};
    next.wait = new Promise((resolve) => (release = resolve));
    const probe = agent.send(request);
    await expect(agent.send(request)).rejects.toMatchObject({ details: { circuit: 'half-open' } });
    release();
    await probe;
    await agent.send(request);
    expect(states).toEqual(['open', 'half-open', 'closed']);
    expect(next.calls).toBe(5);
  });

  it('doubles the open time after each failed probe, up to maxOpenFor', async () => {
    const { clock, fail, breaker } = arrange();
    for (let i = 0; i < 3; i++) await fail(outage());
    for (const wait of [1000, 2000, 3000, 3000]) {
      clock.advance(wait - 1);
      expect(() => breaker.begin()).toThrow(/unavailable since/);
      clock.advance(1);
      await fail(outage());
      expect(breaker.state).toBe('open');
    }
  });

  it('closes on the first event of a stream', async () => {
    const { clock, next, agent, fail, breaker } = arrange();
    for (let i = 0; i < 3; i++) await fail(outage());
    clock.advance(1000);
    next.error = undefined;
    next.wait = new Promise(() => {});
    await agent.stream(request)[Symbol.asyncIterator]().next();
    expect(breaker.state).toBe('closed');
  });

  it('counts only consecutive outages of the agent', async () => {
    const { fail, breaker, next, agent } = arrange();
    const harmless = [
      new A2AError('TASK_NOT_FOUND'),
      new A2AError('UNAUTHENTICATED', 'no', { status: 401 }),
      new A2AError('INTERNAL_ERROR'),
      new A2AError('INVALID_PARAMS', 'no', { status: 400 }),
    ];
    for (const each of [...harmless, ...harmless]) await fail(each);
    expect(breaker.state).toBe('closed');
    await fail(outage());
    await fail(new A2AError('TIMEOUT'));
    next.error = undefined;
    await agent.send(request);
    await fail(new A2AError('UNAVAILABLE', 'no', { status: 503 }));
    await fail(outage());
    expect(breaker.state).toBe('closed');
    await fail(new A2AError('INTERNAL_ERROR', 'no', { status: 500 }));
    expect(breaker.state).toBe('open');
  });

  it('ignores calls that the client canceled', async () => {
    const { clock, fail, breaker } = arrange();
    for (let i = 0; i < 3; i++) await fail(outage());
    clock.advance(1000);
    await fail(new A2AError('CANCELED'));
    expect(breaker.state).toBe('open');
    await fail(new A2AError('TASK_NOT_FOUND'));
    expect(breaker.state).toBe('closed');
  });

  it('admits a probe call immediately after allowProbe', async () => {
    const { fail, breaker, next, agent } = arrange();
    for (let i = 0; i < 3; i++) await fail(outage());
    breaker.allowProbe();
    next.error = undefined;
    await agent.send(request);
    expect(breaker.state).toBe('closed');
  });
});
