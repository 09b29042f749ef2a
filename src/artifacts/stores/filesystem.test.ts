import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { filesystemArtifactStore } from './filesystem.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'dragoman-artifacts-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const key = { app: 'ns', user: 'alice', session: 's-1', filename: 'report.csv' };
const bytes = Buffer.from('1,2');

/** All files below the folder. */
const files = (): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .sort();

it('uses the directory layout of Solace Agent Mesh', async () => {
  const store = filesystemArtifactStore(folder);
  await store.save(key, bytes, 'text/csv');
  await store.save(key, bytes, 'text/csv');
  await store.save({ ...key, filename: 'user:profile.json' }, bytes, 'application/json');
  expect(files()).toEqual([
    'ns/alice/s-1/report.csv/0',
    'ns/alice/s-1/report.csv/0.meta',
    'ns/alice/s-1/report.csv/1',
    'ns/alice/s-1/report.csv/1.meta',
    'ns/alice/user/profile.json/0',
    'ns/alice/user/profile.json/0.meta',
  ]);
  expect(readFileSync(join(folder, 'ns/alice/s-1/report.csv/1'), 'utf8')).toBe('1,2');
  expect(JSON.parse(readFileSync(join(folder, 'ns/alice/s-1/report.csv/1.meta'), 'utf8'))).toEqual({
    mime_type: 'text/csv',
  });
});

it.each([
  ['my_ns/', 'alice/s-1/report.csv/0'],
  ['a/dev', 'dev/alice/s-1/report.csv/0'],
  ['', 'alice/s-1/report.csv/0'],
  ['//x', 'x/alice/s-1/report.csv/0'],
])('uses the Python basename of the application %j', async (app, path) => {
  await filesystemArtifactStore(folder).save({ ...key, app }, bytes, 'text/csv');
  expect(files()[0]).toBe(path);
});

it.each(['..', 'a/..', '.', 'a\\b', '.incoming', 'a\u0000'])('rejects the application %j', async (app) => {
  const saving = filesystemArtifactStore(folder).save({ ...key, app }, bytes, 'text/csv');
  await expect(saving).rejects.toMatchObject({ reason: 'INVALID_PARAMS' });
});

it('reads files written by other programs', async () => {
  const directory = join(folder, 'ns/alice/s-1/report.csv');
  mkdirSync(directory, { recursive: true });
  writeFileSync(join(directory, '4'), 'theirs');
  writeFileSync(join(directory, '4.meta'), '{"mime_type": "text/csv"}');
  const store = filesystemArtifactStore(folder);
  expect(await store.load(key)).toMatchObject({ version: 4, mimeType: 'text/csv', size: 6 });
  expect(await store.save(key, bytes, 'text/csv')).toMatchObject({ version: 5 });
});

it('ignores leftovers of a crash and removes them after sweepAfter', async () => {
  const directory = join(folder, 'ns/alice/s-1/report.csv');
  const other = join(folder, 'ns/alice/s-1/other.txt');
  mkdirSync(directory, { recursive: true });
  mkdirSync(other);
  mkdirSync(join(folder, '.incoming'));
  const leftovers = [join(directory, '0.meta'), join(folder, '.incoming', 'half'), join(other, '0')];
  for (const path of leftovers) writeFileSync(path, 'x');
  const store = filesystemArtifactStore(folder);
  expect(await store.list(key)).toEqual([]);
  expect(await store.load(key)).toBeUndefined();
  expect(await store.load({ ...key, filename: 'other.txt' }, 0)).toBeUndefined();
  // Another process may be about to complete them.
  expect((await store.save(key, bytes, 'text/csv')).version).toBe(1);
  expect((await store.save({ ...key, filename: 'other.txt' }, bytes, 'text/plain')).version).toBe(1);
  expect(files()).toContain('.incoming/half');

  const old = new Date(Date.now() - 7_200_000);
  for (const path of leftovers) utimesSync(path, old, old);
  const later = filesystemArtifactStore(folder);
  expect((await later.save(key, bytes, 'text/csv')).version).toBe(2);
  expect(files()).not.toContain('.incoming/half');
  expect(files()).not.toContain('ns/alice/s-1/report.csv/0.meta');
  expect(await later.versions(key)).toEqual([1, 2]);
});

it('leaves no spooled files behind', async () => {
  const store = filesystemArtifactStore(folder);
  await Promise.all(Array.from({ length: 20 }, () => store.save(key, bytes, 'text/csv')));
  async function* broken() {
    yield bytes;
    throw new Error('broken');
  }
  await expect(store.save(key, broken(), 'text/csv')).rejects.toMatchObject({ reason: 'INTERNAL_ERROR' });
  await store.delete(key);
  expect(files()).toEqual([]);
});

it('rejects with NOT_FOUND when a version is deleted before it is read', async () => {
  const store = filesystemArtifactStore(folder);
  await store.save(key, bytes, 'text/csv');
  const found = await store.load(key);
  await store.delete(key);
  await expect(found?.bytes()).rejects.toMatchObject({ reason: 'NOT_FOUND' });
  await expect(found?.stream()[Symbol.asyncIterator]().next()).rejects.toMatchObject({ reason: 'NOT_FOUND' });
});

it('hides the reason of a storage error', async () => {
  writeFileSync(join(folder, 'file'), '');
  const store = filesystemArtifactStore(join(folder, 'file'));
  await expect(store.save(key, bytes, 'text/csv')).rejects.toMatchObject({
    reason: 'UNAVAILABLE',
    message: 'The artifact store is not available',
  });
});
