/**
 * Files beside messages: where they are kept, in versions and by owner, the URIs that name them, and the wrapper that
 * puts links in the place of bytes.
 *
 * @module
 */
export { findArtifactUris, type FoundUri } from './find-artifact-uris.ts';
export { filesystemArtifacts, type FilesystemArtifactsOptions } from './stores/filesystem.ts';
export { memoryArtifacts, type MemoryArtifactsOptions } from './stores/memory.ts';
export {
  type ArtifactDetails,
  type ArtifactMetadata,
  companionOf,
  loadMetadata,
  type SavedWithMetadata,
  saveWithMetadata,
} from './artifact-metadata.ts';
export { s3Artifacts, type S3ArtifactsOptions } from './stores/s3.ts';
export type { ArtifactContent, ArtifactKey, ArtifactStore, SavedArtifact, StoredArtifact } from './artifact-store.ts';
export { type ArtifactUri, readArtifactUri, writeArtifactUri } from './artifact-uri.ts';
export { type ArtifactLimits, withArtifacts, type WithArtifactsOptions } from './with-artifacts.ts';
