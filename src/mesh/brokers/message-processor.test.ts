import { describe, expect, it } from 'vitest';
import { Latch } from '../../../test/support/collector.ts';
import { MessageProcessor } from './message-processor.ts';

const delivery = { topic: 'a', payload: '', properties: {}, redelivered: false };

function bench(
  options: { concurrency?: number; remembered?: number; work?: () => void | Promise<void> } = {},
) {
  const log: string[] = [];
  const made = new MessageProcessor({
    concurrency: options.concurrency ?? 10,
    remembered: options.remembered ?? 10,
    work: (_delivery, id) => {
      log.push(`work ${id}`);
      return options.work?.();
    },
    failed: (error) => log.push(String(error)),
    done: (id) => log.push(`done ${id}`),
  });
  return { log, made, take: (id: string) => made.take(id, delivery, () => log.push(`ack ${id}`)) };
}

describe('the workbench', () => {
  it('works once on what comes twice, and acknowledges both', () => {
    const { log, take } = bench();
    take('1');
    take('1');
    expect(log).toEqual(['work 1', 'ack 1', 'done 1', 'ack 1', 'done 1']);
  });

  it('acknowledges what comes again while it is worked on when that is done', async () => {
    const gate = new Latch();
    const { log, take, made } = bench({ work: () => gate.opened });
    take('1');
    take('1');
    expect([log, made.knows('1'), made.size]).toEqual([['work 1'], 'active', 1]);
    gate.open();
    await made.close();
    expect(log).toEqual(['work 1', 'ack 1', 'ack 1', 'done 1']);
    expect(made.knows('1')).toBe('finished');
  });

  it('remembers only so many', () => {
    const { log, take, made } = bench({ remembered: 1 });
    take('1');
    take('2');
    expect([made.knows('1'), made.knows('2')]).toEqual([undefined, 'finished']);
    take('1');
    expect(log.filter((line) => line === 'work 1')).toHaveLength(2);
  });

  it('lets wait what is too much, and begins nothing more once it closes', async () => {
    const gate = new Latch();
    const { log, take, made } = bench({ concurrency: 1, work: () => gate.opened });
    take('1');
    take('2');
    expect([log, made.knows('2')]).toEqual([['work 1'], 'active']);
    const closed = made.close();
    take('3');
    gate.open();
    await closed;
    expect(log).toEqual(['work 1', 'ack 1', 'done 1']);
  });
});
