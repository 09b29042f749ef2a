import { type JsonObject, isJsonObject } from '../../../primitives/json.ts';
import { withInterceptor } from '../../../protocol/composition/with-interceptor.ts';
import { A2AError } from '../../../protocol/errors.ts';
import { isTask } from '../../../protocol/task.ts';
import { type MutantAgent, type WireMutation, mutant } from '../harness/mutant-agent.ts';
import { mutateError } from '../harness/mutations.ts';
import { htmlResponse, wireJsonResponse } from '../harness/wire-responses.ts';

function restMutant(id: string, description: string, wire: () => WireMutation): MutantAgent {
  return mutant(id, description, { transports: ['HTTP+JSON'], wire });
}

function errorMutant(id: string, description: string, mutate: (error: JsonObject) => void): MutantAgent {
  return restMutant(id, description, () => mutateError(mutate));
}

/** Mutates the messages of requests before the agent receives them. */
function messageMutant(id: string, description: string, mutate: (message: JsonObject) => void): MutantAgent {
  return mutant(id, description, {
    wire: () => ({
      request(request) {
        const { json } = request;
        const holder = isJsonObject(json) && isJsonObject(json.params) ? json.params : json;
        if (!isJsonObject(holder) || !isJsonObject(holder.message)) return;
        mutate(holder.message);
        request.body = JSON.stringify(json);
      },
    }),
  });
}

const details = (error: JsonObject): JsonObject[] =>
  Array.isArray(error.details) ? (error.details as JsonObject[]) : [];
const replaceStatus = (from: number, to: number): WireMutation => ({
  response(response) {
    if (response.status === from) response.status = to;
  },
});

/** Replaces matching bodies with a valid message. */
const acceptBody = (matches: (body: string) => boolean): WireMutation => ({
  request(request) {
    if (!matches(request.body) || request.operation !== 'POST /message:send') return;
    request.json = {
      message: { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: [{ text: 'fx:complete' }] },
    };
  },
});

