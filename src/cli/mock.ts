import { readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { DocumentError } from '../documents/complaint.ts';
import { openScript } from '../testkit/script/script.ts';
import { TestAgentServer } from '../testkit/test-agent-server.ts';
import { coloursFor } from './colours.ts';
import { tellComplaints } from './complaints.ts';
import { filesOf } from './glob.ts';
import { complain, Mistake } from './mistake.ts';
import { stopOnSignals } from './stopping.ts';
import { watchFile } from './watch-file.ts';

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
}

/** Runs a test agent until a signal comes. */
export async function mock(file: string | undefined, flags: MockFlags): Promise<void> {
  const { port, host, basePath, seed, clock, admin } = flags;
  if (flags.watch && file === undefined)
    throw new Mistake('there is no script to watch', 'Name one, as in dragoman mock script.yaml --watch.');
  const script = file === undefined ? undefined : await readScript(file);
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
  const stopWatching = flags.watch && file !== undefined ? watchScript(file, server) : () => {};
  stopOnSignals(async () => {
    stopWatching();
    await server.stop();
  }, complain);
  // Whoever reads the first line only may close the pipe; the agent goes on.
  process.stdout.on('error', () => {});
  process.stdout.write(`listening on ${server.url}\n${summaryOf(server, flags)}\n`);
}

/** Says what is wrong with each of the files; the exit code is 1 if anything is. */
export async function validateScripts(patterns: readonly string[]): Promise<void> {
  const files = new Set<string>();
  for (const pattern of patterns) {
    const found = filesOf(pattern, ['yaml', 'yml']);
    if (found.length === 0)
      throw new Mistake(
        `there is no script at ${pattern}`,
        'Name a YAML file, a folder of them, or a pattern.',
      );
    for (const file of found) files.add(file);
  }
  let wrong = 0;
  for (const file of files) {
    try {
      openScript(await readScript(file), file, { folder: dirname(file) });
    } catch (thrown) {
      if (!(thrown instanceof DocumentError)) throw thrown;
      wrong++;
      tellComplaints(thrown, process.stdout);
    }
  }
  const { green, red } = coloursFor(process.stderr);
  const counted = files.size === 1 ? '1 script' : `${files.size} scripts`;
  process.stderr.write(
    wrong === 0
      ? `${counted}: ${green('nothing is wrong')}\n`
      : `${counted}: ${red(`${wrong} with mistakes`)}\n`,
  );
  if (wrong > 0) process.exitCode = 1;
}

async function readScript(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (cause) {
    const { code } = cause as { code?: unknown };
    const hint = 'Give the path of a YAML file with rules.';
    if (code === 'EISDIR') throw new Mistake(`${file} is a folder`, hint);
    if (code === 'ENOENT') throw new Mistake(`there is no file ${file}`, hint);
    throw new Mistake(`${file} cannot be read`, hint, cause);
  }
}

async function started(make: () => TestAgentServer, { port, host }: MockFlags): Promise<TestAgentServer> {
  try {
    return await make().start();
  } catch (cause) {
    if (cause instanceof DocumentError) {
      tellComplaints(cause, process.stderr);
      throw new Mistake('the script is wrong', 'Put it right and start again.');
    }
    const { code } = cause as { code?: unknown };
    if (code === 'EADDRINUSE')
      throw new Mistake(
        `port ${port} on ${host} is in use`,
        'Choose another with --port N, or --port 0 for any.',
      );
    if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND')
      throw new Mistake(
        `${host} is no address of this machine`,
        'Choose one with --host, such as 127.0.0.1.',
      );
    throw cause;
  }
}

/** Loads the script whenever its file changes. @returns what ends that. */
function watchScript(file: string, server: TestAgentServer): () => void {
  let newest: string | undefined = server.scripts[0]?.text;
  const reload = async (): Promise<void> => {
    try {
      const text = await readFile(file, 'utf8');
      if (text === newest) return;
      newest = text;
      server.load(text, file);
      process.stdout.write(`loaded ${file}: ${countedRules(server)}\n`);
    } catch (thrown) {
      const why = thrown instanceof DocumentError ? thrown.message : (thrown as Error).message;
      process.stderr.write(`${why}\nThe rules before are still in force.\n`);
    }
  };
  return watchFile(file, () => void reload());
}

function countedRules({ scripts }: TestAgentServer): string {
  const count = scripts.reduce((sum, { script }) => sum + script.rules.length, 0);
  return count === 1 ? '1 rule' : `${count} rules`;
}

function summaryOf(server: TestAgentServer, { admin, watch: isWatching }: MockFlags): string {
  const { cyan, dim } = coloursFor(process.stdout);
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
