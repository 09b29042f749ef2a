import { s3ArtifactStore } from '../../src/artifacts/stores/s3.ts';
import { startS3 } from '../support/artifacts/s3-server.ts';
import { describeArtifacts, maxBytes } from './artifacts.ts';

describeArtifacts('S3 without conditional writes', async () => {
  const server = await startS3({ isConditional: false });
  return { store: s3ArtifactStore({ ...server, maxBytes }), close: () => server.close() };
});
