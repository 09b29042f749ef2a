import { TooManyMembersError } from '../../dialects/protobuf/byte-reader.ts';
import { decodeMessage } from '../../dialects/protobuf/decode-message.ts';
import type { GrpcMethod, GrpcService } from '../../dialects/protobuf/grpc-service.ts';
import { parseVersionHeader } from '../../dialects/negotiation.ts';
import { isStreamingOperation } from '../../protocol/agent.ts';
import { A2AError } from '../../protocol/errors.ts';
import type { MessageType } from '../../dialects/protobuf/message-type.ts';
import { authorizeCall } from '../auth/call-policy.ts';
import { type HttpServerRequest, type HttpServerResponse, singleHeader } from '../http/http-message.ts';
import { withoutPreview } from '../http/requested-version.ts';
import type { ServerContext } from '../http/server-context.ts';
import { SseStream } from '../http/sse-stream.ts';
import type { StreamEnvelope } from '../http/stream-envelope.ts';
import { defaultLimits } from '../limits/limits.ts';
import { outputExceeded } from '../limits/server-budgets.ts';
import { executeStream, executeUnary } from '../operations/execute.ts';
import { readOperationCall } from '../operations/read-operation-call.ts';
import { checkJsonValue } from '../http/parse-json.ts';
import { toA2AError } from './read-message.ts';

/** Frames have no envelope, and a failed call ends with a status. */
const grpcEnvelope: StreamEnvelope = {
  start: '',
  end: '',
  hasIds: false,
  heartbeat: '',
  error: () => '',
};

/**
 * Handles a call of a method. The body of the response is the frame of the result, or a stream of frames.
 *
 * @param message - the bytes that the client sent.
 * @param named - replaces the tenant in the message, if it also names the agent.
 * @throws {@link A2AError} if the call fails, also as a rejection.
 */
export function handleGrpc(
  context: ServerContext,
  request: HttpServerRequest,
  { service, method }: { service: GrpcService; method: GrpcMethod },
  message: Uint8Array,
  named?: { readonly tenant: string | undefined },
): Promise<HttpServerResponse> | HttpServerResponse {
  const limited = context.limiter.takeRate(request);
  if (limited) throw limited;
  const { dialect } = service;
  const { operation, request: type } = method;
  checkVersion(request, dialect.version, context.preview);
  const read = readParams(context, type, message);
  const params = named ? { ...read, tenant: named.tenant } : read;
  const operationCall = readOperationCall(context, request, { dialect, operation }, params);
  const execute = (): Promise<HttpServerResponse> | HttpServerResponse => {
    if (isStreamingOperation(operation)) {
      return executeStream(
        context,
        request,
        operationCall,
        ({ events, first }) =>
          new SseStream(
            events,
            first,
            grpcEnvelope,
            dialect.eventWriter(),
            context.serializationCache(dialect),
          ),
      );
    }
    return executeUnary(context, request, operationCall).then((text) => {
      const response = context.budgets.reserveOutput(request, { status: 200, headers: [], body: text });
      if (!response) throw outputExceeded();
      return response;
    });
  };
  return authorizeCall(context, request, operationCall, 'GRPC')?.then(execute) ?? execute();
}

/** The package of the method determines the version; metadata must not name another one. */
function checkVersion(
  { headers }: HttpServerRequest,
  version: string,
  preview: ServerContext['preview'],
): void {
  const text = withoutPreview(singleHeader(headers, 'a2a-version'), preview);
  const named = text === undefined || text === '' ? undefined : parseVersionHeader(text);
  const isOlder = version !== '1.0' && (named === '0.3' || named === '0.2');
  if (named === undefined || named === version || isOlder) return;
  throw new A2AError('VERSION_NOT_SUPPORTED', `This method is of version ${version}, not ${named}`);
}

/** Decodes the message within the limits of JSON. */
function readParams({ limits }: ServerContext, type: MessageType, message: Uint8Array): object {
  const { jsonMembers = defaultLimits.jsonMembers } = limits;
  let params: object;
  try {
    params = decodeMessage(type, message, jsonMembers);
  } catch (thrown) {
    if (!(thrown instanceof TooManyMembersError)) throw toA2AError(thrown, message.length);
    throw new A2AError(
      'INVALID_REQUEST',
      `The message has more than ${jsonMembers} objects, lists and members`,
      { details: { limit: 'jsonMembers' }, cause: thrown },
    );
  }
  checkJsonValue(params, limits);
  return params;
}
