import { sleep, systemClock } from '../../../primitives/clock.ts';
import { canceledError } from '../../../protocol/errors.ts';
import type { Command } from 'commander';
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
import { UsageError } from '../../terminal/usage-error.ts';

/** Flags of `dragoman auth login`. */
export interface LoginFlags {
  flow?: 'device-code' | 'client-credentials';
  scheme?: string;
  clientId?: string;
  clientSecret?: string;
  scope?: string;
}

/** An OAuth 2 grant that the card offers; `deviceUrl` is undefined for client credentials. */
interface Grant {
  tokenUrl: string;
  deviceUrl: string | undefined;
  scopes: string[];
}

/** Runs `dragoman auth login`: requests a token and stores it. */
export async function runLoginCommand(command: Command, readFlags: () => LoginFlags): Promise<void> {
  await withAgent(command, async (session) => {
    // Read only now: settings of the environment are applied after parsing.
    const flags = readFlags();
    const { clientId } = flags;
    const grant = await findGrant(session.card, flags);
    if (clientId === undefined)
      throw new UsageError(
        'Missing client ID',
        `Pass --client-id or A2ACLI_CLIENT_ID with the client ID registered at ${new URL(grant.tokenUrl).host}.`,
      );
    const scope = flags.scope ?? grant.scopes.join(' ');
    const request = { clientId, scope, secret: flags.clientSecret };
    const response =
      grant.deviceUrl === undefined
        ? await requestClientToken(grant, request)
        : await requestDeviceToken(session, grant, request);
    const token: StoredToken = {
      ...parseTokenResponse(grant.tokenUrl, response),
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
    const result = { agentCard: session.agentKey, expiresAt: token.expiresAt ?? null, file: tokenFile() };
    if (out.isJson) {
      out.json(result);
      return;
    }
    out.field('Logged in', session.card.name);
    out.field('Agent card', result.agentCard);
    out.field('Expires', token.expiresAt ?? 'unknown');
    out.field('Stored', result.file);
  });
}

/** Selects the first grant of the card that matches the flags. */
async function findGrant(card: AgentCard, flags: LoginFlags): Promise<Grant> {
  for (const [name, scheme] of listSchemes(card)) {
    if (flags.scheme !== undefined && name !== flags.scheme) continue;
    const scopes = card.securityRequirements?.flatMap((each) => each[name] ?? []) ?? [];
    if (scheme.type === 'oauth2') {
      const { deviceCode, clientCredentials } = scheme.flows;
      const grant = selectGrant({ deviceCode, clientCredentials }, scopes, flags.flow);
      if (grant) return grant;
    }
    if (scheme.type === 'openIdConnect') return discoverGrant(scheme.openIdConnectUrl, scopes, flags.flow);
  }
  const offers = listSchemes(card).map(([name, { type }]) => `${name} (${type})`);
  throw new UsageError(
    `No supported login flow for ${card.name}`,
    `Its card declares ${offers.join(', ') || 'no security scheme'}; supported are the device code and client credentials flows of OAuth 2 and OpenID Connect.`,
  );
}

function selectGrant(
  { deviceCode, clientCredentials }: { deviceCode?: OAuthFlow; clientCredentials?: OAuthFlow },
  scopes: string[],
  flow: LoginFlags['flow'],
): Grant | undefined {
  if (
    deviceCode?.tokenUrl !== undefined &&
    deviceCode.deviceAuthorizationUrl !== undefined &&
    flow !== 'client-credentials'
  )
    return { tokenUrl: deviceCode.tokenUrl, deviceUrl: deviceCode.deviceAuthorizationUrl, scopes };
  if (clientCredentials?.tokenUrl !== undefined && flow !== 'device-code')
    return { tokenUrl: clientCredentials.tokenUrl, deviceUrl: undefined, scopes };
  return undefined;
}

/** Fetches the endpoints of an OpenID provider. */
async function discoverGrant(url: string, scopes: string[], flow: LoginFlags['flow']): Promise<Grant> {
  const { body } = await requestToken(url, undefined);
  const { token_endpoint: tokenUrl, device_authorization_endpoint: deviceAuthorizationUrl } = body;
  const device = typeof deviceAuthorizationUrl === 'string' ? deviceAuthorizationUrl : undefined;
  if (typeof tokenUrl !== 'string')
    throw new ClientError('A2ACLI_ERR_AUTH_FAILED', `No token endpoint in ${url}`);
  const grant = selectGrant(
    { deviceCode: { tokenUrl, deviceAuthorizationUrl: device }, clientCredentials: { tokenUrl } },
    scopes.includes('openid') ? scopes : ['openid', ...scopes],
    flow,
  );
  if (grant) return grant;
  throw new UsageError(
    `${new URL(url).host} does not support the device code flow`,
    'Use --flow client-credentials.',
  );
}

interface TokenRequest {
  clientId: string;
  scope: string;
  secret: string | undefined;
}

function requestClientToken(
  { tokenUrl }: Grant,
  { clientId, scope, secret }: TokenRequest,
): Promise<TokenResponse> {
  if (secret === undefined)
    throw new ClientError(
      'A2ACLI_ERR_CREDENTIALS_MISSING',
      'Missing client secret',
      'Set A2ACLI_CLIENT_SECRET.',
    );
  const form = { grant_type: 'client_credentials', ...(scope !== '' && { scope }) };
  return requestToken(tokenUrl, form, { id: clientId, secret });
}

/** Runs the device authorization grant (RFC 8628): prints the code and polls until the user has approved. */
async function requestDeviceToken(
  session: ClientSession,
  { tokenUrl, deviceUrl = '' }: Grant,
  { clientId, scope }: TokenRequest,
): Promise<TokenResponse> {
  const authorization = await requestToken(deviceUrl, {
    client_id: clientId,
    ...(scope !== '' && { scope }),
  });
  const {
    device_code: code,
    user_code: userCode,
    verification_uri: uri,
    verification_uri_complete: completeUri,
  } = authorization.body;
  if (authorization.status !== 200 || typeof code !== 'string' || typeof uri !== 'string')
    throw tokenRefusedError(deviceUrl, authorization);
  process.stderr.write(
    `Open: ${sanitizeForTerminal(typeof completeUri === 'string' ? completeUri : uri, 'line')}\nCode: ${sanitizeForTerminal(String(userCode), 'line')}\n`,
  );
  process.stderr.write('Waiting for your approval (Ctrl-C cancels)\n');
  // RFC 8628, section 3.2: the default interval is 5 seconds.
  let interval = Math.max(0.1, Number(authorization.body.interval ?? 5)) * 1_000;
  const deadline = performance.now() + Math.min(Number(authorization.body.expires_in) || 900, 3_600) * 1_000;
  while (performance.now() < deadline) {
    await sleep(systemClock, interval, session.call.signal, canceledError);
    const response = await requestToken(tokenUrl, {
      grant_type: 'urn:ietf:params:oauth:grant-type:device_code',
      device_code: code,
      client_id: clientId,
    });
    if (response.body.error === 'slow_down') interval += 5_000;
    else if (response.body.error !== 'authorization_pending') return response;
  }
  throw new ClientError(
    'A2ACLI_ERR_AUTH_FAILED',
    'The login was not approved in time',
    `Try again: ${session.command('auth login')}`,
  );
}
