import type { Command } from 'commander';
import type { ClientFlags } from '../../client/flags.ts';
import { ClientOutput } from '../../client/output.ts';
import { runClientCommand, withAgent } from '../../client/session.ts';
import { deleteToken, loadTokens, type StoredToken, tokenFile } from '../../client/token-store.ts';

/** Runs `dragoman auth status`: lists the stored tokens without their values. */
export async function runStatusCommand(command: Command): Promise<void> {
  await runClientCommand(command, async ({ flags }) => {
    const tokens = Object.entries(loadTokens());
    const out = new ClientOutput(flags);
    if (out.isJson) {
      out.json({ file: tokenFile(), tokens: tokens.map(([agent, token]) => describeToken(agent, token)) });
      return;
    }
    out.field('File', tokenFile());
    if (tokens.length === 0) out.field('Tokens', 'none');
    for (const [agent, token] of tokens) {
      const { expiresAt, isExpired, isRenewable, origins } = describeToken(agent, token);
      out.field('Agent card', agent);
      out.field('Expires', `${expiresAt ?? 'unknown'}${isExpired ? ' (expired)' : ''}`);
      out.field('Renewed', isRenewable ? 'automatically' : 'no');
      out.field('Sent to', origins.join(', '));
    }
  });
}

function describeToken(agentCard: string, { expiresAt, refreshToken, scope, origins }: StoredToken) {
  return {
    agentCard,
    expiresAt: expiresAt ?? null,
    isExpired: expiresAt !== undefined && Date.parse(expiresAt) <= Date.now(),
    isRenewable: refreshToken !== undefined,
    scope: scope ?? null,
    origins,
  };
}

/** Runs `dragoman auth logout`: deletes the token of an agent, or all. */
export async function runLogoutCommand(command: Command, isAll: boolean): Promise<void> {
  if (isAll) {
    await runClientCommand(command, async ({ flags }) => {
      const agents = Object.keys(loadTokens());
      for (const agent of agents) deleteToken(agent);
      printDeleted(flags, agents);
    });
    return;
  }
  await withAgent(command, async ({ agentKey, flags }) =>
    printDeleted(flags, deleteToken(agentKey) ? [agentKey] : []),
  );
}

function printDeleted(flags: ClientFlags, agents: readonly string[]): void {
  const out = new ClientOutput(flags);
  if (out.isJson) out.json({ file: tokenFile(), deleted: agents });
  else out.field('Logged out', agents.length === 0 ? 'there was no token' : agents.join(', '));
}
