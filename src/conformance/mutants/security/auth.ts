import { mutateEvery, isMutableJson } from '../harness/mutations.ts';
import {
  type MutantAgent,
  defineMutants,
  type WireResponse,
  type WireMutation,
  type WireRequest,
} from '../harness/mutant-agent.ts';
import { testPrincipals } from '../harness/serve-mutant.ts';

/** A broken agent that asks who calls, in one line: the rule, how, what, and its wire. */
function wired(breaks: string, how: string, what: string, wire: WireMutation): MutantAgent {
  return {
    id: `${breaks}:${how}`,
    violates: breaks,
    description: what,
    versions: ['1.0'],
    requiresAuthentication: true,
    wire: () => wire,
  };
}

const operations: Readonly<Record<string, RegExp>> = {
  send: /^SendMessage|message:send/,
  stream: /^SendStreaming|message:stream/,
  get: /^GetTask$|GET \/tasks\/\{id\}$/,
  list: /^ListTasks$|GET \/tasks$/,
  cancel: /^CancelTask|:cancel/,
  subscribe: /^SubscribeToTask|:subscribe/,
  createPush: /^CreateTaskPush|POST .*pushNotificationConfigs/,
  getPush: /^GetTaskPush|GET .*pushNotificationConfigs\/\{id\}/,
  listPush: /^ListTaskPush|GET .*pushNotificationConfigs$/,
  deletePush: /^DeleteTaskPush|DELETE .*pushNotificationConfigs/,
};

const isKnown = ({ headers }: WireRequest): boolean =>
  Object.values(testPrincipals).some((token) => headers.authorization === `Bearer ${token}`);

/** Takes whoever is not known for somebody. */
function trusts(isTrusted: (request: WireRequest) => boolean): WireMutation {
  return {
    request(request) {
      if (!isKnown(request) && isTrusted(request))
        request.headers.authorization = `Bearer ${testPrincipals.ann}`;
    },
  };
}

const refusal = (change: (answer: WireResponse, request: WireRequest) => void): WireMutation => ({
  response(answer, request) {
    if (answer.status === 401) change(answer, request);
  },
});

