import { describe, expect, it } from 'vitest';
import type { Bench } from '../task-store.ts';
import { given, owner, status } from './actions.ts';

const config = { taskId: 't', id: 'p', url: 'https://example.com' };
const failing = {
  delivered: 1,
  attempts: 3,
  failingSince: '2026-06-01T10:00:00.000Z',
  error: 'HTTP 500',
  retryAt: '2026-06-01T10:05:00.000Z',
};

export function describeDeliveries(bench: Bench): void {
  describe('deliveries', () => {
    it('begin where they are told to', async () => {
      await given(bench.ledger, 't', ['working']);
      expect(await bench.ledger.putPushConfig(owner, config)).toEqual({ delivered: 0, attempts: 0 });
      const late = { ...config, id: 'late' };
      expect(await bench.ledger.putPushConfig(owner, late, 2)).toEqual({ delivered: 2, attempts: 0 });
      expect(await bench.ledger.listDeliveries()).toEqual([
        { owner, config, state: { delivered: 0, attempts: 0 }, sequence: 2 },
        { owner, config: late, state: { delivered: 2, attempts: 0 }, sequence: 2 },
      ]);
    });

    it('keep all that is noted of them', async () => {
      await given(bench.ledger, 't', ['working']);
      await bench.ledger.putPushConfig(owner, config);
      for (const state of [
        failing,
        { ...failing, deadSince: failing.retryAt },
        { delivered: 2, attempts: 0 },
      ]) {
        expect(await bench.ledger.putDelivery(owner, 't', 'p', state)).toBe(true);
        expect(await bench.ledger.listDeliveries()).toMatchObject([{ state }]);
      }
      expect((await bench.ledger.listDeliveries())[0]?.state).toEqual({ delivered: 2, attempts: 0 });
    });

    it('go on from their place, without the trouble, when the configuration is replaced', async () => {
      await given(bench.ledger, 't', ['working']);
      await bench.ledger.putPushConfig(owner, config);
      await bench.ledger.putPushConfig(owner, { ...config, id: 'q' });
      await bench.ledger.putDelivery(owner, 't', 'p', { ...failing, deadSince: failing.retryAt });
      const moved = { ...config, url: 'https://example.org' };
      expect(await bench.ledger.putPushConfig(owner, moved, 2)).toEqual({ delivered: 1, attempts: 0 });
      expect((await bench.ledger.listDeliveries()).map((each) => each.config.url)).toEqual([
        moved.url,
        config.url,
      ]);
      expect((await bench.ledger.listDeliveries())[0]?.state).toEqual({ delivered: 1, attempts: 0 });
    });

    it('are over when all of a finished task has arrived, and not before', async () => {
      const log = await given(bench.ledger, 't', ['working']);
      await bench.ledger.putPushConfig(owner, config);
      await bench.ledger.putDelivery(owner, 't', 'p', { delivered: 2, attempts: 0 });
      expect(await bench.ledger.listDeliveries()).toHaveLength(1);
      log.append(status(log, 'completed'));
      await log.whenPersisted();
      expect(await bench.ledger.listDeliveries()).toMatchObject([{ state: { delivered: 2 }, sequence: 3 }]);
      await bench.ledger.putDelivery(owner, 't', 'p', { ...failing, delivered: 2, deadSince: 'x' });
      expect(await bench.ledger.listDeliveries()).toHaveLength(1);
      await bench.ledger.putDelivery(owner, 't', 'p', { delivered: 3, attempts: 0 });
      expect(await bench.ledger.listDeliveries()).toEqual([]);
    });

    it('end with their configuration, and belong to their owner', async () => {
      await given(bench.ledger, 't');
      await given(bench.ledger, 't', [], {}, 'bob');
      await bench.ledger.putPushConfig(owner, config);
      const state = { delivered: 1, attempts: 0 };
      expect(await bench.ledger.putDelivery('bob', 't', 'p', state)).toBe(false);
      expect(await bench.ledger.putDelivery('eve', 't', 'p', state)).toBe(false);
      expect(await bench.ledger.putDelivery(owner, 't', 'q', state)).toBe(false);
      expect(await bench.ledger.listDeliveries()).toMatchObject([{ owner, state: { delivered: 0 } }]);
      await bench.ledger.deletePushConfig(owner, 't', 'p');
      expect(await bench.ledger.putDelivery(owner, 't', 'p', state)).toBe(false);
      expect(await bench.ledger.listDeliveries()).toEqual([]);
    });
  });
}
