import type { JsonObject } from '../../../primitives/json.ts';
import { mutateCard1_0 } from '../card/card.ts';
import {
  type MutantAgent,
  type WireMutation,
  type WireRequest,
  type WireResponse,
  mutant,
} from '../harness/mutant-agent.ts';
import { isCardRequest } from '../harness/mutations.ts';
import { wireErrorResponse } from '../harness/wire-responses.ts';

function wireMutant(
  id: string,
  description: string,
  wire: () => WireMutation,
  transports?: MutantAgent['transports'],
): MutantAgent {
  return mutant(id, description, { ...(transports ? { transports } : {}), wire });
}

/** Replaces the A2A-Version header of requests. */
function replaceVersion(
  change: (version: string | undefined, request: WireRequest) => string | undefined,
): () => WireMutation {
  return () => ({
    request(request) {
      if (isCardRequest(request)) return;
      const header = request.headers['a2a-version'];
      const version = change(typeof header === 'string' ? header : undefined, request);
      if (version === undefined) delete request.headers['a2a-version'];
      else request.headers['a2a-version'] = version;
    },
  });
}

const removeVersionParameter = (request: WireRequest): void => {
  request.path = request.path.replace(/[?&]A2A-Version=[^&]*/, '');
};

const reject = (request: WireRequest, code: number): WireResponse =>
  wireErrorResponse(request, { code, status: 404, statusName: 'NOT_FOUND', message: 'no' });

const isUnsupported = (request: WireRequest): boolean =>
  !isCardRequest(request) && /^(9|2|10)\./.test(String(request.headers['a2a-version']));

/** Removes the older versions from the card. */
const only1_0 = mutateCard1_0((card) => {
  card.supportedInterfaces = (card.supportedInterfaces as JsonObject[]).filter(
    ({ protocolVersion }) => protocolVersion === '1.0',
  );
});

/** Mutants of version negotiation. */
export const versionMutants: readonly MutantAgent[] = [
  wireMutant(
    'version.patch:exact',
    'Versions are compared as strings.',
    replaceVersion((version) => (/^1\.0\.\d+$/.test(version ?? '') ? '9.9' : version)),
  ),
  wireMutant(
    'version.patch:old',
    'A version with a patch number is treated as 0.3.',
    replaceVersion((version) => (/^1\.0\.\d+$/.test(version ?? '') ? '0.3' : version)),
    ['JSONRPC'],
  ),
  wireMutant(
    'version.parameter:ignored',
    'The version in the query is ignored.',
    replaceVersion((version, request) => {
      const hasParameter = /A2A-Version=/.test(request.path);
      removeVersionParameter(request);
      return hasParameter && version === undefined ? '9.9' : version;
    }),
    ['HTTP+JSON'],
  ),
  wireMutant(
    'version.parameter-rpc:ignored',
    'The version in the query is ignored.',
    replaceVersion((version, request) => {
      removeVersionParameter(request);
      return version;
    }),
    ['JSONRPC'],
  ),
  wireMutant(
    'version.unknown:served',
    'Requests of any version are served.',
    replaceVersion((version) => (version === undefined ? version : '1.0')),
  ),
  wireMutant(
    'version.unknown:prefix',
    '10.0 is treated as 1.0.',
    replaceVersion((version) => (version === '10.0' ? '1.0' : version)),
  ),
  wireMutant(
    'version.unknown:major',
    'Only versions after 2.0 are rejected.',
    replaceVersion((version) => (version === '2.0' ? '1.0' : version)),
  ),
  wireMutant('version.unknown:invalid', 'An unsupported version is rejected as an invalid request.', () => ({
    request: (request) => (isUnsupported(request) ? reject(request, -32600) : undefined),
  })),
  wireMutant(
    'version.unknown:send',
    'Messages of any version are served.',
    replaceVersion((version, { operation }) =>
      /SendMessage|message:send/.test(operation) ? '1.0' : version,
    ),
  ),
  wireMutant(
    'version.unknown-stream:served',
    'Streams of any version are served.',
    replaceVersion((version, { operation }) =>
      /Streaming|message:stream/.test(operation) ? '1.0' : version,
    ),
  ),
  wireMutant(
    'version.missing:newest',
    'A request without a version is treated as the newest version.',
    replaceVersion((version) => version?.trim() || '1.0'),
    ['JSONRPC'],
  ),
  wireMutant(
    'version.missing:alone',
    'An agent that only supports 1.0 serves requests without a version.',
    () => ({ ...only1_0, ...replaceVersion((version) => version?.trim() || '1.0')() }),
  ),
  wireMutant(
    'version.missing:other-error',
    'A request without a version is rejected as an unknown method.',
    () => ({
      ...only1_0,
      request: (request) =>
        isCardRequest(request) || String(request.headers['a2a-version'] ?? '').trim() !== ''
          ? undefined
          : reject(request, -32601),
    }),
  ),
  wireMutant(
    'version.semantics:by-name',
    'The method name determines the version.',
    () => ({
      request(request) {
        const { method } = (request.json ?? {}) as { method?: string };
        if (method?.startsWith('tasks/')) request.headers['a2a-version'] = '0.3';
      },
    }),
    ['JSONRPC'],
  ),
  wireMutant(
    'version.older:refused',
    '0.3 is listed in the card but rejected.',
    replaceVersion((version) => (version?.startsWith('0.3') ? '9.9' : version)),
  ),
  wireMutant('version.no-patch:answers', 'Responses contain the version with its patch number.', () => ({
    response({ headers }) {
      headers['a2a-version'] = '1.0.1';
    },
  })),
];
