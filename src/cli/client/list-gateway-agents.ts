import type { HttpClient } from '../../client/http/http-client.ts';
import { parseJsonOrUndefined } from '../../primitives/json.ts';

/** Maximum size of the list in bytes, and time limit in milliseconds. */
const limits = { bytes: 1_048_576, time: 5_000 };

/** Names that need no quoting in a URL and on a command line. */
const safeName = /^[\w.~-]{1,100}$/;

/** Lists the agents of a gateway. @returns an empty list if the origin is not a gateway. */
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
      signal: AbortSignal.any([signal, AbortSignal.timeout(limits.time)]),
    });
    const text = await response.text(limits.bytes);
    return response.status === 200 ? readNames(parseJsonOrUndefined(text)) : [];
  } catch {
    // The origin may not be a gateway.
    return [];
  }
}

function readNames(listing: unknown): string[] {
  const { agents } = (listing ?? {}) as { agents?: unknown };
  if (!Array.isArray(agents)) return [];
  return agents.flatMap((each: { name?: unknown } | null) => {
    const name = each?.name;
    return typeof name === 'string' && safeName.test(name) ? [name] : [];
  });
}
