import { A2AError } from '../protocol/errors.ts';
import type { Metadata } from '../protocol/part.ts';
import { mediaTypeFor } from './media-types.ts';
import type { ArtifactContent, ArtifactKey, ArtifactStore, SavedArtifact } from './artifact-store.ts';

/** What is known of a file when it is saved. */
export interface ArtifactDetails {
  /** @defaultValue guessed by the name of the file */
  readonly mimeType?: string;
  readonly description?: string;
  readonly tags?: readonly string[];
  /** Where the file came from, such as `proxied_from_artifact_id`. */
  readonly source?: Metadata;
}

/** What the companion of a file says, with whatever else somebody wrote into it. */
export interface ArtifactMetadata extends Metadata {
  filename: string;
  mime_type: string;
  size_bytes: number;
  /** Seconds since 1970. */
  timestamp_utc: number;
  description?: string;
  tags?: string[];
}

/** What became of a file and its companion. */
export interface SavedWithMetadata extends SavedArtifact {
  /** Why there is no companion, if there is none: the file itself is saved all the same. */
  readonly error?: A2AError;
}

/** The file that tells of another one. */
export function companionFilename(key: ArtifactKey): ArtifactKey {
  return { ...key, filename: `${key.filename}.metadata.json` };
}

/** Saves a file, and beside it, under the same version, what is known of it. */
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
    // A store that cannot choose the number counts in step, unless two save the same file at the same moment.
    if (store.saveAs) await store.saveAs(companionFilename(key), saved.version, bytes, 'application/json');
    else await store.save(companionFilename(key), bytes, 'application/json');
    return saved;
  } catch (thrown) {
    return { ...saved, error: A2AError.from(thrown) };
  }
}

/** Reads what is known of a version of a file, by default the newest. @returns undefined when nothing is */
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
