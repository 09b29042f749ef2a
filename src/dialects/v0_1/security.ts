import { asJsonObject, parseJsonOrUndefined } from '../../primitives/json.ts';
import type {
  AgentCard,
  OAuthFlow,
  OAuthFlowName,
  SecurityRequirement,
  SecurityScheme,
} from '../../protocol/card.ts';
import { readObject, readStrings, readOptionalText, type WireObject } from '../field-readers.ts';
import type { LossList } from '../translation-loss.ts';
import { readFlows } from '../v1_0/security.ts';

type Security = Pick<AgentCard, 'securitySchemes' | 'securityRequirements'>;

const flowAddresses = ['authorizationUrl', 'tokenUrl', 'refreshUrl', 'deviceAuthorizationUrl'] as const;

/** `credentials` of a 0.1 card are public settings, often JSON in a string. */
function readSettings(credentials: string | undefined): WireObject {
  return asJsonObject(parseJsonOrUndefined(credentials ?? '')) ?? {};
}

/** Reads `authentication`: informal scheme names, each an alternative. */
export function readAuthentication(value: unknown): Security {
  if (value === undefined || value === null) return {};
  const wire = readObject(value, 'authentication');
  const names = readStrings(wire.schemes, 'authentication.schemes') ?? [];
  if (names.length === 0) return {};
  const settings = readSettings(readOptionalText(wire.credentials, 'authentication.credentials'));
  const securitySchemes: { [name: string]: SecurityScheme } = {};
  const securityRequirements: SecurityRequirement[] = [];
  for (const name of new Set(names)) {
    securitySchemes[name] = readScheme(name, settings);
    securityRequirements.push({ [name]: [] });
  }
  return { securitySchemes, securityRequirements };
}

function readScheme(name: string, settings: WireObject): SecurityScheme {
  switch (name.toLowerCase()) {
    case 'bearer': {
      const { bearerFormat } = settings;
      return { type: 'http', scheme: 'bearer', ...(typeof bearerFormat === 'string' && { bearerFormat }) };
    }
    case 'basic':
      return { type: 'http', scheme: 'basic' };
    case 'apikey': {
      const { in: place, name: key } = settings;
      return {
        type: 'apiKey',
        location: place === 'query' || place === 'cookie' ? place : 'header',
        name: typeof key === 'string' && key !== '' ? key : 'X-API-Key',
      };
    }
    case 'oauth2': {
      const flows = readSettingsAsFlows(settings);
      return flows ? { type: 'oauth2', flows } : { type: 'http', scheme: 'bearer' };
    }
    case 'openidconnect':
      if (typeof settings.openIdConnectUrl !== 'string') break;
      return { type: 'openIdConnect', openIdConnectUrl: settings.openIdConnectUrl };
    case 'mtls':
      return { type: 'mutualTLS' };
  }
  return { type: 'http', scheme: name };
}

/** Reads OAuth 2 flows from settings; the URLs of a single flow determine which one it is. */
function readSettingsAsFlows(settings: WireObject): { [name in OAuthFlowName]?: OAuthFlow } | undefined {
  if (typeof settings.flows === 'object' && settings.flows !== null) {
    return readFlows(settings.flows, 'authentication.credentials.flows');
  }
  const name = flowOf(settings);
  return name && readFlows({ [name]: settings }, 'authentication.credentials');
}

function flowOf(wire: WireObject): OAuthFlowName | undefined {
  const { deviceAuthorizationUrl, authorizationUrl, tokenUrl } = wire;
  if (typeof deviceAuthorizationUrl === 'string') return 'deviceCode';
  if (typeof authorizationUrl === 'string') {
    return typeof tokenUrl === 'string' ? 'authorizationCode' : 'implicit';
  }
  return typeof tokenUrl === 'string' ? 'clientCredentials' : undefined;
}

/** Writes the required schemes of a card as `authentication`; undefined if there are none. */
export function writeAuthentication(card: Security, losses: LossList): WireObject | undefined {
  const requirements = card.securityRequirements ?? [];
  const names = new Set(requirements.flatMap((each) => Object.keys(each)));
  if (requirements.some((each) => Object.keys(each).length > 1)) {
    lose(losses, 'securityRequirements', '0.1 cannot ask for several schemes together');
  }
  if (requirements.some((each) => Object.values(each).some((scopes) => scopes.length > 0))) {
    lose(losses, 'securityRequirements', '0.1 cards name no scopes');
  }
  const schemes = new Set<string>();
  const settings: WireObject = {};
  for (const [name, scheme] of Object.entries(card.securitySchemes ?? {})) {
    if (!names.has(name)) {
      lose(losses, `securitySchemes.${name}`, '0.1 names only what is required');
      continue;
    }
    const word = wordOf(scheme);
    if (schemes.has(word)) lose(losses, `securitySchemes.${name}`, `0.1 can say ${word} once only`);
    else Object.assign(settings, settingsOf(scheme));
    schemes.add(word);
  }
  if (schemes.size === 0) return undefined;
  return {
    schemes: [...schemes],
    credentials: Object.keys(settings).length > 0 ? JSON.stringify(settings) : undefined,
  };
}

function lose(losses: LossList, path: string, note: string): void {
  losses?.push({ path, kind: 'dropped', note });
}

function wordOf(scheme: SecurityScheme): string {
  switch (scheme.type) {
    case 'http': {
      const word = scheme.scheme.toLowerCase();
      if (word === 'bearer') return 'Bearer';
      return word === 'basic' ? 'Basic' : scheme.scheme;
    }
    case 'apiKey':
      return 'ApiKey';
    case 'oauth2':
      return 'OAuth2';
    case 'openIdConnect':
      return 'OpenIdConnect';
    case 'mutualTLS':
      return 'mTLS';
  }
}

/** Returns the settings of a scheme besides its name. */
function settingsOf(scheme: SecurityScheme): WireObject {
  switch (scheme.type) {
    case 'http':
      return scheme.bearerFormat === undefined ? {} : { bearerFormat: scheme.bearerFormat };
    case 'apiKey':
      if (scheme.location === 'header' && scheme.name === 'X-API-Key') return {};
      return { in: scheme.location, name: scheme.name };
    case 'oauth2':
      return settingsOfFlows(scheme.flows);
    case 'openIdConnect':
      return { openIdConnectUrl: scheme.openIdConnectUrl };
    case 'mutualTLS':
      return {};
  }
}

function settingsOfFlows(flows: { [name in OAuthFlowName]?: OAuthFlow }): WireObject {
  const [only, ...others] = Object.entries(flows);
  if (!only || others.length > 0 || flowOf(only[1] as WireObject) !== only[0]) return { flows };
  const [, flow] = only;
  const settings: WireObject = {};
  for (const address of flowAddresses) if (flow[address] !== undefined) settings[address] = flow[address];
  return {
    ...settings,
    scopes: flow.scopes,
    ...(flow.pkceRequired !== undefined && { pkceRequired: flow.pkceRequired }),
  };
}
