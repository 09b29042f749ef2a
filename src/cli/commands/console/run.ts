import { spawn } from 'node:child_process';
import type { Credentials } from '../../../client/credentials.ts';
import { type ConsoleOptions, type RunningConsole, serveConsole } from '../../../console/serve-console.ts';
import { A2AError } from '../../../protocol/errors.ts';
import { createColors } from '../../terminal/colors.ts';
import { parseHeaders } from '../../inputs/parse-headers.ts';
import { openLogs } from '../../terminal/log.ts';
import { toListenError } from '../../terminal/listen-error.ts';
import { printError, UsageError } from '../../terminal/usage-error.ts';
import { stopOnSignals } from '../../process/shutdown.ts';
import { openStore, type OpenedStore } from '../../inputs/open-store.ts';

/** What `dragoman console` is told. */
export interface ConsoleFlags {
  port: number;
  /** True when nobody asked for this very port, so that another will do. */
  mayMovePort: boolean;
  token?: string;
  header: string[];
  store?: string;
  open: boolean;
  output: 'text' | 'json';
}

/** Shows the console until a signal comes. */
export async function runConsoleCommand(urls: readonly string[], flags: ConsoleFlags): Promise<void> {
  const headers = parseHeaders(flags.header);
  const credentials: Credentials = { headers: () => headers };
  const agents = urls.map((url) => ({
    url: checked(url),
    ...(flags.header.length > 0 && { credentials }),
  }));
  const { agent: log } = await openLogs(undefined);
  const { token } = flags;
  const store = flags.store === undefined ? undefined : await openKept(flags.store);
  const running = await listen(flags, {
    agents,
    log,
    ...(token !== undefined && { token }),
    ...(store && { taskStore: store.ledger }),
  });
  const stop = async (): Promise<void> => {
    await running.stop();
    await store?.ledger[Symbol.asyncDispose]();
  };
  stopOnSignals(stop, printError, 1_000);
  // Whoever reads the first line only may close the pipe; the console is shown on.
  process.stdout.on('error', () => {});
  const { url, origin } = running;
  process.stdout.write(flags.output === 'json' ? `${JSON.stringify({ url, origin })}\n` : textOf(url));
  if (flags.open) open(url);
}

/** Opens a ledger that others write to. One in memory would be empty for ever. */
function openKept(where: string): Promise<OpenedStore> {
  if (where !== 'memory') return openStore(where, { withoutLease: true });
  throw new UsageError('what is in memory is seen by its own process only', 'Say --store sqlite:FILE.');
}

function checked(url: string): string {
  if (URL.canParse(url) && /^https?:$/.test(new URL(url).protocol)) return url;
  throw new UsageError(
    `${url} is no address`,
    'Write it with http:// or https://, as in http://localhost:4000.',
  );
}

/** Listens, on the next best port if nobody asked for this one and it is taken. */
async function listen(flags: ConsoleFlags, options: ConsoleOptions): Promise<RunningConsole> {
  const { port, mayMovePort } = flags;
  try {
    return await serveConsole({ ...options, port });
  } catch (cause) {
    const { code } = cause as { code?: unknown };
    if (code === 'EADDRINUSE' && mayMovePort) return serveConsole({ ...options, port: 0 });
    if (cause instanceof A2AError && cause.reason === 'INVALID_PARAMS')
      throw new UsageError(
        cause.message,
        cause.hint ?? 'dragoman console --help shows what there is.',
        cause,
      );
    throw toListenError(cause, { port });
  }
}

function textOf(url: string): string {
  const { bold, cyan, dim } = createColors(process.stdout);
  return [
    '',
    `  ${bold('Console')}  ${cyan(url)}`,
    '',
    `  ${dim('The address has a token: whoever has it can speak for you. Ctrl-C stops it.')}`,
    '',
    '',
  ].join('\n');
}

const openers: { readonly [platform: string]: string } = { darwin: 'open', win32: 'explorer' };

/** Opens the browser, if there is one; the address is printed for all others. */
function open(url: string): void {
  const child = spawn(openers[process.platform] ?? 'xdg-open', [url], { stdio: 'ignore', detached: true });
  child.on('error', () => {});
  child.unref();
}
