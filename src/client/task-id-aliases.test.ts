import { describe, expect, it } from 'vitest';
import { TaskIdAliases } from './task-id-aliases.ts';

async function given(aliases: TaskIdAliases, claimed: string, taskId: string): Promise<void> {
  const claim = await aliases.claim('me', claimed);
  if (!claim.known) claim.given(taskId, 'c');
}

describe('names that a caller made', () => {
  it('are known to their owner once they are given', async () => {
    const aliases = new TaskIdAliases();
    expect(aliases.find('me', 'mine')).toBeUndefined();
    await given(aliases, 'mine', 't1');
    expect(aliases.find('me', 'mine')).toMatchObject({ taskId: 't1' });
    expect(aliases.find('you', 'mine')).toBeUndefined();
    expect(await aliases.claim('me', 'mine')).toMatchObject({ known: { taskId: 't1' } });
  });

  it('are free again when nothing came of them', async () => {
    const aliases = new TaskIdAliases();
    const first = await aliases.claim('me', 'mine');
    const second = aliases.claim('me', 'mine');
    if (!first.known) first.dropped();
    expect((await second).known).toBeUndefined();
  });

  it('are forgotten, the oldest first, when there are too many', async () => {
    const aliases = new TaskIdAliases(2);
    for (const name of ['a', 'b', 'c']) await given(aliases, name, `t-${name}`);
    expect(['a', 'b', 'c'].map((name) => aliases.find('me', name)?.taskId)).toEqual([
      undefined,
      't-b',
      't-c',
    ]);
  });
});
