import { dirname, resolve } from 'node:path';
import { filesystemArtifactStore } from '../../artifacts/stores/filesystem.ts';
import { memoryArtifactStore } from '../../artifacts/stores/memory.ts';
import { s3ArtifactStore } from '../../artifacts/stores/s3.ts';
import type { ArtifactStore } from '../../artifacts/artifact-store.ts';
import type { MeshSettings } from '../gateway-settings.ts';

type Artifacts = NonNullable<MeshSettings['artifacts']>;

/** Opens the place where files are kept, as a file says it; paths are seen from that file. */
export function openArtifactStore(given: Artifacts, file: string): ArtifactStore {
  const limit = given.max_bytes === undefined ? {} : { maxBytes: given.max_bytes };
  switch (given.type) {
    case 'memory':
      return memoryArtifactStore(limit);
    case 'filesystem':
      return filesystemArtifactStore(resolve(dirname(file), given.base_path ?? '.'), limit);
    case 's3':
      return s3ArtifactStore({
        endpoint: given.endpoint_url ?? `https://s3.${given.region ?? 'us-east-1'}.amazonaws.com`,
        bucket: given.bucket_name ?? '',
        accessKeyId: given.access_key_id ?? '',
        secretAccessKey: given.secret_access_key ?? '',
        ...(given.region !== undefined && { region: given.region }),
        ...limit,
      });
  }
}

/** Who shares files, in the words of the wrapper. */
export function artifactScope(given: Artifacts): 'namespace' | 'app' | { value: string } | undefined {
  if (given.artifact_scope !== 'custom') return given.artifact_scope;
  return { value: given.artifact_scope_value ?? 'custom' };
}
