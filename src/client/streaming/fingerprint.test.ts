import { describe, expect, it } from 'vitest';
import type { StreamEvent } from '../../protocol/event.ts';
import { diffTask } from '../../protocol/diff-task.ts';
import { startReducer } from '../../protocol/reduce.ts';
import type { Task } from '../../protocol/task.ts';
import { fingerprintPart, fingerprintEvent } from './fingerprint.ts';

const ids = { taskId: 't', contextId: 'c' };
const raw = (letter: string) => ({ raw: letter.repeat(100_000), filename: 'a.bin' });
const chunk = (letter: string, append: boolean): StreamEvent => ({
  kind: 'artifact',
  ...ids,
  artifact: { artifactId: 'a', parts: [raw(letter)] },
  append,
});

describe('fingerprints', () => {
  it('bounds the size of a fingerprint', () => {
    expect(JSON.stringify(fingerprintEvent(chunk('A', false))).length).toBeLessThan(200);
    expect(fingerprintPart({ raw: 'AAAA' })).toEqual({ raw: 'AAAA' });
    expect(fingerprintPart({ text: 'x'.repeat(100_000) })).toEqual({ text: 'x'.repeat(100_000) });
  });

  it('distinguishes files of the same size', () => {
    expect(fingerprintPart(raw('A'))).toEqual(fingerprintPart(raw('A')));
    expect(fingerprintPart(raw('A'))).not.toEqual(fingerprintPart(raw('B')));
  });

  it('lets diffTask return new parts completely', () => {
    const reducer = startReducer(chunk('A', false));
    for (const event of [chunk('A', false), chunk('B', true)]) reducer?.apply(fingerprintEvent(event));
    const known = reducer?.task() as Task;
    const parts = [raw('A'), raw('B'), raw('C')];
    const current: Task = { ...known, artifacts: [{ artifactId: 'a', parts }] };
    expect(diffTask(known, current, fingerprintPart)).toEqual([
      { kind: 'artifact', ...ids, artifact: { artifactId: 'a', parts: [raw('C')] }, append: true },
    ]);
    const same: Task = { ...known, artifacts: [{ artifactId: 'a', parts: parts.slice(0, 2) }] };
    expect(diffTask(known, same, fingerprintPart)).toEqual([]);
  });
});
