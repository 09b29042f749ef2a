import { describe, expect, it } from 'vitest';
import { v1_0 } from '../../dialects/v1_0/index.ts';
import type { Agent } from '../../protocol/agent.ts';
import type { HttpServerRequest } from './http-message.ts';
import { ServerContext } from './server-context.ts';
import { SseStream, type TextSink } from './sse-stream.ts';
import { RestEnvelope } from './stream-envelope.ts';

const request: HttpServerRequest = {
  method: 'POST',
  path: '/',
  query: '',
  headers: {},
  body: '',
  isSecure: false,
  onDisconnect() {},
};

/** Opens streams that never have an event. @returns the number of heartbeats of each. */
function openStreams(context: ServerContext, count: number): number[] {
  const heartbeats = Array<number>(count).fill(0);
  for (let i = 0; i < count; i++) {
    const sink: TextSink = {
      write() {
        heartbeats[i] = (heartbeats[i] ?? 0) + 1;
        return true;
      },
      once() {},
      end() {},
      destroy() {},
    };
    const events = { next: () => new Promise<never>(() => {}) };
    const stream = new SseStream(events, undefined, new RestEnvelope(v1_0), v1_0.eventWriter(), undefined);
    context.streamResponse(stream, request);
    stream.pipe(sink);
  }
  return heartbeats;
}

const sum = (values: readonly number[]): number => values.reduce((total, each) => total + each, 0);

describe('sendHeartbeats', () => {
  it('visits every stream once per interval, a share at a time', () => {
    const context = new ServerContext({} as Agent, {});
    const heartbeats = openStreams(context, 1_000);
    for (let step = 1; step <= 60; step++) {
      const before = sum(heartbeats);
      context.sendHeartbeats(0, 1 / 60);
      expect(sum(heartbeats) - before).toBeLessThanOrEqual(17);
    }
    expect(new Set(heartbeats)).toEqual(new Set([1]));
  });

  it('visits the streams that remain after others have ended', () => {
    const context = new ServerContext({} as Agent, {});
    const heartbeats = openStreams(context, 10);
    context.sendHeartbeats(0, 0.5);
    expect(heartbeats).toEqual([1, 1, 1, 1, 1, 0, 0, 0, 0, 0]);
    context.sendHeartbeats(0, 0.5);
    context.sendHeartbeats(0, 1);
    expect(new Set(heartbeats)).toEqual(new Set([2]));
  });
});
