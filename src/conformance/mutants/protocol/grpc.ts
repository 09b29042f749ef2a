import type { JsonObject } from '../../../primitives/json.ts';
import { withInterceptor } from '../../../protocol/composition/with-interceptor.ts';
import { prefixMessage } from '../../wire/grpc/grpc-message-reader.ts';
import { grpcStatusNames } from '../../wire/grpc/grpc-status.ts';
import { bothVersions, grpcMutant, jsonMutant, only1_0, replyMutant } from '../harness/grpc-mutants.ts';
import { type MutantAgent, mutant, type WireMutation, type WireRequest } from '../harness/mutant-agent.ts';
import { mutateCard, mutateError, mutateEvery, setMember } from '../harness/mutations.ts';
import { cancelOnAbort } from '../harness/stream-overrides.ts';

const isStreaming = ({ operation }: WireRequest): boolean => /Streaming|Subscri/.test(operation);
const isGetTask = ({ operation }: WireRequest): boolean => operation === 'GetTask';

/** Returns the requested task, or an empty string if the request has none. */
function requestedTask({ json }: WireRequest): string {
  const { id, name } = (json ?? {}) as { id?: string; name?: string };
  return id ?? name ?? '';
}

/** Appends bytes to the content of a message. */
const append =
  (...bytes: readonly number[]) =>
  (message: Uint8Array): Uint8Array[] => [
    prefixMessage(Buffer.concat([message.subarray(5), Uint8Array.from(bytes)])),
  ];

const onErrorTrailers =
  (change: (trailers: Record<string, string>) => Record<string, string>) =>
  (trailers: Record<string, string>): Record<string, string> =>
    trailers['grpc-status'] === '0' ? trailers : change(trailers);

/** Changes the first detail of every error. */
const changeInfo = (members: JsonObject): WireMutation =>
  mutateError((error) => {
    const [first, ...others] = error.details as JsonObject[];
    error.details = [{ ...first, ...members }, ...others];
  });

const statusMutants: readonly MutantAgent[] = [
  grpcMutant('grpc.status:missing', 'Calls end without trailers.', { trailers: () => ({}) }),
  grpcMutant('grpc.status:unknown', 'Errors have the unknown status 99.', {
    trailers: onErrorTrailers((trailers) => ({ ...trailers, 'grpc-status': '99' })),
  }),
  grpcMutant('grpc.status:in-headers', 'The headers of calls with messages contain the status.', {
    headers(headers) {
      headers['grpc-status'] = '0';
    },
  }),
  grpcMutant('grpc.status:reset', 'Errors reset the stream.', {
    trailers: (trailers) => (trailers['grpc-status'] === '0' ? trailers : 'reset'),
  }),
  grpcMutant('grpc.content-type:json', 'Responses have the content type application/json.', {
    headers(headers) {
      headers['content-type'] = 'application/json';
    },
  }),
  grpcMutant('grpc.content-type:missing', 'Responses have no content type.', {
    headers(headers) {
      delete headers['content-type'];
    },
  }),
  grpcMutant('grpc.message:missing', 'Errors have no message.', {
    trailers: onErrorTrailers(({ 'grpc-message': _message, ...trailers }) => trailers),
  }),
  grpcMutant('grpc.message:raw', 'The message of an error is not percent-encoded.', {
    trailers: onErrorTrailers((trailers) => ({ ...trailers, 'grpc-message': 'Nicht möglich' })),
  }),
  grpcMutant('grpc.message:latin', 'The message of an error is percent-encoded Latin-1.', {
    trailers: onErrorTrailers((trailers) => ({ ...trailers, 'grpc-message': 'Nicht m%F6glich' })),
  }),
  grpcMutant('grpc.details:other-code', 'The code of the details is not that of the call.', {
    trailers: onErrorTrailers((trailers) => ({
      ...trailers,
      'grpc-status-details-bin': Buffer.from([0x08, 7, 0x12, 2, 0x6e, 0x6f]).toString('base64'),
    })),
  }),
  grpcMutant('grpc.details:text', 'The details are not base64.', {
    trailers: onErrorTrailers((trailers) => ({ ...trailers, 'grpc-status-details-bin': '{"reason":"NO"}' })),
  }),
  jsonMutant(
    'grpc.details:untyped',
    'The details have no type.',
    changeInfo({ '@type': 'ErrorInfo' }),
    bothVersions,
  ),
  jsonMutant(
    'grpc.status-mapping:invalid',
    'All A2A errors have the status INVALID_ARGUMENT.',
    mutateError((error) => {
      error.code = grpcStatusNames.indexOf('INVALID_ARGUMENT');
    }),
  ),
  jsonMutant(
    'grpc.error-info:domain',
    'ErrorInfo has another domain.',
    changeInfo({ domain: 'example.com' }),
  ),
  jsonMutant(
    'grpc.error-info:class-name',
    'The reason is the name of the error class.',
    changeInfo({ reason: 'TaskNotFoundError' }),
  ),
  mutant('grpc.error-info:missing', 'Errors have no details.', {
    ...only1_0,
    wire: () => ({
      grpc: {
        trailers: onErrorTrailers(({ 'grpc-status-details-bin': _details, ...trailers }) => trailers),
      },
    }),
  }),
  mutant('grpc.error-info:some', 'Only errors of GetTask have details.', {
    ...only1_0,
    wire: () => ({
      grpc: {
        trailers(trailers, request) {
          const { 'grpc-status-details-bin': _details, ...others } = trailers;
          return isGetTask(request) ? trailers : others;
        },
      },
    }),
  }),
];

