import type { AgentCard, SecurityScheme } from '../../protocol/card.ts';
import { stripTrailing, truncate } from '../../primitives/text.ts';
import { asJsonObject } from '../../primitives/json.ts';
import { checkServerUrl, LoginError, requestOAuth } from './oauth-request.ts';
import { parseUrl } from '../../primitives/web/parse-url.ts';

/** Flows that a login supports, in the order in which they are preferred. */
export const loginFlows = ['device-code', 'authorization-code', 'client-credentials'] as const;

/** A flow of OAuth 2. */
export type LoginFlow = (typeof loginFlows)[number];

/** A flow that an agent offers, with the URLs of its authorization server. */
export interface LoginGrant {
  readonly flow: LoginFlow;
  readonly tokenUrl: string;
  readonly authorizationUrl?: string;
  readonly deviceUrl?: string;
  /** For dynamic client registration (RFC 7591). */
  readonly registrationUrl?: string;
  /** The authorization server must name itself like this in its redirect (RFC 9207). */
  readonly issuer?: string;
  /** True if the redirect must have the issuer. */
  readonly sendsIssuer: boolean;
  /** Scopes that the card requires. */
  readonly scopes: readonly string[];
}

/** Choice of the user among the schemes and flows of a card. */
export interface LoginChoice {
  readonly flow?: LoginFlow;
  /** Name of the security scheme. */
  readonly scheme?: string;
}

/** Endpoints of an authorization server. */
type Endpoints = Omit<LoginGrant, 'flow' | 'scopes' | 'tokenUrl'> & { readonly tokenUrl?: string };

/** Returns the flows that a card offers without a look at metadata. Of OpenID Connect, all may be offered. */
export function offeredFlows(card: AgentCard): LoginFlow[] {
  const flows = new Set<LoginFlow>();
  for (const scheme of Object.values(card.securitySchemes ?? {}))
    for (const flow of loginFlows)
      if (scheme.type === 'openIdConnect' || (scheme.type === 'oauth2' && hasFlow(scheme, flow)))
        flows.add(flow);
  return loginFlows.filter((each) => flows.has(each));
}

/**
 * Selects the first scheme and flow of a card that match the choice, required schemes first.
 *
 * @throws LoginError if there is none
 */
export async function findLoginGrant(card: AgentCard, choice: LoginChoice): Promise<LoginGrant> {
  const schemes = Object.entries(card.securitySchemes ?? {});
  const required = new Set(card.securityRequirements?.flatMap((each) => Object.keys(each)));
  const ordered = schemes.toSorted(([a], [b]) => Number(required.has(b)) - Number(required.has(a)));
  for (const [name, scheme] of ordered) {
    if (choice.scheme !== undefined && choice.scheme !== name) continue;
    const scopes = card.securityRequirements?.flatMap((each) => each[name] ?? []) ?? [];
    const grant = await grantOf(scheme, scopes, choice.flow);
    if (grant) return grant;
  }
  const offers = schemes.map(([name, { type }]) => `${name} (${type})`).join(', ') || 'no security scheme';
  const wanted =
    choice.flow === undefined ? 'device-code, authorization-code or client-credentials' : choice.flow;
  throw new LoginError(
    `No supported login flow for ${card.name}`,
    `Its card declares ${offers}; needed is ${wanted}.`,
  );
}

async function grantOf(
  scheme: SecurityScheme,
  scopes: readonly string[],
  wanted: LoginFlow | undefined,
): Promise<LoginGrant | undefined> {
  if (scheme.type === 'openIdConnect') {
    const endpoints = await discover(scheme.openIdConnectUrl);
    const { tokenUrl } = endpoints;
    if (tokenUrl === undefined)
      throw new LoginError(`No token endpoint in ${scheme.openIdConnectUrl}`, 'Report it to the operator.');
    const withOpenid = scopes.includes('openid') ? scopes : ['openid', ...scopes];
    const flow = loginFlows.find((each) => (wanted ?? each) === each && canUse(endpoints, each));
    return flow && { ...endpoints, tokenUrl, flow, scopes: withOpenid };
  }
  if (scheme.type !== 'oauth2') return undefined;
  const flow = loginFlows.find((each) => (wanted ?? each) === each && hasFlow(scheme, each));
  if (!flow) return undefined;
  const metadata =
    scheme.oauth2MetadataUrl === undefined ? undefined : await discover(scheme.oauth2MetadataUrl);
  const { tokenUrl = '', authorizationUrl, deviceAuthorizationUrl } = scheme.flows[modelNames[flow]] ?? {};
  return {
    flow,
    sendsIssuer: false,
    ...metadata,
    tokenUrl,
    ...(authorizationUrl !== undefined && { authorizationUrl }),
    ...(deviceAuthorizationUrl !== undefined && { deviceUrl: deviceAuthorizationUrl }),
    scopes,
  };
}

