/**
 * Artifact stores for files in versions, `artifact://` URIs, and middleware that replaces file bytes in messages by such
 * URIs.
 *
 * @module
 */
export { findArtifactUris, type FoundUri } from './find-artifact-uris.ts';
export { filesystemArtifactStore, type FilesystemArtifactStoreOptions } from './stores/filesystem.ts';
export { memoryArtifactStore, type MemoryArtifactStoreOptions } from './stores/memory.ts';
export {
  type ArtifactDetails,
  type ArtifactMetadata,
  companionFilename,
  loadMetadata,
  type SavedWithMetadata,
  saveWithMetadata,
} from './artifact-metadata.ts';
export { s3ArtifactStore, type S3ArtifactStoreOptions } from './stores/s3.ts';
export type {
  ArtifactContent,
  ArtifactKey,
  ArtifactStore,
  SavedArtifact,
  StoredArtifact,
} from './artifact-store.ts';
export { type ArtifactUri, readArtifactUri, writeArtifactUri } from './artifact-uri.ts';
export { type ArtifactLimits, withArtifacts, type WithArtifactsOptions } from './with-artifacts.ts';