/** Mutants of the REST transport, of validation and of transport equivalence. */
export const restMutants: readonly MutantAgent[] = [
  restMutant('rest.encoding:not-decoded', 'The contextId of the query is not decoded.', () =>
    replaceInContextId('%', '%25'),
  ),
  restMutant('rest.encoding:twice', 'The contextId of the query is decoded twice.', () =>
    replaceInContextId('%25', '%'),
  ),
  restMutant('rest.error-body:bare', 'An error is not wrapped.', () => ({
    response(response) {
      if (isJsonObject(response.json) && isJsonObject(response.json.error))
        response.json = response.json.error;
    },
  })),
  errorMutant('rest.error-body:rpc-code', 'The code of an error is the JSON-RPC code.', (error) => {
    error.code = -32001;
  }),
  errorMutant('rest.error-body:no-status', 'An error has no status.', (error) => {
    delete error.status;
  }),
  restMutant('rest.error-body:as-200', 'Errors have the status 200.', () => replaceStatus(404, 200)),
  restMutant('rest.error-body:problem', 'Errors are problem details.', () => ({
    response(response) {
      if (isJsonObject(response.json) && isJsonObject(response.json.error))
        response.json = { type: 'about:blank', title: 'Not found', status: 404 };
    },
  })),
  errorMutant('rest.error-info:none', 'Errors have no details.', (error) => {
    delete error.details;
  }),
  errorMutant('rest.error-info:untyped', 'Error details have no type.', (error) => {
    for (const detail of details(error)) delete detail['@type'];
  }),
  errorMutant('rest.error-info:reason', 'The reason of an error is a class name.', (error) => {
    for (const detail of details(error)) if ('reason' in detail) detail.reason = 'TaskNotFoundError';
  }),
  errorMutant('rest.error-info:domain', 'The domain of an error is wrong.', (error) => {
    for (const detail of details(error)) if ('domain' in detail) detail.domain = 'a2a.dev';
  }),
  errorMutant('rest.bad-request:no-fields', 'A validation error names no field.', (error) => {
    error.details = details(error).filter((detail) => !String(detail['@type']).endsWith('BadRequest'));
  }),
  restMutant('rest.parse:as-500', 'Malformed JSON causes status 500.', () => ({
    response(response, { json, body }) {
      if (json === undefined && body !== '') response.status = 500;
    },
  })),
  restMutant('rest.utf8:latin', 'Invalid UTF-8 is accepted.', () =>
    acceptBody((body) => body.includes('\ufffd')),
  ),
  restMutant('rest.params:as-422', 'An invalid body is rejected with 500.', () => replaceStatus(400, 500)),
  restMutant('rest.params:takes', 'A message that is a string is accepted.', () =>
    acceptBody((body) => body === '{"message":"hello"}'),
  ),
  restMutant('rest.unknown-path:html', 'An unknown path is answered with an HTML page.', () => ({
    request: ({ path }) => (path.startsWith('/no/such') ? htmlResponse(404) : undefined),
  })),
  restMutant('rest.routes:no-extended', 'The route of the extended card is missing.', () => ({
    request: ({ path }) => (path === '/extendedAgentCard' ? htmlResponse(404) : undefined),
  })),
  restMutant('rest.routes:only-v1', 'Routes exist only below /v1.', () => ({
    request: ({ path, method }) =>
      method === 'GET' && path.startsWith('/tasks') ? htmlResponse(404) : undefined,
  })),
  restMutant('rest.subscribe-verbs:none', 'No HTTP method is allowed for subscribe.', () => ({
    request: ({ path }) => (path.includes(':subscribe') ? htmlResponse(405) : undefined),
  })),
  restMutant('rest.types:json', 'Responses have the Content-Type application/json.', () => ({
    response(response) {
      if (response.status === 200) response.headers['content-type'] = 'application/json';
    },
  })),
  restMutant(
    'rest.types:refuses',
    'Requests with the Content-Type application/a2a+json are rejected.',
    () => ({
      request: ({ method, headers }) =>
        method === 'POST' && headers['content-type'] === 'application/a2a+json'
          ? { ...htmlResponse(415), text: '{}' }
          : undefined,
    }),
  ),
  restMutant('rest.query:snake', 'Query parameters must be in snake case.', () => ({
    request(request) {
      request.path = request.path
        .replace('contextId=', 'context_identifier=')
        .replace('pageSize=', 'page_length=');
    },
  })),
  restMutant('rest.no-envelope:envelope', 'Responses have a JSON-RPC envelope.', () => ({
    response(response, { operation }) {
      if (operation === 'POST /message:send' && response.status === 200)
        response.json = { jsonrpc: '2.0', id: 1, ...(response.json as object) };
    },
  })),
  restMutant('rest.no-envelope:event-envelope', 'Events have a JSON-RPC envelope.', () => ({
    frame: (data) => [{ jsonrpc: '2.0', id: 1, ...(data as object) }],
  })),

  messageMutant('validation.empty-parts:takes', 'A message without parts is accepted.', (message) => {
    if (!Array.isArray(message.parts) || message.parts.length === 0)
      message.parts = [{ text: 'fx:complete' }];
  }),
  messageMutant('validation.part-content:takes', 'A part with two contents is accepted.', (message) => {
    message.parts = [{ text: 'fx:complete' }];
  }),
  messageMutant('validation.role:takes', 'Any role is accepted.', (message) => {
    message.role = 'ROLE_USER';
  }),
  messageMutant('validation.message-id:takes', 'A message without an id is accepted.', (message) => {
    message.messageId ??= crypto.randomUUID();
  }),
  mutant('validation.unknown-fields:refuses', 'Unknown fields are rejected.', {
    wire: () => ({
      request: ({ body, json }) =>
        body.includes('fromTheFuture')
          ? wireJsonResponse(
              400,
              isJsonObject(json) && 'jsonrpc' in json
                ? { jsonrpc: '2.0', id: json.id, error: { code: -32602, message: 'unknown field' } }
                : { error: { code: 400, status: 'INVALID_ARGUMENT', message: 'unknown field' } },
            )
          : undefined,
    }),
  }),
  mutant('validation.names-field:silent', 'A validation error names no field.', {
    wire: () =>
      mutateError((error) => {
        error.message = 'Invalid';
        delete error.data;
        delete error.details;
      }),
  }),
  mutant('validation.no-side-effect:makes', 'A rejected message creates a task.', {
    agent: (agent) =>
      withInterceptor(agent, {
        async send(request, call) {
          const result = await agent.send(request, call);
          if (request.configuration?.historyLength === 7_777) throw new A2AError('INVALID_PARAMS', 'No');
          return result;
        },
      }),
    wire: () => ({
      request(request) {
        const text = request.body.replace('"historyLength":-5', '"historyLength":7777');
        if (text === request.body) return;
        request.json = JSON.parse(text) as unknown;
      },
    }),
  }),
  mutant('validation.deep:breaks', 'Deeply nested JSON causes status 500.', {
    wire: () => ({ request: ({ body }) => (body.includes('[[[[[[') ? htmlResponse(500) : undefined) }),
  }),
  mutant('validation.large:takes', 'A body of any size is accepted.', {
    wire: () => ({
      request: ({ headers }) =>
        Number(headers['content-length']) > 50_000_000 ? wireJsonResponse(200, {}) : undefined,
    }),
  }),

  mutant('binding.same-task:other-store', 'Each transport has its own task store.', {
    wire: () => separateTransports(/^GetTask$|^GET \/tasks\/\{id\}$/),
  }),
  mutant('binding.same-list:other-store', 'Each transport lists its own tasks.', {
    wire: () => ({
      response(response, { operation }) {
        if (operation === 'GET /tasks' && isJsonObject(response.json))
          response.json = { ...response.json, tasks: [] };
      },
    }),
  }),
  mutant('binding.same-cancel:other-store', 'Each transport cancels its own tasks.', {
    wire: () => separateTransports(/^CancelTask$|^POST \/tasks\/\{id\}:cancel$/),
  }),
  mutant('binding.same-errors:differ', 'REST returns a different error for a finished task.', {
    wire: () =>
      mutateError((_error, response) => {
        if (!('jsonrpc' in (response.json as JsonObject)) && response.status === 400) response.status = 404;
      }),
  }),
];

