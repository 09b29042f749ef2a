import { UsageError } from './usage-error.ts';

/** Address that a server tries to listen on. */
interface ListenAddress {
  readonly port?: number | undefined;
  readonly host?: string | undefined;
  /** True if another port is used if this one is taken. */
  readonly mayMovePort?: boolean;
}

/** Starts a server. @throws {@link UsageError} if it cannot listen on the address. */
export async function startListening<Server>(
  address: ListenAddress,
  start: (port?: number) => Promise<Server>,
): Promise<Server> {
  try {
    return await start(address.port);
  } catch (thrown) {
    if (address.mayMovePort && (thrown as { code?: unknown }).code === 'EADDRINUSE') return start(0);
    throw toListenError(thrown, address);
  }
}

/** Converts an error of `listen()` to a usage error. Returns other errors unchanged. */
export function toListenError(thrown: unknown, { port, host }: ListenAddress): unknown {
  const portHint = 'Choose another port with --port N, or --port 0 for any free port.';
  switch ((thrown as { code?: unknown }).code) {
    case 'EADDRINUSE':
      return new UsageError(`Port ${port}${host === undefined ? '' : ` on ${host}`} is in use`, portHint);
    case 'EACCES':
      return new UsageError(`Permission denied for port ${port}`, portHint);
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return new UsageError(
        `Cannot listen on ${host ?? 'this address'}: not an address of the local host`,
        'Choose an address with --host, such as 127.0.0.1 or 0.0.0.0.',
      );
    default:
      return thrown;
  }
}
