import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { filesystemArtifactStore } from '../../src/artifacts/stores/filesystem.ts';
import { memoryArtifactStore } from '../../src/artifacts/stores/memory.ts';
import { s3ArtifactStore } from '../../src/artifacts/stores/s3.ts';
import { startS3 } from '../support/artifacts/s3-server.ts';
import { describeArtifacts, maxBytes } from './artifacts.ts';

describeArtifacts('memory', async () => ({ store: memoryArtifactStore({ maxBytes }) }));

describeArtifacts('filesystem', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'dragoman-artifacts-'));
  return {
    store: filesystemArtifactStore(folder, { maxBytes }),
    other: filesystemArtifactStore(folder, { maxBytes }),
    close: async () => rmSync(folder, { recursive: true, force: true }),
  };
});

describeArtifacts('S3', async () => {
  const server = await startS3();
  return {
    store: s3ArtifactStore({ ...server, maxBytes }),
    other: s3ArtifactStore({ ...server, maxBytes }),
    close: () => server.close(),
  };
});
