import { describe, expect, it } from 'vitest';
import type { ContractFixture } from '../task-store.ts';
import { createTask, owner, status } from './actions.ts';

const config = { taskId: 't', id: 'p', url: 'https://example.com' };
const failing = {
  delivered: 1,
  attempts: 3,
  failingSince: '2026-06-01T10:00:00.000Z',
  error: 'HTTP 500',
  retryAt: '2026-06-01T10:05:00.000Z',
};

export function describeDeliveries(fixture: ContractFixture): void {
  describe('push deliveries', () => {
    it('start at the given cursor', async () => {
      await createTask(fixture.taskStore, 't', ['working']);
      expect(await fixture.taskStore.putPushConfig(owner, config)).toEqual({ delivered: 0, attempts: 0 });
      const late = { ...config, id: 'late' };
      expect(await fixture.taskStore.putPushConfig(owner, late, 2)).toEqual({ delivered: 2, attempts: 0 });
      expect(await fixture.taskStore.listDeliveries()).toEqual([
        { owner, config, state: { delivered: 0, attempts: 0 }, sequence: 2 },
        { owner, config: late, state: { delivered: 2, attempts: 0 }, sequence: 2 },
      ]);
    });

    it('store the complete delivery state', async () => {
      await createTask(fixture.taskStore, 't', ['working']);
      await fixture.taskStore.putPushConfig(owner, config);
      for (const state of [
        failing,
        { ...failing, deadSince: failing.retryAt },
        { delivered: 2, attempts: 0 },
      ]) {
        expect(await fixture.taskStore.putDelivery(owner, 't', 'p', state)).toBe(true);
        expect(await fixture.taskStore.listDeliveries()).toMatchObject([{ state }]);
      }
      expect((await fixture.taskStore.listDeliveries())[0]?.state).toEqual({ delivered: 2, attempts: 0 });
    });

    it('keep the cursor and clear the error when the configuration is replaced', async () => {
      await createTask(fixture.taskStore, 't', ['working']);
      await fixture.taskStore.putPushConfig(owner, config);
      await fixture.taskStore.putPushConfig(owner, { ...config, id: 'q' });
      await fixture.taskStore.putDelivery(owner, 't', 'p', { ...failing, deadSince: failing.retryAt });
      const replaced = { ...config, url: 'https://example.org' };
      expect(await fixture.taskStore.putPushConfig(owner, replaced, 2)).toEqual({
        delivered: 1,
        attempts: 0,
      });
      expect((await fixture.taskStore.listDeliveries()).map((each) => each.config.url)).toEqual([
        replaced.url,
        config.url,
      ]);
      expect((await fixture.taskStore.listDeliveries())[0]?.state).toEqual({ delivered: 1, attempts: 0 });
    });

    it('are listed until all events of a finished task are delivered', async () => {
      const log = await createTask(fixture.taskStore, 't', ['working']);
      await fixture.taskStore.putPushConfig(owner, config);
      await fixture.taskStore.putDelivery(owner, 't', 'p', { delivered: 2, attempts: 0 });
      expect(await fixture.taskStore.listDeliveries()).toHaveLength(1);
      log.append(status(log, 'completed'));
      await log.whenPersisted();
      expect(await fixture.taskStore.listDeliveries()).toMatchObject([
        { state: { delivered: 2 }, sequence: 3 },
      ]);
      await fixture.taskStore.putDelivery(owner, 't', 'p', { ...failing, delivered: 2, deadSince: 'x' });
      expect(await fixture.taskStore.listDeliveries()).toHaveLength(1);
      await fixture.taskStore.putDelivery(owner, 't', 'p', { delivered: 3, attempts: 0 });
      expect(await fixture.taskStore.listDeliveries()).toEqual([]);
    });

    it('are deleted with their configuration and isolated by owner', async () => {
      await createTask(fixture.taskStore, 't');
      await createTask(fixture.taskStore, 't', [], {}, 'bob');
      await fixture.taskStore.putPushConfig(owner, config);
      const state = { delivered: 1, attempts: 0 };
      expect(await fixture.taskStore.putDelivery('bob', 't', 'p', state)).toBe(false);
      expect(await fixture.taskStore.putDelivery('eve', 't', 'p', state)).toBe(false);
      expect(await fixture.taskStore.putDelivery(owner, 't', 'q', state)).toBe(false);
      expect(await fixture.taskStore.listDeliveries()).toMatchObject([{ owner, state: { delivered: 0 } }]);
      await fixture.taskStore.deletePushConfig(owner, 't', 'p');
      expect(await fixture.taskStore.putDelivery(owner, 't', 'p', state)).toBe(false);
      expect(await fixture.taskStore.listDeliveries()).toEqual([]);
    });
  });
}
