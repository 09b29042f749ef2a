import { A2AError } from '../protocol/errors.ts';
import type { Metadata } from '../protocol/part.ts';
import { mediaTypeFor } from './media-types.ts';
import type { ArtifactContent, ArtifactKey, ArtifactStore, SavedArtifact } from './artifact-store.ts';

/** Metadata of a file to save. */
export interface ArtifactDetails {
  /** @defaultValue derived from the file extension */
  readonly mimeType?: string;
  readonly description?: string;
  readonly tags?: readonly string[];
  /** Origin of the file, such as `proxied_from_artifact_id`. */
  readonly source?: Metadata;
}

/** Content of the metadata file of an artifact. May contain further fields. */
export interface ArtifactMetadata extends Metadata {
  filename: string;
  mime_type: string;
  size_bytes: number;
  /** Seconds since 1970. */
  timestamp_utc: number;
  description?: string;
  tags?: string[];
}

/** Result of {@link saveWithMetadata}. */
export interface SavedWithMetadata extends SavedArtifact {
  /** Error if the metadata file could not be saved. The file itself is saved. */
  readonly error?: A2AError;
}

/** Returns the key of the metadata file of an artifact. */
export function companionFilename(key: ArtifactKey): ArtifactKey {
  return { ...key, filename: `${key.filename}.metadata.json` };
}

/** Saves a file and its metadata file under the same version. */
export async function saveWithMetadata(
  store: ArtifactStore,
  key: ArtifactKey,
  content: ArtifactContent,
  details: ArtifactDetails = {},
  now: () => number = Date.now,
): Promise<SavedWithMetadata> {
  const mimeType = details.mimeType ?? mediaTypeFor(key.filename);
  const saved = await store.save(key, content, mimeType);
  const metadata: ArtifactMetadata = {
    ...details.source,
    filename: key.filename,
    mime_type: mimeType,
    size_bytes: saved.size,
    timestamp_utc: now() / 1000,
  };
  if (details.description !== undefined) metadata.description = details.description;
  if (details.tags?.length) metadata.tags = [...details.tags];
  const bytes = Buffer.from(JSON.stringify(metadata));
  try {
    // Without saveAs the versions match unless two clients save the same file concurrently.
    if (store.saveAs) await store.saveAs(companionFilename(key), saved.version, bytes, 'application/json');
    else await store.save(companionFilename(key), bytes, 'application/json');
    return saved;
  } catch (thrown) {
    return { ...saved, error: A2AError.from(thrown) };
  }
}

/** Reads the metadata of a version, by default the newest. @returns undefined if there is no valid metadata */
export async function loadMetadata(
  store: ArtifactStore,
  key: ArtifactKey,
  version?: number,
): Promise<ArtifactMetadata | undefined> {
  const found = await store.load(companionFilename(key), version);
  if (!found) return undefined;
  try {
    const value: unknown = JSON.parse(Buffer.from(await found.bytes()).toString());
    return typeof value === 'object' && value !== null ? (value as ArtifactMetadata) : undefined;
  } catch (thrown) {
    if (thrown instanceof A2AError) throw thrown;
    return undefined;
  }
}
