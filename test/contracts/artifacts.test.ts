import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { filesystemArtifacts } from '../../src/artifacts/stores/filesystem.ts';
import { memoryArtifacts } from '../../src/artifacts/stores/memory.ts';
import { s3Artifacts } from '../../src/artifacts/stores/s3.ts';
import { startS3 } from '../support/artifacts/s3-server.ts';
import { describeArtifacts, maxBytes } from './artifacts.ts';

describeArtifacts('memory', async () => ({ store: memoryArtifacts({ maxBytes }) }));

describeArtifacts('a folder', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'dragoman-artifacts-'));
  return {
    store: filesystemArtifacts(folder, { maxBytes }),
    other: filesystemArtifacts(folder, { maxBytes }),
    close: async () => rmSync(folder, { recursive: true, force: true }),
  };
});

describeArtifacts('a bucket', async () => {
  const server = await startS3();
  return {
    store: s3Artifacts({ ...server, maxBytes }),
    other: s3Artifacts({ ...server, maxBytes }),
    close: () => server.close(),
  };
});

describeArtifacts('a bucket of a service that lets writers replace each other', async () => {
  const server = await startS3({ isConditional: false });
  return { store: s3Artifacts({ ...server, maxBytes }), close: () => server.close() };
});
