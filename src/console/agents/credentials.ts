import { apiKey, bearer, clientCredentials, type Credentials } from '../../client/credentials.ts';
import type { HttpClient } from '../../client/http/http-client.ts';
import type { CredentialsInput } from '../console-api.ts';

/** Makes credentials of what a person gave. */
export function toCredentials(given: CredentialsInput | Credentials): Credentials {
  if (!('kind' in given)) return given;
  switch (given.kind) {
    case 'bearer':
      return bearer(given.token);
    case 'header':
      return apiKey({ name: given.name, in: 'header', value: given.value });
    case 'basic': {
      const pair = Buffer.from(`${given.user}:${given.password}`, 'utf8').toString('base64');
      return { headers: () => ({ authorization: `Basic ${pair}` }) };
    }
    case 'client-credentials':
      return clientCredentials(given);
  }
}

/** The headers that credentials come to at an address, for requests that are made without our client. */
export async function credentialHeaders(
  credentials: Credentials | undefined,
  url: string,
  http: HttpClient,
): Promise<Record<string, string>> {
  return (await credentials?.headers({ url, operation: 'send', call: {}, http })) ?? {};
}
