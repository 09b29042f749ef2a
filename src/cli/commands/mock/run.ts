import { readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { DocumentError } from '../../../documents/diagnostic.ts';
import type { ProtocolVersion } from '../../../protocol/card.ts';
import { A2AError } from '../../../protocol/errors.ts';
import type { ReplayMatching } from '../../../testkit/replay/compare-requests.ts';
import { readRecording, type Recording } from '../../../tap/recording.ts';
import type { ReplayOptions } from '../../../testkit/replay/replay-agent.ts';
import type { ReplayTiming } from '../../../testkit/replay/replayed-task.ts';
import { openScript } from '../../../testkit/script/script.ts';
import { TestAgentServer } from '../../../testkit/test-agent-server.ts';
import { createColors } from '../../terminal/colors.ts';
import { printDiagnostics, readValidFile } from '../../terminal/print-diagnostics.ts';
import { expandGlob } from '../../inputs/glob.ts';
import { startListening } from '../../terminal/listen-error.ts';
import { printError, printErrorReport, printWarning } from '../../terminal/print-error.ts';
import { sanitizeForTerminal } from '../../terminal/sanitize.ts';
import { UsageError } from '../../terminal/usage-error.ts';
import { stopOnSignals } from '../../process/shutdown.ts';
import {
  type BrowserAccessFlags,
  type OutputFormat,
  toBrowserAccess,
  warnIfExposed,
} from '../../inputs/shared-options.ts';
import { openStore } from '../../inputs/open-store.ts';
import { readInputFile } from '../../inputs/read-input-file.ts';
import { readTrafficRecords } from '../../inputs/read-traffic-records.ts';
import { watchFile } from '../../process/watch-files.ts';

/** Flags of `dragoman mock`. */
export interface MockFlags extends BrowserAccessFlags {
  port: number;
  host: string;
  basePath?: string;
  seed?: number;
  clock?: 'system' | 'virtual';
  admin: boolean;
  adminAllow?: string[];
  store?: string;
  watch?: boolean;
  replay?: string;
  replayAgent?: string;
  match: ReplayMatching;
  timing: ReplayTiming;
  speaks?: ProtocolVersion;
  output: OutputFormat;
}

const scriptHint = 'Name a YAML file with rules.';

/** Runs `dragoman mock` until a signal arrives. */
export async function runMockCommand(file: string | undefined, flags: MockFlags): Promise<void> {
  const { port, host, basePath, seed, clock, admin, adminAllow = [] } = flags;
  if (flags.watch && file === undefined)
    throw new UsageError(
      'Missing script for --watch',
      'Name a script, as in dragoman mock script.yaml --watch.',
    );
  const replay = flags.replay === undefined ? undefined : toReplay(flags.replay, file, flags);
  const script = file === undefined ? undefined : readInputFile(file, scriptHint);
  const options = { port, host, basePath, seed, clock, script, scriptFile: file, admin };
  const allowAdminFrom = adminAllow.includes('*') ? '*' : adminAllow;
  const store = flags.store === undefined ? undefined : await openStore(flags.store);
  const create = (): TestAgentServer =>
    new TestAgentServer({
      ...options,
      ...toBrowserAccess(flags),
      allowAdminFrom,
      ...(replay && { replay }),
      ...(flags.speaks && { onlyVersion: flags.speaks }),
      ...(store && { taskStore: store.taskStore }),
    });
  const server = await startListening(flags, () => readValidFile(create).start());
  const stopWatching = flags.watch && file !== undefined ? watchScript(file, server, flags) : () => {};
  stopOnSignals(async () => {
    stopWatching();
    await server.stop();
    await store?.taskStore[Symbol.asyncDispose]();
  }, printError);
  warnIfExposed(host);
  // The agent keeps running if the reader of standard output closes the pipe.
  process.stdout.on('error', () => {});
  process.stdout.write(
    flags.output === 'json'
      ? `${formatJson(server, flags, replay)}\n`
      : `listening on ${server.url}\n${formatText(server, flags, replay)}\n`,
  );
}

/** Reads the recording of an agent. @throws UsageError if there is none */
function openRecording(file: string, agent: string | undefined): Recording {
  const records = readTrafficRecords(file);
  try {
    return readRecording(records, { ...(agent !== undefined && { agent }) });
  } catch (thrown) {
    const { message, hint = '' } = A2AError.from(thrown);
    throw new UsageError(message, hint);
  }
}

/** Returns the options of `--replay`. */
function toReplay(file: string, script: string | undefined, flags: MockFlags): ReplayOptions {
  if (script !== undefined || flags.store !== undefined)
    throw new UsageError(
      `--replay cannot be used with ${script === undefined ? '--store' : 'a script'}`,
      'A replay takes all of its answers from the recording.',
    );
  const { replayAgent: agent, match: matching, timing } = flags;
  const recording = openRecording(file, agent);
  for (const each of recording.leftOut)
    printWarning(`Left out of the replay: ${sanitizeForTerminal(each, 'line')}`);
  const onUnmatched = (report: string): void => printWarning(sanitizeForTerminal(report, 'line'));
  return { recording, matching, timing, onUnmatched };
}

/** Runs `dragoman mock validate`. Exits with 2 if a script is invalid. */
export async function runMockValidateCommand(patterns: readonly string[]): Promise<void> {
  const files = new Set<string>();
  for (const pattern of patterns) {
    const matches = expandGlob(pattern, ['yaml', 'yml']);
    if (matches.length === 0)
      throw new UsageError(`No script found for ${pattern}`, 'Name a YAML file, a directory, or a pattern.');
    for (const file of matches) files.add(file);
  }
  let invalid = 0;
  for (const file of files) {
    try {
      openScript(readInputFile(file, scriptHint), file, { folder: dirname(file) });
    } catch (thrown) {
      if (!(thrown instanceof DocumentError)) throw thrown;
      invalid++;
      printDiagnostics(thrown, process.stdout);
    }
  }
  const { green, red } = createColors(process.stderr);
  const count = files.size === 1 ? '1 script' : `${files.size} scripts`;
  process.stderr.write(
    invalid === 0 ? `${count}: ${green('all valid')}\n` : `${count}: ${red(`${invalid} invalid`)}\n`,
  );
  if (invalid > 0) process.exitCode = 2;
}

/** Reloads the script when its file changes. @returns a function that stops watching. */
function watchScript(file: string, server: TestAgentServer, { output }: MockFlags): () => void {
  let current: string | undefined = server.scripts[0]?.text;
  const reload = async (): Promise<void> => {
    try {
      const text = await readFile(file, 'utf8');
      if (text === current) return;
      current = text;
      server.load(text, file);
      const stream = output === 'json' ? process.stderr : process.stdout;
      stream.write(`reloaded ${file}: ${formatRuleCount(server)}\n`);
    } catch (thrown) {
      printErrorReport({
        message: `Cannot reload ${file}; the previous rules stay active`,
        places: (thrown as Error).message.split('\n'),
      });
    }
  };
  return watchFile(file, () => void reload());
}

function countRules({ scripts }: TestAgentServer): number {
  return scripts.reduce((sum, { script }) => sum + script.rules.length, 0);
}

function formatRuleCount(server: TestAgentServer): string {
  const count = countRules(server);
  return count === 1 ? '1 rule' : `${count} rules`;
}

function formatJson(server: TestAgentServer, { admin, speaks }: MockFlags, replay?: ReplayOptions): string {
  const { url, adminUrl } = server;
  const source = replay ? { requests: replay.recording.exchanges.length } : { rules: countRules(server) };
  return JSON.stringify({
    url,
    card: cardUrlOf(server, speaks),
    ...(admin && { admin: adminUrl }),
    ...source,
  });
}

/** The path of the card depends on the version. */
function cardUrlOf({ url, cardUrl }: TestAgentServer, speaks: ProtocolVersion | undefined): string {
  return speaks === '0.1' || speaks === '0.2' ? `${url}/.well-known/agent.json` : cardUrl;
}

function formatText(server: TestAgentServer, flags: MockFlags, replay?: ReplayOptions): string {
  const { admin, watch: isWatching, speaks } = flags;
  const { cyan, dim } = createColors(process.stdout);
  const [script] = server.scripts;
  const rules = script
    ? `${formatRuleCount(server)} of ${script.file}${isWatching ? ', reloaded when it changes' : ''}`
    : 'none; follows message directives and primed responses';
  const { exchanges = [] } = replay?.recording ?? {};
  const count = exchanges.length === 1 ? '1 request' : `${exchanges.length} requests`;
  return [
    `  ${dim('card ')}  ${cyan(cardUrlOf(server, speaks))}`,
    ...(admin ? [`  ${dim('admin')}  ${cyan(server.adminUrl)}`] : []),
    replay ? `  ${dim('replay')} ${count} of ${flags.replay}` : `  ${dim('rules')}  ${rules}`,
  ].join('\n');
}
