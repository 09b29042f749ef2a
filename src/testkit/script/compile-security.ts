import type { DocumentPath } from '../../documents/schema-issues.ts';
import type { Principal } from '../../protocol/agent.ts';
import type { OAuthFlow, OAuthFlowName, SecurityScheme } from '../../protocol/card.ts';
import { apiKeyAuth } from '../../server/auth/schemes/api-key.ts';
import type { Authenticator, AuthOptions } from '../../server/auth/authenticator.ts';
import { basicAuth } from '../../server/auth/schemes/basic.ts';
import { bearerAuth } from '../../server/auth/schemes/bearer.ts';
import type { SecuritySchemeSpec, SecuritySpec } from './schema/agent-schema.ts';

type ClientSpec = NonNullable<SecuritySpec['clients']>[number];

/** Compiles a security scheme to its model. */
export function compileSecurityScheme(spec: SecuritySchemeSpec): SecurityScheme {
  const description = spec.description === undefined ? {} : { description: spec.description };
  switch (spec.type) {
    case 'bearer':
      return {
        type: 'http',
        scheme: 'bearer',
        ...(spec.format !== undefined && { bearerFormat: spec.format }),
        ...description,
      };
    case 'basic':
      return { type: 'http', scheme: 'basic', ...description };
    case 'api_key':
      return { type: 'apiKey', location: spec.in, name: spec.name, ...description };
    case 'oauth2':
      return {
        type: 'oauth2',
        flows: compileFlows(spec.flows),
        ...(spec.metadata_url !== undefined && { oauth2MetadataUrl: spec.metadata_url }),
        ...description,
      };
    case 'open_id_connect':
      return { type: 'openIdConnect', openIdConnectUrl: spec.url, ...description };
    case 'mutual_tls':
      return { type: 'mutualTLS', ...description };
  }
}

/** Compiles the authentication of clients. @returns undefined if `clients` is not set, which disables the check */
export function compileAuth(
  spec: SecuritySpec,
  path: DocumentPath,
  report: (path: DocumentPath, message: string) => void,
): AuthOptions | undefined {
  if (!spec.clients) return undefined;
  const names = Object.keys(spec.schemes);
  const bySchemes = new Map<string, Map<string, ClientSpec>>(names.map((name) => [name, new Map()]));
  for (const [index, client] of spec.clients.entries()) {
    const at = [...path, 'clients', index];
    const name = client.scheme ?? (names.length === 1 ? names[0] : undefined);
    const known = name === undefined ? undefined : bySchemes.get(name);
    if (!known) report(at, `scheme must be one of ${names.join(', ')}`);
    else if (spec.schemes[name ?? '']?.type === 'mutual_tls')
      report(at, 'mutual_tls clients cannot be listed: a certificate is not a secret');
    else known.set(lookupKey(client, spec.schemes[name ?? '']), client);
  }
  const authenticators = [...bySchemes].flatMap(([name, clients]) => {
    const scheme = spec.schemes[name];
    return scheme && clients.size > 0 ? [compileAuthenticator(name, scheme, clients)] : [];
  });
  // Tests inspect credentials, so rules and the journal may see them.
  return { authenticators, allowAnonymous: spec.optional ?? false, exposeCredentials: true };
}

/** Basic auth is looked up by user name, because two users may have the same password. */
function lookupKey(client: ClientSpec, scheme: SecuritySchemeSpec | undefined): string {
  return scheme?.type === 'basic' ? client.name : client.secret;
}

function compileAuthenticator(
  name: string,
  spec: SecuritySchemeSpec,
  clients: ReadonlyMap<string, ClientSpec>,
): Authenticator {
  const principals = new Map(
    Array.from(clients, ([secret, { name: id, scopes }]) => [secret, { id, scopes }] as const),
  );
  const schemes = { [name]: compileSecurityScheme(spec) };
  if (spec.type === 'api_key')
    return { ...apiKeyAuth({ in: spec.in, name: spec.name, keys: principals }), schemes };
  if (spec.type === 'basic') {
    const users = (user: string, password: string): Principal | undefined =>
      clients.get(user)?.secret === password ? principals.get(user) : undefined;
    return { ...basicAuth({ users }), schemes };
  }
  return { ...bearerAuth({ tokens: principals }), schemes };
}

const flowNames: { readonly [key: string]: OAuthFlowName } = {
  authorization_code: 'authorizationCode',
  client_credentials: 'clientCredentials',
  implicit: 'implicit',
  password: 'password',
  device_code: 'deviceCode',
};

type FlowSpecs = Extract<SecuritySchemeSpec, { type: 'oauth2' }>['flows'];

function compileFlows(specs: FlowSpecs): { [name in OAuthFlowName]?: OAuthFlow } {
  const flows = Object.entries(specs).map(([name, spec]) => [flowNames[name], compileFlow(spec)] as const);
  return Object.fromEntries(flows) as { [name in OAuthFlowName]?: OAuthFlow };
}

function compileFlow(spec: NonNullable<FlowSpecs['implicit']>): OAuthFlow {
  const flow: OAuthFlow = {
    authorizationUrl: spec.authorization_url,
    tokenUrl: spec.token_url,
    refreshUrl: spec.refresh_url,
    deviceAuthorizationUrl: spec.device_authorization_url,
    scopes: spec.scopes,
    pkceRequired: spec.pkce_required,
  };
  return Object.fromEntries(Object.entries(flow).filter(([, value]) => value !== undefined));
}
