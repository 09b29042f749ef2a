import { isJsonObject } from '../../../primitives/json.ts';
import {
  type MutantAgent,
  type WireMutation,
  type WireRequest,
  type WireResponse,
  mutant,
} from '../harness/mutant-agent.ts';
import { mutateEvery } from '../harness/mutations.ts';
import { testPrincipals } from '../harness/serve-mutant.ts';
import { errorBody, wireErrorResponse } from '../harness/wire-responses.ts';

function authMutant(id: string, description: string, wire: WireMutation): MutantAgent {
  return mutant(id, description, { requiresAuthentication: true, wire: () => wire });
}

/** Patterns of the operations on the wire. */
export const operationPatterns: Readonly<Record<string, RegExp>> = {
  send: /^SendMessage|message:send/,
  stream: /^SendStreaming|message:stream/,
  get: /^GetTask$|GET \/tasks\/\{id\}$/,
  list: /^ListTasks$|GET \/tasks$/,
  cancel: /^CancelTask|:cancel/,
  subscribe: /^SubscribeToTask|:subscribe/,
  createPush: /^CreateTaskPush|^POST .*pushNotificationConfigs/,
  getPush: /^GetTaskPush|^GET .*pushNotificationConfigs\/\{id\}/,
  listPush: /^ListTaskPush|^GET .*pushNotificationConfigs$/,
  deletePush: /^DeleteTaskPush|^DELETE .*pushNotificationConfigs/,
};

const hasValidToken = ({ headers }: WireRequest): boolean =>
  Object.values(testPrincipals).some((token) => headers.authorization === `Bearer ${token}`);

/** Authenticates matching requests without valid credentials. */
function trust(matches: (request: WireRequest) => boolean): WireMutation {
  return {
    request(request) {
      if (!hasValidToken(request) && matches(request))
        request.headers.authorization = `Bearer ${testPrincipals.ann}`;
    },
  };
}

const mutate401 = (mutate: (response: WireResponse, request: WireRequest) => void): WireMutation => ({
  response(response, request) {
    if (response.status === 401) mutate(response, request);
  },
});

/** Mutants of authentication. */
export const authMutants: readonly MutantAgent[] = [
  authMutant('auth.forbidden:as-unknown', 'Missing permission is reported as 401.', {
    response(response) {
      if (response.status === 403) response.status = 401;
    },
  }),
  authMutant('auth.forbidden:as-invalid', 'Missing permission is reported as invalid parameters.', {
    response(response, request) {
      if (response.status !== 403) return;
      const error = { code: -32602, status: 400, statusName: 'INVALID_ARGUMENT', message: 'Wrong' };
      Object.assign(response, errorBody(request, error));
    },
  }),
  authMutant('auth.forbidden:lets', 'All authenticated clients have all permissions.', {
    request(request) {
      if (request.headers.authorization === `Bearer ${testPrincipals.cat}`)
        request.headers.authorization = `Bearer ${testPrincipals.ben}`;
    },
  }),
  authMutant('auth.forbidden-hint:mute', 'A 403 response does not name the missing permission.', {
    response(response) {
      if (response.status !== 403 || !isJsonObject(response.json)) return;
      delete response.headers['www-authenticate'];
      const error = response.json.error as Record<string, unknown>;
      for (const name of ['data', 'details']) delete error[name];
      error.message = 'No';
    },
  }),
  ...Object.entries(operationPatterns).map(([name, pattern]) =>
    authMutant(
      `auth.anonymous:${name}`,
      `Unauthenticated clients can call ${name}.`,
      trust(({ operation, headers }) => pattern.test(operation) && headers.authorization === undefined),
    ),
  ),
  authMutant(
    'auth.bad-credentials:any',
    'Any token is accepted.',
    trust(({ headers }) => headers.authorization !== undefined),
  ),
  authMutant(
    'auth.bad-credentials:cancel',
    'Any token is accepted for cancel.',
    trust(({ headers, operation }) => headers.authorization !== undefined && /cancel/i.test(operation)),
  ),
  authMutant(
    'auth.anonymous:not-found',
    'Missing credentials are reported as an unknown task.',
    mutate401((response, request) => {
      const error = { code: -32001, status: 404, statusName: 'NOT_FOUND', message: 'Task not found' };
      Object.assign(response, errorBody(request, error));
    }),
  ),
  authMutant(
    'auth.status:forbidden',
    'Missing credentials are reported as 403.',
    mutate401((response) => {
      response.status = 403;
    }),
  ),
  authMutant(
    'auth.challenge:none',
    'A 401 response has no WWW-Authenticate header.',
    mutate401(({ headers }) => {
      delete headers['www-authenticate'];
    }),
  ),
  authMutant(
    'auth.challenge-scheme:basic',
    'WWW-Authenticate names a scheme that the card does not declare.',
    mutate401(({ headers }) => {
      headers['www-authenticate'] = 'Basic realm="agent"';
    }),
  ),
  authMutant(
    'auth.secret:echo',
    'A 401 response contains the token.',
    mutate401((response, { headers }) => {
      response.text = `Unknown token: ${headers.authorization}`;
      response.json = undefined;
    }),
  ),
  mutant('in-task-auth.state:input', 'A task that needs authorization has the state input-required.', {
    wire: () =>
      mutateEvery('status', (status) => {
        if (status.state === 'TASK_STATE_AUTH_REQUIRED') status.state = 'TASK_STATE_INPUT_REQUIRED';
      }),
  }),
  mutant(
    'in-task-auth.state:message',
    'A need for authorization is returned as a message instead of a task.',
    {
      wire: () => ({
        response(response) {
          const text = JSON.stringify(response.json ?? '');
          if (!text.includes('AUTH_REQUIRED') || !isJsonObject(response.json)) return;
          const message = { messageId: 'm', role: 'ROLE_AGENT', parts: [{ text: 'Please log in' }] };
          response.json =
            'jsonrpc' in response.json ? { ...response.json, result: { message } } : { message };
        },
      }),
    },
  ),
  mutant('in-task-auth.message:none', 'A task that needs authorization has no status message.', {
    wire: () =>
      mutateEvery('status', (status) => {
        if (status.state === 'TASK_STATE_AUTH_REQUIRED') delete status.message;
      }),
  }),
  mutant('in-task-auth.follow-up:refused', 'A task that needs authorization accepts no message.', {
    wire: () => ({
      request: (request) =>
        request.body.includes('I have logged in')
          ? wireErrorResponse(request, {
              code: -32004,
              status: 400,
              statusName: 'FAILED_PRECONDITION',
              message: 'no',
            })
          : undefined,
    }),
  }),
];
