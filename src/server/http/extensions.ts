import type { Agent } from '../../protocol/agent.ts';
import {
  type HttpServerRequest,
  type RequestHeaders,
  singleHeader,
  type HttpServerResponse,
} from './http-message.ts';

/** Returns the extensions that the client requests; undefined without the header. */
export function requestedExtensions(headers: RequestHeaders): readonly string[] | undefined {
  const header = singleHeader(headers, 'a2a-extensions') ?? singleHeader(headers, 'x-a2a-extensions');
  if (header === undefined) return undefined;
  return header
    .split(',')
    .map((uri) => uri.trim())
    .filter((uri) => uri !== '');
}

/** Adds the header with the activated extensions: those that the client requested and the agent supports. */
export async function withActivatedExtensions(
  { headers }: HttpServerRequest,
  response: HttpServerResponse,
  agent: Agent,
): Promise<HttpServerResponse> {
  const requested = requestedExtensions(headers);
  if (!requested || requested.length === 0 || response.status >= 400) return response;
  // The response is sent even if the card of a remote agent is not available.
  const card = await agent.card().catch(() => undefined);
  const supported = new Set(card?.capabilities.extensions?.map(({ uri }) => uri));
  const active = requested.filter((uri) => supported.has(uri));
  if (active.length === 0) return response;
  const name = headers['a2a-extensions'] === undefined ? 'X-A2A-Extensions' : 'A2A-Extensions';
  return { ...response, headers: [...response.headers, name, active.join(', ')] };
}