const messageMutants: readonly MutantAgent[] = [
  grpcMutant('grpc.frames:compressed', 'The flag of messages says that they are compressed.', {
    message: (message) => [prefixMessage(message.subarray(5), 1)],
  }),
  grpcMutant('grpc.frames:incomplete', 'Bytes of an incomplete message follow.', {
    message: (message) => [message, Uint8Array.from([0, 0, 0])],
  }),
  grpcMutant('grpc.wire:other-type', 'The first field has the wire type of a number.', {
    message: append(0x08, 1),
  }),
  grpcMutant('grpc.wire:truncated', 'Messages lack their last byte.', {
    message: (message) => [prefixMessage(message.subarray(5, -1))],
  }),
  jsonMutant(
    'grpc.enum:state',
    'The state is an unknown number.',
    mutateEvery('status', setMember('state', 42)),
    bothVersions,
  ),
  grpcMutant('grpc.fields:unknown', 'Messages have a field that the version does not define.', {
    message: append(0xc0, 0x3e, 1),
  }),
  grpcMutant('grpc.fields:twice', 'The id of a task occurs twice.', {
    message: (message, request) => (isGetTask(request) ? append(0x0a, 1, 0x61)(message) : [message]),
  }),
  grpcMutant('grpc.unary:two', 'Unary calls return two messages.', {
    message: (message, request) => (isStreaming(request) ? [message] : [message, message]),
  }),
  grpcMutant('grpc.unary:with-error', 'An error follows the message of GetTask.', {
    trailers: (trailers, request) => (isGetTask(request) ? { ...trailers, 'grpc-status': '5' } : trailers),
  }),
  grpcMutant('grpc.stream-status:unavailable', 'Streams end with UNAVAILABLE.', {
    trailers: (trailers, request) =>
      isStreaming(request) ? { 'grpc-status': '14', 'grpc-message': 'stopped' } : trailers,
  }),
  grpcMutant('http.utf8:grpc', 'Texts are not UTF-8.', {
    message(message) {
      const bytes = Buffer.from(message);
      const at = bytes.indexOf('Done: ');
      if (at >= 0) bytes[at] = 0xff;
      return [bytes];
    },
  }),
];

const requestMutants: readonly MutantAgent[] = [
  replyMutant(
    'grpc.methods:cancel',
    'CancelTask does not exist.',
    'UNIMPLEMENTED',
    ({ operation }) => operation === 'CancelTask',
  ),
  replyMutant(
    'grpc.methods:push',
    'The methods of push configurations do not exist.',
    'UNIMPLEMENTED',
    ({ operation }) => operation.includes('PushNotification'),
  ),
  replyMutant(
    'grpc.unknown-method:not-found',
    'An unknown method is not found.',
    'NOT_FOUND',
    ({ operation }) => operation === 'NoSuchMethod',
  ),
  replyMutant(
    'grpc.unknown-method:internal',
    'An unknown service causes an internal error.',
    'INTERNAL',
    ({ path }) => path.includes('no.such'),
  ),
  replyMutant(
    'grpc.malformed:ignored',
    'Malformed messages are processed as empty ones.',
    'NOT_FOUND',
    (request) => isGetTask(request) && requestedTask(request) === '',
  ),
  replyMutant(
    'grpc.malformed:unknown',
    'Malformed messages cause the status UNKNOWN.',
    'UNKNOWN',
    (request) => isGetTask(request) && requestedTask(request) === '',
  ),
  replyMutant(
    'grpc.utf8:replaced',
    'Invalid bytes are replaced.',
    'NOT_FOUND',
    (request) => isGetTask(request) && requestedTask(request).includes('\ufffd'),
  ),
  replyMutant(
    'grpc.compression:ignored',
    'Compressed messages are read as they are.',
    'NOT_FOUND',
    ({ headers }) => headers['grpc-encoding'] !== undefined,
  ),
  replyMutant(
    'grpc.request-type:exact',
    'Calls of the type application/grpc are rejected.',
    'INVALID_ARGUMENT',
    ({ headers }) => headers['content-type'] === 'application/grpc',
  ),
  replyMutant(
    'grpc.request-type:any',
    'Calls of any type are processed.',
    'NOT_FOUND',
    ({ headers }) => headers['content-type'] === 'application/json',
  ),
  replyMutant(
    'grpc.metadata:rejected',
    'Unknown metadata is rejected.',
    'INVALID_ARGUMENT',
    ({ headers }) => headers['x-unknown-bin'] !== undefined,
  ),
  mutant('grpc.deadline:ignored', 'The deadline of the client is ignored.', {
    ...bothVersions,
    wire: () => ({
      request({ headers }) {
        delete headers['grpc-timeout'];
      },
    }),
  }),
  mutant('grpc.deadline:cancels', 'The deadline of the client cancels the task.', {
    ...bothVersions,
    agent: (agent) =>
      withInterceptor(agent, {
        stream: (request, call) => cancelOnAbort(agent, agent.stream(request, call)),
      }),
  }),
  grpcMutant('grpc.cancellation:closes', 'A canceled call closes the connection.', { closesOnReset: true }),
];

/** Mutants of gRPC. */
export const grpcMutants: readonly MutantAgent[] = [
  ...statusMutants,
  ...messageMutants,
  ...requestMutants,
  mutant('card.grpc-url:scheme', 'The url of a gRPC interface has an unknown scheme.', {
    versions: ['1.0', '0.3'],
    transports: ['JSONRPC'],
    wire: () =>
      mutateCard((card) => {
        const url = 'ftp://agents.example.com';
        const { supportedInterfaces, additionalInterfaces } = card;
        if (Array.isArray(supportedInterfaces))
          supportedInterfaces.push({ url, protocolBinding: 'GRPC', protocolVersion: '1.0' });
        else
          card.additionalInterfaces = [...((additionalInterfaces as []) ?? []), { url, transport: 'GRPC' }];
      }),
  }),
];
