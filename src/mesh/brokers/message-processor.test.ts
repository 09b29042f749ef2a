import { describe, expect, it } from 'vitest';
import { Latch } from '../../../test/support/collector.ts';
import { MessageProcessor } from './message-processor.ts';

const message = { topic: 'a', properties: {}, redelivered: false };

function createProcessor(
  options: { concurrency?: number; dedupWindow?: number; handle?: () => void | Promise<void> } = {},
) {
  const log: string[] = [];
  const processor = new MessageProcessor({
    concurrency: options.concurrency ?? 10,
    dedupWindow: options.dedupWindow ?? 10,
    handle: ({ payload }) => {
      log.push(`handle ${payload}`);
      return options.handle?.();
    },
    onError: (error) => log.push(String(error)),
  });
  return {
    log,
    processor,
    process: (id: string) => processor.process(id, { ...message, payload: id }, () => log.push(`ack ${id}`)),
  };
}

describe('MessageProcessor', () => {
  it('processes a duplicate once and acknowledges both deliveries', () => {
    const { log, process } = createProcessor();
    process('1');
    process('1');
    expect(log).toEqual(['handle 1', 'ack 1', 'ack 1']);
  });

  it('acknowledges a duplicate of a message in progress when it is finished', async () => {
    const latch = new Latch();
    const { log, process, processor } = createProcessor({ handle: () => latch.opened });
    process('1');
    process('1');
    expect([log, processor.size]).toEqual([['handle 1'], 1]);
    latch.open();
    await processor.close();
    expect(log).toEqual(['handle 1', 'ack 1', 'ack 1']);
  });

  it('deduplicates only within the window', () => {
    const { log, process } = createProcessor({ dedupWindow: 1 });
    process('1');
    process('2');
    process('2');
    process('1');
    expect(log.filter((line) => line.startsWith('handle'))).toEqual(['handle 1', 'handle 2', 'handle 1']);
  });

  it('queues messages beyond the concurrency and starts none after close', async () => {
    const latch = new Latch();
    const { log, process, processor } = createProcessor({ concurrency: 1, handle: () => latch.opened });
    process('1');
    process('2');
    expect([log, processor.size]).toEqual([['handle 1'], 2]);
    const closed = processor.close();
    process('3');
    latch.open();
    await closed;
    expect(log).toEqual(['handle 1', 'ack 1']);
  });

  it('is idle after the last queued message', async () => {
    const latch = new Latch();
    const { log, process, processor } = createProcessor({ concurrency: 1, handle: () => latch.opened });
    await processor.idle();
    process('1');
    process('2');
    const idle = processor.idle();
    latch.open();
    await idle;
    expect(log).toEqual(['handle 1', 'ack 1', 'handle 2', 'ack 2']);
  });
});
