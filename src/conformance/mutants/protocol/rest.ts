import { A2AError } from '../../../protocol/errors.ts';
import { isTask } from '../../../protocol/task.ts';
import { mutateError, isMutableJson, type MutableJson } from '../harness/mutations.ts';
import {
  type MutantAgent,
  defineMutants,
  type WireResponse,
  type WireMutation,
} from '../harness/mutant-agent.ts';
import { overrideAgent } from '../harness/override-agent.ts';

function bent(id: string, breaks: string, what: string, wire: () => WireMutation): MutantAgent {
  return {
    id: `${breaks}:${id}`,
    violates: breaks,
    description: what,
    versions: ['1.0'],
    transports: ['HTTP+JSON'],
    wire,
  };
}

const details = (each: MutableJson): MutableJson[] =>
  Array.isArray(each.details) ? (each.details as MutableJson[]) : [];
const page = (status: number): WireResponse => ({
  status,
  headers: { 'content-type': 'text/html' },
  text: '<html>No</html>',
  json: undefined,
});
const status = (from: number, to: number): WireMutation => ({
  response(answer) {
    if (answer.status === from) answer.status = to;
  },
});

/** A refused request that is answered as if it were right. */
const takes = (fits: (body: string) => boolean): WireMutation => ({
  request(request) {
    if (!fits(request.body) || request.operation !== 'POST /message:send') return;
    request.json = {
      message: { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: [{ text: 'fx:complete' }] },
    };
  },
});

/** A field of a message that is mended before the agent sees it. */
const mends =
  (mend: (message: MutableJson) => void): (() => WireMutation) =>
  () => ({
    request(request) {
      const { json } = request;
      const holder = isMutableJson(json) && isMutableJson(json.params) ? json.params : json;
      if (!isMutableJson(holder) || !isMutableJson(holder.message)) return;
      mend(holder.message);
      request.body = JSON.stringify(json);
    },
  });
const mended = (
  id: string,
  breaks: string,
  what: string,
  mend: (message: MutableJson) => void,
): MutantAgent => ({
  id: `${breaks}:${id}`,
  violates: breaks,
  description: what,
  versions: ['1.0'],
  wire: mends(mend),
});

