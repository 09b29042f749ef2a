import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { basename, storagePath, safeFilename, safeSegment } from './storage-path.ts';

const text = fc.oneof(
  fc.string(),
  fc.string({ unit: 'binary' }),
  fc.constantFrom(
    '.',
    '..',
    'user',
    'CON',
    'a.',
    'b ',
    '',
    'x'.repeat(300),
    'é'.repeat(130),
    '\uD800',
    'a/b',
    '%2F',
    'x/',
  ),
);

it('safeSegment maps any texts to distinct safe folder names', () => {
  fc.assert(
    fc.property(text, text, (one, two) => {
      const [first, second] = [safeSegment(one), safeSegment(two)];
      expect(storagePath({ app: 'a', user: first, session: first, filename: 'f' }).folder).toBe(first);
      expect(first === second).toBe(one === two);
    }),
    { numRuns: 2000 },
  );
});

it('safeSegment keeps ordinary ids unchanged', () => {
  for (const plain of ['alice', 'user@example.com', 'a|b', '3f0c-11', 'é'])
    expect(safeSegment(plain)).toBe(plain);
});

it('safeFilename returns a valid filename for any text, with room for the metadata suffix', () => {
  fc.assert(
    fc.property(text, text, (name, fallback) => {
      const filename = safeFilename(name, fallback);
      const { folder } = storagePath({
        app: 'a',
        user: 'u',
        session: 's',
        filename: `${filename}.metadata.json`,
      });
      expect(folder).toBe('s');
      expect(storagePath({ app: 'a', user: 'u', session: 's', filename }).name).toBe(filename);
      expect(filename).not.toMatch(/\.metadata\.json$/i);
    }),
    { numRuns: 2000 },
  );
});

it('basename behaves like Python', () => {
  expect(['a/b', 'a/', 'a', '', '/'].map(basename)).toEqual(['b', '', 'a', '', '']);
});
