import type { IncomingMessage } from 'node:http';
import { isLoopbackAddress } from '../../primitives/loopback.ts';
import { SameOriginCheck } from '../../primitives/web/same-origin-check.ts';

/** IP addresses that may use the admin API in addition to the local host, or `'*'` for all. */
export type AdminAccess = readonly string[] | '*';

interface AdminAccessError {
  readonly message: string;
  readonly hint: string;
}

const sameOrigin = new SameOriginCheck();

/** Access from other hosts is rejected before. */
const loopback = { localAddress: '127.0.0.1' };

const hint = 'Allow the address with the option allowAdminFrom (--admin-allow on the command line).';

/**
 * Checks whether a request may use the admin API. `Host` and `Origin` must be local as well: a web page in a local
 * browser could otherwise reach the API by DNS rebinding.
 *
 * @returns undefined if access is allowed.
 */
export function adminAccessError(
  { socket, headers }: IncomingMessage,
  access: AdminAccess,
): AdminAccessError | undefined {
  if (access === '*') return undefined;
  const address = (socket.remoteAddress ?? '').replace(/^::ffff:/i, '');
  if (access.includes(address)) return undefined;
  if (!isLoopbackAddress(socket.remoteAddress))
    return { message: 'The admin API accepts requests from the local host only', hint };
  const problem = sameOrigin.problem(headers, loopback);
  if (problem === undefined) return undefined;
  return { message: `The admin API does not accept this ${problem.split(' ')[0]} header`, hint };
}
