import type { Agent } from '../../protocol/agent.ts';
import { type Exchange, type Headers, headerOf, type Reply } from './http-message.ts';

/** Reads the extensions that a caller asks for, if it says. */
export function readExtensions(headers: Headers): readonly string[] | undefined {
  const listed = headerOf(headers, 'a2a-extensions') ?? headerOf(headers, 'x-a2a-extensions');
  if (listed === undefined) return undefined;
  return listed
    .split(',')
    .map((uri) => uri.trim())
    .filter((uri) => uri !== '');
}

/** Tells a caller that asked for extensions which of them the agent has, in the header that it asked with. */
export async function withExtensions({ headers }: Exchange, reply: Reply, agent: Agent): Promise<Reply> {
  const asked = readExtensions(headers);
  if (!asked || asked.length === 0 || reply.status >= 400) return reply;
  // An agent somewhere else may fail to tell; the answer is there all the same.
  const card = await agent.card().catch(() => undefined);
  const known = new Set(card?.capabilities.extensions?.map(({ uri }) => uri));
  const active = asked.filter((uri) => known.has(uri));
  if (active.length === 0) return reply;
  const name = headers['a2a-extensions'] === undefined ? 'X-A2A-Extensions' : 'A2A-Extensions';
  return { ...reply, headers: [...reply.headers, name, active.join(', ')] };
}
