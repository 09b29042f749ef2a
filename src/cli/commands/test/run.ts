import { DocumentError } from '../../../documents/diagnostic.ts';
import { scenarioJunitReport } from '../../../testkit/scenario/reports/junit.ts';
import {
  readScenarios,
  type Scenario,
  unreadableScenario,
} from '../../../testkit/scenario/files/read-scenarios.ts';
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
import { writeOutputFile } from '../../inputs/write-output-file.ts';

/** Flags of `dragoman test`. */
export interface TestFlags {
  compatible: boolean;
  report: 'text' | 'junit' | 'json';
  reportFile?: string;
  filter?: string;
  tag?: string[];
  parallel?: number;
  harness: HarnessKind;
  broker: string;
  agent?: string;
}

/** Runs `dragoman test`. Exits with 1 if a case failed. */
export async function runTestCommand(patterns: readonly string[], flags: TestFlags): Promise<void> {
  const selected = loadScenarios(patterns, flags).filter((each) => isSelected(each, flags));
  if (selected.length === 0)
    throw new UsageError('No cases selected', 'Check the filters --filter and --tag.');
  const agent = flags.agent === undefined ? undefined : await openTestedAgent(flags.agent);
  const scenarios = agent ? selected.map((each) => redirectTo(each, agent.url)) : selected;
  const abort = new AbortController();
  const onInterrupt = (): void => abort.abort();
  process.once('SIGINT', onInterrupt);
  const progress = createProgress(process.stderr, scenarios.length, flags);
  let results: ScenarioResult[];
  try {
    results = await runScenarios(scenarios, {
      openHarness: () => openHarness({ kind: flags.harness, broker: flags.broker }),
      onResult: progress.update,
      signal: abort.signal,
      ...(flags.parallel === undefined ? {} : { parallel: flags.parallel }),
    });
  } finally {
    progress.clear();
    process.removeListener('SIGINT', onInterrupt);
    await agent?.close();
  }
  printReport(results, flags);
  if (summarizeResults(results).failed > 0) process.exitCode = 1;
  else if (abort.signal.aborted) process.exitCode = 130;
}

interface TestedAgent {
  readonly url: string;
  close(): Promise<void>;
}

/** Returns the agent at a URL, or serves the agent of a module. */
async function openTestedAgent(urlOrModule: string): Promise<TestedAgent> {
  if (/^https?:\/\//.test(urlOrModule)) return { url: urlOrModule, close: async () => {} };
  const agent = await loadAgent(urlOrModule);
  const server = await serve(agent);
  return {
    url: server.url,
    async close() {
      await server.stop(0);
      await agent.close?.();
    },
  };
}

/** Returns the case with the agent at a URL as its target. */
function redirectTo(scenario: Scenario, url: string): Scenario {
  const { spec } = scenario;
  const agentName = spec.gateway_input?.target_agent_name ?? '';
  return { ...scenario, spec: { ...spec, proxy_config_override: { agent_name: agentName, url } } };
}

function loadScenarios(patterns: readonly string[], { compatible }: TestFlags): Scenario[] {
  const files = new Set<string>();
  for (const pattern of patterns) {
    const matches = expandGlob(pattern, ['yaml', 'yml']);
    if (matches.length === 0)
      throw new UsageError(
        `No file found for ${pattern}`,
        "Name a file, a directory, or a pattern in quotes such as 'scenarios/**/*.yaml'.",
      );
    for (const file of matches) files.add(file);
  }
  const mode = compatible ? 'compatible' : 'strict';
  const errors: DocumentError[] = [];
  const scenarios = [...files].flatMap((file) => {
    try {
      return readScenarios(readInputFile(file, 'Check its permissions.'), file, mode);
    } catch (thrown) {
      if (!(thrown instanceof DocumentError)) throw thrown;
      errors.push(thrown);
      return [unreadableScenario(thrown, mode)];
    }
  });
  if (scenarios.every(({ problem }) => problem !== undefined))
    throw new UsageError(
      `Invalid ${errors.length === 1 ? 'file' : 'files'}: ${errors.map(({ file }) => file).join(', ')}`,
      'Fix the errors above; no case was run. Files of the Solace Agent Mesh test runner need --compatible.',
      { places: errors.flatMap(({ message }) => message.split('\n')) },
    );
  return scenarios;
}

function isSelected({ id, spec, problem }: Scenario, { filter, tag }: TestFlags): boolean {
  // It is not known which cases an unreadable file contains.
  if (problem !== undefined) return true;
  if (tag && !tag.some((each) => spec.tags.includes(each))) return false;
  return filter === undefined || id.includes(filter) || (spec.description ?? '').includes(filter);
}

/** Creates a progress display: one updating line on a terminal, otherwise a line per case. */
function createProgress(
  output: NodeJS.WriteStream,
  total: number,
  { report, reportFile }: TestFlags,
): { update: (result: ScenarioResult) => void; clear: () => void } {
  const styles: TextStyles = createColors(output);
  // A machine-readable report on standard output suppresses progress, unless a terminal shows it.
  const isShown = report === 'text' || reportFile !== undefined || output.isTTY;
  let done = 0;
  let failed = 0;
  return {
    update(result) {
      done++;
      if (result.outcome === 'failed') failed++;
      if (!isShown) return;
      if (output.isTTY)
        output.write(`\r\u001B[K${done} of ${total}${failed > 0 ? `, ${failed} failed` : ''}`);
      else output.write(`${formatResultLine(result, styles)}\n`);
    },
    clear() {
      if (isShown && output.isTTY) output.write('\r\u001B[K');
    },
  };
}

function printReport(results: readonly ScenarioResult[], { report, reportFile }: TestFlags): void {
  const text = formatReport(results, report, reportFile === undefined ? process.stdout : {});
  if (reportFile === undefined) process.stdout.write(text);
  else writeOutputFile(reportFile, text);
}

function formatReport(
  results: readonly ScenarioResult[],
  format: TestFlags['report'],
  target: { isTTY?: boolean },
): string {
  if (format === 'junit') return scenarioJunitReport(results);
  if (format === 'json') return scenarioJsonReport(results);
  const styles: TextStyles = createColors(target);
  const failures = results.filter(({ outcome }) => outcome === 'failed');
  const skipped = results.filter(({ outcome }) => outcome === 'skipped');
  return [
    ...skipped.map((each) => formatResultLine(each, styles)),
    ...failures.map((each) => `${formatFailure(each, styles)}\n`),
    formatSummaryLine(summarizeResults(results), styles),
    '',
  ].join('\n');
}
