import { LruMap } from '../../primitives/lru-map.ts';

/** Caches the endpoint that worked for each agent, so that a wrong card costs one failed attempt instead of one per connection. */
export interface EndpointCache {
  get(agent: string): string | undefined;
  set(agent: string, endpoint: string): void;
}

/** Creates an endpoint cache that evicts the least recently used of at most `maxEntries` agents. */
export function createEndpointCache(maxEntries = 512): EndpointCache {
  return new LruMap<string, string>({ maxEntries });
}

/** Endpoint cache of this process. */
export const sharedEndpointCache: EndpointCache = createEndpointCache();
