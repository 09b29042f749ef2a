import { resolve } from 'node:path';
import { A2AError } from '../../protocol/errors.ts';
import { describeStore, openTaskStore, type OpenTaskStoreOptions } from '../../store/url/open-task-store.ts';
import { parseStoreUrl, type StoreUrl } from '../../store/url/parse-store-url.ts';
import type { TaskStore } from '../../store/task-store.ts';
import { UsageError } from '../terminal/usage-error.ts';

/** A task store with a description of its location. */
export interface OpenedStore {
  taskStore: TaskStore;
  /** For example `in tasks.db`. */
  location: string;
}

/** Parses the value of `--store`. @throws {@link UsageError} */
export function parseStore(text: string): StoreUrl {
  try {
    return parseStoreUrl(text);
  } catch (thrown) {
    const { message, hint = '' } = A2AError.from(thrown);
    throw new UsageError(message, hint.replace(/^Use /, 'Use --store '), { cause: thrown });
  }
}

/** Checks the value of `--store` and makes its file absolute, because files of a configuration are relative to it. */
export function resolveStore(text: string): string {
  const url = parseStore(text);
  return url.kind === 'sqlite' ? text.replace(url.file, () => resolve(url.file)) : text;
}

/**
 * Opens the task store of `--store`.
 *
 * @throws {@link UsageError} if the value is invalid or the file is in use.
 */
export async function openStore(store: string, options: OpenTaskStoreOptions = {}): Promise<OpenedStore> {
  const url = parseStore(store);
  try {
    return { taskStore: await openTaskStore(url, options), location: describeStore(url) };
  } catch (thrown) {
    if (url.kind !== 'sqlite' || !(thrown instanceof A2AError) || thrown.reason !== 'CONFLICT') throw thrown;
    throw new UsageError(
      thrown.message,
      `${thrown.hint ?? ''} To share the file between processes, use --store sqlite:${url.file}?shared.`.trim(),
    );
  }
}

/**
 * Opens a task store that another process writes to, without taking its lease.
 *
 * @throws {@link UsageError} for a store in memory.
 */
export function openForeignStore(store: string): Promise<OpenedStore> {
  rejectMemory(store);
  return openStore(store, { withoutLease: true });
}

/** Parses the URL of a store of other processes. @throws {@link UsageError} for a store in memory. */
export function rejectMemory(store: string, flag = '--store'): Exclude<StoreUrl, { kind: 'memory' }> {
  const url = parseStore(store);
  if (url.kind !== 'memory') return url;
  throw new UsageError(
    `${flag} memory cannot be read from another process`,
    'Use sqlite:FILE or postgres://… in both processes.',
  );
}
