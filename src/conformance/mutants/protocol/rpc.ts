import { type JsonObject, isJsonObject } from '../../../primitives/json.ts';
import type { CheckedVersion } from '../../rule-model.ts';
import { type MutantAgent, type WireRequest, type WireResponse, mutant } from '../harness/mutant-agent.ts';
import { type Mutation, dropMember, mutateError } from '../harness/mutations.ts';
import { allVersions } from '../harness/operation-mutants.ts';
import { htmlResponse, wireJsonResponse } from '../harness/wire-responses.ts';

/** Responds to matching POST requests in place of the agent. */
function responseMutant(
  id: string,
  description: string,
  matches: (request: WireRequest) => boolean,
  respond: (request: WireRequest) => WireResponse,
  versions: readonly CheckedVersion[] = ['1.0'],
): MutantAgent {
  return mutant(id, description, {
    versions,
    transports: ['JSONRPC'],
    wire: () => ({
      request: (request) => (request.method === 'POST' && matches(request) ? respond(request) : undefined),
    }),
  });
}

function errorMutant(
  id: string,
  description: string,
  mutate: Mutation,
  versions: readonly CheckedVersion[] = ['1.0'],
): MutantAgent {
  return mutant(id, description, {
    versions,
    transports: ['JSONRPC'],
    wire: () => mutateError((error, _response, request) => mutate(error, request)),
  });
}

/** Mutates the envelope of JSON-RPC responses. `mutate` returns the replacement. */
function envelopeMutant(
  id: string,
  description: string,
  mutate: (envelope: JsonObject) => JsonObject | undefined,
  versions: readonly CheckedVersion[] = allVersions,
): MutantAgent {
  return mutant(id, description, {
    versions,
    transports: ['JSONRPC'],
    wire: () => ({
      response(response) {
        if (isJsonObject(response.json) && 'jsonrpc' in response.json)
          response.json = mutate(response.json) ?? response.json;
      },
    }),
  });
}

const replaceCode =
  (from: number, to: number): Mutation =>
  (error) => {
    if (error.code === from) error.code = to;
  };
const inDetails =
  (mutate: (detail: JsonObject) => void): Mutation =>
  (error) => {
    if (Array.isArray(error.data)) for (const detail of error.data as JsonObject[]) mutate(detail);
  };
const withoutMember = (name: string, { [name]: _removed, ...others }: JsonObject): JsonObject => others;
const respondWith =
  (code: number) =>
  ({ json }: WireRequest): WireResponse =>
    wireJsonResponse(200, {
      jsonrpc: '2.0',
      id: isJsonObject(json) ? json.id : null,
      error: { code, message: 'No' },
    });

