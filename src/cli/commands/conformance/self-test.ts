import { allMutants } from '../../../conformance/mutants/all-mutants.ts';
import { clientMutants } from '../../../conformance/mutants/clients/client-mutants.ts';
import {
  findClientFalseAlarms,
  runClientMutant,
} from '../../../conformance/mutants/clients/client-self-test.ts';
import { findFalsePositives, runMutant } from '../../../conformance/mutants/self-test.ts';
import { allClientChecks } from '../../../conformance/clients/checks/index.ts';
import { createClientInvariants } from '../../../conformance/clients/invariants/index.ts';
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

/** What happened to one mutant. */
interface MutantOutcome {
  readonly id: string;
  /** The first rule that it violates. */
  readonly rule: string;
  readonly versions: readonly string[];
  /** Rules that did not detect it. */
  readonly missed: readonly string[];
}

/** Runs `dragoman conformance selftest`. Exits with 1 on surviving mutants, false positives and rules without a mutant. */
export async function runSelfTestCommand({ only, output }: SelfTestFlags): Promise<void> {
  const suite = { checks: allChecks, invariants: allInvariants };
  const isSelected = (id: string): boolean =>
    only.length === 0 || only.some((each) => id === each || id.startsWith(`${each}.`));
  const clientRules = [...allClientChecks, ...createClientInvariants()].filter(({ id }) => isSelected(id));
  const agentRules = [...suite.checks, ...suite.invariants].filter(({ id }) => isSelected(id));
  const rules = [...agentRules, ...clientRules];
  if (rules.length === 0) throw new UsageError('No rules selected', 'Check the filter --only.');
  const mutants = [
    ...allMutants
      .filter(({ violates }) => [violates].flat().some(isSelected))
      .map((mutant) => async (): Promise<MutantOutcome> => {
        const { id, violates, versions } = mutant;
        const { missed } = await runMutant(suite, mutant);
        return { id, rule: [violates].flat()[0] ?? '', versions, missed };
      }),
    ...clientMutants
      .filter(({ violates }) => isSelected(violates))
      .map((mutant) => async (): Promise<MutantOutcome> => {
        const { flaw, violates, variants = [{ version: '1.0' }] } = mutant;
        const versions = variants.map(({ version }) => version);
        return { id: flaw, rule: violates, versions, missed: await runClientMutant(mutant) };
      }),
  ];
  const results: MutantOutcome[] = [];
  let phase = (): string => `${results.length} of ${mutants.length} mutants`;
  const stopProgress = showSelfTestProgress(() => phase(), output);
  let next = 0;
  const runNext = async (): Promise<void> => {
    for (let run = mutants[next++]; run; run = mutants[next++]) results.push(await run());
  };
  await Promise.all(Array.from({ length: concurrency }, runNext));
  phase = () => 'correct agents and clients';
  // Invariants are evaluated on the observations of all checks.
  const needsAllChecks = suite.invariants.some(({ id }) => isSelected(id));
  const checks = needsAllChecks ? suite.checks : suite.checks.filter(({ id }) => isSelected(id));
  const falsePositives = [
    ...(agentRules.length === 0
      ? []
      : await findFalsePositives({ ...suite, checks }, [{}, { requiresAuthentication: true }])),
    ...(clientRules.length === 0 ? [] : await findClientFalseAlarms()),
  ].filter(({ rule }) => isSelected(rule.id));
  stopProgress();
  const violated = new Set([
    ...allMutants.flatMap(({ violates }) => violates),
    ...clientMutants.map(({ violates }) => violates),
  ]);
  const untested = rules.filter(({ id }) => !violated.has(id));
  const survivors = results.filter(({ missed }) => missed.length > 0);
  const summarize = (area: string, isIn: (rule: string) => boolean): AreaSummary => {
    const own = results.filter(({ rule }) => isIn(rule));
    const killed = own.filter(({ missed }) => missed.length === 0).length;
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
    results.filter(({ versions }) => versions.includes(version)).length;
  const summary: SelfTestSummary = {
    areas: areas.map((area) => summarize(area, (rule) => ruleArea(rule) === area)),
    total: summarize('all', () => true),
    versions: { '1.0': countVersion('1.0'), '0.3': countVersion('0.3'), '0.1': countVersion('0.1') },
    survived: survivors.flatMap(({ id, missed }) => missed.map((rule) => `${id}: ${rule}`)),
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
      .map((each, column) => (column === 0 ? String(each).padEnd(18) : String(each).padStart(16)))
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
