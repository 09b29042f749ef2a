import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Closable } from '../close-after-each.ts';

/** A token endpoint for token exchange (RFC 8693), and the requests that it received. */
export interface TokenExchangeServer {
  readonly url: string;
  /** Forms of all requests. */
  readonly forms: URLSearchParams[];
  /** Returns the subject of a token that the server issued and did not revoke. */
  subjectOf: (token: string) => string | undefined;
  /** Makes all tokens that were issued invalid. */
  revokeAll: () => void;
}

const tokenType = 'urn:ietf:params:oauth:token-type:access_token';

/** Starts a token endpoint. It knows the client `gateway` with the secret `gateway-secret`. */
export async function startTokenExchange(
  subjects: Readonly<Record<string, string>>,
  open: Closable[],
): Promise<TokenExchangeServer> {
  const forms: URLSearchParams[] = [];
  const issued = new Map<string, string>();
  const answer = (form: URLSearchParams): [number, object] => {
    if (form.get('client_id') !== 'gateway' || form.get('client_secret') !== 'gateway-secret')
      return [401, { error: 'invalid_client' }];
    if (form.get('grant_type') !== 'urn:ietf:params:oauth:grant-type:token-exchange')
      return [400, { error: 'unsupported_grant_type' }];
    if (form.get('subject_token_type') !== tokenType) return [400, { error: 'invalid_request' }];
    if (form.has('actor_token') !== form.has('actor_token_type')) return [400, { error: 'invalid_request' }];
    if (form.get('audience') !== 'weather') return [400, { error: 'invalid_target' }];
    const subject = subjects[form.get('subject_token') ?? ''];
    if (subject === undefined) return [400, { error: 'invalid_grant' }];
    const token = `exchanged-${crypto.randomUUID()}`;
    issued.set(token, subject);
    return [
      200,
      { access_token: token, issued_token_type: tokenType, token_type: 'Bearer', expires_in: 120 },
    ];
  };
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (chunk: string) => (body += chunk));
    request.on('end', () => {
      const form = new URLSearchParams(body);
      forms.push(form);
      const [status, json] = answer(form);
      response.writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store' });
      response.end(JSON.stringify(json));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  open.push({
    close: () =>
      new Promise((resolve) => {
        server.close(resolve);
        server.closeAllConnections();
      }),
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/token`,
    forms,
    subjectOf: (token) => issued.get(token),
    revokeAll: () => issued.clear(),
  };
}
