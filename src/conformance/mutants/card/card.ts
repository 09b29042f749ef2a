import { isMutableJson, type MutableJson } from '../harness/mutations.ts';
import {
  type MutantAgent,
  defineMutants,
  type WireResponse,
  type WireMutation,
} from '../harness/mutant-agent.ts';

/** A wire that bends the card of 1.0, and leaves the others. */
export function mutateCard1_0(bend: (card: MutableJson) => void): WireMutation {
  return {
    response({ json }, { path, headers }) {
      if (!path.includes('/.well-known/') || headers['a2a-version'] !== '1.0') return;
      if (isMutableJson(json) && 'supportedInterfaces' in json) bend(json);
    },
  };
}

/** A broken agent in one line: the rule, how, what, and the bend of its card. */
function bent(breaks: string, how: string, what: string, bend: (card: MutableJson) => void): MutantAgent {
  return {
    id: `${breaks}:${how}`,
    violates: breaks,
    description: what,
    versions: ['1.0'],
    transports: ['JSONRPC'],
    wire: () => mutateCard1_0(bend),
  };
}

/** A broken agent whose card is served wrongly. */
function served(breaks: string, how: string, what: string, wire: WireMutation): MutantAgent {
  return {
    id: `${breaks}:${how}`,
    violates: breaks,
    description: what,
    versions: ['1.0'],
    transports: ['JSONRPC'],
    wire: () => wire,
  };
}

const drop =
  (name: string) =>
  (card: MutableJson): void => {
    delete card[name];
  };
const first = (card: MutableJson, name: string): MutableJson => (card[name] as MutableJson[])[0] ?? {};
const inSkill =
  (bend: (skill: MutableJson) => void) =>
  (card: MutableJson): void =>
    bend(first(card, 'skills'));
const inInterface =
  (bend: (each: MutableJson) => void) =>
  (card: MutableJson): void =>
    bend((card.supportedInterfaces as MutableJson[])[1] ?? {});
const rename =
  (from: string, to: string) =>
  (thing: MutableJson): void => {
    thing[to] = thing[from];
    delete thing[from];
  };
const scheme =
  (value: unknown) =>
  (card: MutableJson): void => {
    card.securitySchemes = { login: value };
  };
const flow = (name: string, value: unknown) => scheme({ oauth2SecurityScheme: { flows: { [name]: value } } });
const add =
  (binding: string, version: string, at: (url: string) => string) =>
  (card: MutableJson): void => {
    const { url } = first(card, 'supportedInterfaces');
    (card.supportedInterfaces as MutableJson[]).push({
      url: at(String(url)),
      protocolBinding: binding,
      protocolVersion: version,
    });
  };

const page = (status: number, type: string, text: string): WireResponse => ({
  status,
  headers: { 'content-type': type },
  text,
  json: undefined,
});

/** An agent that declares one interface more, which is not what it says. */
function lies(how: string, what: string, binding: string, answer: () => WireResponse): MutantAgent {
  return served('card.truthful', how, what, {
    ...mutateCard1_0(add(binding, '1.0', (url) => `${url}/elsewhere`)),
    request: ({ path }) => (path.startsWith('/elsewhere') ? answer() : undefined),
  });
}

const isCard = (path: string): boolean => path.includes('/.well-known/agent-card.json');
const header = (change: (headers: Record<string, string>) => void): WireMutation => ({
  response({ headers }, { path }) {
    if (isCard(path)) change(headers);
  },
});
let count = 0;

