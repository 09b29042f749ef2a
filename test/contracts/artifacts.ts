import { createHash, randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { A2AError } from '../../src/protocol/errors.ts';
import { loadMetadata, saveWithMetadata } from '../../src/artifacts/artifact-metadata.ts';
import type { ArtifactContent, ArtifactKey, ArtifactStore } from '../../src/artifacts/artifact-store.ts';

/** A store to be tried. */
export interface Tried {
  readonly store: ArtifactStore;
  /** The same files through another store, as another process has it; undefined when there can be none. */
  readonly other?: ArtifactStore;
  close?(): Promise<void>;
}

/** The largest file that the store to be tried takes. */
export const maxBytes = 20 * 1024 * 1024;

async function* slowly(...pieces: (string | Error)[]): AsyncGenerator<Uint8Array> {
  for (const piece of pieces) {
    await Promise.resolve();
    if (piece instanceof Error) throw piece;
    yield Buffer.from(piece);
  }
}

const refusal = (action: Promise<unknown>): Promise<A2AError> =>
  action.then(
    (value) => {
      throw new Error(`it was not refused: ${JSON.stringify(value)}`);
    },
    (thrown: unknown) => thrown as A2AError,
  );

/** What every store of artifacts does. @param open - a store without files, that takes files of {@link maxBytes} */
export function describeArtifacts(name: string, open: () => Promise<Tried>): void {
  describe(`artifacts in ${name}`, () => {
    let tried: Tried;
    let store: ArtifactStore;
    let sessions = 0;
    beforeAll(async () => {
      tried = await open();
      store = tried.store;
    });
    afterAll(async () => {
      await tried.store.close?.();
      await tried.other?.close?.();
      await tried.close?.();
    });
    /** A file in a conversation of its own. */
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

    it('counts versions from 0 and keeps each', async () => {
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

    it('counts on after ten', async () => {
      const key = fresh();
      for (let n = 0; n < 12; n++) expect((await save(key, `${n}`)).version).toBe(n);
      expect(await store.versions(key)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
      expect(await textOf(key)).toBe('11');
    });

    it('knows nothing of what was never saved', async () => {
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

    it('keeps files that are empty', async () => {
      const key = fresh();
      expect(await store.save(key, new Uint8Array(), 'text/plain')).toEqual({ version: 0, size: 0 });
      expect(await store.save(key, slowly(), 'text/plain')).toEqual({ version: 1, size: 0 });
      expect(await store.load(key)).toMatchObject({ size: 0, mimeType: 'text/plain' });
      expect(await textOf(key)).toBe('');
    });

    it('takes and gives content in pieces', async () => {
      const key = fresh();
      expect(await store.save(key, slowly('one ', '', 'two ', 'three'), 'text/plain')).toEqual({
        version: 0,
        size: 13,
      });
      const found = await store.load(key);
      const pieces: Uint8Array[] = [];
      for await (const piece of found?.stream() ?? []) pieces.push(piece);
      expect(Buffer.concat(pieces).toString()).toBe('one two three');
      expect(await textOf(key)).toBe('one two three');
    });

    it('keeps large files byte by byte', async () => {
      const key = fresh();
      const piece = randomBytes(1024 * 1024);
      const hash = createHash('sha256');
      for (let n = 0; n < 18; n++) hash.update(piece);
      async function* large() {
        for (let n = 0; n < 18; n++) yield piece;
      }
      expect(await store.save(key, large(), 'application/octet-stream')).toEqual({
        version: 0,
        size: 18 * 1024 * 1024,
      });
      const found = await store.load(key);
      expect(found).toMatchObject({ size: 18 * 1024 * 1024, mimeType: 'application/octet-stream' });
      const back = createHash('sha256');
      for await (const part of found?.stream() ?? []) back.update(part);
      expect(back.digest('hex')).toBe(hash.digest('hex'));
    });

    it('does not change when whoever saved changes the bytes', async () => {
      const key = fresh();
      const bytes = Buffer.from('before');
      await store.save(key, bytes, 'text/plain');
      bytes.fill(0);
      expect(await textOf(key)).toBe('before');
      (await (await store.load(key))?.bytes())?.fill(0);
      expect(await textOf(key)).toBe('before');
    });

    it('gives fifty that save at once fifty versions', async () => {
      const key = fresh();
      const stores = [store, tried.other ?? store];
      const saved = await Promise.all(
        Array.from({ length: 50 }, async (_, n) => {
          const content: ArtifactContent = n % 2 ? Buffer.from(`${n}`) : slowly(`${n}`);
          return await stores[n % 2]?.save(key, content, 'text/plain');
        }),
      );
      const versions = saved.map((one) => one?.version).sort((a, b) => (a ?? 0) - (b ?? 0));
      expect(versions).toEqual(Array.from({ length: 50 }, (_, n) => n));
      expect(await store.versions(key)).toEqual(versions);
      for (const [n, one] of saved.entries()) expect(await textOf(key, one?.version)).toBe(`${n}`);
    });

    it('adds a version of a certain number once', async () => {
      const key = fresh();
      const add = async (text: string) => await store.saveAs?.(key, 7, Buffer.from(text), 'text/plain');
      const added = await Promise.all(['a', 'b', 'c'].map(add));
      expect(added.filter(Boolean)).toHaveLength(1);
      expect(await textOf(key, 7)).toBe(['a', 'b', 'c'][added.indexOf(true)]);
      expect((await save(key, 'next')).version).toBe(8);
    });

    it('is read by others at once', async () => {
      if (!tried.other) return;
      const key = fresh();
      await save(key, 'x');
      expect(await textOf(key, 0, tried.other)).toBe('x');
      expect(await tried.other.list(key)).toEqual(['report.csv']);
      await tried.other.delete(key);
      expect(await store.load(key)).toBeUndefined();
    });

    it('leaves nothing of what fails half way', async () => {
      const key = fresh();
      const fault = await refusal(
        store.save(key, slowly('half', new Error('the source broke')), 'text/plain'),
      );
      expect(fault).toMatchObject({ name: 'A2AError', reason: 'INTERNAL_ERROR' });
      expect(fault.message).not.toContain('the source broke');
      expect(await store.versions(key)).toEqual([]);
      expect(await store.list(key)).toEqual([]);
      expect((await save(key, 'whole')).version).toBe(0);
    });

    it('takes a file of the limit, but not a byte more', async () => {
      const key = fresh();
      const most = new Uint8Array(maxBytes);
      await store.save(key, most, 'application/octet-stream');
      async function* more() {
        yield most;
        yield new Uint8Array(1);
      }
      for (const content of [new Uint8Array(maxBytes + 1), more()]) {
        expect((await refusal(store.save(key, content, 'text/plain'))).reason).toBe('PAYLOAD_TOO_LARGE');
      }
      expect(await store.versions(key)).toEqual([0]);
    });

    it('lists files in order, and those of every conversation', async () => {
      const key = fresh('b.txt');
      const lone = { ...key, user: `lister-${sessions}` };
      await save(lone, 'b');
      await save({ ...lone, filename: 'a.txt' }, 'a');
      await save({ ...lone, filename: 'user:profile.json' }, '{}');
      await save({ ...lone, session: 'elsewhere', filename: 'c.txt' }, 'c');
      expect(await store.list(lone)).toEqual(['a.txt', 'b.txt', 'user:profile.json']);
      expect(await store.list({ ...lone, session: 'elsewhere' })).toEqual(['c.txt', 'user:profile.json']);
      expect(await store.list({ ...lone, session: 'nowhere' })).toEqual(['user:profile.json']);
    });

    it('shares a file of the user among conversations, and with nobody else', async () => {
      const key = { ...fresh('user:shared.txt'), user: 'carol' };
      await save(key, 'mine');
      expect(await textOf({ ...key, session: 'another' })).toBe('mine');
      expect((await save({ ...key, session: 'another' }, 'again')).version).toBe(1);
      expect(await textOf({ ...key, user: 'bob' })).toBeUndefined();
      expect(await textOf({ ...key, filename: 'shared.txt' })).toBeUndefined();
    });

    it('keeps owners, conversations and applications apart', async () => {
      const key = fresh();
      await save(key, 'mine');
      for (const other of [
        { user: 'bob' },
        { session: 'another' },
        { app: 'elsewhere' },
        { user: 'alice' },
      ]) {
        const theirs = { ...key, ...other };
        expect(await textOf(theirs)).toBeUndefined();
        expect(await store.list(theirs)).not.toContain(key.filename);
        await store.delete(theirs);
      }
      expect(await textOf(key)).toBe('mine');
    });

    it('deletes a file with all its versions, and no other', async () => {
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

    it('is right whoever saves and deletes at once', async () => {
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
      ['nothing', ''],
      ['the folder', '.'],
      ['the folder above', '..'],
      ['a way up', '../../escape'],
      ['a path', 'a/b'],
      ['the root', '/etc/passwd'],
      ['a path of Windows', 'a\\b'],
      ['NUL', 'a\u0000b'],
      ['a line break', 'a\nb'],
      ['1,000 characters', 'x'.repeat(1000)],
      ['a device', 'CON'],
      ['a device with an extension', 'nul.txt'],
      ['a dot at its end', 'name.'],
      ['a space at its end', 'name '],
      ['dots that look like dots', '․․'],
      ['a slash that looks like one', 'a／b'],
      ['half a character', 'a\uD800'],
      ['a path in all conversations', 'user:../x'],
      ['nothing in all conversations', 'user:'],
    ])('refuses a name that is %s', async (_what, filename) => {
      const key = fresh(filename);
      const actions = [
        () => save(key, 'x'),
        () => store.load(key),
        () => store.versions(key),
        () => store.delete(key),
      ];
      for (const action of actions) expect((await refusal(action())).reason).toBe('INVALID_PARAMS');
      expect(await store.list(key)).not.toContain(filename);
    });

    it.each(['', '.', '..', 'a/b', 'a\\b', 'a\u0000', 'x'.repeat(1000), 'x.', 'aux'])(
      'refuses a user and a conversation called %j',
      async (word) => {
        const key = fresh();
        for (const wrong of [
          { ...key, user: word },
          { ...key, session: word },
        ]) {
          expect((await refusal(save(wrong, 'x'))).reason).toBe('INVALID_PARAMS');
          expect((await refusal(store.list(wrong))).reason).toBe('INVALID_PARAMS');
        }
        expect((await refusal(save({ ...key, session: 'user' }, 'x'))).reason).toBe('INVALID_PARAMS');
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
    ])('keeps the name %j as it is', async (filename) => {
      const key = fresh(filename);
      await save(key, filename);
      await save(key, 'again');
      expect(await textOf(key, 0)).toBe(filename);
      expect(await store.versions(key)).toEqual([0, 1]);
      // The library for buckets takes what looks like an entity for one.
      if (filename !== 'a&#39;b') expect(await store.list(key)).toEqual([filename]);
    });

    it('takes names that look alike for one', async () => {
      const key = fresh('ﬁle①.txt');
      await save(key, 'x');
      expect(await textOf({ ...key, filename: 'file1.txt' })).toBe('x');
      expect(await store.list(key)).toEqual(['file1.txt']);
    });

    it('gives the companion of a version the same number, whoever saves at once', async () => {
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
