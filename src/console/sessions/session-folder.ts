import { randomUUID } from 'node:crypto';
import { readdirSync, rmSync } from 'node:fs';
import { appendFile, chmod, open, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createFolder } from '../../primitives/node/create-folder.ts';
import type { LogSink } from '../../primitives/log.ts';
import { Redactor } from '../../primitives/redaction/redaction.ts';
import { FolderLock } from './folder-lock.ts';

/** Maximum number of consoles that keep their sessions at the same time. */
const maxConsoles = 32;

/** A file of a {@link SessionFolder}. */
export interface SessionFile {
  /** Path relative to the folder, with forward slashes. */
  readonly path: string;
  readonly size: number;
  /** Last change in milliseconds since 1970. */
  readonly changedAt: number;
}

/**
 * Files of one console, in a subfolder of its own (`1`, `2` …): the first one that no other running console uses. Files
 * have mode 0600 and are replaced atomically. Without a folder nothing is kept, and all methods do nothing.
 */
export class SessionFolder {
  /** Secrets that must not be written. */
  readonly redactor = new Redactor();
  /** What could not be read or written, in words for the user. */
  readonly notes: string[] = [];
  readonly #log: LogSink | undefined;
  #path: string | undefined;
  #lock: FolderLock | undefined;

  private constructor(log: LogSink | undefined) {
    this.#log = log;
  }

  /** @param root - folder of all consoles; undefined keeps nothing */
  static open(root: string | undefined, log?: LogSink): SessionFolder {
    const folder = new SessionFolder(log);
    if (root !== undefined) folder.#claim(root);
    return folder;
  }

  /** The folder; undefined if nothing is kept. */
  get path(): string | undefined {
    return this.#path;
  }

  #claim(root: string): void {
    try {
      for (let number = 1; number <= maxConsoles; number++) {
        const path = join(root, String(number));
        createFolder(path, 0o700);
        const lock = FolderLock.take(path);
        if (!lock) continue;
        this.#path = path;
        this.#lock = lock;
        removeLeftovers(path);
        return;
      }
      this.note(`Conversations and recordings are not kept: ${maxConsoles} consoles use ${root}.`);
    } catch (error) {
      this.note(`Conversations and recordings are not kept: ${describe(error)}.`);
    }
  }

  /** Lists the files of a subfolder, oldest change first. */
  async list(subfolder: string): Promise<SessionFile[]> {
    if (this.#path === undefined) return [];
    const names = await readdir(join(this.#path, subfolder)).catch(() => []);
    const files: SessionFile[] = [];
    for (const name of names) {
      const path = `${subfolder}/${name}`;
      const stats = await stat(join(this.#path, path)).catch(() => undefined);
      if (!stats?.isFile()) continue;
      if (!name.endsWith(temporaryEnding)) files.push({ path, size: stats.size, changedAt: stats.mtimeMs });
    }
    return files.sort((a, b) => a.changedAt - b.changedAt);
  }

  /** Returns the content of a file; undefined if it does not exist, or with a note if it cannot be read. */
  async read(path: string, maxBytes: number): Promise<string | undefined> {
    if (this.#path === undefined) return undefined;
    try {
      const { size } = await stat(join(this.#path, path));
      if (size <= maxBytes) return await readFile(join(this.#path, path), 'utf8');
      this.note(`${path} is not shown: it has ${size} bytes, and the limit is ${maxBytes}.`);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT')
        this.note(`${path} cannot be read: ${describe(error)}.`);
    }
    return undefined;
  }

  /** Returns the beginning of a file. */
  async readStart(path: string, bytes: number): Promise<string> {
    if (this.#path === undefined) return '';
    const file = await open(join(this.#path, path)).catch(() => undefined);
    if (!file) return '';
    try {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(bytes), 0, bytes, 0);
      return buffer.toString('utf8', 0, bytesRead);
    } finally {
      await file.close();
    }
  }

  /** Reports a file whose content is damaged; the file is kept. */
  reportDamage(path: string, reason: string): void {
    this.note(`${path} is damaged and not shown: ${reason}. Delete the file to remove this message.`);
  }

  /** Replaces a file atomically. @returns false if it was not written */
  async write(path: string, text: string): Promise<boolean> {
    return this.#change(path, async (file) => {
      const temporary = `${file}.${randomUUID()}${temporaryEnding}`;
      try {
        await writeFile(temporary, text, { mode: 0o600 });
        await rename(temporary, file);
      } catch (error) {
        await rm(temporary, { force: true });
        throw error;
      }
    });
  }

  /** Appends to a file, which is created if it does not exist. @returns false if it was not written */
  async append(path: string, text: string): Promise<boolean> {
    return this.#change(path, async (file) => {
      await appendFile(file, text, { mode: 0o600 });
      await chmod(file, 0o600);
    });
  }

  async remove(path: string): Promise<void> {
    if (this.#path !== undefined && this.#isHeld()) await rm(join(this.#path, path), { force: true });
  }

  /** Lets other consoles use the folder. */
  close(): void {
    this.#lock?.release();
    this.#lock = undefined;
    this.#path = undefined;
  }

  async #change(path: string, work: (file: string) => Promise<void>): Promise<boolean> {
    if (this.#path === undefined || !this.#isHeld()) return false;
    const file = join(this.#path, path);
    try {
      createFolder(join(file, '..'), 0o700);
      await work(file);
      return true;
    } catch (error) {
      this.note(`${path} cannot be written: ${describe(error)}.`);
      return false;
    }
  }

  #isHeld(): boolean {
    if (this.#lock?.isHeld()) return true;
    if (this.#lock) this.note('Nothing more is kept: another console uses the folder of this one.');
    this.#lock = undefined;
    this.#path = undefined;
    return false;
  }

  /** Tells the user what is not kept or not shown. */
  note(text: string): void {
    if (this.notes.includes(text)) return;
    if (this.notes.length >= maxNotes) this.notes.shift();
    this.notes.push(text);
    this.#log?.({ level: 'warn', message: text });
  }
}

const temporaryEnding = '.tmp';
const maxNotes = 20;

/** Removes files that a console wrote when it was killed. */
function removeLeftovers(folder: string): void {
  for (const entry of readdirSync(folder, { withFileTypes: true, recursive: true }))
    if (entry.isFile() && entry.name.endsWith(temporaryEnding))
      rmSync(join(entry.parentPath, entry.name), { force: true });
}

/** Describes an error of the system: `EACCES: permission denied, mkdir '/home/ann/x'`. */
function describe(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
