import type { Command } from 'commander';
import { findLoginGrant, type LoginFlow } from '../../../client/oauth/login-grant.ts';
import { logIn, type LoginPrompt } from '../../../client/oauth/log-in.ts';
import { ClientError } from '../../client/client-error.ts';
import { withAgent } from '../../client/session.ts';
import { type StoredToken, saveToken, tokenFile } from '../../client/token-store.ts';
import { openInBrowser } from '../../process/open-in-browser.ts';
import { sanitizeForTerminal } from '../../terminal/sanitize.ts';
import { UsageError } from '../../terminal/usage-error.ts';
import { parseUrl } from '../../../primitives/web/parse-url.ts';

/** Flags of `dragoman auth login`. */
export interface LoginFlags {
  flow?: LoginFlow;
  scheme?: string;
  clientId?: string;
  clientSecret?: string;
  scope?: string;
  open: boolean;
}

/** Runs `dragoman auth login`: requests a token and stores it. */
export async function runLoginCommand(command: Command, readFlags: () => LoginFlags): Promise<void> {
  await withAgent(command, async (session) => {
    // Read only now: settings of the environment are applied after parsing.
    const { flow, scheme, clientId, clientSecret, scope, open } = readFlags();
    const { card, call, agentKey, out } = session;
    const choice = { ...(flow !== undefined && { flow }), ...(scheme !== undefined && { scheme }) };
    const grant = await findLoginGrant(card, choice);
    if (
      clientId === undefined &&
      (grant.registrationUrl === undefined || grant.flow === 'client-credentials')
    )
      throw new UsageError(
        'Missing client ID',
        `Pass --client-id or A2ACLI_CLIENT_ID with the client ID registered at ${new URL(grant.tokenUrl).host}.`,
      );
    if (grant.flow === 'client-credentials' && clientSecret === undefined)
      throw new ClientError(
        'A2ACLI_ERR_CREDENTIALS_MISSING',
        'Missing client secret',
        'Set A2ACLI_CLIENT_SECRET.',
      );
    const token: StoredToken = {
      ...(await logIn(grant, {
        clientId,
        clientSecret,
        scope,
        signal: call.signal,
        prompt: (prompt) => showPrompt(prompt, open),
      })),
      origins: [...new Set(card.interfaces.flatMap(({ url }) => parseUrl(url)?.origin ?? []))],
    };
    saveToken(agentKey, token);
    const result = { agentCard: agentKey, expiresAt: token.expiresAt ?? null, file: tokenFile() };
    if (out.isJson) {
      out.json(result);
      return;
    }
    out.field('Logged in', card.name);
    out.field('Agent card', result.agentCard);
    out.field('Expires', token.expiresAt ?? 'unknown');
    out.field('Stored', result.file);
  });
}

function showPrompt({ url, userCode }: LoginPrompt, mayOpen: boolean): void {
  const line = (name: string, text: string) => `${name}: ${sanitizeForTerminal(text, 'line')}\n`;
  process.stderr.write(line('Open', url) + (userCode === undefined ? '' : line('Code', userCode)));
  process.stderr.write('Waiting for your approval (Ctrl-C cancels)\n');
  if (mayOpen) openInBrowser(url);
}
