import type { Credentials } from '../../../client/credentials.ts';
import { type ConsoleOptions, type RunningConsole, serveConsole } from '../../../console/serve-console.ts';
import { A2AError } from '../../../protocol/errors.ts';
import { createColors } from '../../terminal/colors.ts';
import { parseHeaders } from '../../inputs/parse-headers.ts';
import { openLogs } from '../../terminal/log.ts';
import { startListening } from '../../terminal/listen-error.ts';
import { printError } from '../../terminal/print-error.ts';
import { UsageError } from '../../terminal/usage-error.ts';
import { openInBrowser } from '../../process/open-in-browser.ts';
import { stopOnSignals } from '../../process/shutdown.ts';
import { expectUrl } from '../../inputs/expect-url.ts';
import { openForeignStore } from '../../inputs/open-store.ts';
import { type OutputFormat, sessionOptions } from '../../inputs/shared-options.ts';

/** Flags of `dragoman console`. */
export interface ConsoleFlags {
  port: number;
  /** True if --port was not set: another port is used if the default is taken. */
  mayMovePort: boolean;
  token?: string;
  header: string[];
  store?: string;
  sessions?: string;
  open: boolean;
  output: OutputFormat;
}

/** Runs `dragoman console` until a signal arrives. */
export async function runConsoleCommand(urls: readonly string[], flags: ConsoleFlags): Promise<void> {
  const headers = parseHeaders(flags.header);
  const credentials: Credentials = { headers: () => headers };
  const agents = urls.map((url) => ({
    url: expectUrl(url),
    ...(flags.header.length > 0 && { credentials }),
  }));
  const { agent: log } = await openLogs(undefined);
  const { token } = flags;
  const store = flags.store === undefined ? undefined : await openForeignStore(flags.store);
  const running = await listen(flags, {
    agents,
    log,
    ...sessionOptions(flags),
    ...(token !== undefined && { token }),
    ...(store && { taskStore: store.taskStore }),
  });
  const stop = async (): Promise<void> => {
    await running.stop();
    await store?.taskStore[Symbol.asyncDispose]();
  };
  stopOnSignals(stop, printError, 1_000);
  // The console keeps running if the reader of standard output closes the pipe.
  process.stdout.on('error', () => {});
  const { url, origin } = running;
  process.stdout.write(flags.output === 'json' ? `${JSON.stringify({ url, origin })}\n` : formatSummary(url));
  if (flags.open) openInBrowser(url);
}

/** Starts the server, on any free port if the default port is taken. */
async function listen(flags: ConsoleFlags, options: ConsoleOptions): Promise<RunningConsole> {
  try {
    return await startListening(flags, (port) => serveConsole({ ...options, port }));
  } catch (cause) {
    if (cause instanceof A2AError && cause.reason === 'INVALID_PARAMS')
      throw new UsageError(cause.message, cause.hint ?? 'Run dragoman console --help for usage.', { cause });
    throw cause;
  }
}

function formatSummary(url: string): string {
  const { bold, cyan, dim } = createColors(process.stdout);
  return [
    '',
    `  ${bold('Console')}  ${cyan(url)}`,
    '',
    `  ${dim('The URL contains an access token: do not share it. Press Ctrl-C to stop.')}`,
    '',
    '',
  ].join('\n');
}
