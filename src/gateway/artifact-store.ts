import { dirname, resolve } from 'node:path';
import { filesystemArtifacts } from '../artifacts/filesystem.ts';
import { memoryArtifacts } from '../artifacts/memory.ts';
import type { ArtifactStore } from '../artifacts/store.ts';
import { A2AError } from '../protocol/errors.ts';
import type { MeshSettings } from './settings.ts';

type Artifacts = NonNullable<MeshSettings['artifacts']>;

/** Opens the place where files are kept, as a file says it; paths are seen from that file. */
export function openArtifacts(given: Artifacts, file: string): ArtifactStore {
  const limit = given.max_bytes === undefined ? {} : { maxBytes: given.max_bytes };
  switch (given.type) {
    case 'memory':
      return memoryArtifacts(limit);
    case 'filesystem':
      return filesystemArtifacts(resolve(dirname(file), given.base_path ?? '.'), limit);
    case 's3':
      throw new A2AError('UNSUPPORTED_OPERATION', 'There is no S3 here yet');
  }
}

/** Who shares files, in the words of the wrapper. */
export function scopeOf(given: Artifacts): 'namespace' | 'app' | { value: string } | undefined {
  if (given.artifact_scope !== 'custom') return given.artifact_scope;
  return { value: given.artifact_scope_value ?? 'custom' };
}
