import type { IncomingMessage } from 'node:http';
import { isLoopbackAddress, isLoopbackHost } from '../../server/limits/client-address.ts';

/** Who may use the admin API beside this machine: addresses, or everybody. */
export type AdminAccess = readonly string[] | '*';

interface AdminRefusal {
  readonly message: string;
  readonly hint: string;
}

const hint = 'Allow it with the option allowAdminFrom (--admin on the command line).';

/**
 * Says why a request may not use the admin API. A page in a browser of this machine could reach it under a name of its
 * own, so the `Host` and the `Origin` have to be of this machine as well.
 *
 * @returns undefined when it may.
 */
export function adminAccessError(
  { socket, headers }: IncomingMessage,
  access: AdminAccess,
): AdminRefusal | undefined {
  if (access === '*') return undefined;
  const address = (socket.remoteAddress ?? '').replace(/^::ffff:/i, '');
  if (access.includes(address)) return undefined;
  if (!isLoopbackAddress(socket.remoteAddress))
    return { message: 'The admin API is for this machine only', hint };
  if (!isLoopbackHost(hostIn(`http://${headers.host ?? ''}`)))
    return { message: 'The admin API is not reached under this host name', hint };
  if (headers.origin !== undefined && !isLoopbackHost(hostIn(headers.origin)))
    return { message: 'The admin API is not for pages of other origins', hint };
  return undefined;
}

function hostIn(url: string): string | undefined {
  return URL.canParse(url) ? new URL(url).hostname : undefined;
}
