import { type JsonObject, isJsonObject } from '../../../primitives/json.ts';
import {
  type MutantAgent,
  type MutantSetup,
  type WireMutation,
  type WireResponse,
  mutant,
  mutantTable,
} from '../harness/mutant-agent.ts';
import { type Mutation, addMembers, dropMember, isCardRequest, renameMember } from '../harness/mutations.ts';
import { htmlResponse, wireJsonResponse } from '../harness/wire-responses.ts';

/** Mutates the 1.0 card; cards of other versions stay unchanged. */
export function mutateCard1_0(mutate: Mutation): WireMutation {
  return {
    response({ json }, request) {
      if (!isCardRequest(request) || request.headers['a2a-version'] !== '1.0') return;
      if (isJsonObject(json) && 'supportedInterfaces' in json) mutate(json, request);
    },
  };
}

const mutateCardOverRpc = (mutate: Mutation): MutantSetup => ({
  transports: ['JSONRPC'],
  wire: () => mutateCard1_0(mutate),
});

function cardMutant(id: string, description: string, mutate: Mutation): MutantAgent {
  return mutant(id, description, mutateCardOverRpc(mutate));
}

function wireMutant(id: string, description: string, wire: WireMutation): MutantAgent {
  return mutant(id, description, { transports: ['JSONRPC'], wire: () => wire });
}

function headerMutant(
  id: string,
  description: string,
  mutate: (headers: Record<string, string>) => void,
): MutantAgent {
  return wireMutant(id, description, {
    response({ headers }, { path }) {
      if (isCard(path)) mutate(headers);
    },
  });
}

const first = (card: JsonObject, name: string): JsonObject => (card[name] as JsonObject[])[0] ?? {};
const inSkill =
  (mutate: Mutation): Mutation =>
  (card, request) =>
    mutate(first(card, 'skills'), request);
const inCapabilities =
  (mutate: Mutation): Mutation =>
  (card, request) =>
    mutate(card.capabilities as JsonObject, request);
const inInterface =
  (mutate: Mutation): Mutation =>
  (card, request) =>
    mutate((card.supportedInterfaces as JsonObject[])[1] ?? {}, request);
const setScheme = (value: unknown): Mutation => addMembers({ securitySchemes: { login: value } });
const setFlow = (name: string, value: unknown): Mutation =>
  setScheme({ oauth2SecurityScheme: { flows: { [name]: value } } });
const addInterface =
  (binding: string, toUrl: (url: string) => string): Mutation =>
  (card) => {
    const { url } = first(card, 'supportedInterfaces');
    (card.supportedInterfaces as JsonObject[]).push({
      url: toUrl(String(url)),
      protocolBinding: binding,
      protocolVersion: '1.0',
    });
  };

/** Declares an additional interface that does not work as declared. */
const declareOtherInterface = (binding: string, response: WireResponse): MutantSetup => ({
  transports: ['JSONRPC'],
  wire: () => ({
    ...mutateCard1_0(addInterface(binding, (url) => `${url}/elsewhere`)),
    request: ({ path }) => (path.startsWith('/elsewhere') ? response : undefined),
  }),
});

const isCard = (path: string): boolean => path.includes('/.well-known/agent-card.json');
const removeInterface =
  (binding: string): Mutation =>
  (card) => {
    card.supportedInterfaces = (card.supportedInterfaces as JsonObject[]).filter(
      ({ protocolBinding }) => protocolBinding !== binding,
    );
  };
/** Required members by rule: their place in the card and their names. */
const requiredMembers: Readonly<Record<string, readonly [(mutate: Mutation) => Mutation, ...string[]]>> = {
  'card.members': [
    (mutate) => mutate,
    'name',
    'description',
    'version',
    'defaultInputModes',
    'defaultOutputModes',
    'skills',
    'capabilities',
  ],
  'card.skills': [inSkill, 'id', 'name', 'description', 'tags'],
  'card.interfaces': [inInterface, 'url', 'protocolBinding', 'protocolVersion'],
};
let count = 0;

