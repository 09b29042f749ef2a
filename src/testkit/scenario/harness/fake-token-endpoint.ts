import type { HttpClient, HttpRequest, HttpResponse } from '../../../client/http/http-client.ts';
import type { TokenRequest } from './harness-types.ts';
import type { TokenResponses } from '../files/scenario-schema.ts';

/**
 * HTTP client that fakes the responses of the token endpoint and passes all other requests on. A real server is not
 * possible: the URL of a token endpoint must be https with a foreign host name.
 */
export class FakeTokenEndpoint implements HttpClient {
  readonly requests: TokenRequest[] = [];
  readonly #http: HttpClient;
  readonly #responses: TokenResponses | undefined;
  readonly #now: () => number;

  /** @param http - passed-on requests; it is not closed. */
  constructor(http: HttpClient, responses: TokenResponses | undefined, now: () => number) {
    this.#http = http;
    this.#responses = responses;
    this.#now = now;
  }

  async request(request: HttpRequest): Promise<HttpResponse> {
    const url = `${request.origin}${request.path}`;
    if (!this.#responses || url !== this.#responses.token_url) return this.#http.request(request);
    const { response_sequence: sequence, ...single } = this.#responses;
    // The last response of the sequence repeats.
    const response = sequence?.[this.requests.length] ?? sequence?.at(-1) ?? single;
    this.requests.push({ at: this.#now(), url, body: typeof request.body === 'string' ? request.body : '' });
    const { access_token: token, expires_in: seconds = 3600, error, status_code: status } = response;
    if (typeof error === 'object') return jsonResponse(status ?? 400, error);
    if (error !== undefined || token === undefined)
      return jsonResponse(status ?? 400, { error: error ?? 'invalid_request' });
    return jsonResponse(status ?? 200, { access_token: token, token_type: 'Bearer', expires_in: seconds });
  }

  supportsHttp2(): boolean | Promise<boolean> {
    return this.#http.supportsHttp2?.() ?? false;
  }

  async close(): Promise<void> {}
}

function jsonResponse(status: number, body: object): HttpResponse {
  const text = JSON.stringify(body);
  return {
    status,
    header: (name) => (name === 'content-type' ? 'application/json' : undefined),
    text: () => Promise.resolve(text),
    async *chunks() {
      yield Buffer.from(text);
    },
    discard() {},
  };
}
