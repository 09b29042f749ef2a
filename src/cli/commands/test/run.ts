import { writeFileSync } from 'node:fs';
import { DocumentError } from '../../../documents/diagnostic.ts';
import { scenarioJunitReport } from '../../../testkit/scenario/reports/junit.ts';
import { readScenarios, type Scenario } from '../../../testkit/scenario/files/read-scenarios.ts';
import {
  formatFailure,
  scenarioJsonReport,
  type TextStyles,
  formatResultLine,
  formatSummaryLine,
  summarizeResults,
} from '../../../testkit/scenario/reports/report.ts';
import { openHarness, type HarnessKind } from '../../../testkit/scenario/harness/open-harness.ts';
import { runScenarios, type ScenarioResult } from '../../../testkit/scenario/run-scenarios.ts';
import { serve } from '../../../server/node/serve.ts';
import { createColors } from '../../terminal/colors.ts';
import { expandGlob } from '../../inputs/glob.ts';
import { loadAgent } from '../../inputs/load-agent.ts';
import { UsageError } from '../../terminal/usage-error.ts';
import { readInputFile } from '../../inputs/read-input-file.ts';

/** What `dragoman test` is told. */
export interface TestFlags {
  compatible: boolean;
  report: 'text' | 'junit' | 'json';
  output?: string;
  filter?: string;
  tag?: string[];
  parallel?: number;
  rig: HarnessKind;
  link: string;
  agent?: string;
}

/** Runs scenario files and tells the results. The exit code says whether a case failed. */
export async function runTestCommand(patterns: readonly string[], flags: TestFlags): Promise<void> {
  const wanted = readAll(patterns, flags).filter((each) => isWanted(each, flags));
  if (wanted.length === 0)
    throw new UsageError('no case is left to run', 'Look at --filter and --tag, which leave out cases.');
  const subject = flags.agent === undefined ? undefined : await openSubject(flags.agent);
  const scenarios = subject ? wanted.map((each) => sentTo(each, subject.url)) : wanted;
  const stop = new AbortController();
  const stopping = (): void => stop.abort();
  process.once('SIGINT', stopping);
  const progress = progressTo(process.stderr, scenarios.length, flags);
  let results: ScenarioResult[];
  try {
    results = await runScenarios(scenarios, {
      openHarness: () => openHarness({ kind: flags.rig, broker: flags.link }),
      onResult: progress.tell,
      signal: stop.signal,
      ...(flags.parallel === undefined ? {} : { parallel: flags.parallel }),
    });
  } finally {
    progress.clear();
    process.removeListener('SIGINT', stopping);
    await subject?.close();
  }
  tell(results, flags);
  if (summarizeResults(results).failed > 0) process.exitCode = 1;
  else if (stop.signal.aborted) process.exitCode = 130;
}

/** An agent that is tested. */
interface Subject {
  readonly url: string;
  close(): Promise<void>;
}

/** Serves the agent of a module, unless it is served already. */
async function openSubject(where: string): Promise<Subject> {
  if (/^https?:\/\//.test(where)) return { url: where, close: async () => {} };
  const agent = await loadAgent(where);
  const server = await serve(agent);
  return {
    url: server.url,
    async close() {
      await server.stop(0);
      await agent.close?.();
    },
  };
}

/** The same case with another agent at the end of it. */
function sentTo(scenario: Scenario, url: string): Scenario {
  const { spec: words } = scenario;
  const agentName = words.gateway_input?.target_agent_name ?? '';
  return { ...scenario, spec: { ...words, proxy_config_override: { agent_name: agentName, url } } };
}

function readAll(patterns: readonly string[], { compatible }: TestFlags): Scenario[] {
  const files = new Set<string>();
  for (const pattern of patterns) {
    const found = expandGlob(pattern, ['yaml', 'yml']);
    if (found.length === 0)
      throw new UsageError(
        `no file is there for ${pattern}`,
        "Name a file, a directory, or a pattern in quotes such as 'scenarios/**/*.yaml'.",
      );
    for (const file of found) files.add(file);
  }
  const complaints: string[] = [];
  const scenarios = [...files].flatMap((file) => {
    try {
      return readScenarios(
        readInputFile(file, 'Look at its permissions.'),
        file,
        compatible ? 'compatible' : 'strict',
      );
    } catch (thrown) {
      if (!(thrown instanceof DocumentError)) throw thrown;
      complaints.push(thrown.message);
      return [];
    }
  });
  if (complaints.length > 0) {
    process.stderr.write(`${complaints.join('\n')}\n`);
    throw new UsageError(
      complaints.length === 1
        ? 'a file is not as it should be'
        : `${complaints.length} files are not as they should be`,
      'Nothing was run. Files for the runner of the Solace Agent Mesh need --compatible.',
    );
  }
  return scenarios;
}

function isWanted({ id, spec: words }: Scenario, { filter, tag }: TestFlags): boolean {
  if (tag && !tag.some((each) => words.tags.includes(each))) return false;
  return filter === undefined || id.includes(filter) || (words.description ?? '').includes(filter);
}

/** Shows how far it is: a line that moves on a terminal, lines that stay elsewhere. */
function progressTo(
  output: NodeJS.WriteStream,
  total: number,
  { report, output: file }: TestFlags,
): { tell: (result: ScenarioResult) => void; clear: () => void } {
  const paint: TextStyles = createColors(output);
  // A report on standard output that is for a program leaves standard error to people.
  const isShown = report === 'text' || file !== undefined || output.isTTY;
  let done = 0;
  let failed = 0;
  return {
    tell(result) {
      done++;
      if (result.outcome === 'failed') failed++;
      if (!isShown) return;
      if (output.isTTY)
        output.write(`\r\u001B[K${done} of ${total}${failed > 0 ? `, ${failed} failed` : ''}`);
      else output.write(`${formatResultLine(result, paint)}\n`);
    },
    clear() {
      if (isShown && output.isTTY) output.write('\r\u001B[K');
    },
  };
}

function tell(results: readonly ScenarioResult[], { report, output }: TestFlags): void {
  const text = reportOf(results, report, output === undefined ? process.stdout : {});
  if (output === undefined) process.stdout.write(text);
  else {
    try {
      writeFileSync(output, text);
    } catch (thrown) {
      throw new UsageError(
        `${output} cannot be written`,
        'Name a file in a directory that is there.',
        thrown,
      );
    }
  }
}

function reportOf(
  results: readonly ScenarioResult[],
  form: TestFlags['report'],
  target: { isTTY?: boolean },
): string {
  if (form === 'junit') return scenarioJunitReport(results);
  if (form === 'json') return scenarioJsonReport(results);
  const paint: TextStyles = createColors(target);
  const failures = results.filter(({ outcome }) => outcome === 'failed');
  const skipped = results.filter(({ outcome }) => outcome === 'skipped');
  return [
    ...skipped.map((each) => formatResultLine(each, paint)),
    ...failures.map((each) => `${formatFailure(each, paint)}\n`),
    formatSummaryLine(summarizeResults(results), paint),
    '',
  ].join('\n');
}
