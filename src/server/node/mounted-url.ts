import type { IncomingMessage } from 'node:http';
import { stripTrailing } from '../../primitives/text.ts';

/** A request that a framework may have changed before it reached the handler. */
export interface MountedMessage extends IncomingMessage {
  /** Requested URL, if the framework removed a prefix from `url`. */
  originalUrl?: string;
  /** Body that a body parser has read. */
  body?: unknown;
  /** Body that a body parser has read, before it was parsed. */
  rawBody?: unknown;
}

/** Path of a request below the path at which a framework mounted the handler. */
interface MountedUrl {
  readonly path: string;
  readonly mountPath: string;
}

/** Splits the requested URL, if a framework removed a prefix from it. The base path may be a part of that prefix. */
export function resolveMountedUrl(path: string, originalUrl: string, basePath: string): MountedUrl {
  const original = pathOf(originalUrl);
  if (basePath !== '' && isPathBelow(original, basePath)) return { path: original, mountPath: '' };
  if (original.endsWith(path)) return { path, mountPath: original.slice(0, -path.length) };
  // Frameworks replace an empty rest by a slash.
  return { path, mountPath: path === '/' ? stripTrailing(original, '/') : '' };
}

/** Returns true if a request is addressed to a handler with this base path. */
export function isAddressedTo({ url = '/', originalUrl = url }: MountedMessage, basePath: string): boolean {
  return isPathBelow(pathOf(originalUrl), basePath) || isPathBelow(pathOf(url), basePath);
}

function isPathBelow(path: string, basePath: string): boolean {
  return path.startsWith(basePath) && (path.length === basePath.length || path[basePath.length] === '/');
}

function pathOf(url: string): string {
  const queryStart = url.indexOf('?');
  return queryStart < 0 ? url : url.slice(0, queryStart);
}
