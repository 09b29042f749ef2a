import { randomUUID } from 'node:crypto';
import { readFileSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { asJsonObject, parseJsonOrUndefined } from '../../primitives/json.ts';

/** Milliseconds between two signs of life of the holder. */
const heartbeat = 10_000;
/** A lock without a sign of life for this time is stale, in milliseconds. */
const staleAfter = 60_000;

/**
 * Exclusive use of a folder by one process: a file `lock` with the process ID, the host and a random key. The holder
 * renews its time. A lock is stale if its process has ended or if it was not renewed for a minute.
 */
export class FolderLock {
  readonly #file: string;
  readonly #content: string;
  readonly #timer: NodeJS.Timeout;

  private constructor(file: string, content: string) {
    this.#file = file;
    this.#content = content;
    this.#timer = setInterval(() => this.isHeld() && touch(file), heartbeat);
    this.#timer.unref();
  }

  /** Takes the lock of an existing folder. @returns undefined if another process holds it */
  static take(folder: string): FolderLock | undefined {
    const file = join(folder, 'lock');
    const content = JSON.stringify({ pid: process.pid, host: hostname(), key: randomUUID() });
    if (!create(file, content)) {
      if (!removeStale(file) || !create(file, content)) return undefined;
    }
    return new FolderLock(file, content);
  }

  /** Returns false if another process took the lock over, for example while this computer was suspended. */
  isHeld(): boolean {
    return readText(this.#file) === this.#content;
  }

  release(): void {
    clearInterval(this.#timer);
    if (this.isHeld()) rmSync(this.#file, { force: true });
  }
}

/** Creates the file. @returns false if it exists */
function create(file: string, content: string): boolean {
  try {
    writeFileSync(file, content, { flag: 'wx', mode: 0o600 });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

/** Removes a stale lock. @returns false if the lock is in use */
function removeStale(file: string): boolean {
  const content = readText(file);
  if (content !== undefined && isInUse(file, content)) return false;
  const moved = `${file}.${randomUUID()}`;
  try {
    renameSync(file, moved);
  } catch {
    // Another process removed it first; it may create its own now.
    return true;
  }
  // Between the check and the move, another process may have replaced the stale lock by its own: that one moves back.
  const isOther = readText(moved) !== content;
  if (isOther) renameSync(moved, file);
  else rmSync(moved, { force: true });
  return !isOther;
}

function isInUse(file: string, content: string): boolean {
  const renewedAt = statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  if (Date.now() - renewedAt > staleAfter) return false;
  const { pid, host } = asJsonObject(parseJsonOrUndefined(content)) ?? {};
  // Process IDs of other hosts have no meaning here.
  return host !== hostname() || typeof pid !== 'number' || isRunning(pid);
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // The process exists and belongs to another user.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

function readText(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}

function touch(file: string): void {
  try {
    utimesSync(file, new Date(), new Date());
  } catch {
    // Removed meanwhile: the next check reports that the lock is lost.
  }
}
