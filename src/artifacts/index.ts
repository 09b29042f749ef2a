/**
 * Files beside messages: where they are kept, in versions and by owner, the URIs that name them, and the wrapper that
 * puts links in the place of bytes.
 *
 * @module
 */
export { findArtifactUris, type FoundUri } from './find-uris.ts';
export { filesystemArtifacts, type FilesystemArtifactsOptions } from './filesystem.ts';
export { memoryArtifacts, type MemoryArtifactsOptions } from './memory.ts';
export {
  type ArtifactDetails,
  type ArtifactMetadata,
  companionOf,
  loadMetadata,
  type SavedWithMetadata,
  saveWithMetadata,
} from './metadata.ts';
export { s3Artifacts, type S3ArtifactsOptions } from './s3.ts';
export type { ArtifactContent, ArtifactKey, ArtifactStore, SavedArtifact, StoredArtifact } from './store.ts';
export { type ArtifactUri, readArtifactUri, writeArtifactUri } from './uri.ts';
export { type ArtifactLimits, withArtifacts, type WithArtifactsOptions } from './with-artifacts.ts';
