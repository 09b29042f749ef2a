import { allMutants } from '../../../conformance/mutants/all-mutants.ts';
import { type MutantResult, findFalsePositives, runMutant } from '../../../conformance/mutants/self-test.ts';
import { allChecks } from '../../../conformance/checks/index.ts';
import { allInvariants } from '../../../conformance/invariants/index.ts';
import { ruleArea } from '../../../conformance/conformance-level.ts';
import { createColors } from '../../terminal/colors.ts';
import type { OutputFormat } from '../../inputs/shared-options.ts';
import { UsageError } from '../../terminal/usage-error.ts';

/** Flags of `dragoman conformance selftest`. */
export interface SelfTestFlags {
  only: string[];
  output: OutputFormat;
}

/** Number of mutants that run at once. */
const concurrency = 6;

/** Runs `dragoman conformance selftest`. Exits with 1 on surviving mutants, false positives and rules without a mutant. */
export async function runSelfTestCommand({ only, output }: SelfTestFlags): Promise<void> {
  const suite = { checks: allChecks, invariants: allInvariants };
  const isSelected = (id: string): boolean =>
    only.length === 0 || only.some((each) => id === each || id.startsWith(`${each}.`));
  const rules = [...suite.checks, ...suite.invariants].filter(({ id }) => isSelected(id));
  const mutants = allMutants.filter(({ violates }) => [violates].flat().some(isSelected));
  if (rules.length === 0) throw new UsageError('No rules selected', 'Check the filter --only.');
  const results: MutantResult[] = [];
  let phase = (): string => `${results.length} of ${mutants.length} mutants`;
  const stopProgress = showSelfTestProgress(() => phase(), output);
  let next = 0;
  const runNext = async (): Promise<void> => {
    for (let mutant = mutants[next++]; mutant; mutant = mutants[next++])
      results.push(await runMutant(suite, mutant));
  };
  await Promise.all(Array.from({ length: concurrency }, runNext));
  phase = () => 'correct agents';
  // Invariants are evaluated on the observations of all checks.
  const needsAllChecks = suite.invariants.some(({ id }) => isSelected(id));
  const checks = needsAllChecks ? suite.checks : suite.checks.filter(({ id }) => isSelected(id));
  const falsePositives = (
    await findFalsePositives({ ...suite, checks }, [{}, { requiresAuthentication: true }])
  ).filter(({ rule }) => isSelected(rule.id));
  stopProgress();
  const untested = rules.filter(({ id }) => !mutants.some(({ violates }) => [violates].flat().includes(id)));
  const survivors = results.filter(({ isKilled }) => !isKilled);
  const summarize = (area: string, isIn: (rule: string) => boolean): AreaSummary => {
    const own = results.filter(({ mutant }) => isIn([mutant.violates].flat()[0] ?? ''));
    const killed = own.filter(({ isKilled }) => isKilled).length;
    return {
      area,
      rules: rules.filter(({ id }) => isIn(id)).length,
      mutants: own.length,
      killed,
      survived: own.length - killed,
      falsePositives: falsePositives.filter(({ rule }) => isIn(rule.id)).length,
    };
  };
  const areas = [...new Set(rules.map(({ id }) => ruleArea(id)))];
  const countVersion = (version: string): number =>
    mutants.filter(({ versions }) => versions.some((each) => each === version)).length;
  const summary: SelfTestSummary = {
    areas: areas.map((area) => summarize(area, (rule) => ruleArea(rule) === area)),
    total: summarize('all', () => true),
    versions: { '1.0': countVersion('1.0'), '0.3': countVersion('0.3'), '0.1': countVersion('0.1') },
    survived: survivors.flatMap(({ mutant, missed }) => missed.map((rule) => `${mutant.id}: ${rule}`)),
    falsePositives: falsePositives.map(
      ({ rule, version, transport, message }) =>
        `${rule.id} on ${version} ${transport ?? 'card'}: ${message}`,
    ),
    untested: untested.map(({ id }) => id),
  };
  process.stdout.write(output === 'json' ? `${JSON.stringify(summary)}\n` : formatSummary(summary));
  if (survivors.length > 0 || falsePositives.length > 0 || untested.length > 0) process.exitCode = 1;
}

/** Shows progress on standard error: a live line on a terminal, otherwise a line every 8 seconds. @returns its end */
function showSelfTestProgress(text: () => string, output: OutputFormat): () => void {
  const { stderr } = process;
  const start = performance.now();
  const line = (): string => `${text()}, ${Math.round((performance.now() - start) / 1_000)} s`;
  if (!stderr.isTTY && output === 'json') return () => {};
  const timer = setInterval(
    () => stderr.write(stderr.isTTY ? `\r\u001B[K${line()}` : `${line()}\n`),
    stderr.isTTY ? 200 : 8_000,
  );
  return () => {
    clearInterval(timer);
    if (stderr.isTTY) stderr.write('\r\u001B[K');
  };
}

interface AreaSummary {
  readonly area: string;
  readonly rules: number;
  readonly mutants: number;
  readonly killed: number;
  readonly survived: number;
  readonly falsePositives: number;
}

interface SelfTestSummary {
  readonly areas: readonly AreaSummary[];
  readonly total: AreaSummary;
  /** Number of mutants per protocol version. */
  readonly versions: Readonly<Record<string, number>>;
  readonly survived: readonly string[];
  readonly falsePositives: readonly string[];
  /** Rules without a mutant. */
  readonly untested: readonly string[];
}

function formatSummary({ areas, total, versions, ...problems }: SelfTestSummary): string {
  const { bold, red } = createColors(process.stdout);
  const row = (cells: readonly (string | number)[]): string =>
    cells
      .map((each, column) => (column === 0 ? String(each).padEnd(16) : String(each).padStart(16)))
      .join('');
  const line = (each: AreaSummary): string =>
    row([each.area, each.rules, each.mutants, each.killed, each.survived, each.falsePositives]);
  const counts = Object.entries(versions).map(([version, count]) => `${count} for ${version}`);
  return [
    bold(row(['area', 'rules', 'mutants', 'killed', 'survived', 'false positives'])),
    ...areas.map(line),
    bold(line(total)),
    `Mutants: ${counts.join(', ')}.`,
    ...problems.survived.map((each) => `${red('survived')}  ${each}`),
    ...problems.falsePositives.map((each) => `${red('false positive')}  ${each}`),
    ...problems.untested.map((each) => `${red('rule without a mutant')}  ${each}`),
    '',
  ].join('\n');
}
