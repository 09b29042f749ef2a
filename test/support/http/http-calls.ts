/** Plain HTTP requests to a server under test, without the client of Dragoman. */

/** A response with its complete body. */
export interface TestHttpResponse {
  status: number;
  headers: Headers;
  text: string;
  /** The parsed body; undefined if it is not JSON. */
  json: any;
}

async function read(response: Response): Promise<TestHttpResponse> {
  const text = await response.text();
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    json = undefined;
  }
  return { status: response.status, headers: response.headers, text, json };
}

function versionHeader(version: string | undefined): Record<string, string> {
  return version === undefined ? {} : { 'a2a-version': version };
}

export async function httpGet(url: string, headers: Record<string, string> = {}): Promise<TestHttpResponse> {
  return read(await fetch(url, { headers }));
}

/** Sends a body: strings as they are, `undefined` as no body, other values as JSON. */
export async function httpPost(
  url: string,
  body: unknown,
  headers: Record<string, string> = {},
  method = 'POST',
): Promise<TestHttpResponse> {
  return read(await httpOpen(url, body, headers, method));
}

/** Like {@link httpPost}, but returns the response without reading its body. */
export function httpOpen(
  url: string,
  body: unknown,
  headers: Record<string, string> = {},
  method = 'POST',
  signal?: AbortSignal,
): Promise<Response> {
  const text = body === undefined || typeof body === 'string' ? body : JSON.stringify(body);
  return fetch(url, {
    method,
    ...(text === undefined ? {} : { body: text }),
    headers: { ...(text === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
    ...(signal && { signal }),
  });
}

/** Calls a JSON-RPC method and returns the whole JSON-RPC response. */
export async function callRpc(url: string, method: string, params: unknown, version?: string): Promise<any> {
  const { json } = await httpPost(url, { jsonrpc: '2.0', id: 7, method, params }, versionHeader(version));
  return json;
}
