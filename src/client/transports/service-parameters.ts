import type { Dialect, RequestOf } from '../../dialects/dialect.ts';
import type { CallContext, Operation } from '../../protocol/agent.ts';
import { type AgentCard, recognizesRepeats } from '../../protocol/card.ts';
import type { SendRequest } from '../../protocol/requests.ts';

/** Returns the headers of one request: requested extensions and the idempotency key. */
export function serviceParameters(
  { extensionsHeader }: Dialect,
  request: RequestOf[Operation],
  { extensions }: CallContext,
): Record<string, string> {
  const headers: Record<string, string> = {};
  if (extensionsHeader !== undefined && extensions && extensions.length > 0)
    headers[extensionsHeader] = extensions.join(',');
  const { idempotencyKey } = request as Partial<SendRequest>;
  if (idempotencyKey !== undefined) headers['idempotency-key'] = `"${encodeURIComponent(idempotencyKey)}"`;
  return headers;
}

/** Adds a key to a request that the agent recognizes if it is repeated. */
export function withIdempotencyKey(request: SendRequest, card: AgentCard | undefined): SendRequest {
  if (request.idempotencyKey !== undefined || !card || !recognizesRepeats(card)) return request;
  return { ...request, idempotencyKey: crypto.randomUUID() };
}

/** Returns true if the agent recognizes a repetition of the request. */
export function isRepeatable(request: RequestOf[Operation], card: AgentCard | undefined): boolean {
  return (
    (request as Partial<SendRequest>).idempotencyKey !== undefined &&
    card !== undefined &&
    recognizesRepeats(card)
  );
}
