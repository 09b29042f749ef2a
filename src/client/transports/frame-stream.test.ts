import { describe, expect, it } from 'vitest';
import { ManualClock } from '../../../test/support/clocks/manual-clock.ts';
import type { OutboundRequest } from '../http/send-request.ts';
import type { HttpClient, HttpResponse } from '../http/http-client.ts';
import { resolveSettings } from '../connect-options.ts';
import type { StreamFrame } from './transport-binding.ts';
import { openFrameStream } from './frame-stream.ts';

/** A connection whose bytes the test sends one by one, and knows when each has been read. */
class Line implements HttpClient, HttpResponse {
  readonly status = 200;
  ended: unknown;
  #signal: AbortSignal | undefined;
  #deliver: ((text: string) => void) | undefined;
  #asked: (() => void) | undefined;
  #wanted = new Promise<void>((resolve) => {
    this.#asked = resolve;
  });

  request({ signal }: { signal?: AbortSignal }): Promise<HttpResponse> {
    this.#signal = signal;
    signal?.addEventListener('abort', () => (this.ended = signal.reason));
    return Promise.resolve(this);
  }

  close = () => Promise.resolve();
  discard = () => {};
  text = () => Promise.resolve('');
  header = (name: string) => (name === 'content-type' ? 'text/event-stream' : undefined);

  async *chunks(): AsyncGenerator<Uint8Array> {
    for (;;) {
      const next = new Promise<string>((resolve, reject) => {
        this.#deliver = resolve;
        this.#signal?.addEventListener('abort', () => reject(new Error('aborted')));
      });
      this.#asked?.();
      yield new TextEncoder().encode(await next);
    }
  }

  /** Sends bytes once they are wanted, and waits until more are. */
  async send(text: string): Promise<void> {
    await this.#wanted;
    this.#wanted = new Promise((resolve) => {
      this.#asked = resolve;
    });
    this.#deliver?.(text);
    await this.#wanted;
  }

  /** Sends bytes without waiting for the reader to want more. */
  async hand(text: string): Promise<void> {
    await this.#wanted;
    this.#deliver?.(text);
  }
}

const ask: OutboundRequest = {
  operation: 'subscribe',
  method: 'POST',
  target: { origin: 'http://a.test', path: '/' },
  headers: {},
  call: {},
  auth: undefined,
};

const reader = {
  frame: ({ id }: { id: string | undefined }): StreamFrame => ({ events: [], id }),
  whole: () => [],
};

async function openLine() {
  const line = new Line();
  const clock = new ManualClock();
  const settings = resolveSettings({ http: line, clock, timeouts: { idle: 1000 } });
  const source = await openFrameStream(settings, ask, reader, new AbortController().signal);
  return { line, clock, batches: source[Symbol.asyncIterator]() };
}

describe('the watchdog of a stream', () => {
  it('takes any byte for a sign of life', async () => {
    const { line, clock, batches } = await openLine();
    const next = batches.next();
    for (let n = 0; n < 5; n++) {
      clock.advance(900);
      await line.send(': alive\n\n');
    }
    expect(line.ended).toBeUndefined();
    clock.advance(1000);
    expect(line.ended).toBeInstanceOf(Error);
    await expect(next).rejects.toMatchObject({ reason: 'TIMEOUT' });
    expect(clock.pending).toBe(0);
  });

  it('does not mistake a busy reader for a silent agent', async () => {
    const { line, clock, batches } = await openLine();
    const first = batches.next();
    await line.hand('id: 1\ndata: x\n\n');
    expect((await first).value).toEqual([{ events: [], id: '1' }]);
    clock.advance(5000);
    expect(line.ended).toBeUndefined();
    const second = batches.next();
    await Promise.resolve();
    clock.advance(2000);
    await expect(second).rejects.toMatchObject({ reason: 'TIMEOUT' });
  });
});
