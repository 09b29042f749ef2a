import type { Command } from 'commander';
import { sleep, systemClock } from '../../../client/abortable-sleep.ts';
import type { AgentCard, OAuthFlow } from '../../../protocol/card.ts';
import { listSchemes } from '../../client/credentials.ts';
import { ClientError } from '../../client/client-error.ts';
import { type ClientSession, withAgent } from '../../client/session.ts';
import { sanitizeForTerminal } from '../../terminal/sanitize.ts';
import {
  requestToken,
  parseTokenResponse,
  tokenRefusedError,
  type TokenResponse,
} from '../../client/token-request.ts';
import { type StoredToken, saveToken, tokenFile } from '../../client/token-store.ts';

/** What `dragoman auth login` is told. */
export interface LoginFlags {
  flow?: 'device-code' | 'client-credentials';
  scheme?: string;
  clientId?: string;
  clientSecret?: string;
  scope?: string;
}

type Grant = { tokenUrl: string; deviceUrl: string | undefined; isClient: boolean; scopes: string[] };

/** Gets a token and keeps it. */
export async function runLoginCommand(command: Command, readFlags: () => LoginFlags): Promise<void> {
  await withAgent(command, async (session) => {
    // The settings may have come from the environment meanwhile.
    const flags = readFlags();
    const { clientId } = flags;
    const grant = await grantFor(session.card, flags);
    if (clientId === undefined)
      throw new ClientError(
        'A2ACLI_ERR_USAGE',
        'there is no client id',
        `Give --client-id or A2ACLI_CLIENT_ID, as ${new URL(grant.tokenUrl).host} knows this client.`,
      );
    const scope = flags.scope ?? grant.scopes.join(' ');
    const asked = { clientId, scope, secret: flags.clientSecret };
    const answer = grant.isClient
      ? await asClientItself(grant, asked)
      : await byDevice(session, grant, asked);
    const token: StoredToken = {
      ...parseTokenResponse(grant.tokenUrl, answer),
      tokenUrl: grant.tokenUrl,
      clientId,
      ...(scope !== '' && { scope }),
      origins: [
        ...new Set(
          session.card.interfaces.flatMap(({ url }) => (URL.canParse(url) ? [new URL(url).origin] : [])),
        ),
      ],
    };
    saveToken(session.agentKey, token);
    const { out } = session;
    const told = { agentCard: session.agentKey, expiresAt: token.expiresAt ?? null, file: tokenFile() };
    if (out.isJson) {
      out.json(told);
      return;
    }
    out.field('Logged in', session.card.name);
    out.field('Agent card', told.agentCard);
    out.field('Expires', token.expiresAt ?? 'nobody said');
    out.field('Stored', told.file);
  });
}

/** Finds the way to a token that the card offers and that was asked for. */
async function grantFor(card: AgentCard, flags: LoginFlags): Promise<Grant> {
  for (const [name, scheme] of listSchemes(card)) {
    if (flags.scheme !== undefined && name !== flags.scheme) continue;
    const scopes = card.securityRequirements?.flatMap((each) => each[name] ?? []) ?? [];
    if (scheme.type === 'oauth2') {
      const { deviceCode, clientCredentials } = scheme.flows;
      const grant = chosen({ deviceCode, clientCredentials }, scopes, flags.flow);
      if (grant) return grant;
    }
    if (scheme.type === 'openIdConnect') return discovered(scheme.openIdConnectUrl, scopes, flags.flow);
  }
  const offers = listSchemes(card).map(([name, { type }]) => `${name} (${type})`);
  throw new ClientError(
    'A2ACLI_ERR_USAGE',
    `there is no such way to log in to ${card.name}`,
    `Its card declares ${offers.join(', ') || 'no security scheme'}; device code and client credentials of OAuth 2 and OpenID Connect are known here.`,
  );
}

