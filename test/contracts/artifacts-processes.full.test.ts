import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { filesystemArtifactStore } from '../../src/artifacts/stores/filesystem.ts';
import { type CompiledSources, compileSources } from '../support/compile-sources.ts';
import { startS3 } from '../support/artifacts/s3-server.ts';

const fixture = (name: string) => fileURLToPath(new URL(`fixtures/${name}.mjs`, import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'dragoman-artifacts-'));
let built: CompiledSources;

beforeAll(() => {
  built = compileSources('artifacts', ['artifacts/index.ts']);
});
afterAll(() => {
  built.remove();
  rmSync(folder, { recursive: true, force: true });
});

it('assigns distinct versions to processes that save the same file concurrently', async () => {
  const module = join(built.folder, 'artifacts/stores/filesystem.js');
  const shared = join(folder, 'shared');
  const names = ['a', 'b', 'c'];
  const children = names.map((name) => {
    const child = spawn(process.execPath, [fixture('artifact-saver'), module, shared, name, '40'], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    child.stdout.setEncoding('utf8');
    return child;
  });
  // All processes are ready before the first one starts to save.
  for (const child of children) await once(child.stdout, 'data');
  const results = children.map((child) => once(child.stdout, 'data') as Promise<[string]>);
  for (const child of children) child.stdin.end('go\n');
  const versions = (await Promise.all(results)).map(([text]) => JSON.parse(text) as number[]);
  await Promise.all(children.map(async (child) => child.exitCode ?? (await once(child, 'exit'))));
  expect(versions.flat().sort((a, b) => a - b)).toEqual(Array.from({ length: 120 }, (_, n) => n));
  const store = filesystemArtifactStore(shared);
  const key = { app: 'ns', user: 'alice', session: 's', filename: 'shared.txt' };
  for (const [at, ownVersions] of versions.entries()) {
    for (const [n, version] of ownVersions.entries()) {
      const bytes = await (await store.load(key, version))?.bytes();
      expect(Buffer.from(bytes ?? []).toString()).toBe(`${names[at]} ${n}`);
    }
  }
});

describe.skipIf(process.platform !== 'linux')('memory use with a file of 100 MB', () => {
  const size = 100 * 1024 * 1024;
  const limit = 64 * 1024 * 1024;

  async function measure(what: string, options: object): Promise<{ extra: number; result: unknown[] }> {
    const args = ['--expose-gc', fixture('artifact-weigher'), built.folder, what, JSON.stringify(options)];
    const { stdout } = await promisify(execFile)(process.execPath, args);
    const measured = JSON.parse(stdout) as { extra: number; result: unknown[] };
    process.stdout.write(
      `${what} ${JSON.stringify(options).slice(0, 40)}: ${(measured.extra / 1048576).toFixed(1)} MiB extra\n`,
    );
    return measured;
  }

  it('stays below 64 MB with the filesystem store', async () => {
    const { extra, result } = await measure('store', { store: 'folder', folder: join(folder, 'large') });
    expect(result).toEqual([size, size]);
    expect(extra).toBeLessThan(limit);
  });

  it('stays below 64 MB with the S3 store', async () => {
    const server = await startS3();
    try {
      const { extra, result } = await measure('store', { store: 'bucket', ...server });
      expect(result).toEqual([size, size]);
      expect(extra).toBeLessThan(limit);
      expect(server.requests.filter((request) => request.includes('partNumber'))).toHaveLength(20);
    } finally {
      await server.close();
    }
  });

  it('holds one copy with the memory store', async () => {
    const { extra, result } = await measure('store', { store: 'memory' });
    expect(result).toEqual([size, size]);
    expect(extra).toBeLessThan(size + limit);
  });

  it('stays below 64 MB beyond the base64 text when replacing bytes by a link', async () => {
    const { extra, result } = await measure('whole', { folder: join(folder, 'whole') });
    expect(result).toEqual([[{ filename: 'large.bin', version: 0 }], expect.closeTo(size, -2)]);
    expect(extra).toBeLessThan(limit);
  });

  it('stays below 64 MB when assembling chunks', async () => {
    const { extra, result } = await measure('chunks', { folder: join(folder, 'chunks') });
    expect(result).toEqual([[{ filename: 'large.bin', version: 0 }], size]);
    expect(extra).toBeLessThan(limit);
  });

  it('stays below 64 MB beyond the base64 text when resolving a link', async () => {
    const { extra, result } = await measure('link', { folder: join(folder, 'link') });
    expect(result).toEqual([Math.ceil(size / 3) * 4]);
    expect(extra).toBeLessThan(limit);
  });
});
