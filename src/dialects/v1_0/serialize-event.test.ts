import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { event } from '../../../test/arbitraries.ts';
import type { TaskArtifactUpdateEvent } from '../../protocol/event.ts';
import { serializeEvent } from './serialize-event.ts';
import { writeEvent } from './event.ts';

it('serializeEvent equals JSON.stringify of the wire event', () => {
  fc.assert(
    fc.property(event, (each) => {
      expect(serializeEvent(each)).toBe(JSON.stringify(writeEvent(each)));
    }),
    { numRuns: 1_000 },
  );
});

it('serializeEvent equals JSON.stringify for consecutive chunks with any text, flags and labels', () => {
  const texts = Array.from({ length: 0x100 }, (_, code) => `a${String.fromCharCode(code)}b`);
  texts.push('', '\ud800', '\udc00\ud83d', '\ud83d\ude00', '\u2028', '"'.repeat(200), 'long '.repeat(50));
  const flags = [undefined, false, true];
  const labels = [{ artifactId: 'a' }, { artifactId: 'a', name: 'n"' }, { artifactId: 'b', name: '' }];
  for (const contextId of ['c', 'd'])
    for (const label of labels)
      for (const [index, text] of texts.entries()) {
        const chunk: TaskArtifactUpdateEvent = {
          kind: 'artifact',
          taskId: `t${index % 2}`,
          contextId,
          artifact: { ...label, parts: [{ text }] },
        };
        const append = flags[index % 3];
        const lastChunk = flags[Math.floor(index / 3) % 3];
        if (append !== undefined) chunk.append = append;
        if (lastChunk !== undefined) chunk.lastChunk = lastChunk;
        // Twice, so that the second one uses what is cached.
        for (let n = 0; n < 2; n++) expect(serializeEvent(chunk)).toBe(JSON.stringify(writeEvent(chunk)));
      }
});
