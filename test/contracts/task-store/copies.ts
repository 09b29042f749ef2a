import { describe, expect, it } from 'vitest';
import { vandalize } from '../../support/vandalize.ts';
import type { ContractFixture } from '../task-store.ts';
import { chunk, collect, newTask, owner, status } from './actions.ts';

/** Contract: a caller that modifies its own objects does not change what is stored. */
export function describeCopies(fixture: ContractFixture): void {
  describe('copies', () => {
    const read = async (): Promise<string> => {
      const log = await fixture.taskStore.open(owner, 't');
      return JSON.stringify([
        log?.task(),
        await fixture.taskStore.list(owner, { includeArtifacts: true }),
        await collect(log?.subscribe(1)),
        await fixture.taskStore.listPushConfigs(owner, 't'),
        await fixture.taskStore.listDeliveries(),
      ]);
    };

    /** Stores a task with all kinds of events and a push configuration. Returns what was passed in. */
    const store = async (): Promise<unknown[]> => {
      const task = newTask('t', {
        metadata: { deep: { list: [1] } },
        history: [{ messageId: 'm', role: 'user', parts: [{ data: { list: [{ a: 1 }] } }] }],
      });
      const log = await fixture.taskStore.create(owner, task, 'm');
      const config = { id: 'p', taskId: 't', url: 'https://hooks.example', token: 'secret' };
      const changes = [
        status(log, 'working'),
        chunk(log, 'a', false),
        chunk(log, 'b'),
        status(log, 'completed'),
      ];
      for (const change of changes) log.append(change);
      await log.whenPersisted();
      const state = await fixture.taskStore.putPushConfig(owner, config);
      const delivery = { delivered: 1, attempts: 1, error: 'refused' };
      await fixture.taskStore.putDelivery(owner, 't', 'p', delivery);
      return [task, config, changes, state, delivery];
    };

    it('keeps a task unchanged when the caller modifies what it passed', async () => {
      const passed = await store();
      const before = await read();
      vandalize(passed);
      expect(await read()).toBe(before);
    });

    it('keeps a task unchanged when the caller modifies what it got', async () => {
      await store();
      const before = await read();
      const log = await fixture.taskStore.open(owner, 't');
      vandalize(log?.task());
      vandalize(await collect(log?.subscribe(0)));
      vandalize(await collect(log?.subscribe(2)));
      vandalize(await collect(log?.subscribe('now')));
      await collect(log?.subscribe(1, (event) => (vandalize(event), false)));
      vandalize(await fixture.taskStore.list(owner, { includeArtifacts: true }));
      vandalize(await fixture.taskStore.listUnfinished());
      vandalize(await fixture.taskStore.listPushConfigs(owner, 't'));
      vandalize(await fixture.taskStore.listDeliveries());
      expect(await read()).toBe(before);
    });

    it('gives each subscriber its own events', async () => {
      const log = await fixture.taskStore.create(owner, newTask('t'));
      const first = collect(log.subscribe(0));
      const second = (async () => {
        for await (const event of log.subscribe(0)) vandalize(event);
      })();
      log.append(chunk(log, 'a', false));
      log.append(status(log, 'completed'));
      await second;
      expect(JSON.stringify(await first)).not.toContain('vandalized');
    });
  });
}
