import { describe, expect, it } from 'vitest';
import { collectGarbage } from '../../support/collect-garbage.ts';
import type { ContractFixture } from '../task-store.ts';
import { chunk, collect, createTask, message, newTask, openToChange, owner, status } from './actions.ts';

export function describeAppending(fixture: ContractFixture): void {
  describe('append', () => {
    it('stores a created task as event number 1', async () => {
      const task = newTask('t', {
        history: [message('m')],
        metadata: { a: [1, null] },
        originVersion: '0.1',
      });
      const log = await fixture.taskStore.create(owner, task);
      expect(log).toMatchObject({
        owner,
        id: 't',
        contextId: task.contextId,
        sequence: 1,
        state: 'submitted',
      });
      await log.whenPersisted();
      expect(log.task()).toEqual(task);
      const opened = await fixture.taskStore.open(owner, 't');
      expect(opened?.task()).toEqual(task);
      expect(opened?.sequence).toBe(1);
    });

    it('rejects a duplicate task id with CONFLICT, persisted or not', async () => {
      const log = await fixture.taskStore.create(owner, newTask('t'));
      const createDuplicate = async () =>
        fixture.taskStore.create(owner, newTask('t', { contextId: 'other' }));
      await expect(createDuplicate()).rejects.toMatchObject({ reason: 'CONFLICT', details: { taskId: 't' } });
      await log.whenPersisted();
      await expect(createDuplicate()).rejects.toMatchObject({ reason: 'CONFLICT' });
      expect((await fixture.taskStore.open(owner, 't'))?.contextId).toBe('context of t');
    });

    it('assigns sequence numbers and updates the state synchronously', async () => {
      const log = await fixture.taskStore.create(owner, newTask('t'));
      expect(log.append(status(log, 'working'))).toBe(2);
      expect(log.append(chunk(log, 'x', false))).toBe(3);
      const last = status(log, 'completed');
      expect(log.append(last)).toBe(4);
      expect(last.sequence).toBeUndefined();
      expect(log).toMatchObject({ sequence: 4, state: 'completed' });
      await log.whenPersisted();
      expect(log.whenPersisted()).toBeUndefined();
    });

    it('rejects an append with an outdated sequence number', async () => {
      const log = await createTask(fixture.taskStore, 't');
      expect(log.append(status(log, 'working'), 1)).toBe(2);
      expect(() => log.append(status(log, 'failed'), 1)).toThrow(
        expect.objectContaining({ reason: 'CONFLICT' }),
      );
      expect(log).toMatchObject({ sequence: 2, state: 'working' });
      await log.whenPersisted();
      expect(log.task().status.state).toBe('working');
    });

    it('stores a text that arrived in 4,000 chunks as one part, and streams the chunks', async () => {
      const log = await fixture.taskStore.create(owner, newTask('t'));
      const words = Array.from({ length: 4_000 }, (_, index) => `word ${index} `);
      for (const [index, word] of words.entries()) {
        log.append(chunk(log, word, index > 0));
        // A reader in between must not make later chunks more expensive.
        if (index % 500 === 0) {
          await log.whenPersisted();
          expect(log.task().artifacts?.[0]?.parts).toHaveLength(1);
        }
      }
      log.append(status(log, 'completed'));
      await log.whenPersisted();
      const opened = await fixture.taskStore.open(owner, 't');
      expect(opened?.task().artifacts).toEqual([{ artifactId: 'a', parts: [{ text: words.join('') }] }]);
      const tail = await collect(opened?.subscribe(3_990));
      expect(tail.map((event) => (event.kind === 'artifact' ? event.artifact.parts : event.kind))).toEqual([
        ...words.slice(3_989).map((text) => [{ text }]),
        'status',
      ]);
    });

    it('reduces events to one task', async () => {
      const log = await fixture.taskStore.create(owner, newTask('t', { history: [message('m1')] }));
      log.append(status(log, 'working', 'on it'));
      log.append(chunk(log, 'one', false));
      log.append(chunk(log, 'two'));
      await log.whenPersisted();
      log.append(status(log, 'input-required', 'what?'));
      log.append({ kind: 'input', message: message('m2') });
      log.append(status(log, 'completed'));
      await log.whenPersisted();
      const expected = {
        ...newTask('t'),
        status: { state: 'completed' },
        artifacts: [{ artifactId: 'a', parts: [{ text: 'onetwo' }] }],
      };
      const task = (await fixture.taskStore.open(owner, 't'))?.task();
      expect(task).toMatchObject(expected);
      expect(task?.history?.map(({ messageId }) => messageId)).toEqual([
        'm1',
        'says on it',
        'says what?',
        'm2',
      ]);
    });

    it('never mutates a returned task', async () => {
      const log = await createTask(fixture.taskStore, 't', ['working']);
      log.append(chunk(log, 'one', false));
      await log.whenPersisted();
      const before = log.task();
      const copy = structuredClone(before);
      log.append(chunk(log, 'two'));
      log.append({ kind: 'input', message: message('m') });
      await log.whenPersisted();
      expect(before).toEqual(copy);
      expect(log.task().artifacts?.[0]?.parts).toEqual([{ text: 'onetwo' }]);
    });

    it('shares events between two logs of the same task', async () => {
      const log = await createTask(fixture.taskStore, 't');
      const other = await openToChange(fixture.taskStore, 't');
      other.append(status(other, 'working'));
      await other.whenPersisted();
      expect(log.sequence).toBe(2);
      expect(log.task().status.state).toBe('working');
    });

    it('changes unfinished tasks whose logs the garbage collector has removed', async () => {
      const ids = ['a', 'b', 'c'];
      for (const id of ids) await createTask(fixture.taskStore, id, ['working']);
      await collectGarbage();
      for (const id of ids) {
        const log = await openToChange(fixture.taskStore, id);
        log.append(status(log, 'completed'));
        await log.whenPersisted();
      }
      const { tasks } = await fixture.taskStore.list(owner, { status: 'completed' });
      expect(tasks.map(({ id }) => id)).toEqual(ids.toReversed());
    });

    it('returns undefined for an unknown task', async () => {
      expect(await fixture.taskStore.open(owner, 'nothing')).toBeUndefined();
    });

    it('finds a task by message id, persisted or not', async () => {
      const log = await fixture.taskStore.create(owner, newTask('t'), 'm1');
      expect(await fixture.taskStore.findByKey(owner, 'm1')).toBe('t');
      await log.whenPersisted();
      expect(await fixture.taskStore.findByKey(owner, 'm1')).toBe('t');
      expect(await fixture.taskStore.findByKey(owner, 'm2')).toBeUndefined();
    });

    it.each([
      '',
      ' ',
      "'; drop table tasks; --",
      '\u{1F600} ü',
      'a\u0000b',
      '\u0001"',
      '\ud800',
      'x'.repeat(5_000),
      '__proto__',
    ])('accepts any string as id: %j', async (id) => {
      const log = await fixture.taskStore.create(id, newTask(id, { contextId: id }), id);
      await log.whenPersisted();
      expect((await fixture.taskStore.open(id, id))?.id).toBe(id);
      expect(await fixture.taskStore.findByKey(id, id)).toBe(id);
      const { tasks, totalSize } = await fixture.taskStore.list(id, { contextId: id });
      expect(tasks.map((task) => task.id)).toEqual([id]);
      expect(totalSize).toBe(1);
      expect(await fixture.taskStore.listUnfinished()).toEqual([{ owner: id, id }]);
    });

    it('preserves every kind of content', async () => {
      const parts = [
        { text: 'lone \ud800 surrogate, \u0000 and \u2028' },
        { data: null },
        { data: { nested: [1.5, -1e21, '', {}, [], false], '': 0 }, mediaType: 'application/json' },
        { raw: 'AAEC', filename: 'bytes' },
        { url: 'https://example.com/?q=%00' },
      ];
      const log = await createTask(fixture.taskStore, 't', ['working']);
      log.append({
        kind: 'artifact',
        taskId: 't',
        contextId: log.contextId,
        artifact: { artifactId: 'a', name: 'n', parts, extensions: ['urn:x'], metadata: { k: [null] } },
      });
      log.append(status(log, 'completed'));
      await log.whenPersisted();
      const task = (await fixture.taskStore.open(owner, 't'))?.task();
      expect(task?.artifacts).toEqual([
        { artifactId: 'a', name: 'n', parts, extensions: ['urn:x'], metadata: { k: [null] } },
      ]);
    });

    it('keeps tasks of one group commit separate', async () => {
      const logs = await Promise.all(
        Array.from({ length: 100 }, async (_, n) => {
          const log = await fixture.taskStore.create(owner, newTask(`t${n}`), `m${n}`);
          for (let i = 0; i <= n % 5; i++) log.append(chunk(log, `${n}.${i}`));
          if (n % 2) log.append(status(log, 'completed'));
          return log;
        }),
      );
      for (const log of logs) await log.whenPersisted();
      for (const [n, log] of logs.entries()) {
        const opened = await fixture.taskStore.open(owner, `t${n}`);
        expect(opened?.sequence).toBe(log.sequence);
        const text = Array.from({ length: (n % 5) + 1 }, (_, i) => `${n}.${i}`).join('');
        expect(opened?.task().artifacts?.[0]?.parts).toEqual([{ text }]);
        expect(opened?.state).toBe(n % 2 ? 'completed' : 'submitted');
      }
    });
  });
}
