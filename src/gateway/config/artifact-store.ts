import { dirname, resolve } from 'node:path';
import { filesystemArtifactStore } from '../../artifacts/stores/filesystem.ts';
import { memoryArtifactStore } from '../../artifacts/stores/memory.ts';
import { s3ArtifactStore } from '../../artifacts/stores/s3.ts';
import type { ArtifactStore } from '../../artifacts/artifact-store.ts';
import type { MeshSettings } from '../gateway-settings.ts';

type ArtifactsConfig = NonNullable<MeshSettings['artifacts']>;

/** Opens the configured artifact store. Relative paths are resolved against `file`. */
export function openArtifactStore(config: ArtifactsConfig, file: string): ArtifactStore {
  const limit = config.max_bytes === undefined ? {} : { maxBytes: config.max_bytes };
  switch (config.type) {
    case 'memory':
      return memoryArtifactStore(limit);
    case 'filesystem':
      return filesystemArtifactStore(resolve(dirname(file), config.base_path ?? '.'), limit);
    case 's3':
      return s3ArtifactStore({
        endpoint: config.endpoint_url ?? `https://s3.${config.region ?? 'us-east-1'}.amazonaws.com`,
        bucket: config.bucket_name ?? '',
        accessKeyId: config.access_key_id ?? '',
        secretAccessKey: config.secret_access_key ?? '',
        ...(config.region !== undefined && { region: config.region }),
        ...limit,
      });
  }
}

/** Returns the `scope` option of `withArtifacts`. */
export function artifactScope(config: ArtifactsConfig): 'namespace' | 'app' | { value: string } | undefined {
  if (config.artifact_scope !== 'custom') return config.artifact_scope;
  return { value: config.artifact_scope_value ?? 'custom' };
}
