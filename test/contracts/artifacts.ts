import { createHash, randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { A2AError } from '../../src/protocol/errors.ts';
import { loadMetadata, saveWithMetadata } from '../../src/artifacts/artifact-metadata.ts';
import type { ArtifactContent, ArtifactKey, ArtifactStore } from '../../src/artifacts/artifact-store.ts';

/** The store under test. */
export interface StoreFixture {
  readonly store: ArtifactStore;
  /** A second store with the same files, as in another process; undefined if not possible. */
  readonly other?: ArtifactStore;
  close?(): Promise<void>;
}

/** Size limit of the store under test. */
export const maxBytes = 12 * 1024 * 1024;

async function* streamOf(...chunks: (string | Error)[]): AsyncGenerator<Uint8Array> {
  for (const chunk of chunks) {
    await Promise.resolve();
    if (chunk instanceof Error) throw chunk;
    yield Buffer.from(chunk);
  }
}

const catchError = (action: Promise<unknown>): Promise<A2AError> =>
  action.then(
    (value) => {
      throw new Error(`not rejected: ${JSON.stringify(value)}`);
    },
    (thrown: unknown) => thrown as A2AError,
  );

/** Contract of every artifact store. @param open - creates an empty store with the limit {@link maxBytes} */
export function describeArtifacts(name: string, open: () => Promise<StoreFixture>): void {
  describe(`ArtifactStore contract: ${name}`, () => {
    let fixture: StoreFixture;
    let store: ArtifactStore;
    let sessions = 0;
    beforeAll(async () => {
      fixture = await open();
      store = fixture.store;
    });
    afterAll(async () => {
      await fixture.store.close?.();
      await fixture.other?.close?.();
      await fixture.close?.();
    });
    /** A key in a new session. */
    const fresh = (filename = 'report.csv'): ArtifactKey => ({
      app: 'ns',
      user: 'alice@example.com',
      session: `s-${++sessions}`,
      filename,
    });
    const save = (key: ArtifactKey, text: string) => store.save(key, Buffer.from(text), 'text/plain');
    const textOf = async (key: ArtifactKey, version?: number, from = store): Promise<string | undefined> => {
      const found = await from.load(key, version);
      return found && Buffer.from(await found.bytes()).toString();
    };

    it('numbers versions from 0 and retains each', async () => {
      const key = fresh();
      expect(await save(key, 'first')).toEqual({ version: 0, size: 5 });
      expect(await store.save(key, Buffer.from('{"a":2}'), 'application/json')).toEqual({
        version: 1,
        size: 7,
      });
      expect(await store.versions(key)).toEqual([0, 1]);
      expect(await textOf(key, 0)).toBe('first');
      expect(await textOf(key)).toBe('{"a":2}');
      expect(await store.load(key, 0)).toMatchObject({ version: 0, mimeType: 'text/plain', size: 5 });
      expect(await store.load(key)).toMatchObject({ version: 1, mimeType: 'application/json', size: 7 });
    });

    it('sorts versions numerically beyond ten', async () => {
      const key = fresh();
      for (let n = 0; n < 12; n++) expect((await save(key, `${n}`)).version).toBe(n);
      expect(await store.versions(key)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
      expect(await textOf(key)).toBe('11');
    });

    it('returns undefined for unknown files and versions', async () => {
      const key = fresh();
      expect(await store.load(key)).toBeUndefined();
      expect(await store.load(key, 3)).toBeUndefined();
      expect(await store.versions(key)).toEqual([]);
      expect(await store.list(key)).toEqual([]);
      await store.delete(key);
      await save(key, 'x');
      expect(await store.load(key, 1)).toBeUndefined();
      expect(await store.load(key, -1)).toBeUndefined();
      expect(await store.load(key, 0.5)).toBeUndefined();
    });

    it('stores empty files', async () => {
      const key = fresh();
      expect(await store.save(key, new Uint8Array(), 'text/plain')).toEqual({ version: 0, size: 0 });
      expect(await store.save(key, streamOf(), 'text/plain')).toEqual({ version: 1, size: 0 });
      expect(await store.load(key)).toMatchObject({ size: 0, mimeType: 'text/plain' });
      expect(await textOf(key)).toBe('');
    });

    it('reads and writes content in chunks', async () => {
      const key = fresh();
      expect(await store.save(key, streamOf('one ', '', 'two ', 'three'), 'text/plain')).toEqual({
        version: 0,
        size: 13,
      });
      const found = await store.load(key);
      const chunks: Uint8Array[] = [];
      for await (const chunk of found?.stream() ?? []) chunks.push(chunk);
      expect(Buffer.concat(chunks).toString()).toBe('one two three');
      expect(await textOf(key)).toBe('one two three');
    });

    it('preserves the content of large files', async () => {
      const key = fresh();
      const chunk = randomBytes(1024 * 1024);
      const hash = createHash('sha256');
      for (let n = 0; n < 11; n++) hash.update(chunk);
      async function* large() {
        for (let n = 0; n < 11; n++) yield chunk;
      }
      expect(await store.save(key, large(), 'application/octet-stream')).toEqual({
        version: 0,
        size: 11 * 1024 * 1024,
      });
      const found = await store.load(key);
      expect(found).toMatchObject({ size: 11 * 1024 * 1024, mimeType: 'application/octet-stream' });
      const back = createHash('sha256');
      for await (const part of found?.stream() ?? []) back.update(part);
      expect(back.digest('hex')).toBe(hash.digest('hex'));
    });

    it('copies content, so that later changes of the buffer have no effect', async () => {
      const key = fresh();
      const bytes = Buffer.from('before');
      await store.save(key, bytes, 'text/plain');
      bytes.fill(0);
      expect(await textOf(key)).toBe('before');
      (await (await store.load(key))?.bytes())?.fill(0);
      expect(await textOf(key)).toBe('before');
    });

    it('assigns distinct versions to fifty concurrent saves', async () => {
      const key = fresh();
      const stores = [store, fixture.other ?? store];
      const saved = await Promise.all(
        Array.from({ length: 50 }, async (_, n) => {
          const content: ArtifactContent = n % 2 ? Buffer.from(`${n}`) : streamOf(`${n}`);
          return await stores[n % 2]?.save(key, content, 'text/plain');
        }),
      );
      const versions = saved.map((one) => one?.version).sort((a, b) => (a ?? 0) - (b ?? 0));
      expect(versions).toEqual(Array.from({ length: 50 }, (_, n) => n));
      expect(await store.versions(key)).toEqual(versions);
      for (const [n, one] of saved.entries()) expect(await textOf(key, one?.version)).toBe(`${n}`);
    });

    it('saves a given version number only once', async () => {
      const key = fresh();
      const add = async (text: string) => await store.saveAs?.(key, 7, Buffer.from(text), 'text/plain');
      const added = await Promise.all(['a', 'b', 'c'].map(add));
      expect(added.filter(Boolean)).toHaveLength(1);
      expect(await textOf(key, 7)).toBe(['a', 'b', 'c'][added.indexOf(true)]);
      expect((await save(key, 'next')).version).toBe(8);
    });

    it('is immediately visible to other stores', async () => {
      if (!fixture.other) return;
      const key = fresh();
      await save(key, 'x');
      expect(await textOf(key, 0, fixture.other)).toBe('x');
      expect(await fixture.other.list(key)).toEqual(['report.csv']);
      await fixture.other.delete(key);
      expect(await store.load(key)).toBeUndefined();
    });

    it('leaves no partial file after a failed save', async () => {
      const key = fresh();
      const error = await catchError(
        store.save(key, streamOf('half', new Error('the source broke')), 'text/plain'),
      );
      expect(error).toMatchObject({ name: 'A2AError', reason: 'INTERNAL_ERROR' });
      expect(error.message).not.toContain('the source broke');
      expect(await store.versions(key)).toEqual([]);
      expect(await store.list(key)).toEqual([]);
      expect((await save(key, 'whole')).version).toBe(0);
    });

    it('accepts a file of exactly maxBytes and rejects a larger one', async () => {
      const key = fresh();
      const maximal = new Uint8Array(maxBytes);
      await store.save(key, maximal, 'application/octet-stream');
      async function* more() {
        yield maximal;
        yield new Uint8Array(1);
      }
      for (const content of [new Uint8Array(maxBytes + 1), more()]) {
        expect((await catchError(store.save(key, content, 'text/plain'))).reason).toBe('PAYLOAD_TOO_LARGE');
      }
      expect(await store.versions(key)).toEqual([0]);
    });

    it('lists files sorted, including those shared by all sessions', async () => {
      const key = fresh('b.txt');
      const ownKey = { ...key, user: `lister-${sessions}` };
      await save(ownKey, 'b');
      await save({ ...ownKey, filename: 'a.txt' }, 'a');
      await save({ ...ownKey, filename: 'user:profile.json' }, '{}');
      await save({ ...ownKey, session: 'elsewhere', filename: 'c.txt' }, 'c');
      expect(await store.list(ownKey)).toEqual(['a.txt', 'b.txt', 'user:profile.json']);
      expect(await store.list({ ...ownKey, session: 'elsewhere' })).toEqual(['c.txt', 'user:profile.json']);
      expect(await store.list({ ...ownKey, session: 'nowhere' })).toEqual(['user:profile.json']);
    });

    it('shares a user: file among all sessions of its user only', async () => {
      const key = { ...fresh('user:shared.txt'), user: 'carol' };
      await save(key, 'mine');
      expect(await textOf({ ...key, session: 'another' })).toBe('mine');
      expect((await save({ ...key, session: 'another' }, 'again')).version).toBe(1);
      expect(await textOf({ ...key, user: 'bob' })).toBeUndefined();
      expect(await textOf({ ...key, filename: 'shared.txt' })).toBeUndefined();
    });

    it('isolates users, sessions and applications', async () => {
      const key = fresh();
      await save(key, 'mine');
      for (const other of [
        { user: 'bob' },
        { session: 'another' },
        { app: 'elsewhere' },
        { user: 'alice' },
      ]) {
        const otherKey = { ...key, ...other };
        expect(await textOf(otherKey)).toBeUndefined();
        expect(await store.list(otherKey)).not.toContain(key.filename);
        await store.delete(otherKey);
      }
      expect(await textOf(key)).toBe('mine');
    });

    it('deletes all versions of a file and no other file', async () => {
      const key = fresh('a');
      const near = { ...key, filename: 'ab' };
      await save(key, '0');
      await save(key, '1');
      await save(near, 'near');
      await store.delete(key);
      expect(await store.versions(key)).toEqual([]);
      expect(await store.list(key)).toEqual(['ab']);
      expect(await textOf(near)).toBe('near');
      expect((await save(key, 'anew')).version).toBe(0);
    });

    it('stays consistent with concurrent saves and deletes', async () => {
      const key = fresh();
      const work = Array.from({ length: 40 }, (_, n) =>
        n % 4 === 3 ? store.delete(key) : save(key, `${n}`),
      );
      await Promise.all(work);
      for (const version of await store.versions(key)) expect(await textOf(key, version)).toMatch(/^\d+$/);
      await store.delete(key);
      expect(await store.list(key)).toEqual([]);
    });

    it.each([
      ['an empty text', ''],
      ['the current directory', '.'],
      ['the parent directory', '..'],
      ['a path traversal', '../../escape'],
      ['a path', 'a/b'],
      ['an absolute path', '/etc/passwd'],
      ['a Windows path', 'a\\b'],
      ['a NUL character', 'a\u0000b'],
      ['a line break', 'a\nb'],
      ['1,000 characters', 'x'.repeat(1000)],
      ['a device name', 'CON'],
      ['a device name with an extension', 'nul.txt'],
      ['a trailing dot', 'name.'],
      ['a trailing space', 'name '],
      ['look-alike dots', '․․'],
      ['a look-alike slash', 'a／b'],
      ['a lone surrogate', 'a\uD800'],
      ['a path traversal in shared files', 'user:../x'],
      ['an empty shared name', 'user:'],
    ])('rejects a filename with %s', async (_what, filename) => {
      const key = fresh(filename);
      const actions = [
        () => save(key, 'x'),
        () => store.load(key),
        () => store.versions(key),
        () => store.delete(key),
      ];
      for (const action of actions) expect((await catchError(action())).reason).toBe('INVALID_PARAMS');
      expect(await store.list(key)).not.toContain(filename);
    });

    it.each(['', '.', '..', 'a/b', 'a\\b', 'a\u0000', 'x'.repeat(1000), 'x.', 'aux'])(
      'rejects the user and session %j',
      async (text) => {
        const key = fresh();
        for (const invalid of [
          { ...key, user: text },
          { ...key, session: text },
        ]) {
          expect((await catchError(save(invalid, 'x'))).reason).toBe('INVALID_PARAMS');
          expect((await catchError(store.list(invalid))).reason).toBe('INVALID_PARAMS');
        }
        expect((await catchError(save({ ...key, session: 'user' }, 'x'))).reason).toBe('INVALID_PARAMS');
      },
    );

    it.each([
      'Jahresübersicht 2026 (final).xlsx',
      '日本語.txt',
      'it\'s <&> a "test" + 100%.txt',
      'a&#39;b',
      '.hidden',
      '0',
      '1.meta',
      '~$x.docx',
      'emoji 😀.png',
      `${'x'.repeat(251)}.txt`,
      'con-tract.txt',
      '-rf',
      'a:b?c*d|e',
    ])('preserves the filename %j', async (filename) => {
      const key = fresh(filename);
      await save(key, filename);
      await save(key, 'again');
      expect(await textOf(key, 0)).toBe(filename);
      expect(await store.versions(key)).toEqual([0, 1]);
      // The S3 library decodes text that looks like an XML entity.
      if (filename !== 'a&#39;b') expect(await store.list(key)).toEqual([filename]);
    });

    it('treats look-alike names as equal (NFKC)', async () => {
      const key = fresh('ﬁle①.txt');
      await save(key, 'x');
      expect(await textOf({ ...key, filename: 'file1.txt' })).toBe('x');
      expect(await store.list(key)).toEqual(['file1.txt']);
    });

    it('saves metadata under the same version with concurrent saves', async () => {
      const key = fresh();
      await save(key, 'without a companion');
      const saved = await Promise.all(
        Array.from({ length: 10 }, (_, n) =>
          saveWithMetadata(store, key, Buffer.from(`${n}`), { description: `${n}` }),
        ),
      );
      for (const [n, { version }] of saved.entries()) {
        expect(await textOf(key, version)).toBe(`${n}`);
        expect(await loadMetadata(store, key, version)).toMatchObject({
          description: `${n}`,
          mime_type: 'text/csv',
          size_bytes: 1,
        });
      }
      expect(await loadMetadata(store, key, 0)).toBeUndefined();
    });
  });
}
