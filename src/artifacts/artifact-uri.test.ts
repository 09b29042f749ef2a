import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findArtifactUris } from './find-artifact-uris.ts';
import { readArtifactUri, writeArtifactUri } from './artifact-uri.ts';

const file = { app: 'Agent', user: 'user@example.com', session: 's-1', filename: 'a b.txt' };

describe('artifact URI', () => {
  it('writes an encoded URI and reads both encoded and plain ones', () => {
    const uri = 'artifact://Agent/user@example.com/s-1/a%20b.txt?version=3';
    expect(writeArtifactUri({ ...file, version: 3 })).toBe(uri);
    expect(readArtifactUri(uri)).toEqual({ ...file, version: 3 });
    expect(readArtifactUri('artifact://Agent/user%40example.com/s-1/a b.txt?version=3')).toEqual({
      ...file,
      version: 3,
    });
  });

  it('reads and writes a URI with or without a version', () => {
    expect(writeArtifactUri(file)).toBe('artifact://Agent/user@example.com/s-1/a%20b.txt');
    for (const end of ['', '?version=', '?version=latest', '?other=1', '#top']) {
      expect(readArtifactUri(`artifact://Agent/user@example.com/s-1/a%20b.txt${end}`)).toEqual(file);
    }
  });

  it.each([
    ['another scheme', 'https://a/b/c/d'],
    ['too few segments', 'artifact://a/b/c'],
    ['too many segments', 'artifact://a/b/c/d/e'],
    ['an empty segment', 'artifact://a//c/d'],
    ['no application', 'artifact:///b/c/d'],
    ['no filename', 'artifact://a/b/c/'],
    ['a negative version', 'artifact://a/b/c/d?version=-1'],
    ['a version that is not a number', 'artifact://a/b/c/d?version=one'],
  ])('rejects a URI with %s', (_what, uri) => {
    expect(readArtifactUri(uri)).toBeUndefined();
  });

  it('keeps an unencoded percent sign', () => {
    expect(readArtifactUri('artifact://a/b/c/100%.txt')?.filename).toBe('100%.txt');
  });

  it('round-trips any names', () => {
    const name = fc.string({ minLength: 1, unit: 'grapheme' });
    fc.assert(
      fc.property(
        name,
        name,
        name,
        name,
        fc.option(fc.nat(), { nil: undefined }),
        (app, user, session, filename, version) => {
          const uri = { app, user, session, filename, ...(version !== undefined && { version }) };
          expect(readArtifactUri(writeArtifactUri(uri))).toEqual(uri);
        },
      ),
    );
  });
});

describe('findArtifactUris', () => {
  const found = (text: string) => findArtifactUris(text).map((one) => one.text);

  it.each([
    ['artifact://a/b/c/d.txt', ['artifact://a/b/c/d.txt']],
    ['Please process artifact://a/b/c/d.txt.', ['artifact://a/b/c/d.txt']],
    [
      '(artifact://a/b/c/d?version=1), "artifact://a/b/c/e"!',
      ['artifact://a/b/c/d?version=1', 'artifact://a/b/c/e'],
    ],
    ['<artifact://a/b/c/d>\nartifact://a/b/c/e?', ['artifact://a/b/c/d', 'artifact://a/b/c/e']],
    ['[report](artifact://a/b/c/d.pdf)…', ['artifact://a/b/c/d.pdf']],
    ['ARTIFACT://a/b/c/d', ['ARTIFACT://a/b/c/d']],
    ['artifact://.../input.txt', []],
    ['artifact://a/b and artifact://', []],
    ['nothing at all', []],
  ])('finds in %j: %j', (text, uris) => {
    expect(found(text)).toEqual(uris);
  });

  it('stops at the limit and is fast for long texts', () => {
    expect(findArtifactUris('artifact://a/b/c/d '.repeat(100), 3)).toHaveLength(3);
    expect(found(`artifact://${'a'.repeat(1_000_000)}`)).toEqual([]);
  });
});
