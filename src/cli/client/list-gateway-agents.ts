import type { HttpClient } from '../../client/http/http-client.ts';
import { parseJsonOrUndefined } from '../../primitives/json.ts';

/** How long a listing may be, in bytes, and how long it may take, in milliseconds. */
const bounds = { bytes: 1_048_576, time: 5_000 };

/** A name that can stand in an address, and on a command line, as it is. */
const plainName = /^[\w.~-]{1,100}$/;

/** Asks an origin for the names of the agents there, as gateways tell them. @returns none where it is no gateway. */
export async function listGatewayAgents(
  http: HttpClient,
  origin: string,
  signal: AbortSignal,
): Promise<string[]> {
  try {
    const response = await http.request({
      method: 'GET',
      origin,
      path: '/agents',
      headers: { accept: 'application/json', 'user-agent': 'dragoman' },
      signal: AbortSignal.any([signal, AbortSignal.timeout(bounds.time)]),
    });
    const text = await response.text(bounds.bytes);
    return response.status === 200 ? namesIn(parseJsonOrUndefined(text)) : [];
  } catch {
    // It was only a guess that there is a gateway.
    return [];
  }
}

function namesIn(listing: unknown): string[] {
  const { agents } = (listing ?? {}) as { agents?: unknown };
  if (!Array.isArray(agents)) return [];
  return agents.flatMap((each: { name?: unknown } | null) => {
    const name = each?.name;
    return typeof name === 'string' && plainName.test(name) ? [name] : [];
  });
}
