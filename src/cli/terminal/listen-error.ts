import { UsageError } from './usage-error.ts';

/** Where something was to listen. */
interface Place {
  readonly port: number | undefined;
  readonly host?: string | undefined;
}

/** What a person can do about a place that cannot be listened at; what else was thrown is given back. */
export function toListenError(thrown: unknown, { port, host }: Place): unknown {
  const another = 'Choose another with --port N, or --port 0 for any free one.';
  switch ((thrown as { code?: unknown }).code) {
    case 'EADDRINUSE':
      return new UsageError(`port ${port}${host === undefined ? '' : ` on ${host}`} is in use`, another);
    case 'EACCES':
      return new UsageError(`port ${port} needs more rights than you have`, another);
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return new UsageError(
        `${host ?? 'that'} is no address of this machine`,
        'Choose one with --host, such as 127.0.0.1 or 0.0.0.0.',
      );
    default:
      return thrown;
  }
}
