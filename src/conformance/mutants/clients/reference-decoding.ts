import { isJsonObject, type JsonObject, parseJsonOrUndefined } from '../../../primitives/json.ts';
import { asText, objectOf } from '../../drivers/normalized-views.ts';
import type { ProtocolDriver } from '../../drivers/protocol-driver.ts';
import type { HttpExchange } from '../../wire/http-exchange.ts';
import type { RawRequest } from '../../wire/raw-http-client.ts';
import type { ReferenceResponse } from './reference-http.ts';

/** Returns true if a card of 0.1 requires credentials. */
export function isSecured0_1({ authentication }: JsonObject): boolean {
  const { schemes } = objectOf(authentication);
  return Array.isArray(schemes) && schemes.length > 0;
}

/** Leaves out ids that are undefined. */
export function withIds(ids: { taskId: string | undefined; contextId: string | undefined }): {
  taskId?: string;
  contextId?: string;
} {
  return {
    ...(ids.taskId === undefined ? {} : { taskId: ids.taskId }),
    ...(ids.contextId === undefined ? {} : { contextId: ids.contextId }),
  };
}

/** Returns a frame with this data only. */
export function toFrame(data: string): Parameters<ProtocolDriver['decodeFrame']>[0] {
  return { fields: [['data', data]], data, id: undefined, event: undefined, at: 0 };
}

/** Returns true if a response has the types that the reference client expects. */
export function isPlainResponse(text: string): boolean {
  const { result } = objectOf(parseJsonOrUndefined(text));
  return isJsonObject(result) && result.id !== 7 && objectOf(result.task).id !== 7;
}

/** Returns the response as the drivers read it. */
export function toDriverExchange(
  request: RawRequest,
  { status, headers, text, isBroken }: ReferenceResponse,
): HttpExchange {
  return {
    number: 0,
    method: request.method,
    url: request.url,
    requestHeaders: request.headers ?? {},
    requestBody: asText(request.body),
    status,
    headers: Object.fromEntries(headers),
    body: text,
    hasInvalidUtf8: false,
    frames: [],
    end: isBroken ? 'truncated' : 'complete',
    transportError: undefined,
    headersMs: 0,
    totalMs: 0,
  };
}
