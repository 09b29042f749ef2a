import type { DocumentPath } from '../../documents/schema-issues.ts';
import type { Principal } from '../../protocol/agent.ts';
import type { OAuthFlow, OAuthFlowName, SecurityScheme } from '../../protocol/card.ts';
import { apiKeyAuth } from '../../server/auth/schemes/api-key.ts';
import type { Authenticator, AuthOptions } from '../../server/auth/authenticator.ts';
import { basicAuth } from '../../server/auth/schemes/basic.ts';
import { bearerAuth } from '../../server/auth/schemes/bearer.ts';
import type { SecuritySchemeSpec, SecuritySpec } from './schema/agent-schema.ts';

type Caller = NonNullable<SecuritySpec['callers']>[number];

/** A security scheme in the words of the model. */
export function compileSecurityScheme(form: SecuritySchemeSpec): SecurityScheme {
  const described = form.description === undefined ? {} : { description: form.description };
  switch (form.type) {
    case 'bearer':
      return {
        type: 'http',
        scheme: 'bearer',
        ...(form.format !== undefined && { bearerFormat: form.format }),
        ...described,
      };
    case 'basic':
      return { type: 'http', scheme: 'basic', ...described };
    case 'api_key':
      return { type: 'apiKey', location: form.in, name: form.name, ...described };
    case 'oauth2':
      return {
        type: 'oauth2',
        flows: flowsOf(form.flows),
        ...(form.metadata_url !== undefined && { oauth2MetadataUrl: form.metadata_url }),
        ...described,
      };
    case 'open_id_connect':
      return { type: 'openIdConnect', openIdConnectUrl: form.url, ...described };
    case 'mutual_tls':
      return { type: 'mutualTLS', ...described };
  }
}

/** Who is let in. @returns undefined when nobody is named, so that everybody is. */
export function compileAuth(
  form: SecuritySpec,
  path: DocumentPath,
  complain: (path: DocumentPath, message: string) => void,
): AuthOptions | undefined {
  if (!form.callers) return undefined;
  const names = Object.keys(form.schemes);
  const bySchemes = new Map<string, Map<string, Caller>>(names.map((name) => [name, new Map()]));
  for (const [index, caller] of form.callers.entries()) {
    const at = [...path, 'callers', index];
    const name = caller.scheme ?? (names.length === 1 ? names[0] : undefined);
    const known = name === undefined ? undefined : bySchemes.get(name);
    if (!known) complain(at, `has to have a scheme that is one of ${names.join(', ')}`);
    else if (form.schemes[name ?? '']?.type === 'mutual_tls')
      complain(at, 'a certificate is no secret that could stand here');
    else known.set(secretOf(caller, form.schemes[name ?? '']), caller);
  }
  const any = [...bySchemes].flatMap(([name, callers]) => {
    const scheme = form.schemes[name];
    return scheme && callers.size > 0 ? [authenticatorOf(name, scheme, callers)] : [];
  });
  // Credentials are what such tests are about, so rules and captures may see them.
  return { authenticators: any, allowAnonymous: form.optional ?? false, exposeCredentials: true };
}

/** Passwords may be the same for two; their names are not. */
function secretOf(caller: Caller, scheme: SecuritySchemeSpec | undefined): string {
  return scheme?.type === 'basic' ? caller.name : caller.secret;
}

function authenticatorOf(
  name: string,
  form: SecuritySchemeSpec,
  callers: ReadonlyMap<string, Caller>,
): Authenticator {
  const holders = new Map([...callers].map(([secret, caller]) => [secret, principalOf(caller)]));
  const schemes = { [name]: compileSecurityScheme(form) };
  if (form.type === 'api_key')
    return { ...apiKeyAuth({ in: form.in, name: form.name, keys: holders }), schemes };
  if (form.type === 'basic') {
    const users = (user: string, password: string): Principal | undefined =>
      callers.get(user)?.secret === password ? holders.get(user) : undefined;
    return { ...basicAuth({ users }), schemes };
  }
  return { ...bearerAuth({ tokens: holders }), schemes };
}

function principalOf({ name, scopes }: Caller): Principal {
  return { id: name, ...(scopes && { scopes }) };
}

const flowNames: { readonly [written: string]: OAuthFlowName } = {
  authorization_code: 'authorizationCode',
  client_credentials: 'clientCredentials',
  implicit: 'implicit',
  password: 'password',
  device_code: 'deviceCode',
};

type FlowForms = Extract<SecuritySchemeSpec, { type: 'oauth2' }>['flows'];

function flowsOf(forms: FlowForms): { [name in OAuthFlowName]?: OAuthFlow } {
  const flows = Object.entries(forms).map(([name, form]) => [flowNames[name], flowOf(form)] as const);
  return Object.fromEntries(flows) as { [name in OAuthFlowName]?: OAuthFlow };
}

function flowOf(form: NonNullable<FlowForms['implicit']>): OAuthFlow {
  const flow: OAuthFlow = {
    authorizationUrl: form.authorization_url,
    tokenUrl: form.token_url,
    refreshUrl: form.refresh_url,
    deviceAuthorizationUrl: form.device_authorization_url,
    scopes: form.scopes,
    pkceRequired: form.pkce_required,
  };
  return Object.fromEntries(Object.entries(flow).filter(([, value]) => value !== undefined));
}