/** Makes tasks visible only over the transport that created them. */
function separateTransports(operations: RegExp): WireMutation {
  const createdOverRpc = new Map<string, boolean>();
  return {
    response(response, { operation, path, json }) {
      const isRpc = isJsonObject(json) && 'jsonrpc' in json;
      if (!isJsonObject(response.json)) return;
      const result = isRpc ? response.json.result : response.json;
      const task = isJsonObject(result) ? (result.task ?? result) : undefined;
      if (/SendMessage|message:send/.test(operation) && isJsonObject(task) && isTask(task as never))
        createdOverRpc.set(String(task.id), isRpc);
      const id = isRpc
        ? String((json.params as JsonObject | undefined)?.id)
        : (/\/tasks\/([^/:?]+)/.exec(path)?.[1] ?? '');
      if (
        !operations.test(operation) ||
        createdOverRpc.get(id) === undefined ||
        createdOverRpc.get(id) === isRpc
      )
        return;
      response.status = isRpc ? 200 : 404;
      response.json = isRpc
        ? { jsonrpc: '2.0', id: json.id, error: { code: -32001, message: 'No such task' } }
        : { error: { code: 404, status: 'NOT_FOUND', message: 'No such task' } };
    },
  };
}

/** Replaces a text in the contextId of the query. */
function replaceInContextId(from: string, to: string): WireMutation {
  return {
    request(request) {
      request.path = request.path.replace(
        /([?&]contextId=)([^&]*)/,
        (_match, name: string, value: string) => name + value.replaceAll(from, to),
      );
    },
  };
}
