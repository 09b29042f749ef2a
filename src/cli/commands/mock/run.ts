import { readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { DocumentError } from '../../../documents/diagnostic.ts';
import { openScript } from '../../../testkit/script/script.ts';
import { TestAgentServer } from '../../../testkit/test-agent-server.ts';
import { createColors } from '../../terminal/colors.ts';
import { printDiagnostics, invalidFileError } from '../../terminal/print-diagnostics.ts';
import { expandGlob } from '../../inputs/glob.ts';
import { toListenError } from '../../terminal/listen-error.ts';
import { printError, UsageError } from '../../terminal/usage-error.ts';
import { stopOnSignals } from '../../process/shutdown.ts';
import { readInputFile } from '../../inputs/read-input-file.ts';
import { watchFile } from '../../process/watch-file.ts';

/** What `dragoman mock` is told. */
export interface MockFlags {
  port: number;
  host: string;
  basePath?: string;
  seed?: number;
  clock?: 'system' | 'virtual';
  /** Addresses; false where there is no admin API. */
  admin?: string[] | boolean;
  watch?: boolean;
  output: 'text' | 'json';
}

/** What to name where a script cannot be read. */
const wanted = 'Give the path of a YAML file with rules.';

/** Runs a test agent until a signal comes. */
export async function runMockCommand(file: string | undefined, flags: MockFlags): Promise<void> {
  const { port, host, basePath, seed, clock, admin } = flags;
  if (flags.watch && file === undefined)
    throw new UsageError('there is no script to watch', 'Name one, as in dragoman mock script.yaml --watch.');
  const script = file === undefined ? undefined : readInputFile(file, wanted);
  const allowed = Array.isArray(admin) ? admin : [];
  const server = await started(
    () =>
      new TestAgentServer({
        port,
        host,
        basePath,
        seed,
        clock,
        script,
        scriptFile: file,
        admin: admin !== false,
        allowAdminFrom: allowed.includes('*') ? '*' : allowed,
      }),
    flags,
  );
  const stopWatching = flags.watch && file !== undefined ? watchScript(file, server, flags) : () => {};
  stopOnSignals(async () => {
    stopWatching();
    await server.stop();
  }, printError);
  // Whoever reads the first line only may close the pipe; the agent goes on.
  process.stdout.on('error', () => {});
  process.stdout.write(
    flags.output === 'json'
      ? `${jsonOf(server, flags)}\n`
      : `listening on ${server.url}\n${summaryOf(server, flags)}\n`,
  );
}

/** Says what is wrong with each of the files; the exit code is 2 if anything is. */
export async function runMockValidateCommand(patterns: readonly string[]): Promise<void> {
  const files = new Set<string>();
  for (const pattern of patterns) {
    const found = expandGlob(pattern, ['yaml', 'yml']);
    if (found.length === 0)
      throw new UsageError(
        `there is no script at ${pattern}`,
        'Name a YAML file, a folder of them, or a pattern.',
      );
    for (const file of found) files.add(file);
  }
  let wrong = 0;
  for (const file of files) {
    try {
      openScript(readInputFile(file, wanted), file, { folder: dirname(file) });
    } catch (thrown) {
      if (!(thrown instanceof DocumentError)) throw thrown;
      wrong++;
      printDiagnostics(thrown, process.stdout);
    }
  }
  const { green, red } = createColors(process.stderr);
  const counted = files.size === 1 ? '1 script' : `${files.size} scripts`;
  process.stderr.write(
    wrong === 0
      ? `${counted}: ${green('nothing is wrong')}\n`
      : `${counted}: ${red(`${wrong} with mistakes`)}\n`,
  );
  if (wrong > 0) process.exitCode = 2;
}

async function started(make: () => TestAgentServer, { port, host }: MockFlags): Promise<TestAgentServer> {
  try {
    return await make().start();
  } catch (cause) {
    if (cause instanceof DocumentError) throw invalidFileError(cause);
    throw toListenError(cause, { port, host });
  }
}

/** Loads the script whenever its file changes. @returns what ends that. */
function watchScript(file: string, server: TestAgentServer, { output }: MockFlags): () => void {
  let newest: string | undefined = server.scripts[0]?.text;
  const reload = async (): Promise<void> => {
    try {
      const text = await readFile(file, 'utf8');
      if (text === newest) return;
      newest = text;
      server.load(text, file);
      const told = output === 'json' ? process.stderr : process.stdout;
      told.write(`loaded ${file}: ${countedRules(server)}\n`);
    } catch (thrown) {
      const why = thrown instanceof DocumentError ? thrown.message : (thrown as Error).message;
      process.stderr.write(`${why}\nThe rules before are still in force.\n`);
    }
  };
  return watchFile(file, () => void reload());
}

function rulesOf({ scripts }: TestAgentServer): number {
  return scripts.reduce((sum, { script }) => sum + script.rules.length, 0);
}

function countedRules(server: TestAgentServer): string {
  const count = rulesOf(server);
  return count === 1 ? '1 rule' : `${count} rules`;
}

function jsonOf(server: TestAgentServer, { admin }: MockFlags): string {
  const { url, cardUrl: card, adminUrl } = server;
  return JSON.stringify({ url, card, ...(admin !== false && { admin: adminUrl }), rules: rulesOf(server) });
}

function summaryOf(server: TestAgentServer, { admin, watch: isWatching }: MockFlags): string {
  const { cyan, dim } = createColors(process.stdout);
  const [script] = server.scripts;
  const rules = script
    ? `${countedRules(server)} of ${script.file}${isWatching ? ', read again when it changes' : ''}`
    : 'none; it obeys directives in messages and primed responses';
  return [
    `  ${dim('card ')}  ${cyan(server.cardUrl)}`,
    ...(admin === false ? [] : [`  ${dim('admin')}  ${cyan(server.adminUrl)}`]),
    `  ${dim('rules')}  ${rules}`,
  ].join('\n');
}