/** Agents whose REST is wrong in one thing, or that take what they should refuse. */
export const restMutants = defineMutants([
  bent('not-decoded', 'rest.encoding', 'A contextId in the query is used as it is written there.', () =>
    bendContext('%', '%25'),
  ),
  bent('twice', 'rest.encoding', 'A contextId in the query is decoded twice.', () => bendContext('%25', '%')),
  bent('bare', 'rest.error-body', 'An error is not wrapped.', () => ({
    response(answer) {
      if (isMutableJson(answer.json) && isMutableJson(answer.json.error)) answer.json = answer.json.error;
    },
  })),
  bent('rpc-code', 'rest.error-body', 'The code of an error is that of JSON-RPC.', () =>
    mutateError((each) => {
      each.code = -32001;
    }),
  ),
  bent('no-status', 'rest.error-body', 'An error has no status.', () =>
    mutateError((each) => {
      delete each.status;
    }),
  ),
  bent('as-200', 'rest.error-body', 'Errors have the status 200.', () => status(404, 200)),
  bent('problem', 'rest.error-body', 'Errors are problem details.', () => ({
    response(answer) {
      if (isMutableJson(answer.json) && isMutableJson(answer.json.error))
        answer.json = { type: 'about:blank', title: 'Not found', status: 404 };
    },
  })),
  bent('none', 'rest.error-info', 'Errors have no details.', () =>
    mutateError((each) => {
      delete each.details;
    }),
  ),
  bent('untyped', 'rest.error-info', 'Details do not say their type.', () =>
    mutateError((each) => {
      for (const detail of details(each)) delete detail['@type'];
    }),
  ),
  bent('reason', 'rest.error-info', 'The reason is written in another way.', () =>
    mutateError((each) => {
      for (const detail of details(each)) if ('reason' in detail) detail.reason = 'TaskNotFoundError';
    }),
  ),
  bent('domain', 'rest.error-info', 'The domain is another one.', () =>
    mutateError((each) => {
      for (const detail of details(each)) if ('domain' in detail) detail.domain = 'a2a.dev';
    }),
  ),
  bent('no-fields', 'rest.bad-request', 'A validation error names no field.', () =>
    mutateError((each) => {
      each.details = details(each).filter((detail) => !String(detail['@type']).endsWith('BadRequest'));
    }),
  ),
  bent('as-500', 'rest.parse', 'What is no JSON breaks the server.', () => ({
    response(answer, { json, body }) {
      if (json === undefined && body !== '') answer.status = 500;
    },
  })),
  bent('latin', 'rest.utf8', 'Broken UTF-8 is taken.', () => takes((body) => body.includes('\ufffd'))),
  bent('as-422', 'rest.params', 'A wrong body is refused with 500.', () => status(400, 500)),
  bent('takes', 'rest.params', 'A message that is a text is taken.', () =>
    takes((body) => body === '{"message":"hello"}'),
  ),
  bent('html', 'rest.unknown-path', 'An unknown path is a page of HTML.', () => ({
    request: ({ path }) => (path.startsWith('/no/such') ? page(404) : undefined),
  })),
  bent('no-extended', 'rest.routes', 'The route of the extended card does not exist.', () => ({
    request: ({ path }) => (path === '/extendedAgentCard' ? page(404) : undefined),
  })),
  bent('only-v1', 'rest.routes', 'Routes need /v1 in front.', () => ({
    request: ({ path, method }) => (method === 'GET' && path.startsWith('/tasks') ? page(404) : undefined),
  })),
  bent('none', 'rest.subscribe-verbs', 'No verb leads to a subscription.', () => ({
    request: ({ path }) => (path.includes(':subscribe') ? page(405) : undefined),
  })),
  bent('json', 'rest.types', 'Answers have the type application/json.', () => ({
    response(answer) {
      if (answer.status === 200) answer.headers['content-type'] = 'application/json';
    },
  })),
  bent('refuses', 'rest.types', 'Requests of the type application/json are refused.', () => ({
    request: ({ method, headers }) =>
      method === 'POST' && headers['content-type'] === 'application/a2a+json'
        ? { ...page(415), text: '{}' }
        : undefined,
  })),
  bent('snake', 'rest.query', 'Parameters of the query are read in snake case.', () => ({
    request(request) {
      request.path = request.path
        .replace('contextId=', 'context_identifier=')
        .replace('pageSize=', 'page_length=');
    },
  })),
  bent('envelope', 'rest.no-envelope', 'Answers have an envelope of JSON-RPC.', () => ({
    response(answer, { operation }) {
      if (operation === 'POST /message:send' && answer.status === 200)
        answer.json = { jsonrpc: '2.0', id: 1, ...(answer.json as object) };
    },
  })),
  bent('event-envelope', 'rest.no-envelope', 'Events have an envelope of JSON-RPC.', () => ({
    frame: (data) => [{ jsonrpc: '2.0', id: 1, ...(data as object) }],
  })),

  mended('takes', 'validation.empty-parts', 'A message without parts is taken.', (message) => {
    if (!Array.isArray(message.parts) || message.parts.length === 0)
      message.parts = [{ text: 'fx:complete' }];
  }),
  mended('takes', 'validation.part-content', 'A part with two contents is taken.', (message) => {
    message.parts = [{ text: 'fx:complete' }];
  }),
  mended('takes', 'validation.role', 'Every role is taken.', (message) => {
    message.role = 'ROLE_USER';
  }),
  mended('takes', 'validation.message-id', 'A message without an id is taken.', (message) => {
    message.messageId ??= crypto.randomUUID();
  }),
  {
    id: 'validation.unknown-fields:refuses',
    violates: 'validation.unknown-fields',
    description: 'Unknown fields are refused.',
    versions: ['1.0'],
    wire: () => ({
      request: ({ body, json }) =>
        body.includes('fromTheFuture')
          ? {
              status: 400,
              headers: { 'content-type': 'application/json' },
              text: '',
              json:
                isMutableJson(json) && 'jsonrpc' in json
                  ? { jsonrpc: '2.0', id: json.id, error: { code: -32602, message: 'unknown field' } }
                  : { error: { code: 400, status: 'INVALID_ARGUMENT', message: 'unknown field' } },
            }
          : undefined,
    }),
  },
  {
    id: 'validation.names-field:silent',
    violates: 'validation.names-field',
    description: 'An error does not say which field is wrong.',
    versions: ['1.0'],
    wire: () =>
      mutateError((each) => {
        each.message = 'Invalid';
        delete each.data;
        delete each.details;
      }),
  },
  {
    id: 'validation.no-side-effect:makes',
    violates: 'validation.no-side-effect',
    description: 'A message that is refused makes a task all the same.',
    versions: ['1.0'],
    agent: (agent) =>
      overrideAgent(agent, {
        async send(request, call) {
          const answer = await agent.send(request, call);
          if (request.configuration?.historyLength === 7_777) throw new A2AError('INVALID_PARAMS', 'No');
          return answer;
        },
      }),
    wire: () => ({
      request(request) {
        const text = request.body.replace('"historyLength":-5', '"historyLength":7777');
        if (text === request.body) return;
        request.json = JSON.parse(text) as unknown;
      },
    }),
  },
  {
    id: 'validation.deep:breaks',
    violates: 'validation.deep',
    description: 'Deep JSON breaks the server.',
    versions: ['1.0'],
    wire: () => ({ request: ({ body }) => (body.includes('[[[[[[') ? page(500) : undefined) }),
  },
  {
    id: 'validation.large:takes',
    violates: 'validation.large',
    description: 'A body of any size is taken.',
    versions: ['1.0'],
    wire: () => ({
      request: ({ body }) =>
        body.length > 50_000_000
          ? { status: 200, headers: { 'content-type': 'application/json' }, text: '{}', json: undefined }
          : undefined,
    }),
  },

  {
    id: 'binding.same-task:other-store',
    violates: 'binding.same-task',
    description: 'Each transport has a store of its own.',
    versions: ['1.0'],
    wire: () => separated(/^GetTask$|^GET \/tasks\/\{id\}$/),
  },
  {
    id: 'binding.same-list:other-store',
    violates: 'binding.same-list',
    description: 'Each transport lists its own tasks.',
    versions: ['1.0'],
    wire: () => ({
      response(answer, { operation }) {
        if (operation === 'GET /tasks' && isMutableJson(answer.json))
          answer.json = { ...answer.json, tasks: [] };
      },
    }),
  },
  {
    id: 'binding.same-cancel:other-store',
    violates: 'binding.same-cancel',
    description: 'Each transport cancels its own tasks.',
    versions: ['1.0'],
    wire: () => separated(/^CancelTask$|^POST \/tasks\/\{id\}:cancel$/),
  },
  {
    id: 'binding.same-errors:differ',
    violates: 'binding.same-errors',
    description: 'REST has another error for a finished task.',
    versions: ['1.0'],
    wire: () =>
      mutateError((_error, answer) => {
        if (!('jsonrpc' in (answer.json as MutableJson)) && answer.status === 400) answer.status = 404;
      }),
  },
]);