/** Agents that do not look who calls, or say so wrongly. */
export const authMutants = defineMutants([
  wired('auth.forbidden', 'as-unknown', 'Who may not do something is told that it is not known.', {
    response(answer) {
      if (answer.status === 403) answer.status = 401;
    },
  }),
  wired('auth.forbidden', 'as-invalid', 'Who may not do something is told that the request is wrong.', {
    response(answer, { json }) {
      if (answer.status !== 403) return;
      const isRpc = isMutableJson(json) && 'jsonrpc' in json;
      answer.status = isRpc ? 200 : 400;
      answer.json = isRpc
        ? { jsonrpc: '2.0', id: json.id, error: { code: -32602, message: 'Wrong' } }
        : { error: { code: 400, status: 'INVALID_ARGUMENT', message: 'Wrong', details: [] } };
    },
  }),
  wired('auth.forbidden', 'lets', 'Everybody who is known may do everything.', {
    request(request) {
      if (request.headers.authorization === `Bearer ${testPrincipals.cat}`)
        request.headers.authorization = `Bearer ${testPrincipals.ben}`;
    },
  }),
  wired('auth.forbidden-hint', 'mute', 'Who may not do something is not told what is missing.', {
    response(answer) {
      if (answer.status !== 403 || !isMutableJson(answer.json)) return;
      delete answer.headers['www-authenticate'];
      const error = answer.json.error as Record<string, unknown>;
      for (const name of ['data', 'details']) delete error[name];
      error.message = 'No';
    },
  }),
  ...Object.entries(operations).map(([name, pattern]) =>
    wired(
      'auth.anonymous',
      name,
      `Anybody can call ${name}.`,
      trusts(({ operation, headers }) => pattern.test(operation) && headers.authorization === undefined),
    ),
  ),
  wired(
    'auth.bad-credentials',
    'any',
    'Any token is good.',
    trusts(({ headers }) => headers.authorization !== undefined),
  ),
  wired(
    'auth.bad-credentials',
    'cancel',
    'Any token is good to cancel.',
    trusts(({ headers, operation }) => headers.authorization !== undefined && /cancel/i.test(operation)),
  ),
  wired(
    'auth.anonymous',
    'not-found',
    'Who is not known finds no task.',
    refusal((answer, { json }) => {
      const { id } = isMutableJson(json) ? json : {};
      answer.status = isMutableJson(json) && 'jsonrpc' in json ? 200 : 404;
      answer.json =
        answer.status === 200
          ? { jsonrpc: '2.0', id, error: { code: -32001, message: 'Task not found' } }
          : { error: { code: 404, status: 'NOT_FOUND', message: 'Task not found', details: [] } };
    }),
  ),
  wired(
    'auth.status',
    'forbidden',
    'Who is not known is forbidden.',
    refusal((answer) => {
      answer.status = 403;
    }),
  ),
  wired(
    'auth.challenge',
    'none',
    'A refusal does not say how to log in.',
    refusal(({ headers }) => {
      delete headers['www-authenticate'];
    }),
  ),
  wired(
    'auth.challenge-scheme',
    'basic',
    'A refusal asks for a scheme that the card has not.',
    refusal(({ headers }) => {
      headers['www-authenticate'] = 'Basic realm="agent"';
    }),
  ),
  wired(
    'auth.secret',
    'echo',
    'A refusal repeats the token.',
    refusal((answer, { headers }) => {
      answer.text = `Nobody has ${headers.authorization}`;
      answer.json = undefined;
    }),
  ),
  {
    id: 'in-task-auth.state:input',
    violates: 'in-task-auth.state',
    description: 'A task that needs authorization says that it needs input.',
    versions: ['1.0'],
    wire: () =>
      mutateEvery('status', (status) => {
        if (status.state === 'TASK_STATE_AUTH_REQUIRED') status.state = 'TASK_STATE_INPUT_REQUIRED';
      }),
  },
  {
    id: 'in-task-auth.state:message',
    violates: 'in-task-auth.state',
    description: 'The need for authorization is a message and no task.',
    versions: ['1.0'],
    wire: () => ({
      response(answer) {
        const text = JSON.stringify(answer.json ?? '');
        if (!text.includes('AUTH_REQUIRED') || !isMutableJson(answer.json)) return;
        const message = { messageId: 'm', role: 'ROLE_AGENT', parts: [{ text: 'Please log in' }] };
        answer.json = 'jsonrpc' in answer.json ? { ...answer.json, result: { message } } : { message };
      },
    }),
  },
  {
    id: 'in-task-auth.message:none',
    violates: 'in-task-auth.message',
    description: 'A task that needs authorization does not say which.',
    versions: ['1.0'],
    wire: () =>
      mutateEvery('status', (status) => {
        if (status.state === 'TASK_STATE_AUTH_REQUIRED') delete status.message;
      }),
  },
  {
    id: 'in-task-auth.follow-up:refused',
    violates: 'in-task-auth.follow-up',
    description: 'A task that needs authorization takes no message.',
    versions: ['1.0'],
    wire: () => ({
      request(request) {
        if (!request.body.includes('I have logged in')) return undefined;
        const { id } = isMutableJson(request.json) ? request.json : {};
        const isRpc = isMutableJson(request.json) && 'jsonrpc' in request.json;
        return {
          status: isRpc ? 200 : 400,
          headers: { 'content-type': 'application/json' },
          text: '',
          json: isRpc
            ? { jsonrpc: '2.0', id, error: { code: -32004, message: 'no' } }
            : { error: { code: 400, status: 'FAILED_PRECONDITION', message: 'no', details: [] } },
        };
      },
    }),
  },
]);

/** The operations by what they look like on the wire. */
export { operations as operationPatterns };
