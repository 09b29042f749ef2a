import { expect, it } from 'vitest';
import { memoryArtifactStore } from './memory.ts';

const key = { app: 'ns', user: 'alice', session: 's', filename: 'a' };
const file = (filename: string) => ({ ...key, filename });

it('evicts the oldest versions beyond maxTotalBytes', async () => {
  const store = memoryArtifactStore({ maxTotalBytes: 10 });
  await store.save(file('a'), new Uint8Array(4), 'text/plain');
  await store.save(file('b'), new Uint8Array(4), 'text/plain');
  await store.save(file('b'), new Uint8Array(4), 'text/plain');
  expect(await store.list(key)).toEqual(['b']);
  expect(await store.versions(file('b'))).toEqual([0, 1]);
  await store.save(file('c'), new Uint8Array(10), 'text/plain');
  expect(await store.list(key)).toEqual(['c']);
});

it('evicts the oldest versions beyond maxVersions and keeps counting', async () => {
  const store = memoryArtifactStore({ maxVersions: 2 });
  for (let n = 0; n < 5; n++) await store.save(key, Buffer.from(`${n}`), 'text/plain');
  expect(await store.versions(key)).toEqual([3, 4]);
  expect((await store.save(key, Buffer.from('x'), 'text/plain')).version).toBe(5);
});

it('rejects a file larger than maxTotalBytes', async () => {
  const store = memoryArtifactStore({ maxTotalBytes: 3 });
  await store.save(file('a'), new Uint8Array(3), 'text/plain');
  const saving = store.save(file('b'), new Uint8Array(4), 'text/plain');
  await expect(saving).rejects.toMatchObject({ reason: 'PAYLOAD_TOO_LARGE' });
  expect(await store.list(key)).toEqual(['a']);
});
