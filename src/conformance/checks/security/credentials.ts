import { protocolErrors } from '../../drivers/error-response.ts';
import type { DecodedResponse } from '../../drivers/protocol-driver.ts';

/** Credentials that look like those that are given and are worth nothing. */
export function corruptCredentials(
  headers: Readonly<Record<string, string>>,
  secret = 'nobody-has-this-secret',
): Record<string, string> {
  const names = Object.keys(headers);
  if (names.length === 0) return { authorization: `Bearer ${secret}` };
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => {
      const [scheme, ...rest] = value.split(' ');
      if (/^basic$/i.test(scheme ?? ''))
        return [name, `${scheme} ${Buffer.from(`nobody:${secret}`).toString('base64')}`];
      return [name, rest.length > 0 ? `${scheme} ${secret}` : secret];
    }),
  );
}

const ours: ReadonlySet<number> = new Set(Object.values(protocolErrors).map(({ code }) => code));

/** True when a caller was turned away for what it is, and not for what it asked. */
export function isAuthRejection({ exchange: { status }, error }: DecodedResponse): boolean {
  if (status === 401 || status === 403) return true;
  // Errors of JSON-RPC with HTTP 200 have codes that the protocol does not define.
  return error?.code !== undefined && !ours.has(error.code) && error.code !== -32603;
}
