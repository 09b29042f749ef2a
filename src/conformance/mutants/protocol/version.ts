import { isMutableJson, type MutableJson } from '../harness/mutations.ts';
import {
  type MutantAgent,
  defineMutants,
  type WireMutation,
  type WireRequest,
} from '../harness/mutant-agent.ts';
import { mutateCard1_0 } from '../card/card.ts';

/** A broken agent in one line: the rule, how, what, where, and its wire. */
function wired(
  breaks: string,
  how: string,
  what: string,
  wire: () => WireMutation,
  transports?: MutantAgent['transports'],
): MutantAgent {
  return {
    id: `${breaks}:${how}`,
    violates: breaks,
    description: what,
    versions: ['1.0'],
    ...(transports ? { transports } : {}),
    wire,
  };
}

/** Reads the version otherwise than it should. */
function reads(
  change: (version: string | undefined, request: WireRequest) => string | undefined,
): () => WireMutation {
  return () => ({
    request(request) {
      if (request.path.includes('/.well-known/')) return;
      const said = request.headers['a2a-version'];
      const version = change(typeof said === 'string' ? said : undefined, request);
      if (version === undefined) delete request.headers['a2a-version'];
      else request.headers['a2a-version'] = version;
    },
  });
}

const withoutQuery = (request: WireRequest): void => {
  request.path = request.path.replace(/[?&]A2A-Version=[^&]*/, '');
};

/** What an agent says that takes no version but its own. */
function errorFor(request: WireRequest, code: number, status: number) {
  const { id } = isMutableJson(request.json) ? request.json : ({} as MutableJson);
  const isRpc = request.path.split('?')[0] === '/';
  const json = isRpc
    ? { jsonrpc: '2.0', id, error: { code, message: 'no' } }
    : { error: { code: status, status: 'NOT_FOUND', message: 'no', details: [] } };
  return {
    status: isRpc ? 200 : status,
    headers: { 'content-type': 'application/json' },
    text: '',
    json,
  };
}

const isOther = ({ headers, path }: WireRequest): boolean =>
  !path.includes('/.well-known/') && /^(9|2|10)\./.test(String(headers['a2a-version']));

/** The card without older versions, so that the agent has 1.0 alone. */
const onlyNew = mutateCard1_0((card) => {
  card.supportedInterfaces = (card.supportedInterfaces as MutableJson[]).filter(
    ({ protocolVersion }) => protocolVersion === '1.0',
  );
});

/** Agents that mistake versions. */
export const versionMutants = defineMutants([
  wired(
    'version.patch',
    'exact',
    'Versions are compared as texts.',
    reads((version) => (/^1\.0\.\d+$/.test(version ?? '') ? '9.9' : version)),
  ),
  wired(
    'version.patch',
    'old',
    'A version with a patch number is taken for 0.3.',
    reads((version) => (/^1\.0\.\d+$/.test(version ?? '') ? '0.3' : version)),
    ['JSONRPC'],
  ),
  wired(
    'version.parameter',
    'ignored',
    'The version in the query is not read.',
    reads((version, request) => {
      const isThere = /A2A-Version=/.test(request.path);
      withoutQuery(request);
      return isThere && version === undefined ? '9.9' : version;
    }),
    ['HTTP+JSON'],
  ),
  wired(
    'version.parameter-rpc',
    'ignored',
    'The version in the query is not read.',
    reads((version, request) => {
      withoutQuery(request);
      return version;
    }),
    ['JSONRPC'],
  ),
  wired(
    'version.unknown',
    'served',
    'Whatever the version, the request is served.',
    reads((version) => (version === undefined ? version : '1.0')),
  ),
  wired(
    'version.unknown',
    'prefix',
    '10.0 is taken for 1.0.',
    reads((version) => (version === '10.0' ? '1.0' : version)),
  ),
  wired(
    'version.unknown',
    'major',
    'Only versions after 2.0 are refused.',
    reads((version) => (version === '2.0' ? '1.0' : version)),
  ),
  wired('version.unknown', 'invalid', 'Another version is an invalid request.', () => ({
    request: (request) => (isOther(request) ? errorFor(request, -32600, 404) : undefined),
  })),
  wired(
    'version.unknown',
    'send',
    'Messages of any version are served.',
    reads((version, { operation }) => (/SendMessage|message:send/.test(operation) ? '1.0' : version)),
  ),
  wired(
    'version.unknown-stream',
    'served',
    'A stream is opened in any version.',
    reads((version, { operation }) => (/Streaming|message:stream/.test(operation) ? '1.0' : version)),
  ),
  wired(
    'version.missing',
    'newest',
    'A request without a version is one of the newest.',
    reads((version) => version?.trim() || '1.0'),
    ['JSONRPC'],
  ),
  wired('version.missing', 'alone', 'An agent of 1.0 alone serves requests without a version.', () => ({
    ...onlyNew,
    ...reads((version) => version?.trim() || '1.0')(),
  })),
  wired('version.missing', 'other-error', 'A request without a version has an unknown method.', () => ({
    ...onlyNew,
    request: (request) =>
      request.path.includes('/.well-known/') || String(request.headers['a2a-version'] ?? '').trim() !== ''
        ? undefined
        : errorFor(request, -32601, 404),
  })),
  {
    ...wired('version.semantics', 'by-name', 'The method alone decides about the version.', () => ({
      request(request) {
        const { method } = (request.json ?? {}) as { method?: string };
        if (method?.startsWith('tasks/')) request.headers['a2a-version'] = '0.3';
      },
    })),
    transports: ['JSONRPC'],
  },
  wired(
    'version.older',
    'refused',
    'The card says that 0.3 is spoken, and it is not.',
    reads((version) => (version?.startsWith('0.3') ? '9.9' : version)),
  ),
  wired('version.no-patch', 'answers', 'Answers name the version with its patch number.', () => ({
    response({ headers }) {
      headers['a2a-version'] = '1.0.1';
    },
  })),
]);
