import type { WireRequest, WireResponse } from './mutant-agent.ts';
import { isJsonObject, type JsonObject } from '../../../primitives/json.ts';

/** Creates a response with a text body. */
function textResponse(status: number, contentType: string, text: string): WireResponse {
  return { status, headers: { 'content-type': contentType }, text, json: undefined };
}

/** Creates a response with an HTML page. */
export function htmlResponse(status: number, text = '<html>No</html>'): WireResponse {
  return textResponse(status, 'text/html', text);
}

/** Creates a response with a JSON body. */
export function wireJsonResponse(status: number, json: object): WireResponse {
  return textResponse(status, 'application/json', JSON.stringify(json));
}

/** An A2A error in the forms of both transports. */
export interface WireError {
  /** JSON-RPC error code. */
  readonly code: number;
  /** HTTP status of REST. */
  readonly status: number;
  /** Name of the status in REST. */
  readonly statusName: string;
  readonly message: string;
}

/** Returns status and body of an error in the format of the transport of the request. */
export function errorBody(
  request: Pick<WireRequest, 'json'>,
  { code, status, statusName, message }: WireError,
): { status: number; json: JsonObject } {
  const { json } = request;
  return isJsonObject(json) && 'jsonrpc' in json
    ? { status: 200, json: { jsonrpc: '2.0', id: json.id, error: { code, message } } }
    : { status, json: { error: { code: status, status: statusName, message, details: [] } } };
}

/** Creates an error response in the format of the transport of the request. */
export function wireErrorResponse(request: Pick<WireRequest, 'json'>, error: WireError): WireResponse {
  const { status, json } = errorBody(request, error);
  return wireJsonResponse(status, json);
}
