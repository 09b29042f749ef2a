/** Key of a file: application, user, session and filename. */
export interface ArtifactKey {
  /** Application; on a mesh the name of the agent, or the namespace that agents share. */
  readonly app: string;
  /** User who owns the file. */
  readonly user: string;
  /** Session. Files whose name starts with `user:` are shared by all sessions of the user. */
  readonly session: string;
  readonly filename: string;
}

/** Content of a file, complete or as a stream. A chunk is valid only until the next one is requested. */
export type ArtifactContent = Uint8Array | AsyncIterable<Uint8Array>;

/** One version of a file. */
export interface StoredArtifact {
  /** Starts at 0. Versions are immutable. */
  readonly version: number;
  readonly mimeType: string;
  readonly size: number;
  /** Reads the complete content. */
  bytes(): Promise<Uint8Array>;
  /** Reads the content in chunks, for large files. */
  stream(): AsyncIterable<Uint8Array>;
}

/** Result of {@link ArtifactStore.save}. */
export interface SavedArtifact {
  readonly version: number;
  readonly size: number;
}

/**
 * Stores files in versions. Every operation rejects only with `A2AError`, also for names that contain path segments and
 * for content beyond the limit of the driver.
 */
export interface ArtifactStore {
  /** Adds a version. Concurrent saves get different versions. A failed save leaves no partial file. */
  save(key: ArtifactKey, content: ArtifactContent, mimeType: string): Promise<SavedArtifact>;
  /**
   * Adds a version with a given number, so that related files have the same version.
   *
   * @returns false if the version exists; it is not changed.
   */
  saveAs?(key: ArtifactKey, version: number, content: ArtifactContent, mimeType: string): Promise<boolean>;
  /** @param version - default: the newest. @returns undefined if the file or version does not exist. */
  load(key: ArtifactKey, version?: number): Promise<StoredArtifact | undefined>;
  /** Returns the existing versions, oldest first. */
  versions(key: ArtifactKey): Promise<number[]>;
  /** Returns the sorted filenames of a session, including the files of all sessions (`user:`). */
  list(scope: Omit<ArtifactKey, 'filename'>): Promise<string[]>;
  /** Deletes all versions of a file. Idempotent. */
  delete(key: ArtifactKey): Promise<void>;
  /** Releases the resources of the driver. */
  close?(): Promise<void>;
}
