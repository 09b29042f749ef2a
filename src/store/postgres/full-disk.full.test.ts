import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chownSync, closeSync, mkdtempSync, openSync, rmSync, unlinkSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Pool } from 'pg';
import { expect, it, onTestFinished } from 'vitest';
import { createDeferred, expectTask, userRequest } from '../../../test/support/engine/conversation.ts';
import { unprivileged } from '../../../test/support/store/database-files.ts';
import { hasPostgres, usePostgres } from '../../../test/support/store/postgres-server.ts';
import { connect } from '../../client/connect.ts';
import { defineAgent } from '../../engine/local-agent.ts';
import type { Task } from '../../protocol/task.ts';
import { serve } from '../../server/node/serve.ts';
import { postgresTaskStore } from '../postgres.ts';

const server = usePostgres();

/** Mounts a file system of 8 MB for a tablespace. @returns its folder; undefined if this user may not mount any */
function mountSmallDisk(): string | undefined {
  const folder = mkdtempSync(join(tmpdir(), 'dragoman-small-disk-'));
  const isMounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=8m', 'tmpfs', folder]).status === 0;
  onTestFinished(() => {
    if (isMounted) spawnSync('umount', ['-l', folder]);
    rmSync(folder, { recursive: true, force: true });
  });
  if (!isMounted) return undefined;
  const { uid, gid } = unprivileged();
  if (uid !== undefined && gid !== undefined) chownSync(folder, uid, gid);
  return folder;
}

/** Writes a file until the disk is full. @returns a function that deletes it */
function fillDisk(folder: string): () => void {
  const file = join(folder, 'filler');
  const descriptor = openSync(file, 'w');
  for (const size of [65_536, 4_096]) {
    try {
      for (;;) writeSync(descriptor, Buffer.alloc(size));
    } catch (error) {
      expect(error).toMatchObject({ code: 'ENOSPC' });
    }
  }
  closeSync(descriptor);
  return () => unlinkSync(file);
}

/** A text that the database cannot compress. */
const randomText = (): string => randomBytes(12_000).toString('base64');

it.skipIf(!hasPostgres)(
  'rejects requests while the disk is full, and continues when it has room',
  async (test) => {
    const folder = mountSmallDisk();
    if (folder === undefined) test.skip('this user may not mount a small file system');
    const pool = new Pool({ connectionString: server().url });
    onTestFinished(() => pool.end());
    await pool.query(`create tablespace small location '${folder}'`);
    await pool.query('alter role test set default_tablespace = small');
    const taskStore = await postgresTaskStore({ url: server().url });
    const go = createDeferred();
    const late = randomText();
    const agent = defineAgent(
      {
        name: 'Echo',
        description: 'Repeats',
        async *process({ text }) {
          yield 'begun';
          if (text === 'wait') {
            await go.promise;
            yield late;
          }
        },
      },
      { taskStore, log: () => {} },
    );
    const running = await serve(agent);
    const client = connect(running.url, { maxRetries: 0 });
    onTestFinished(async () => {
      await client.close();
      await running.stop(0);
      await agent.close();
      await taskStore[Symbol.asyncDispose]();
    });
    const send = async (text: string): Promise<Task> => {
      const configuration = { returnImmediately: text === 'wait' };
      return expectTask(await client.send(userRequest(text, {}, { configuration })));
    };
    const { id } = await send('wait');
    const makeRoom = fillDisk(folder ?? '');
    const accepted: string[] = [id];
    // The last pages of the tables have some room.
    const refused = await (async () => {
      for (;;) {
        try {
          accepted.push((await send(randomText())).id);
        } catch (error) {
          return error;
        }
      }
    })();
    expect(refused).toMatchObject({ reason: 'UNAVAILABLE', details: { retryAfter: expect.any(String) } });
    // A task that was refused is forgotten; an event of a running one has to be stored.
    go.resolve();
    await expect.poll(async () => (await fetch(`${running.url}/readyz`)).status).toBe(503);
    await expect(send('more')).rejects.toMatchObject({ reason: 'UNAVAILABLE' });
    expect((await client.getTask({ id })).status.state).toBe('working');

    makeRoom();
    for await (const _event of client.subscribe({ id, afterSequence: 0 }));
    expect((await client.getTask({ id })).status.state).toBe('completed');
    accepted.push((await send('after')).id);
    expect((await fetch(`${running.url}/readyz`)).status).toBe(200);
    const { rows } = await pool.query('select id, state from dragoman.tasks');
    expect(new Set(rows.map((row) => row.id))).toEqual(new Set(accepted));
    expect(rows).toHaveLength(accepted.length);
    expect(new Set(rows.map(({ state }) => state))).toEqual(new Set(['completed']));
  },
);
