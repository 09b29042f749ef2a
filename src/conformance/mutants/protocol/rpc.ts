import { mutateError, isMutableJson, type MutableJson } from '../harness/mutations.ts';
import {
  type MutantAgent,
  defineMutants,
  type WireResponse,
  type WireRequest,
} from '../harness/mutant-agent.ts';
import { allVersions } from '../harness/operation-mutant.ts';

/** Answers instead of the agent. */
function rpcAnswer(id: unknown, body: object, status = 200): WireResponse {
  return {
    status,
    headers: { 'content-type': 'application/json' },
    text: JSON.stringify({ jsonrpc: '2.0', id, ...body }),
    json: undefined,
  };
}

/** An agent that answers requests that fit otherwise. */
function answers(
  id: string,
  breaks: string,
  what: string,
  fits: (request: WireRequest) => boolean,
  instead: (request: WireRequest) => WireResponse,
  versions: MutantAgent['versions'] = ['1.0'],
): MutantAgent {
  return {
    id: `${breaks}:${id}`,
    violates: breaks,
    description: what,
    versions,
    transports: ['JSONRPC'],
    wire: () => ({
      request: (request) => (request.method === 'POST' && fits(request) ? instead(request) : undefined),
    }),
  };
}

/** An agent that gives another code than it should. */
function code(
  id: string,
  breaks: string,
  what: string,
  from: number,
  to: number,
  versions: MutantAgent['versions'] = ['1.0'],
): MutantAgent {
  return {
    id: `${breaks}:${id}`,
    violates: breaks,
    description: what,
    versions,
    transports: ['JSONRPC'],
    wire: () =>
      mutateError((error) => {
        if (error.code === from) error.code = to;
      }),
  };
}

const error = (value: number): object => ({ error: { code: value, message: 'No' } });
const idOf = ({ json }: WireRequest): unknown => (isMutableJson(json) ? json.id : null);
const paramsOf = ({ json }: WireRequest): MutableJson =>
  isMutableJson(json) && isMutableJson(json.params) ? json.params : {};

