import { isJsonObject } from '../../../primitives/json.ts';
import {
  type MutantAgent,
  type MutantSetup,
  type WireMutation,
  type WireRequest,
  mutant,
} from '../harness/mutant-agent.ts';
import { testPrincipals } from '../harness/serve-mutant.ts';
import { operationPatterns } from './auth.ts';

function authorizationMutant(
  id: string,
  description: string,
  wire: () => WireMutation,
  setup: MutantSetup = {},
): MutantAgent {
  return mutant(id, description, { requiresAuthentication: true, wire, ...setup });
}

const isBen = ({ headers }: WireRequest): boolean => headers.authorization === `Bearer ${testPrincipals.ben}`;

/** Executes an operation of ben on behalf of ann. */
function impersonate(name: string): () => WireMutation {
  const pattern = operationPatterns[name] ?? /never/;
  return () => ({
    request(request) {
      const hasTask = (name !== 'send' && name !== 'stream') || request.body.includes('"taskId"');
      if (isBen(request) && pattern.test(request.operation) && hasTask)
        request.headers.authorization = `Bearer ${testPrincipals.ann}`;
    },
  });
}

/** Records the tasks of ann in the traffic. */
function trackOwnership(): {
  record: (text: string, request: WireRequest) => void;
  isForeign: (request: WireRequest) => boolean;
} {
  const ids = new Set<string>();
  return {
    record(text, request) {
      if (isBen(request)) return;
      for (const [, id = ''] of text.matchAll(/"(?:task":\{"id|id)":"([\w-]{36})"/g)) ids.add(id);
    },
    isForeign: (request) =>
      isBen(request) && [...ids].some((id) => request.path.includes(id) || request.body.includes(id)),
  };
}

/** Mutates the errors for tasks of another user. */
function mutateForeignError(mutate: (json: object) => unknown, status?: number): () => WireMutation {
  return () => {
    const { record, isForeign } = trackOwnership();
    return {
      response(response, request) {
        record(JSON.stringify(response.json ?? ''), request);
        if (!isForeign(request) || !isJsonObject(response.json) || !('error' in response.json)) return;
        response.json = mutate(structuredClone(response.json));
        if (status !== undefined && response.status >= 400) response.status = status;
      },
    };
  };
}

const replaceText =
  (from: RegExp | string, to: string) =>
  (json: object): unknown =>
    JSON.parse(JSON.stringify(json).replaceAll(from, to));

/** Mutants of authorization: users can access tasks of other users. */
export const authorizationMutants: readonly MutantAgent[] = [
  authorizationMutant('authorization.get:any', 'Other users can read a task.', impersonate('get')),
  authorizationMutant('authorization.list:any', 'Other users can list all tasks.', impersonate('list')),
  authorizationMutant(
    'authorization.list:context',
    'Other users can list the tasks of a known context.',
    () => ({
      request(request) {
        if (
          isBen(request) &&
          operationPatterns.list?.test(request.operation) &&
          /contextId/.test(request.path + request.body)
        )
          request.headers.authorization = `Bearer ${testPrincipals.ann}`;
      },
    }),
  ),
  authorizationMutant('authorization.cancel:any', 'Other users can cancel a task.', impersonate('cancel')),
  authorizationMutant('authorization.send:any', 'Other users can continue a task.', impersonate('send')),
  authorizationMutant(
    'authorization.stream:subscribe',
    'Other users can subscribe to a task.',
    impersonate('subscribe'),
  ),
  authorizationMutant(
    'authorization.stream:stream',
    'Other users can continue a task with a stream.',
    impersonate('stream'),
  ),
  ...['createPush', 'getPush', 'listPush', 'deletePush'].map((name) =>
    authorizationMutant(
      `authorization.push:${name}`,
      `Other users can call ${name} for a task.`,
      impersonate(name),
    ),
  ),
  authorizationMutant(
    'authorization.alike:words',
    'The error message reveals that the task exists.',
    mutateForeignError(replaceText(/"message":"[^"]*"/g, '"message":"This task is not yours"')),
  ),
  authorizationMutant(
    'authorization.alike:code',
    'The error code reveals that the task exists.',
    mutateForeignError(replaceText('-32001', '-32004')),
    { transports: ['JSONRPC'] },
  ),
  authorizationMutant(
    'authorization.alike:status',
    'The HTTP status reveals that the task exists.',
    mutateForeignError((json) => json, 403),
    { transports: ['HTTP+JSON'] },
  ),
  authorizationMutant(
    'authorization.alike:reason',
    'The error reason reveals that the task exists.',
    mutateForeignError(replaceText('TASK_NOT_FOUND', 'TASK_NOT_OWNED')),
  ),
];
