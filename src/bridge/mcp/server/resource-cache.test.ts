import { describe, expect, it } from 'vitest';
import { memoryArtifactStore } from '../../../artifacts/stores/memory.ts';
import { writeArtifactUri } from '../../../artifacts/artifact-uri.ts';
import { ResourceCache } from './resource-cache.ts';

const bytes = (length: number): string => Buffer.alloc(length, 1).toString('base64');
const file = (name: string, length: number) => ({ name, mediaType: 'text/plain', bytes: bytes(length) });

describe('ResourceCache', () => {
  it('stores files under unguessable URIs', async () => {
    const cache = new ResourceCache();
    const [one, two] = [cache.add(file('a b.txt', 3)), cache.add(file('a b.txt', 3))];
    expect(one?.uri).toMatch(/^dragoman:\/\/files\/[0-9a-f-]{36}\/a%20b\.txt$/);
    expect(one?.uri).not.toBe(two?.uri);
    expect(await cache.read(one?.uri ?? '')).toMatchObject({ name: 'a b.txt', size: 3, bytes: 'AQEB' });
    expect(await cache.read('dragoman://files/other/a.txt')).toBe('unknown');
  });

  it('evicts the oldest files beyond maxResources or maxCacheBytes', async () => {
    const few = new ResourceCache({ maxResources: 2 });
    for (const name of ['a', 'b', 'c']) few.add(file(name, 1));
    expect(few.files.map(({ name }) => name)).toEqual(['b', 'c']);
    const small = new ResourceCache({ maxCacheBytes: 300 });
    for (const name of ['a', 'b', 'c']) small.add(file(name, 100));
    expect(small.files.map(({ name }) => name)).toEqual(['b', 'c']);
  });

  it('rejects files larger than maxResourceBytes', () => {
    const cache = new ResourceCache({ maxResourceBytes: 10 });
    expect(cache.add(file('a', 11))).toBeUndefined();
    expect(cache.add({ name: 'b', mediaType: 'text/plain', bytes: bytes(3), size: 10 })).toBeDefined();
  });

  it('reads only files of the store that were returned to this client', async () => {
    const store = memoryArtifactStore();
    const key = { app: 'demo', user: 'alice', session: 's', filename: 'note.txt' };
    await store.save(key, Buffer.from('note'), 'text/plain');
    await store.save({ ...key, filename: 'large.txt' }, Buffer.alloc(20), 'text/plain');
    const cache = new ResourceCache({ maxResourceBytes: 10 }, store);
    const uri = writeArtifactUri({ ...key, version: 0 });
    expect(await cache.read(uri)).toBe('unknown');
    const labels = { name: 'note.txt', mediaType: 'text/plain' };
    cache.add({ ...labels, uri });
    expect(await cache.read(uri)).toMatchObject({ bytes: Buffer.from('note').toString('base64'), size: 4 });
    const large = writeArtifactUri({ ...key, filename: 'large.txt' });
    cache.add({ ...labels, uri: large });
    expect(await cache.read(large)).toBe('too-large');
    await store.delete(key);
    expect(await cache.read(uri)).toBe('gone');
    expect(new ResourceCache().add({ ...labels, uri })).toBeUndefined();
  });
});
