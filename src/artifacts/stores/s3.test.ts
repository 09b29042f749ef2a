// Loaded first, as by a client in the same process: `fetch` then uses the dispatcher of this undici.
import 'undici';
import { afterEach, expect, it, vi } from 'vitest';
import { type S3Server, startS3 } from '../../../test/support/artifacts/s3-server.ts';
import type { LogEntry } from '../../primitives/log.ts';
import { s3ArtifactStore } from './s3.ts';

const key = { app: '/my/ns/', user: 'alice@example.com', session: 's-1', filename: 'Übersicht.csv' };
const bytes = Buffer.from('1,2');
let server: S3Server | undefined;
afterEach(async () => {
  await server?.close();
  server = undefined;
  vi.doUnmock('s3mini');
  vi.resetModules();
});

it('uses the object names and metadata headers of Solace Agent Mesh', async () => {
  server = await startS3();
  const headers: Headers[] = [];
  const store = s3ArtifactStore({
    ...server,
    fetch: async (input, init) => {
      if (init?.method === 'PUT') headers.push(new Headers(init.headers));
      return await fetch(input, init);
    },
  });
  await store.save(key, bytes, 'text/csv');
  await store.save({ ...key, filename: 'user:p.json' }, bytes, 'application/json');
  expect(
    server.requests.filter((request) => /PUT .*\d$/.test(request) && !request.includes('probe')),
  ).toEqual([
    'PUT /artifacts/my/ns/alice%40example.com/s-1/%C3%9Cbersicht.csv/0',
    'PUT /artifacts/my/ns/alice%40example.com/user/p.json/0',
  ]);
  expect(Object.fromEntries(headers.at(-2) ?? [])).toMatchObject({
    'content-type': 'text/csv',
    'x-amz-meta-original_filename': '\\u00dcbersicht.csv',
    'x-amz-meta-user_id': 'alice@example.com',
    'x-amz-meta-session_id': 's-1',
  });
});

it('never replaces objects of other writers, also in multipart uploads', async () => {
  server = await startS3();
  const one = s3ArtifactStore({ ...server, partBytes: 1024 });
  const two = s3ArtifactStore({ ...server, partBytes: 1024 });
  const large = (text: string) => Buffer.from(text.repeat(2000));
  const saved = await Promise.all(
    ['a', 'b', 'c', 'd'].map((text, n) => (n % 2 ? one : two).save(key, large(text), 'text/plain')),
  );
  expect(saved.map(({ version }) => version).sort((a, b) => a - b)).toEqual([0, 1, 2, 3]);
  for (const [n, { version }] of saved.entries()) {
    expect(Buffer.from((await (await one.load(key, version))?.bytes()) ?? [])).toEqual(
      large('abcd'[n] ?? ''),
    );
  }
});

it('probes once for conditional writes and logs a warning without them', async () => {
  server = await startS3({ isConditional: false });
  const entries: LogEntry[] = [];
  const store = s3ArtifactStore({ ...server, log: (entry) => entries.push(entry) });
  await Promise.all([store.save(key, bytes, 'text/csv'), store.save(key, bytes, 'text/csv')]);
  expect(entries).toMatchObject([
    { level: 'warn', message: expect.stringContaining('only one process may write') as string },
  ]);
  expect(
    server.requests.filter((request) => request.startsWith('PUT') && request.includes('probe')),
  ).toHaveLength(2);
  expect(
    server.requests.filter((request) => request.startsWith('DELETE') && request.includes('probe')),
  ).toHaveLength(1);
});

it('does not probe with conditionalWrites set', async () => {
  server = await startS3();
  await s3ArtifactStore({ ...server, conditionalWrites: true }).save(key, bytes, 'text/csv');
  expect(server.requests.filter((request) => request.includes('probe'))).toEqual([]);
});

it('aborts a failed multipart upload and hides the reason', async () => {
  server = await startS3();
  const { requests } = server;
  const store = s3ArtifactStore({
    ...server,
    partBytes: 1024,
    fetch: async (input, init) =>
      new URL(input as string).searchParams.get('partNumber') === '2'
        ? new Response('', { status: 500 })
        : await fetch(input, init),
  });
  await expect(store.save(key, new Uint8Array(3000), 'text/csv')).rejects.toMatchObject({
    reason: 'UNAVAILABLE',
    message: 'The artifact store is not available',
  });
  expect(requests.some((request) => request.startsWith('DELETE') && request.includes('uploadId'))).toBe(true);
  expect(await store.versions(key)).toEqual([]);
});

it.each(['/', '', 'a//b', '../x'])('rejects the application %j', async (app) => {
  const store = s3ArtifactStore({
    endpoint: 'http://127.0.0.1:1',
    bucket: 'b',
    accessKeyId: 'x',
    secretAccessKey: 'x',
  });
  await expect(store.versions({ ...key, app })).rejects.toMatchObject({ reason: 'INVALID_PARAMS' });
});

it('rejects with UNAVAILABLE for an unreachable service or a missing bucket', async () => {
  server = await startS3();
  const far = s3ArtifactStore({ ...server, endpoint: 'http://127.0.0.1:1' });
  const none = s3ArtifactStore({ ...server, bucket: 'none' });
  for (const store of [far, none]) {
    await expect(store.save(key, bytes, 'text/csv')).rejects.toMatchObject({ reason: 'UNAVAILABLE' });
    await expect(store.versions(key)).rejects.toMatchObject({ reason: 'UNAVAILABLE' });
  }
});

it('names the command that installs s3mini if it is missing', async () => {
  vi.resetModules();
  vi.doMock('s3mini', () => {
    throw new Error('Cannot find package');
  });
  const { s3ArtifactStore: without } = await import('./s3.ts');
  const store = without({
    endpoint: 'http://127.0.0.1:1',
    bucket: 'b',
    accessKeyId: 'x',
    secretAccessKey: 'x',
  });
  await expect(store.versions(key)).rejects.toMatchObject({ hint: 'Run: npm install s3mini' });
});
