import type { Agent } from '../../protocol/agent.ts';
import {
  type HttpServerRequest,
  type RequestHeaders,
  singleHeader,
  type HttpServerResponse,
} from './http-message.ts';

/** Reads the extensions that a caller asks for, if it says. */
export function requestedExtensions(headers: RequestHeaders): readonly string[] | undefined {
  const listed = singleHeader(headers, 'a2a-extensions') ?? singleHeader(headers, 'x-a2a-extensions');
  if (listed === undefined) return undefined;
  return listed
    .split(',')
    .map((uri) => uri.trim())
    .filter((uri) => uri !== '');
}

/** Tells a caller that asked for extensions which of them the agent has, in the header that it asked with. */
export async function withActivatedExtensions(
  { headers }: HttpServerRequest,
  reply: HttpServerResponse,
  agent: Agent,
): Promise<HttpServerResponse> {
  const asked = requestedExtensions(headers);
  if (!asked || asked.length === 0 || reply.status >= 400) return reply;
  // An agent somewhere else may fail to tell; the answer is there all the same.
  const card = await agent.card().catch(() => undefined);
  const known = new Set(card?.capabilities.extensions?.map(({ uri }) => uri));
  const active = asked.filter((uri) => known.has(uri));
  if (active.length === 0) return reply;
  const name = headers['a2a-extensions'] === undefined ? 'X-A2A-Extensions' : 'A2A-Extensions';
  return { ...reply, headers: [...reply.headers, name, active.join(', ')] };
}