/** Agents whose JSON-RPC is wrong in one thing. */
export const rpcMutants = defineMutants([
  code(
    'as-request',
    'rpc.parse',
    'What is no JSON is refused as an invalid request.',
    -32700,
    -32600,
    allVersions,
  ),
  answers(
    'crash',
    'rpc.parse',
    'What is no JSON is a page of HTML.',
    ({ json, body }) => json === undefined && body !== '',
    () => ({
      status: 400,
      headers: { 'content-type': 'text/html' },
      text: '<html>Bad request</html>',
      json: undefined,
    }),
    allVersions,
  ),
  code(
    'as-params',
    'rpc.invalid-request',
    'What is no request is refused as wrong parameters.',
    -32600,
    -32602,
    allVersions,
  ),
  answers(
    'takes',
    'rpc.version-mark',
    'A request without its mark is taken.',
    ({ json }) => isMutableJson(json) && json.jsonrpc !== '2.0' && typeof json.method === 'string',
    (request) => rpcAnswer(idOf(request), error(-32001)),
  ),
  answers(
    'breaks',
    'rpc.batch',
    'A batch is answered with a code of its own.',
    ({ json }) => Array.isArray(json),
    () => rpcAnswer(null, error(-32602)),
  ),
  answers(
    'takes',
    'rpc.object-id',
    'An object is taken as an id.',
    ({ json }) => isMutableJson(json) && typeof json.id === 'object' && json.id !== null,
    (request) => rpcAnswer(idOf(request), error(-32001)),
  ),
  code(
    'as-request',
    'rpc.unknown-method',
    'An unknown method is refused as an invalid request.',
    -32601,
    -32600,
    allVersions,
  ),
  answers(
    'takes',
    'rpc.old-methods',
    'The methods of 0.3 are taken from callers of 1.0.',
    ({ operation }) => operation === 'message/send' || operation === 'tasks/get',
    (request) => rpcAnswer(idOf(request), error(-32001)),
  ),
  answers(
    'no-list',
    'rpc.methods',
    'ListTasks does not exist.',
    ({ operation }) => operation === 'ListTasks',
    (request) => rpcAnswer(idOf(request), error(-32601)),
  ),
  answers(
    'no-push',
    'rpc.methods',
    'Push configurations cannot be listed.',
    ({ operation }) => operation === 'ListTaskPushNotificationConfigs',
    (request) => rpcAnswer(idOf(request), error(-32601)),
  ),
  code('as-internal', 'rpc.params', 'Wrong parameters are an internal error.', -32602, -32603, allVersions),
  answers(
    'number-id',
    'rpc.params',
    'A number is taken as the id of a task.',
    (request) => typeof paramsOf(request).id === 'number',
    (request) => rpcAnswer(idOf(request), error(-32001)),
    allVersions,
  ),
  {
    id: 'rpc.ids:as-text',
    violates: 'rpc.ids',
    description: 'Ids come back as texts.',
    versions: allVersions,
    transports: ['JSONRPC'],
    wire: () => ({
      response(answer) {
        if (isMutableJson(answer.json) && 'jsonrpc' in answer.json)
          answer.json = { ...answer.json, id: String(answer.json.id) };
      },
    }),
  },
  {
    id: 'rpc.status:text-code',
    violates: 'rpc.status',
    description: 'The code of an error is a text.',
    versions: allVersions,
    transports: ['JSONRPC'],
    wire: () =>
      mutateError((each) => {
        each.code = String(each.code);
      }),
  },
  {
    id: 'rpc.status:no-message',
    violates: 'rpc.status',
    description: 'An error has no message.',
    versions: allVersions,
    transports: ['JSONRPC'],
    wire: () =>
      mutateError((each) => {
        delete each.message;
      }),
  },
  {
    id: 'rpc.details:object',
    violates: 'rpc.details',
    description: 'The data of an error is an object.',
    versions: ['1.0'],
    transports: ['JSONRPC'],
    wire: () =>
      mutateError((each) => {
        each.data = { reason: 'TASK_NOT_FOUND' };
      }),
  },
  {
    id: 'rpc.details:untyped',
    violates: 'rpc.details',
    description: 'Details do not say their type.',
    versions: ['1.0'],
    transports: ['JSONRPC'],
    wire: () =>
      mutateError((each) => {
        if (Array.isArray(each.data)) for (const detail of each.data as MutableJson[]) delete detail['@type'];
      }),
  },
  {
    id: 'rpc.error-info:none',
    violates: 'rpc.error-info',
    description: 'Errors have no details.',
    versions: ['1.0'],
    transports: ['JSONRPC'],
    wire: () =>
      mutateError((each) => {
        delete each.data;
      }),
  },
  {
    id: 'rpc.error-info:reason',
    violates: 'rpc.error-info',
    description: 'The reason is the name of a class.',
    versions: ['1.0'],
    transports: ['JSONRPC'],
    wire: () =>
      mutateError((each) => {
        if (Array.isArray(each.data))
          for (const detail of each.data as MutableJson[])
            if ('reason' in detail) detail.reason = 'TaskNotFoundError';
      }),
  },
  {
    id: 'rpc.error-info:domain',
    violates: 'rpc.error-info',
    description: 'The domain is another one.',
    versions: ['1.0'],
    transports: ['JSONRPC'],
    wire: () =>
      mutateError((each) => {
        if (Array.isArray(each.data))
          for (const detail of each.data as MutableJson[])
            if ('domain' in detail) detail.domain = 'example.com';
      }),
  },
  {
    id: 'rpc.content-type:takes',
    violates: 'rpc.content-type',
    description: 'Requests of every type are taken.',
    versions: ['1.0'],
    transports: ['JSONRPC'],
    wire: () => ({
      request: (request) => {
        request.headers['content-type'] = 'application/json';
      },
    }),
  },
  {
    id: 'rpc.get-verb:page',
    violates: 'rpc.get-verb',
    description: 'A GET is answered with a page.',
    versions: ['1.0'],
    transports: ['JSONRPC'],
    wire: () => ({
      request: ({ method, path }) =>
        method === 'GET' && !path.includes('well-known')
          ? {
              status: 200,
              headers: { 'content-type': 'text/html' },
              text: '<html>Hello</html>',
              json: undefined,
            }
          : undefined,
    }),
  },
  {
    id: 'rpc.parse:no-id',
    violates: 'rpc.parse',
    description: 'What is no JSON is answered without an id.',
    versions: allVersions,
    transports: ['JSONRPC'],
    wire: () => ({
      response(answer) {
        if (
          !isMutableJson(answer.json) ||
          !isMutableJson(answer.json.error) ||
          answer.json.error.code !== -32700
        )
          return;
        const { id: _id, ...others } = answer.json;
        answer.json = others;
      },
    }),
  },
  {
    id: 'rpc.envelope:error-null',
    violates: 'rpc.envelope',
    description: 'A result comes with an error that is null.',
    versions: ['1.0', '0.3'],
    transports: ['JSONRPC'],
    wire: () => ({
      response(answer) {
        if (isMutableJson(answer.json) && 'result' in answer.json)
          answer.json = { ...answer.json, error: null };
      },
    }),
  },
]);
