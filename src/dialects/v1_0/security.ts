import type {
  AgentCard,
  OAuthFlow,
  OAuthFlowName,
  SecurityRequirement,
  SecurityScheme,
} from '../../protocol/card.ts';
import { invalidField } from '../../protocol/errors.ts';
import {
  readBoolean,
  readArray,
  readObject,
  readString,
  readStrings,
  readOptionalText,
  type WireObject,
} from '../field-readers.ts';
import type { DecodeMode } from '../translation-loss.ts';

const flowNames: readonly OAuthFlowName[] = [
  'authorizationCode',
  'clientCredentials',
  'implicit',
  'password',
  'deviceCode',
];

/** Reads the flows of an OAuth 2 scheme, which are the same from 0.2 to 1.0. */
export function readFlows(value: unknown, at: string): { [name in OAuthFlowName]?: OAuthFlow } {
  const wire = readObject(value, at);
  const flows: { [name in OAuthFlowName]?: OAuthFlow } = {};
  for (const name of flowNames) {
    if (wire[name] === undefined || wire[name] === null) continue;
    const flow = readObject(wire[name], `${at}.${name}`);
    const read: OAuthFlow = { scopes: (flow.scopes ?? {}) as OAuthFlow['scopes'] };
    for (const address of ['authorizationUrl', 'tokenUrl', 'refreshUrl', 'deviceAuthorizationUrl'] as const) {
      const url = readOptionalText(flow[address], `${at}.${name}.${address}`);
      if (url !== undefined) read[address] = url;
    }
    const pkce = readBoolean(flow.pkceRequired, `${at}.${name}.pkceRequired`);
    if (pkce !== undefined) read.pkceRequired = pkce;
    flows[name] = read;
  }
  return flows;
}

/** Reads a 1.0 scheme, identified by its wrapper key. */
export function readSecurityScheme(value: unknown, at: string): SecurityScheme {
  const wire = readObject(value, at);
  const wrapped = (key: string): WireObject | undefined =>
    wire[key] === undefined || wire[key] === null ? undefined : readObject(wire[key], `${at}.${key}`);
  const apiKey = wrapped('apiKeySecurityScheme');
  if (apiKey) {
    const location = apiKey.location ?? apiKey.in;
    return described(apiKey, {
      type: 'apiKey',
      location: location === 'query' || location === 'cookie' ? location : 'header',
      name: readString(apiKey.name, `${at}.name`) ?? '',
    });
  }
  const http = wrapped('httpAuthSecurityScheme');
  if (http) {
    const bearerFormat = readOptionalText(http.bearerFormat, `${at}.bearerFormat`);
    return described(http, {
      type: 'http',
      scheme: readString(http.scheme, `${at}.scheme`) ?? '',
      ...(bearerFormat !== undefined && { bearerFormat }),
    });
  }
  const oauth2 = wrapped('oauth2SecurityScheme');
  if (oauth2) {
    const oauth2MetadataUrl = readOptionalText(oauth2.oauth2MetadataUrl, `${at}.oauth2MetadataUrl`);
    return described(oauth2, {
      type: 'oauth2',
      flows: readFlows(oauth2.flows ?? {}, `${at}.flows`),
      ...(oauth2MetadataUrl !== undefined && { oauth2MetadataUrl }),
    });
  }
  const oidc = wrapped('openIdConnectSecurityScheme');
  if (oidc) {
    return described(oidc, {
      type: 'openIdConnect',
      openIdConnectUrl: readString(oidc.openIdConnectUrl, `${at}.openIdConnectUrl`) ?? '',
    });
  }
  const mtls = wrapped('mtlsSecurityScheme');
  if (mtls) return described(mtls, { type: 'mutualTLS' });
  throw invalidField(at, 'must be a security scheme such as {"httpAuthSecurityScheme": …}');
}

function described(wire: WireObject, scheme: SecurityScheme): SecurityScheme {
  return typeof wire.description === 'string' && wire.description !== ''
    ? { ...scheme, description: wire.description }
    : scheme;
}

/** Writes a 1.0 scheme. */
export function writeSecurityScheme(scheme: SecurityScheme): unknown {
  const { type, ...rest } = scheme;
  switch (type) {
    case 'apiKey':
      return { apiKeySecurityScheme: rest };
    case 'http':
      return { httpAuthSecurityScheme: rest };
    case 'oauth2':
      return { oauth2SecurityScheme: rest };
    case 'openIdConnect':
      return { openIdConnectSecurityScheme: rest };
    case 'mutualTLS':
      return { mtlsSecurityScheme: rest };
  }
}

