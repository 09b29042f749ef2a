import { createHash } from 'node:crypto';
import { extname, resolve } from 'node:path';
import type { StoreUrl } from './parse-store-url.ts';

/**
 * Returns the store of one of several agents that are configured with one URL: a file or a schema of its own, because
 * agents do not share tasks.
 */
export function storeOfAgent(url: StoreUrl, agentName: string): StoreUrl {
  if (url.kind === 'memory') return url;
  if (url.kind === 'postgres')
    return { ...url, schema: `${url.schema ?? 'dragoman'}_${toIdentifier(agentName)}` };
  const extension = extname(url.file);
  const stem = extension === '' ? url.file : url.file.slice(0, -extension.length);
  return { ...url, file: `${stem}-${agentName}${extension}` };
}

/** Resolves the file of a store against a folder. */
export function resolveStoreFile(url: StoreUrl, folder: string): StoreUrl {
  return url.kind === 'sqlite' ? { ...url, file: resolve(folder, url.file) } : url;
}

/** Returns a part of a schema name. A hash keeps names apart that differ in other characters only. */
function toIdentifier(name: string): string {
  const identifier = name.toLowerCase().replaceAll(/[^a-z0-9_]/g, '_');
  if (identifier === name && name.length <= 24) return identifier;
  return `${identifier.slice(0, 15)}_${createHash('sha256').update(name).digest('hex').slice(0, 8)}`;
}
