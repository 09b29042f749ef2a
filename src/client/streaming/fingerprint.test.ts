import { describe, expect, it } from 'vitest';
import type { StreamEvent } from '../../protocol/event.ts';
import { diffTask } from '../../protocol/diff-task.ts';
import { startReducer } from '../../protocol/reduce.ts';
import type { Task } from '../../protocol/task.ts';
import { fingerprintPart, fingerprintEvent } from './fingerprint.ts';

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
    expect(JSON.stringify(fingerprintEvent(piece('A', false))).length).toBeLessThan(200);
    expect(fingerprintPart({ raw: 'AAAA' })).toEqual({ raw: 'AAAA' });
    expect(fingerprintPart({ text: 'x'.repeat(100_000) })).toEqual({ text: 'x'.repeat(100_000) });
  });

  it('tells one file from another of the same size', () => {
    expect(fingerprintPart(raw('A'))).toEqual(fingerprintPart(raw('A')));
    expect(fingerprintPart(raw('A'))).not.toEqual(fingerprintPart(raw('B')));
  });

  it('is enough to see what is new, which is told whole', () => {
    const fold = startReducer(piece('A', false));
    for (const event of [piece('A', false), piece('B', true)]) fold?.apply(fingerprintEvent(event));
    const known = fold?.task() as Task;
    const parts = [raw('A'), raw('B'), raw('C')];
    const now: Task = { ...known, artifacts: [{ artifactId: 'a', parts }] };
    expect(diffTask(known, now, fingerprintPart)).toEqual([
      { kind: 'artifact', ...ids, artifact: { artifactId: 'a', parts: [raw('C')] }, append: true },
    ]);
    const same: Task = { ...known, artifacts: [{ artifactId: 'a', parts: parts.slice(0, 2) }] };
    expect(diffTask(known, same, fingerprintPart)).toEqual([]);
  });
});
