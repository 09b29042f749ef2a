import { describe, expect, it } from 'vitest';
import { Latch } from '../../../test/support/collector.ts';
import { MessageProcessor } from './message-processor.ts';

const message = { topic: 'a', payload: '', properties: {}, redelivered: false };

function createProcessor(
  options: { concurrency?: number; dedupWindow?: number; handle?: () => void | Promise<void> } = {},
) {
  const log: string[] = [];
  const processor = new MessageProcessor({
    concurrency: options.concurrency ?? 10,
    dedupWindow: options.dedupWindow ?? 10,
    handle: (_message, id) => {
      log.push(`handle ${id}`);
      return options.handle?.();
    },
    onError: (error) => log.push(String(error)),
    onFinished: (id) => log.push(`done ${id}`),
  });
  return {
    log,
    processor,
    process: (id: string) => processor.process(id, message, () => log.push(`ack ${id}`)),
  };
}

describe('MessageProcessor', () => {
  it('processes a duplicate once and acknowledges both deliveries', () => {
    const { log, process } = createProcessor();
    process('1');
    process('1');
    expect(log).toEqual(['handle 1', 'ack 1', 'done 1', 'ack 1', 'done 1']);
  });

  it('acknowledges a duplicate of a message in progress when it is finished', async () => {
    const latch = new Latch();
    const { log, process, processor } = createProcessor({ handle: () => latch.opened });
    process('1');
    process('1');
    expect([log, processor.statusOf('1'), processor.size]).toEqual([['handle 1'], 'active', 1]);
    latch.open();
    await processor.close();
    expect(log).toEqual(['handle 1', 'ack 1', 'ack 1', 'done 1']);
    expect(processor.statusOf('1')).toBe('finished');
  });

  it('deduplicates only within the window', () => {
    const { log, process, processor } = createProcessor({ dedupWindow: 1 });
    process('1');
    process('2');
    expect([processor.statusOf('1'), processor.statusOf('2')]).toEqual([undefined, 'finished']);
    process('1');
    expect(log.filter((line) => line === 'handle 1')).toHaveLength(2);
  });

  it('queues messages beyond the concurrency and starts none after close', async () => {
    const latch = new Latch();
    const { log, process, processor } = createProcessor({ concurrency: 1, handle: () => latch.opened });
    process('1');
    process('2');
    expect([log, processor.statusOf('2')]).toEqual([['handle 1'], 'active']);
    const closed = processor.close();
    process('3');
    latch.open();
    await closed;
    expect(log).toEqual(['handle 1', 'ack 1', 'done 1']);
  });
});
