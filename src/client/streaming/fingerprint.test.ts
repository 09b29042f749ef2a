import { describe, expect, it } from 'vitest';
import type { StreamEvent } from '../../protocol/event.ts';
import { differences } from '../../protocol/diff-task.ts';
import { beginFold } from '../../protocol/reduce.ts';
import type { Task } from '../../protocol/task.ts';
import { imprintOf, imprintOfEvent } from './fingerprint.ts';

const ids = { taskId: 't', contextId: 'c' };
const raw = (letter: string) => ({ raw: letter.repeat(100_000), filename: 'a.bin' });
const piece = (letter: string, append: boolean): StreamEvent => ({
  kind: 'artifact',
  ...ids,
  artifact: { artifactId: 'a', parts: [raw(letter)] },
  append,
});

describe('what a follower remembers of a file', () => {
  it('is short, however long the file is', () => {
    expect(JSON.stringify(imprintOfEvent(piece('A', false))).length).toBeLessThan(200);
    expect(imprintOf({ raw: 'AAAA' })).toEqual({ raw: 'AAAA' });
    expect(imprintOf({ text: 'x'.repeat(100_000) })).toEqual({ text: 'x'.repeat(100_000) });
  });

  it('tells one file from another of the same size', () => {
    expect(imprintOf(raw('A'))).toEqual(imprintOf(raw('A')));
    expect(imprintOf(raw('A'))).not.toEqual(imprintOf(raw('B')));
  });

  it('is enough to see what is new, which is told whole', () => {
    const fold = beginFold(piece('A', false));
    for (const event of [piece('A', false), piece('B', true)]) fold?.apply(imprintOfEvent(event));
    const known = fold?.task() as Task;
    const parts = [raw('A'), raw('B'), raw('C')];
    const now: Task = { ...known, artifacts: [{ artifactId: 'a', parts }] };
    expect(differences(known, now, imprintOf)).toEqual([
      { kind: 'artifact', ...ids, artifact: { artifactId: 'a', parts: [raw('C')] }, append: true },
    ]);
    const same: Task = { ...known, artifacts: [{ artifactId: 'a', parts: parts.slice(0, 2) }] };
    expect(differences(known, same, imprintOf)).toEqual([]);
  });
});
