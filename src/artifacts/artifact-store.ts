/** Where a file is: who made it, whose it is, in which conversation, and its name. */
export interface ArtifactKey {
  /** The application: on a mesh the name of the agent, or the namespace that agents share. */
  readonly app: string;
  /** Whose file it is. */
  readonly user: string;
  /** The conversation. A file name that begins with `user:` is the same file in every one of them. */
  readonly session: string;
  readonly filename: string;
}

/** What a file consists of: all there, or still arriving. A piece is good until the next one is asked for. */
export type ArtifactContent = Uint8Array | AsyncIterable<Uint8Array>;

/** One version of a file. */
export interface StoredArtifact {
  /** Counted from 0; a version never changes. */
  readonly version: number;
  readonly mimeType: string;
  readonly size: number;
  /** All of it. */
  bytes(): Promise<Uint8Array>;
  /** Piece by piece, for what is large. */
  stream(): AsyncIterable<Uint8Array>;
}

/** What became of a file that was saved. */
export interface SavedArtifact {
  readonly version: number;
  readonly size: number;
}

/**
 * Where files are kept, in versions. Every operation rejects with an `A2AError` and nothing else; a name that could
 * leave its folder is refused, and so is more than the limit of the driver.
 */
export interface ArtifactStore {
  /** Adds a version. Two that save at once get two versions. What fails half way leaves nothing behind. */
  save(key: ArtifactKey, content: ArtifactContent, mimeType: string): Promise<SavedArtifact>;
  /**
   * Adds a version of a certain number, so that what belongs together has the same.
   *
   * @returns false when there is one already, which stays as it is.
   */
  saveAs?(key: ArtifactKey, version: number, content: ArtifactContent, mimeType: string): Promise<boolean>;
  /** @param version - the newest when absent. @returns undefined when there is no such file or version. */
  load(key: ArtifactKey, version?: number): Promise<StoredArtifact | undefined>;
  /** The versions there are, oldest first. */
  versions(key: ArtifactKey): Promise<number[]>;
  /** The names of the files of a conversation, in order, those of every conversation (`user:`) included. */
  list(scope: Omit<ArtifactKey, 'filename'>): Promise<string[]>;
  /** Removes a file with all its versions. Succeeds when there is none. */
  delete(key: ArtifactKey): Promise<void>;
  /** Lets go of what the driver holds. */
  close?(): Promise<void>;
}