/** Mutants of the public card. */
export const cardMutants: readonly MutantAgent[] = [
  ...Object.entries(requiredMembers).flatMap(([rule, [inPlace, ...members]]) =>
    members.map((member) =>
      cardMutant(`${rule}:no-${member}`, `${member} is missing.`, inPlace(dropMember(member))),
    ),
  ),
  ...mutantTable(mutateCardOverRpc, {
    'card.members': {
      'numeric-version': ['The version is a number.', addMembers({ version: 1.2 })],
      'one-mode': ['The input modes are a string.', addMembers({ defaultInputModes: 'text/plain' })],
    },
    'card.skills': {
      'tags-text': ['The tags of a skill are a string.', inSkill(addMembers({ tags: 'test' }))],
    },
    'card.interfaces': {
      transport: ['The binding has its 0.3 name.', inInterface(renameMember('protocolBinding', 'transport'))],
      relative: ['The URL of an interface is a path.', inInterface(addMembers({ url: '/a2a' }))],
    },
    'card.binding': {
      rest: ['The binding is named REST.', inInterface(addMembers({ protocolBinding: 'REST' }))],
      'json-rpc': ['The binding is named JSON-RPC.', addInterface('JSON-RPC', (url) => url)],
    },
    'card.patch': {
      'three-numbers': [
        'The version of an interface is 1.0.1.',
        inInterface(addMembers({ protocolVersion: '1.0.1' })),
      ],
    },
    'card.capabilities': {
      text: ['A capability is the string "true".', inCapabilities(addMembers({ pushNotifications: 'true' }))],
      extension: [
        'An extension has no URI.',
        inCapabilities(addMembers({ extensions: [{ description: 'nameless' }] })),
      ],
    },
    'card.provider': {
      'no-url': ['The provider has no URL.', addMembers({ provider: { organization: 'Example' } })],
    },
    'card.schemes': {
      type: ['A security scheme has its 0.3 format.', setScheme({ type: 'http', scheme: 'bearer' })],
      two: [
        'A security scheme has two types.',
        setScheme({ httpAuthSecurityScheme: { scheme: 'bearer' }, mtlsSecurityScheme: {} }),
      ],
      'no-scheme': ['An HTTP scheme has no scheme name.', setScheme({ httpAuthSecurityScheme: {} })],
      in: [
        'An API key scheme has in instead of location.',
        setScheme({ apiKeySecurityScheme: { in: 'header', name: 'X-Key' } }),
      ],
      oidc: ['An OpenID Connect scheme has no URL.', setScheme({ openIdConnectSecurityScheme: {} })],
    },
    'card.flows': {
      relative: [
        'The token URL of a flow is a path.',
        setFlow('clientCredentials', { tokenUrl: '/token', scopes: {} }),
      ],
      scopes: [
        'A flow has no scopes.',
        setFlow('clientCredentials', { tokenUrl: 'https://login.example.com/token' }),
      ],
      deprecated: [
        'The URL of a deprecated flow is not absolute.',
        setFlow('implicit', { authorizationUrl: 'login', scopes: {} }),
      ],
    },
    'card.requirements': {
      unknown: [
        'A required scheme is not declared.',
        addMembers({ securityRequirements: [{ schemes: { nowhere: { list: [] } } }] }),
      ],
    },
    'card.camel': {
      snake: ['The input modes are in snake case.', renameMember('defaultInputModes', 'default_input_modes')],
    },
    'card.empty': {
      skills: ['The card has an empty array of skills.', addMembers({ skills: [] })],
      tags: ['A skill has an empty array of tags.', inSkill(addMembers({ tags: [] }))],
    },
    'card.modes': {
      text: ['A mode is "text" instead of a media type.', addMembers({ defaultOutputModes: ['text'] })],
    },
    'card.secrets': {
      member: [
        'The card contains a client secret.',
        addMembers({
          securitySchemes: {
            login: { httpAuthSecurityScheme: { scheme: 'bearer', clientSecret: 'hunter2-hunter2' } },
          },
        }),
      ],
      address: [
        'A URL of the card contains a password.',
        addMembers({ documentationUrl: 'https://admin:hunter2@docs.example.com/' }),
      ],
    },
    'card.https': {
      plain: [
        'A remote interface is not encrypted.',
        addInterface('GRPC', () => 'http://agent.example.com/'),
      ],
    },
    'card.truthful': {
      closed: ['An interface is on a closed port.', addInterface('JSONRPC', () => 'http://127.0.0.1:9/')],
    },
    'card.undeclared': {
      rest: ['REST is served but not listed in the card.', removeInterface('HTTP+JSON')],
    },
  }),
  cardMutant('card.requirements:flat', 'Security requirements have their 0.3 format.', (card) => {
    card.securitySchemes = { login: { httpAuthSecurityScheme: { scheme: 'bearer' } } };
    card.securityRequirements = [{ login: [] }];
  }),
  cardMutant('card.unique:skills', 'Two skills have the same id.', (card) => {
    (card.skills as JsonObject[]).push({ ...first(card, 'skills'), name: 'Another' });
  }),
  ...mutantTable(declareOtherInterface, {
    'card.truthful': {
      nowhere: ['The URL of an interface does not exist.', 'HTTP+JSON', htmlResponse(404)],
      gone: [
        'An interface responds with other JSON.',
        'HTTP+JSON',
        wireJsonResponse(404, { message: 'no route' }),
      ],
      swapped: [
        'An interface uses another binding than declared.',
        'JSONRPC',
        wireJsonResponse(404, { error: { code: 404, status: 'NOT_FOUND', message: 'no task', details: [] } }),
      ],
      empty: ['An interface returns empty objects.', 'JSONRPC', wireJsonResponse(200, {})],
    },
  }),
  mutant('card.undeclared:rpc', 'JSON-RPC is served but not listed in the card.', {
    transports: ['HTTP+JSON'],
    wire: () => mutateCard1_0(removeInterface('JSONRPC')),
  }),
  wireMutant('card.found:old-place', 'The 1.0 card is at the 0.3 path.', {
    request(request) {
      if (request.path.endsWith('/agent-card.json'))
        return { status: 404, headers: {}, text: 'Not found', json: undefined };
      if (request.path.endsWith('/agent.json'))
        request.path = request.path.replace('agent.json', 'agent-card.json');
      return undefined;
    },
  }),
  headerMutant('card.json:text', 'The card has the Content-Type text/plain.', (headers) => {
    headers['content-type'] = 'text/plain';
  }),
  {
    ...wireMutant('card.public:guarded', 'The card requires credentials.', {
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
  headerMutant('cache.control:none', 'The card has no Cache-Control header.', (headers) => {
    delete headers['cache-control'];
  }),
  headerMutant('cache.control:no-age', 'Cache-Control has no max-age.', (headers) => {
    headers['cache-control'] = 'public';
  }),
  headerMutant('cache.etag:none', 'The card has no ETag.', (headers) => {
    delete headers.etag;
  }),
  headerMutant('cache.etag:random', 'The ETag changes with each request.', (headers) => {
    headers.etag = `"${++count}"`;
  }),
  headerMutant('cache.etag:unquoted', 'The ETag has no quotes.', (headers) => {
    headers.etag = 'abc';
  }),
  wireMutant('cache.revalidates:always', 'The card is sent even if the ETag matches.', {
    request({ headers }) {
      delete headers['if-none-match'];
    },
  }),
  wireMutant('cache.revalidates:never', '304 is sent even if the ETag does not match.', {
    request({ headers }) {
      if (headers['if-none-match'] !== undefined) headers['if-none-match'] = '*';
    },
  }),
  headerMutant('cache.last-modified:future', 'Last-Modified is in the future.', (headers) => {
    headers['last-modified'] = 'Fri, 01 Jan 2100 00:00:00 GMT';
  }),
  headerMutant('cache.vary:none', 'The Vary header does not contain the version header.', (headers) => {
    delete headers.vary;
  }),
];
