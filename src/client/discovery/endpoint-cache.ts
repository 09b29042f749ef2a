/** Remembers which way of speaking worked where, so that a card that lies costs one detour and not one per connection. */
export interface EndpointCache {
  get(place: string): string | undefined;
  set(place: string, endpoint: string): void;
}

/** Makes a memory for at most `size` places; the oldest is forgotten first. */
export function createEndpointCache(size = 512): EndpointCache {
  const known = new Map<string, string>();
  return {
    get: (place) => known.get(place),
    set(place, endpoint) {
      known.delete(place);
      known.set(place, endpoint);
      if (known.size <= size) return;
      for (const oldest of known.keys()) {
        known.delete(oldest);
        break;
      }
    },
  };
}

/** The memory of this process. */
export const sharedEndpointCache: EndpointCache = createEndpointCache();