/** Mutants of the JSON-RPC transport. */
export const rpcMutants: readonly MutantAgent[] = [
  errorMutant(
    'rpc.parse:as-request',
    'Malformed JSON is rejected as an invalid request.',
    replaceCode(-32700, -32600),
    allVersions,
  ),
  responseMutant(
    'rpc.parse:crash',
    'Malformed JSON is answered with an HTML page.',
    ({ json, body }) => json === undefined && body !== '',
    () => htmlResponse(400, '<html>Bad request</html>'),
    allVersions,
  ),
  errorMutant(
    'rpc.invalid-request:as-params',
    'An invalid request is rejected as invalid parameters.',
    replaceCode(-32600, -32602),
    allVersions,
  ),
  responseMutant(
    'rpc.version-mark:takes',
    'A request without jsonrpc "2.0" is accepted.',
    ({ json }) => isJsonObject(json) && json.jsonrpc !== '2.0' && typeof json.method === 'string',
    respondWith(-32001),
  ),
  responseMutant(
    'rpc.batch:breaks',
    'A batch is rejected with the wrong error code.',
    ({ json }) => Array.isArray(json),
    respondWith(-32602),
  ),
  responseMutant(
    'rpc.object-id:takes',
    'An object is accepted as a request id.',
    ({ json }) => isJsonObject(json) && typeof json.id === 'object' && json.id !== null,
    respondWith(-32001),
  ),
  errorMutant(
    'rpc.unknown-method:as-request',
    'An unknown method is rejected as an invalid request.',
    replaceCode(-32601, -32600),
    allVersions,
  ),
  responseMutant(
    'rpc.old-methods:takes',
    'Methods of 0.3 are accepted from 1.0 clients.',
    ({ operation }) => operation === 'message/send' || operation === 'tasks/get',
    respondWith(-32001),
  ),
  responseMutant(
    'rpc.methods:no-list',
    'ListTasks is not implemented.',
    ({ operation }) => operation === 'ListTasks',
    respondWith(-32601),
  ),
  responseMutant(
    'rpc.methods:no-push',
    'Listing push configurations is not implemented.',
    ({ operation }) => operation === 'ListTaskPushNotificationConfigs',
    respondWith(-32601),
  ),
  errorMutant(
    'rpc.params:as-internal',
    'Invalid parameters cause an internal error.',
    replaceCode(-32602, -32603),
    allVersions,
  ),
  responseMutant(
    'rpc.params:number-id',
    'A number is accepted as a task id.',
    ({ json }) => isJsonObject(json) && isJsonObject(json.params) && typeof json.params.id === 'number',
    respondWith(-32001),
    allVersions,
  ),
  envelopeMutant('rpc.ids:as-text', 'Request ids are returned as strings.', (envelope) => ({
    ...envelope,
    id: String(envelope.id),
  })),
  errorMutant(
    'rpc.status:text-code',
    'The code of an error is a string.',
    (error) => {
      error.code = String(error.code);
    },
    allVersions,
  ),
  errorMutant('rpc.status:no-message', 'An error has no message.', dropMember('message'), allVersions),
  errorMutant('rpc.details:object', 'The data of an error is an object.', (error) => {
    error.data = { reason: 'TASK_NOT_FOUND' };
  }),
  errorMutant(
    'rpc.details:untyped',
    'Error details have no type.',
    inDetails((detail) => {
      delete detail['@type'];
    }),
  ),
  errorMutant('rpc.error-info:none', 'Errors have no details.', dropMember('data')),
  errorMutant(
    'rpc.error-info:reason',
    'The reason of an error is a class name.',
    inDetails((detail) => {
      if ('reason' in detail) detail.reason = 'TaskNotFoundError';
    }),
  ),
  errorMutant(
    'rpc.error-info:domain',
    'The domain of an error is wrong.',
    inDetails((detail) => {
      if ('domain' in detail) detail.domain = 'example.com';
    }),
  ),
  mutant('rpc.content-type:takes', 'Requests of any Content-Type are accepted.', {
    transports: ['JSONRPC'],
    wire: () => ({
      request: ({ headers }) => {
        headers['content-type'] = 'application/json';
      },
    }),
  }),
  mutant('rpc.get-verb:breaks', 'A GET request causes an internal error.', {
    transports: ['JSONRPC'],
    wire: () => ({
      request: ({ method, path }) =>
        method === 'GET' && !path.includes('well-known') ? wireJsonResponse(500, {}) : undefined,
    }),
  }),
  mutant('rpc.get-verb:page', 'A GET request is answered with an HTML page.', {
    transports: ['JSONRPC'],
    wire: () => ({
      request: ({ method, path }) =>
        method === 'GET' && !path.includes('well-known')
          ? htmlResponse(200, '<html>Hello</html>')
          : undefined,
    }),
  }),
  envelopeMutant('rpc.parse:no-id', 'The response to malformed JSON has no id.', (envelope) =>
    isJsonObject(envelope.error) && envelope.error.code === -32700
      ? withoutMember('id', envelope)
      : undefined,
  ),
  envelopeMutant(
    'rpc.envelope:error-null',
    'A response has a result and an error that is null.',
    (envelope) => ('result' in envelope ? { ...envelope, error: null } : undefined),
    ['1.0', '0.3'],
  ),
  envelopeMutant('rpc.envelope:text-id', 'The id of the response is null.', (envelope) => ({
    ...envelope,
    id: null,
  })),
  envelopeMutant('rpc.envelope:no-mark', 'jsonrpc is missing.', (envelope) =>
    withoutMember('jsonrpc', envelope),
  ),
  envelopeMutant('rpc.envelope:both', 'A response has both a result and an error.', (envelope) =>
    isJsonObject(envelope.error) ? { ...envelope, result: {} } : undefined,
  ),
];