/** Agents whose card is wrong in one thing. */
export const cardMutants = defineMutants([
  bent('card.members', 'no-name', 'The card has no name.', drop('name')),
  bent('card.members', 'no-description', 'The card has no description.', drop('description')),
  bent('card.members', 'no-version', 'The card has no version.', drop('version')),
  bent('card.members', 'no-input-modes', 'The card has no input modes.', drop('defaultInputModes')),
  bent('card.members', 'no-output-modes', 'The card has no output modes.', drop('defaultOutputModes')),
  bent('card.members', 'no-skills', 'The card has no skills.', drop('skills')),
  bent('card.members', 'no-capabilities', 'The card has no capabilities.', drop('capabilities')),
  bent('card.members', 'numeric-version', 'The version is a number.', (card) => {
    card.version = 1.2;
  }),
  bent('card.members', 'one-mode', 'Input modes are a text.', (card) => {
    card.defaultInputModes = 'text/plain';
  }),
  bent('card.skills', 'no-id', 'A skill has no id.', inSkill(drop('id'))),
  bent('card.skills', 'no-name', 'A skill has no name.', inSkill(drop('name'))),
  bent('card.skills', 'no-description', 'A skill has no description.', inSkill(drop('description'))),
  bent('card.skills', 'no-tags', 'A skill has no tags.', inSkill(drop('tags'))),
  bent(
    'card.skills',
    'tags-text',
    'The tags of a skill are a text.',
    inSkill((skill) => {
      skill.tags = 'test';
    }),
  ),
  bent('card.interfaces', 'no-url', 'An interface has no url.', inInterface(drop('url'))),
  bent('card.interfaces', 'no-binding', 'An interface has no binding.', inInterface(drop('protocolBinding'))),
  bent('card.interfaces', 'no-version', 'An interface has no version.', inInterface(drop('protocolVersion'))),
  bent(
    'card.interfaces',
    'transport',
    'The binding has its name of 0.3.',
    inInterface(rename('protocolBinding', 'transport')),
  ),
  bent(
    'card.interfaces',
    'relative',
    'The url of an interface is a path.',
    inInterface((each) => {
      each.url = '/a2a';
    }),
  ),
  bent(
    'card.binding',
    'rest',
    'The binding is called REST.',
    inInterface((each) => {
      each.protocolBinding = 'REST';
    }),
  ),
  bent(
    'card.binding',
    'json-rpc',
    'The binding is called JSON-RPC.',
    add('JSON-RPC', '1.0', (url) => url),
  ),
  bent(
    'card.patch',
    'three-numbers',
    'The version of an interface is 1.0.1.',
    inInterface((each) => {
      each.protocolVersion = '1.0.1';
    }),
  ),
  bent('card.capabilities', 'text', 'Streaming is the text "true".', (card) => {
    (card.capabilities as MutableJson).pushNotifications = 'true';
  }),
  bent('card.capabilities', 'extension', 'An extension has no uri.', (card) => {
    (card.capabilities as MutableJson).extensions = [{ description: 'nameless' }];
  }),
  bent('card.provider', 'no-url', 'The provider has no url.', (card) => {
    card.provider = { organization: 'Example' };
  }),
  bent('card.schemes', 'type', 'A scheme is written as in 0.3.', scheme({ type: 'http', scheme: 'bearer' })),
  bent(
    'card.schemes',
    'two',
    'A scheme has two types.',
    scheme({
      httpAuthSecurityScheme: { scheme: 'bearer' },
      mtlsSecurityScheme: {},
    }),
  ),
  bent(
    'card.schemes',
    'no-scheme',
    'An HTTP scheme names no scheme.',
    scheme({ httpAuthSecurityScheme: {} }),
  ),
  bent(
    'card.schemes',
    'in',
    'An API key says in instead of location.',
    scheme({
      apiKeySecurityScheme: { in: 'header', name: 'X-Key' },
    }),
  ),
  bent('card.schemes', 'oidc', 'OpenID Connect has no address.', scheme({ openIdConnectSecurityScheme: {} })),
  bent(
    'card.flows',
    'relative',
    'The token address of a flow is a path.',
    flow('clientCredentials', {
      tokenUrl: '/token',
      scopes: {},
    }),
  ),
  bent(
    'card.flows',
    'scopes',
    'A flow has no scopes.',
    flow('clientCredentials', {
      tokenUrl: 'https://login.example.com/token',
    }),
  ),
  bent(
    'card.flows',
    'deprecated',
    'An address of a deprecated flow is none.',
    flow('implicit', {
      authorizationUrl: 'login',
      scopes: {},
    }),
  ),
  bent('card.requirements', 'unknown', 'A scheme is required that is not declared.', (card) => {
    card.securityRequirements = [{ schemes: { nowhere: { list: [] } } }];
  }),
  bent('card.requirements', 'flat', 'Requirements are written as in 0.3.', (card) => {
    card.securitySchemes = { login: { httpAuthSecurityScheme: { scheme: 'bearer' } } };
    card.securityRequirements = [{ login: [] }];
  }),
  bent('card.camel', 'snake', 'Modes are in snake_case.', rename('defaultInputModes', 'default_input_modes')),
  bent('card.empty', 'skills', 'The card has an empty list of skills.', (card) => {
    card.skills = [];
  }),
  bent(
    'card.empty',
    'tags',
    'A skill has an empty list of tags.',
    inSkill((skill) => {
      skill.tags = [];
    }),
  ),
  bent('card.unique', 'skills', 'Two skills have one id.', (card) => {
    (card.skills as MutableJson[]).push({ ...first(card, 'skills'), name: 'Another' });
  }),
  bent('card.modes', 'text', 'A mode is the word text.', (card) => {
    card.defaultOutputModes = ['text'];
  }),
  bent('card.secrets', 'member', 'The card holds a client secret.', (card) => {
    card.securitySchemes = {
      login: { httpAuthSecurityScheme: { scheme: 'bearer', clientSecret: 'hunter2-hunter2' } },
    };
  }),
  bent('card.secrets', 'address', 'An address holds a password.', (card) => {
    card.documentationUrl = 'https://admin:hunter2@docs.example.com/';
  }),
  bent(
    'card.https',
    'plain',
    'An interface elsewhere is not encrypted.',
    add('GRPC', '1.0', () => 'http://agent.example.com/'),
  ),
  lies('nowhere', 'An interface leads nowhere.', 'HTTP+JSON', () =>
    page(404, 'text/html', '<p>Not found</p>'),
  ),
  lies('gone', 'An interface answers with JSON of its own.', 'HTTP+JSON', () =>
    page(404, 'application/json', '{"message":"no route"}'),
  ),
  lies('swapped', 'An interface speaks another binding than the card says.', 'JSONRPC', () =>
    page(
      404,
      'application/json',
      '{"error":{"code":404,"status":"NOT_FOUND","message":"no task","details":[]}}',
    ),
  ),
  lies('empty', 'An interface answers everything with nothing.', 'JSONRPC', () =>
    page(200, 'application/json', '{}'),
  ),
  bent(
    'card.truthful',
    'closed',
    'An interface is on a port that is closed.',
    add('JSONRPC', '1.0', () => 'http://127.0.0.1:9/'),
  ),
  bent('card.undeclared', 'rest', 'REST works and is not in the card.', (card) => {
    card.supportedInterfaces = (card.supportedInterfaces as MutableJson[]).filter(
      ({ protocolBinding }) => protocolBinding !== 'HTTP+JSON',
    );
  }),
  {
    ...bent('card.undeclared', 'rpc', 'JSON-RPC works and is not in the card.', (card) => {
      card.supportedInterfaces = (card.supportedInterfaces as MutableJson[]).filter(
        ({ protocolBinding }) => protocolBinding !== 'JSONRPC',
      );
    }),
    transports: ['HTTP+JSON'],
  },
  served('card.found', 'old-place', 'The card of 1.0 is at the place of old.', {
    request(request) {
      if (request.path.endsWith('/agent-card.json'))
        return { status: 404, headers: {}, text: 'Not found', json: undefined };
      if (request.path.endsWith('/agent.json'))
        request.path = request.path.replace('agent.json', 'agent-card.json');
      return undefined;
    },
  }),
  served(
    'card.json',
    'text',
    'The card is sent as text.',
    header((headers) => {
      headers['content-type'] = 'text/plain';
    }),
  ),
  {
    ...served('card.public', 'guarded', 'The card is for those who are known.', {
      request({ path, headers }) {
        if (!isCard(path) || headers.authorization !== undefined) return undefined;
        return {
          status: 401,
          headers: { 'www-authenticate': 'Bearer' },
          text: 'Who are you?',
          json: undefined,
        };
      },
    }),
    requiresAuthentication: true,
  },
  served(
    'cache.control',
    'none',
    'The card says nothing about caching.',
    header((headers) => {
      delete headers['cache-control'];
    }),
  ),
  served(
    'cache.control',
    'no-age',
    'The card may be kept for nobody knows how long.',
    header((headers) => {
      headers['cache-control'] = 'public';
    }),
  ),
  served(
    'cache.etag',
    'none',
    'The card has no ETag.',
    header((headers) => {
      delete headers.etag;
    }),
  ),
  served(
    'cache.etag',
    'random',
    'The ETag is another each time.',
    header((headers) => {
      headers.etag = `"${++count}"`;
    }),
  ),
  served(
    'cache.etag',
    'unquoted',
    'The ETag has no quotes.',
    header((headers) => {
      headers.etag = 'abc';
    }),
  ),
  served('cache.revalidates', 'always', 'The card is sent whatever its reader has.', {
    request({ headers }) {
      delete headers['if-none-match'];
    },
  }),
  served('cache.revalidates', 'never', 'The card is never sent to those who have another.', {
    request({ headers }) {
      if (headers['if-none-match'] !== undefined) headers['if-none-match'] = '*';
    },
  }),
  served(
    'cache.last-modified',
    'future',
    'The card was changed tomorrow.',
    header((headers) => {
      headers['last-modified'] = 'Fri, 01 Jan 2100 00:00:00 GMT';
    }),
  ),
  served(
    'cache.vary',
    'none',
    'Caches are not told that the card depends on the version.',
    header((headers) => {
      delete headers.vary;
    }),
  ),
]);
