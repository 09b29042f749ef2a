import { apiKey, bearer, clientCredentials, type Credentials } from '../../client/credentials.ts';
import type { HttpClient } from '../../client/http/http-client.ts';
import type { Redactor } from '../../primitives/redaction/redaction.ts';
import type { CredentialsInput } from '../console-api.ts';

/** Converts the input of the user to credentials. */
export function toCredentials(input: CredentialsInput | Credentials): Credentials {
  if (!('kind' in input)) return input;
  switch (input.kind) {
    case 'bearer':
      return bearer(input.token);
    case 'header':
      return apiKey({ name: input.name, in: 'header', value: input.value });
    case 'basic': {
      const pair = Buffer.from(`${input.user}:${input.password}`, 'utf8').toString('base64');
      return { headers: () => ({ authorization: `Basic ${pair}` }) };
    }
    case 'client-credentials':
      return clientCredentials(input);
  }
}

/** Returns the query parameters of credentials. */
export async function credentialQuery(
  credentials: Credentials | undefined,
  url: string,
  http: HttpClient,
): Promise<Record<string, string>> {
  return (await credentials?.query?.({ url, operation: 'send', call: {}, http })) ?? {};
}

/** Returns the headers of credentials, for requests without the Dragoman client. */
export async function credentialHeaders(
  credentials: Credentials | undefined,
  url: string,
  http: HttpClient,
): Promise<Record<string, string>> {
  return (await credentials?.headers({ url, operation: 'send', call: {}, http })) ?? {};
}

/** Returns the secrets that the user entered. */
export function enteredSecrets(input: CredentialsInput | Credentials): string[] {
  if (!('kind' in input)) return [];
  switch (input.kind) {
    case 'bearer':
      return [input.token];
    case 'header':
      return [input.value];
    case 'basic':
      return [input.password];
    case 'client-credentials':
      return [input.clientSecret];
  }
}

/** Returns the same credentials. All values that they send become secrets of a redactor. */
export function withRedaction(credentials: Credentials, redactor: Redactor): Credentials {
  const register = (values: Record<string, string>): Record<string, string> => {
    for (const value of Object.values(values)) {
      redactor.addSecret(value);
      redactor.addSecret(/^\w+ (\S.*)$/.exec(value)?.[1]);
    }
    return values;
  };
  return {
    headers: async (request) => register(await credentials.headers(request)),
    ...(credentials.query && {
      query: async (request) => register((await credentials.query?.(request)) ?? {}),
    }),
    refresh: (rejected) => credentials.refresh?.(rejected) ?? false,
  };
}
