import { isJsonObject, type JsonObject } from '../../../primitives/json.ts';
import { authMutant, jsonMutant, only1_0, replyMutant } from '../harness/grpc-mutants.ts';
import { type MutantAgent, mutant, type WireMutation } from '../harness/mutant-agent.ts';
import { mutateEvery, mutateResult, setMember } from '../harness/mutations.ts';
import { wireJsonResponse } from '../harness/wire-responses.ts';

/** Changes the tasks that gRPC returns, not those of the other transports. */
const changeTasks = (change: (task: JsonObject) => void): WireMutation =>
  mutateResult(/^GetTask$/, (task, { path }) => {
    if (!path.includes('A2AService')) return undefined;
    change(task);
    return task;
  });

const bySpelling = (task: JsonObject): void => {
  for (const artifact of task.artifacts as JsonObject[])
    for (const part of artifact.parts as JsonObject[])
      if (typeof part.text === 'string') part.text = part.text.toUpperCase();
};

/** Mutants of rules that exist for all transports, with mutations that exist for gRPC only. */
export const grpcSharedMutants: readonly MutantAgent[] = [
  authMutant('auth.anonymous:grpc', 'Calls without credentials have the status NOT_FOUND.', () => ({
    'grpc-status': '5',
    'grpc-message': 'no',
  })),
  authMutant(
    'auth.status:grpc',
    'Calls without credentials have the status PERMISSION_DENIED.',
    (trailers) => ({
      ...trailers,
      'grpc-status': '7',
    }),
  ),
  authMutant(
    'auth.forbidden:grpc',
    'Calls without a permission have the status UNAUTHENTICATED.',
    (trailers) => ({
      ...trailers,
      'grpc-status': '16',
    }),
  ),
  authMutant('auth.forbidden-hint:grpc', 'The missing permission is not stated.', () => ({
    'grpc-status': '7',
    'grpc-message': 'no',
  })),
  authMutant('auth.secret:grpc', 'Errors contain the credentials.', (trailers, { headers }) => ({
    ...trailers,
    'grpc-message': `Unknown: ${headers.authorization}`,
  })),
  replyMutant(
    'validation.unknown-fields:grpc',
    'Messages with unknown fields are rejected.',
    'INVALID_ARGUMENT',
    (_request, body) => body.includes('{"a":[1]}'),
    only1_0,
  ),
  replyMutant(
    'validation.deep:grpc',
    'Deeply nested data causes an internal error.',
    'INTERNAL',
    ({ operation }, body) => operation === 'SendMessage' && body.length > 3_000 && body.includes('deep'),
    only1_0,
  ),
  mutant('validation.large:grpc', 'Messages of any size are accepted.', {
    ...only1_0,
    wire: () => ({
      grpc: {
        reply: (_request, body) =>
          body.length > 1_048_576
            ? wireJsonResponse(200, { task: { id: 'large', contextId: 'c' } })
            : undefined,
      },
    }),
  }),
  jsonMutant('list.page-size:grpc', 'An invalid pageSize is replaced by 50.', {
    request({ operation, json }) {
      if (operation === 'ListTasks' && isJsonObject(json)) json.pageSize = 50;
    },
  }),
  jsonMutant(
    'model.timestamp:grpc',
    'Timestamps are out of range.',
    mutateEvery('status', setMember('timestamp', 'yesterday')),
  ),
  jsonMutant(
    '0.3.timestamp:grpc',
    'Timestamps are out of range.',
    mutateEvery('status', setMember('timestamp', 'yesterday')),
    { versions: ['0.3'], transports: ['GRPC'] },
  ),
  mutant('binding.same-list:grpc', 'gRPC lists no tasks.', {
    ...only1_0,
    wire: () =>
      mutateResult(/^ListTasks$/, (page, { path }) =>
        path.includes('A2AService') ? { ...page, tasks: [] } : undefined,
      ),
  }),
  replyMutant(
    'binding.same-errors:grpc',
    'gRPC rejects the cancellation of a completed task as invalid.',
    'INVALID_ARGUMENT',
    ({ operation }) => operation === 'CancelTask',
    only1_0,
  ),
  jsonMutant(
    'binding.same-content:metadata',
    'gRPC returns messages without metadata.',
    changeTasks((task) => {
      for (const each of task.history as JsonObject[]) delete each.metadata;
    }),
  ),
  jsonMutant(
    'binding.same-content:seconds',
    'gRPC returns timestamps in seconds.',
    changeTasks((task) => {
      const status = task.status as JsonObject;
      status.timestamp = String(status.timestamp).replace(/\.\d+/, '');
    }),
  ),
  jsonMutant('binding.same-content:text', 'gRPC returns texts in capitals.', changeTasks(bySpelling)),
  jsonMutant('binding.same-task-0.3:text', 'gRPC returns texts in capitals.', changeTasks(bySpelling), {
    versions: ['0.3'],
    transports: ['GRPC'],
  }),
];
