/** Plain HTTP to a server under test: what goes over the wire is what the test says. */

/** A reply that was read to its end. */
export interface TestHttpResponse {
  status: number;
  headers: Headers;
  text: string;
  /** The body, if it is JSON. */
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

/** The headers of each version that has some. */
function versionHeader(version: string | undefined): Record<string, string> {
  return version === undefined ? {} : { 'a2a-version': version };
}

/** Asks for something. */
export async function httpGet(url: string, headers: Record<string, string> = {}): Promise<TestHttpResponse> {
  return read(await fetch(url, { headers }));
}

/** Sends a body: a text as it is, anything else as JSON, undefined as none. */
export async function httpPost(
  url: string,
  body: unknown,
  headers: Record<string, string> = {},
  method = 'POST',
): Promise<TestHttpResponse> {
  return read(await httpOpen(url, body, headers, method));
}

/** Sends a body and gives the response unread. */
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

/** Calls a JSON-RPC method and gives the whole envelope. */
export async function callRpc(url: string, method: string, params: unknown, version?: string): Promise<any> {
  const { json } = await httpPost(url, { jsonrpc: '2.0', id: 7, method, params }, versionHeader(version));
  return json;
}
