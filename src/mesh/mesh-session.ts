import type { CallContext } from '../protocol/agent.ts';

/** Returns the mesh context id of a call, which differs from the context id of the agent; used to store files by session. */
export function meshSessionId(call: CallContext): string | undefined {
  const session = call.principal?.claims?.session;
  return typeof session === 'string' ? session : undefined;
}