function chosen(
  { deviceCode, clientCredentials }: { deviceCode?: OAuthFlow; clientCredentials?: OAuthFlow },
  scopes: string[],
  flow: LoginFlags['flow'],
): Grant | undefined {
  if (
    deviceCode?.tokenUrl !== undefined &&
    deviceCode.deviceAuthorizationUrl !== undefined &&
    flow !== 'client-credentials'
  )
    return {
      tokenUrl: deviceCode.tokenUrl,
      deviceUrl: deviceCode.deviceAuthorizationUrl,
      isClient: false,
      scopes,
    };
  if (clientCredentials?.tokenUrl !== undefined && flow !== 'device-code')
    return { tokenUrl: clientCredentials.tokenUrl, deviceUrl: undefined, isClient: true, scopes };
  return undefined;
}

/** Asks an OpenID provider where things are. */
async function discovered(url: string, scopes: string[], flow: LoginFlags['flow']): Promise<Grant> {
  const { body } = await requestToken(url, undefined);
  const { token_endpoint: tokenUrl, device_authorization_endpoint: deviceAuthorizationUrl } = body;
  const device = typeof deviceAuthorizationUrl === 'string' ? deviceAuthorizationUrl : undefined;
  if (typeof tokenUrl !== 'string')
    throw new ClientError('A2ACLI_ERR_AUTH_FAILED', `${url} names no token endpoint`, undefined);
  const grant = chosen(
    { deviceCode: { tokenUrl, deviceAuthorizationUrl: device }, clientCredentials: { tokenUrl } },
    scopes.includes('openid') ? scopes : ['openid', ...scopes],
    flow,
  );
  if (grant) return grant;
  throw new ClientError(
    'A2ACLI_ERR_USAGE',
    `${new URL(url).host} offers no device code`,
    'Use --flow client-credentials.',
  );
}

interface Asked {
  clientId: string;
  scope: string;
  secret: string | undefined;
}

function asClientItself({ tokenUrl }: Grant, { clientId, scope, secret }: Asked): Promise<TokenResponse> {
  if (secret === undefined)
    throw new ClientError(
      'A2ACLI_ERR_CREDENTIALS_MISSING',
      'there is no client secret',
      'Set A2ACLI_CLIENT_SECRET.',
    );
  const form = { grant_type: 'client_credentials', ...(scope !== '' && { scope }) };
  return requestToken(tokenUrl, form, { id: clientId, secret });
}

/** Lets a person agree elsewhere, and asks until they did. */
async function byDevice(
  session: ClientSession,
  { tokenUrl, deviceUrl = '' }: Grant,
  asked: Asked,
): Promise<TokenResponse> {
  const { clientId, scope } = asked;
  const begun = await requestToken(deviceUrl, { client_id: clientId, ...(scope !== '' && { scope }) });
  const {
    device_code: code,
    user_code: userCode,
    verification_uri: uri,
    verification_uri_complete: whole,
  } = begun.body;
  if (begun.status !== 200 || typeof code !== 'string' || typeof uri !== 'string')
    throw tokenRefusedError(deviceUrl, begun);
  process.stderr.write(
    `Open: ${sanitizeForTerminal(typeof whole === 'string' ? whole : uri, 'line')}\nCode: ${sanitizeForTerminal(String(userCode), 'line')}\n`,
  );
  process.stderr.write('Waiting: until you have agreed there (Ctrl-C gives up)\n');
  // Five seconds is what the standard wants where nothing is said.
  let pause = Math.max(0.1, Number(begun.body.interval ?? 5)) * 1_000;
  const until = Date.now() + Math.min(Number(begun.body.expires_in) || 900, 3_600) * 1_000;
  while (Date.now() < until) {
    await sleep(systemClock, pause, session.call.signal);
    const answer = await requestToken(tokenUrl, {
      grant_type: 'urn:ietf:params:oauth:grant-type:device_code',
      device_code: code,
      client_id: clientId,
    });
    if (answer.body.error === 'slow_down') pause += 5_000;
    else if (answer.body.error !== 'authorization_pending') return answer;
  }
  throw new ClientError(
    'A2ACLI_ERR_AUTH_FAILED',
    'nobody agreed in time',
    `Try again: ${session.command('auth login')}`,
  );
}
