// Runs before each test file. Files share processes, and the system assigns a port to several servers in turn: an endpoint
// that worked for one of them must not be preferred for the next.
import { sharedEndpointCache } from '../../../src/client/discovery/endpoint-cache.ts';
import type { LruMap } from '../../../src/primitives/lru-map.ts';

(sharedEndpointCache as LruMap<string, string>).clear();