const modelNames = {
  'device-code': 'deviceCode',
  'authorization-code': 'authorizationCode',
  'client-credentials': 'clientCredentials',
} as const;

function hasFlow({ flows }: Extract<SecurityScheme, { type: 'oauth2' }>, flow: LoginFlow): boolean {
  const offered = flows[modelNames[flow]];
  if (offered?.tokenUrl === undefined) return false;
  if (flow === 'device-code') return offered.deviceAuthorizationUrl !== undefined;
  return flow === 'client-credentials' || offered.authorizationUrl !== undefined;
}

function canUse({ deviceUrl, authorizationUrl }: Endpoints, flow: LoginFlow): boolean {
  if (flow === 'device-code') return deviceUrl !== undefined;
  return flow === 'client-credentials' || authorizationUrl !== undefined;
}

const wellKnown = /\/\.well-known\/(?:openid-configuration|oauth-authorization-server)(?=\/|$)/;

/**
 * Returns true if the metadata of an issuer are at a URL. The well-known path follows the path of the issuer (OpenID
 * Connect), or is in front of it (RFC 8414). A slash at the end of the issuer is not part of the URL.
 */
function isIssuerOf(issuer: string, url: string): boolean {
  const [place = ''] = url.split(/[?#]/, 1);
  if (wellKnown.test(place))
    return stripTrailing(issuer, '/') === stripTrailing(place.replace(wellKnown, ''), '/');
  // The URL of a card may have another form, which does not tell the issuer.
  return parseUrl(issuer)?.origin === new URL(url).origin;
}

/** Fetches the metadata of an authorization server (RFC 8414, OpenID Connect Discovery). */
async function discover(url: string): Promise<Endpoints> {
  const { status, body } = await requestOAuth(url);
  const text = (name: string): string | undefined =>
    typeof body[name] === 'string' && body[name] !== '' ? body[name] : undefined;
  if (status !== 200)
    throw new LoginError(`No metadata at ${url}: HTTP ${status}`, 'Report it to the operator.');
  const issuer = text('issuer');
  // A server, or a tenant of one, must not speak for another one (RFC 8414, section 3.3).
  if (issuer !== undefined && !isIssuerOf(issuer, url))
    throw new LoginError(
      `The metadata at ${url} names the other issuer ${truncate(issuer, 200)}`,
      'Report it to the operator of the agent: its card must name the metadata of one issuer.',
    );
  const methods = asJsonObject(body)?.code_challenge_methods_supported;
  if (Array.isArray(methods) && !methods.includes('S256'))
    throw new LoginError(
      `${new URL(url).origin} does not support PKCE with S256`,
      'Report it to the operator.',
    );
  const [tokenUrl, authorizationUrl, deviceUrl, registrationUrl] = [
    text('token_endpoint'),
    text('authorization_endpoint'),
    text('device_authorization_endpoint'),
    text('registration_endpoint'),
  ];
  for (const each of [tokenUrl, authorizationUrl, deviceUrl, registrationUrl])
    if (each !== undefined) checkServerUrl(each);
  return {
    ...(tokenUrl !== undefined && { tokenUrl }),
    ...(authorizationUrl !== undefined && { authorizationUrl }),
    ...(deviceUrl !== undefined && { deviceUrl }),
    ...(registrationUrl !== undefined && { registrationUrl }),
    ...(issuer !== undefined && { issuer }),
    sendsIssuer: body.authorization_response_iss_parameter_supported === true,
  };
}
