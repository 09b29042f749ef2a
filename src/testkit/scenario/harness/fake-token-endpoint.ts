import type { HttpClient, HttpRequest, HttpResponse } from '../../../client/http/http-client.ts';
import type { TokenRequest } from './harness-types.ts';
import type { TokenResponses } from '../files/scenario-schema.ts';

/**
 * A client whose requests for tokens are answered as a case says, without a network: the address of a token endpoint
 * must be https, and no server of ours can have its name. Everything else goes its way.
 */
export class FakeTokenEndpoint implements HttpClient {
  readonly requests: TokenRequest[] = [];
  readonly #http: HttpClient;
  readonly #answers: TokenResponses | undefined;
  readonly #now: () => number;

  /** @param http - is not closed with this. */
  constructor(http: HttpClient, answers: TokenResponses | undefined, now: () => number) {
    this.#http = http;
    this.#answers = answers;
    this.#now = now;
  }

  async request(request: HttpRequest): Promise<HttpResponse> {
    const url = `${request.origin}${request.path}`;
    if (!this.#answers || url !== this.#answers.token_url) return this.#http.request(request);
    const { response_sequence: sequence, ...always } = this.#answers;
    // Who asks more often than the sequence is long gets the last answer again.
    const answer = sequence?.[this.requests.length] ?? sequence?.at(-1) ?? always;
    this.requests.push({ at: this.#now(), url, body: request.body ?? '' });
    const { access_token: token, expires_in: seconds = 3600, error, status_code: status } = answer;
    if (error !== undefined || token === undefined)
      return answered(status ?? 400, { error: error ?? 'invalid_request' });
    return answered(status ?? 200, { access_token: token, token_type: 'Bearer', expires_in: seconds });
  }

  async close(): Promise<void> {}
}

function answered(status: number, body: object): HttpResponse {
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