/** Tasks are known on the transport that made them only. */
function separated(operations: RegExp): WireMutation {
  const made = new Map<string, boolean>();
  return {
    response(answer, { operation, path, json }) {
      const isRpc = isMutableJson(json) && 'jsonrpc' in json;
      if (!isMutableJson(answer.json)) return;
      const result = isRpc ? answer.json.result : answer.json;
      const task = isMutableJson(result) ? (result.task ?? result) : undefined;
      if (/SendMessage|message:send/.test(operation) && isMutableJson(task) && isTask(task as never))
        made.set(String(task.id), isRpc);
      const id = isRpc
        ? String((json.params as MutableJson | undefined)?.id)
        : (/\/tasks\/([^/:?]+)/.exec(path)?.[1] ?? '');
      if (!operations.test(operation) || made.get(id) === undefined || made.get(id) === isRpc) return;
      answer.status = isRpc ? 200 : 404;
      answer.json = isRpc
        ? { jsonrpc: '2.0', id: json.id, error: { code: -32001, message: 'No such task' } }
        : { error: { code: 404, status: 'NOT_FOUND', message: 'No such task' } };
    },
  };
}

/** Writes the contextId of a query otherwise than the caller did. */
function bendContext(from: string, to: string): WireMutation {
  return {
    request(request) {
      request.path = request.path.replace(/(?<=[?&]contextId=)[^&]*/, (value) => value.replaceAll(from, to));
    },
  };
}
