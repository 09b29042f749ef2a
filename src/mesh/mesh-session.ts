import type { CallContext } from '../protocol/agent.ts';

/** The conversation on the mesh that a call belongs to, whatever the agent calls it; for whoever keeps its files. */
export function meshSessionId(call: CallContext): string | undefined {
  const session = call.principal?.claims?.session;
  return typeof session === 'string' ? session : undefined;
}
