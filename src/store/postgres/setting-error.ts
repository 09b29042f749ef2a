import { A2AError } from '../../protocol/errors.ts';

const certificate =
  'Check the certificate of the database. If your own authority has issued it, add sslmode=verify-full&sslrootcert=FILE to the URL.';
const address = 'Check host and port in the URL of the database, and whether the server runs.';

/** What an operator can do about an error, by SQLSTATE or by code of Node.js. */
const hints: { readonly [code: string]: string } = {
  '28P01': 'Check the password in the URL of the database.',
  '28000': 'Check user and sslmode in the URL of the database, and pg_hba.conf of the server.',
  '3D000': 'Create the database first, for example with createdb.',
  '42501':
    'Let a user who may create tables run dragoman store migrate with --grant and the name of this user; see docs/guide/scaling.md.',
  '42704': 'Create the user first, for example with createuser.',
  ECONNREFUSED: address,
  ENOTFOUND: address,
  ENOENT: 'Check the names of files in the URL of the database.',
  CERT_HAS_EXPIRED: 'Renew the certificate of the database.',
  DEPTH_ZERO_SELF_SIGNED_CERT: certificate,
  SELF_SIGNED_CERT_IN_CHAIN: certificate,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: certificate,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: certificate,
  ERR_TLS_CERT_ALTNAME_INVALID:
    'Use the host name in the certificate of the database, or another certificate.',
};

/** The library has no code for a server without TLS. */
const noTls = /does not support SSL/;

function hintFor({ code, message }: { code?: unknown; message?: unknown }): string | undefined {
  if (noTls.test(String(message)))
    return 'Enable TLS on the server (ssl = on), or use sslmode=disable on a network that you trust.';
  return Object.hasOwn(hints, String(code)) ? hints[String(code)] : undefined;
}

/** Returns the error for the operator if the settings may be wrong; its message contains no secret. */
export function toSettingError(error: unknown): A2AError | undefined {
  const cause = (error instanceof A2AError ? (error.cause ?? error) : error) as Error & { code?: unknown };
  const hint = hintFor(cause);
  if (hint === undefined) return undefined;
  const text = cause.message || String(cause.code);
  return new A2AError('UNAVAILABLE', `Cannot open the task store: ${text}`, { cause, hint });
}
