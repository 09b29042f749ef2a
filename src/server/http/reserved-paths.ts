/** First path segments that belong to the server. They cannot be a tenant. */
const reservedSegments: ReadonlySet<string> = new Set([
  '.',
  '..',
  '.well-known',
  '__admin',
  'extendedAgentCard',
  'healthz',
  'message:send',
  'message:stream',
  'metrics',
  'readyz',
  'subscribe',
  'tasks',
]);

/** Paths below which only the server itself has routes: health checks, metrics and well-known documents. */
const serverPath = /^\/(?:\.well-known|healthz|readyz|metrics|__admin)(?:\/|$)/;

/** Returns true for a path segment that cannot be a tenant. */
export function isReservedSegment(segment: string): boolean {
  return reservedSegments.has(segment);
}

/** Returns true for a path on which no operation of the agent is available, with any method. */
export function isServerPath(path: string): boolean {
  return serverPath.test(path);
}
