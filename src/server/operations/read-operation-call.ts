import type { Dialect } from '../../dialects/dialect.ts';
import { checkLength } from '../../dialects/field-readers.ts';
import { previewOf } from '../../dialects/v1_1/index.ts';
import { strictMode } from '../../dialects/translation-loss.ts';
import { isStreamingOperation, type Operation } from '../../protocol/agent.ts';
import type { HttpServerRequest } from '../http/http-message.ts';
import type { ServerContext } from '../http/server-context.ts';
import { readLastEventId } from '../http/sse-stream.ts';
import { HttpCallContext } from './http-call-context.ts';
import { readIdempotencyKey } from './idempotency-key.ts';
import type { OperationCall } from './invoke-agent.ts';

/**
 * Decodes the parameters of an operation.
 *
 * @param pathTenant - the tenant in the path of the request, if there is one.
 */
export function readOperationCall(
  context: ServerContext,
  request: HttpServerRequest,
  { dialect: requested, operation }: { readonly dialect: Dialect; readonly operation: Operation },
  params: unknown,
  pathTenant?: string,
): OperationCall {
  const { preview } = context;
  const dialect = preview ? previewOf(requested) : requested;
  const operationRequest = dialect.requests[operation].read(params, strictMode);
  const isCurrent = dialect.version === '1.0';
  const tenant = pathTenant ?? (isCurrent ? tenantOf(params) : undefined);
  const call = new HttpCallContext(
    request,
    dialect.version,
    checkLength(tenant, 'tenant', 'name'),
    preview,
    context.passesToken,
  );
  if (isStreamingOperation(operation)) readLastEventId(request, operationRequest);
  if (operation === 'send' || operation === 'stream') readIdempotencyKey(request, operationRequest);
  return {
    agent: context.agent,
    dialect,
    operation,
    request: operationRequest,
    call,
    serializationCache: context.serializationCache(dialect),
    telemetry: request.telemetry,
    pageBytes: context.limits.pageBytes,
    finalizeCard: (card) =>
      isCurrent ? context.cards.sign(card, request) : context.cards.withInterfaces(card, request),
  };
}

function tenantOf(params: unknown): string | undefined {
  const tenant = (params as { tenant?: unknown } | null | undefined)?.tenant;
  return typeof tenant === 'string' && tenant !== '' ? tenant : undefined;
}
