import type { Authenticator } from '../../../server/auth/authenticator.ts';
import { apiKeyAuth } from '../../../server/auth/schemes/api-key.ts';
import { bearerAuth } from '../../../server/auth/schemes/bearer.ts';
import { readVariable } from '../../inputs/read-variable.ts';
import { UsageError } from '../../terminal/usage-error.ts';

/** Flags with environment variables that contain the credentials of clients. */
interface CredentialFlags {
  apiKeyFromEnv?: string[];
  bearerFromEnv?: string[];
}

/** Header of API keys. */
const apiKeyHeader = 'X-API-Key';

/** Creates authenticators. The client is named after the variable, so that clients do not see tasks of each other. */
export function readAuthenticators({
  apiKeyFromEnv = [],
  bearerFromEnv = [],
}: CredentialFlags): Authenticator[] {
  const keys = readSecrets(apiKeyFromEnv, '--api-key-from-env', /^[!-~]+$/);
  const tokens = readSecrets(bearerFromEnv, '--bearer-from-env', /^[\w.~+/-]+=*$/);
  return [
    ...(keys.size > 0 ? [apiKeyAuth({ in: 'header', name: apiKeyHeader, keys })] : []),
    ...(tokens.size > 0 ? [bearerAuth({ tokens })] : []),
  ];
}

/** Returns the header that a client sends, with the variable instead of the secret. */
export function credentialHeader({
  apiKeyFromEnv: [key] = [],
  bearerFromEnv: [token] = [],
}: CredentialFlags): string | undefined {
  if (token !== undefined) return `Authorization: Bearer $${token}`;
  return key === undefined ? undefined : `${apiKeyHeader}: $${key}`;
}

function readSecrets(variables: readonly string[], flag: string, allowed: RegExp): Map<string, string> {
  const secrets = new Map<string, string>();
  for (const variable of variables) {
    const secret = readVariable(variable, flag);
    // The message does not contain the value, which is a secret.
    if (!allowed.test(secret))
      throw new UsageError(
        `Environment variable ${variable} of ${flag} has characters that clients cannot send`,
        'Use letters, digits and -._~+/ without spaces.',
      );
    const other = secrets.get(secret);
    if (other !== undefined && other !== variable)
      throw new UsageError(
        `Environment variables ${other} and ${variable} have the same value`,
        'Use a different secret for each client.',
      );
    secrets.set(secret, variable);
  }
  return secrets;
}