/** Splits OAuth 2 schemes with several flows to `name`, `name.clientCredentials`, …, because 1.0 allows one flow. */
export function splitFlows(schemes: { [name: string]: SecurityScheme }): { [name: string]: SecurityScheme } {
  const split: { [name: string]: SecurityScheme } = {};
  for (const [name, scheme] of Object.entries(schemes)) {
    const flows = scheme.type === 'oauth2' ? flowNames.filter((flow) => scheme.flows[flow]) : [];
    if (scheme.type !== 'oauth2' || flows.length < 2) {
      split[name] = scheme;
      continue;
    }
    for (const [i, flow] of flows.entries()) {
      split[i === 0 ? name : `${name}.${flow}`] = { ...scheme, flows: { [flow]: scheme.flows[flow] } };
    }
  }
  return split;
}

/** Merges schemes that {@link splitFlows} has split. */
function mergeFlows(schemes: { [name: string]: SecurityScheme }): { [name: string]: SecurityScheme } {
  const merged: { [name: string]: SecurityScheme } = {};
  for (const [name, scheme] of Object.entries(schemes)) {
    const stem = flowNames.find((flow) => name.endsWith(`.${flow}`));
    const base = stem ? merged[name.slice(0, -stem.length - 1)] : undefined;
    if (base?.type === 'oauth2' && scheme.type === 'oauth2') Object.assign(base.flows, scheme.flows);
    else merged[name] = scheme.type === 'oauth2' ? { ...scheme, flows: { ...scheme.flows } } : scheme;
  }
  return merged;
}

/** Returns the alternatives of each requirement after its schemes are split. */
export function splitRequirements(
  requirements: readonly SecurityRequirement[],
  split: { [name: string]: SecurityScheme },
): SecurityRequirement[] {
  return requirements.flatMap((requirement) => {
    let alternatives: SecurityRequirement[] = [{}];
    for (const [name, scopes] of Object.entries(requirement)) {
      const names = [name, ...flowNames.map((flow) => `${name}.${flow}`)].filter((each) =>
        Object.hasOwn(split, each),
      );
      alternatives = alternatives.flatMap((sofar) =>
        (names.length > 0 ? names : [name]).map((each) => ({ ...sofar, [each]: scopes })),
      );
    }
    return alternatives;
  });
}

/** Returns the distinct requirements of merged schemes. */
function mergeRequirements(
  requirements: readonly SecurityRequirement[],
  merged: { [name: string]: SecurityScheme },
): SecurityRequirement[] {
  const seen = new Map<string, SecurityRequirement>();
  for (const requirement of requirements) {
    const renamed: SecurityRequirement = {};
    for (const [name, scopes] of Object.entries(requirement)) {
      const stem = flowNames.find((flow) => name.endsWith(`.${flow}`));
      const base = stem ? name.slice(0, -stem.length - 1) : name;
      renamed[!Object.hasOwn(merged, name) && Object.hasOwn(merged, base) ? base : name] = scopes;
    }
    seen.set(JSON.stringify(renamed), renamed);
  }
  return [...seen.values()];
}

/** Merges the split OAuth 2 flows of a card and the requirements of the card and its skills. */
export function mergeSecurity(card: AgentCard): void {
  if (card.securitySchemes === undefined) return;
  const merged = mergeFlows(card.securitySchemes);
  card.securitySchemes = merged;
  for (const each of [card, ...card.skills]) {
    if (each.securityRequirements === undefined) continue;
    each.securityRequirements = mergeRequirements(each.securityRequirements, merged);
  }
}

/** Reads requirements in the wrapped 1.0 format, or in the older format that some 1.0 cards use. */
export function readRequirements(value: unknown, at: string, _mode: DecodeMode): SecurityRequirement[] {
  return readArray(value, at).map((each, i) => {
    const wire = readObject(each, `${at}[${i}]`);
    const isWrapped =
      typeof wire.schemes === 'object' && wire.schemes !== null && !Array.isArray(wire.schemes);
    const schemes = isWrapped ? (wire.schemes as WireObject) : wire;
    const requirement: SecurityRequirement = {};
    for (const [name, scopes] of Object.entries(schemes)) {
      const list = Array.isArray(scopes) ? scopes : (scopes as WireObject | null)?.list;
      requirement[name] = readStrings(list, `${at}[${i}].${name}`) ?? [];
    }
    return requirement;
  });
}

/** Writes 1.0 requirements. */
export function writeRequirements(requirements: readonly SecurityRequirement[]): unknown {
  return requirements.map((requirement) => ({
    schemes: Object.fromEntries(
      Object.entries(requirement).map(([name, scopes]) => [name, scopes.length > 0 ? { list: scopes } : {}]),
    ),
  }));
}
