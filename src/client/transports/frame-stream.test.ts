import { describe, expect, it } from 'vitest';
import { ManualClock } from '../../../test/support/clocks/manual-clock.ts';
import type { OutboundRequest } from '../http/send-request.ts';
import type { HttpClient, HttpResponse } from '../http/http-client.ts';
import { resolveSettings } from '../connect-options.ts';
import type { StreamFrame } from './transport-binding.ts';
import { openFrameStream } from './frame-stream.ts';

/** A connection whose bytes the test sends one by one. */
class ControlledConnection implements HttpClient, HttpResponse {
  readonly status = 200;
  abortReason: unknown;
  #signal: AbortSignal | undefined;
  #deliver: ((text: string) => void) | undefined;
  #onRead: (() => void) | undefined;
  #nextRead = new Promise<void>((resolve) => {
    this.#onRead = resolve;
  });

  request({ signal }: { signal?: AbortSignal }): Promise<HttpResponse> {
    this.#signal = signal;
    signal?.addEventListener('abort', () => (this.abortReason = signal.reason));
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
      this.#onRead?.();
      yield new TextEncoder().encode(await next);
    }
  }

  /** Sends bytes when the client reads, and waits for the next read. */
  async send(text: string): Promise<void> {
    await this.#nextRead;
    this.#nextRead = new Promise((resolve) => {
      this.#onRead = resolve;
    });
    this.#deliver?.(text);
    await this.#nextRead;
  }

  /** Sends bytes without waiting for the next read. */
  async sendLast(text: string): Promise<void> {
    await this.#nextRead;
    this.#deliver?.(text);
  }
}

const outbound: OutboundRequest = {
  operation: 'subscribe',
  method: 'POST',
  target: { origin: 'http://a.test', path: '/' },
  headers: {},
  call: {},
  auth: undefined,
};

const decoder = {
  decodeFrame: ({ id }: { id: string | undefined }): StreamFrame => ({ events: [], id }),
  decodeBuffered: () => [],
};

async function openConnection() {
  const connection = new ControlledConnection();
  const clock = new ManualClock();
  const settings = resolveSettings({ http: connection, clock, timeouts: { idle: 1000 } });
  const frames = await openFrameStream(settings, outbound, decoder, new AbortController().signal);
  return { connection, clock, batches: frames[Symbol.asyncIterator]() };
}

describe('idle timeout of a stream', () => {
  it('restarts with every byte, including heartbeats', async () => {
    const { connection, clock, batches } = await openConnection();
    const next = batches.next();
    for (let n = 0; n < 5; n++) {
      clock.advance(900);
      await connection.send(': heartbeat\n\n');
    }
    expect(connection.abortReason).toBeUndefined();
    clock.advance(1000);
    expect(connection.abortReason).toBeInstanceOf(Error);
    await expect(next).rejects.toMatchObject({ reason: 'TIMEOUT' });
    expect(clock.pending).toBe(0);
  });

  it('suspends the idle timeout while the consumer is busy', async () => {
    const { connection, clock, batches } = await openConnection();
    const first = batches.next();
    await connection.sendLast('id: 1\ndata: x\n\n');
    expect((await first).value).toEqual([{ events: [], id: '1' }]);
    clock.advance(5000);
    expect(connection.abortReason).toBeUndefined();
    const second = batches.next();
    await Promise.resolve();
    clock.advance(2000);
    await expect(second).rejects.toMatchObject({ reason: 'TIMEOUT' });
  });
});
