import { allMutants } from '../../../conformance/mutants/index.ts';
import { type MutantResult, findFalsePositives, runMutant } from '../../../conformance/mutants/self-test.ts';
import { allChecks } from '../../../conformance/checks/index.ts';
import { allInvariants } from '../../../conformance/invariants/index.ts';
import { ruleArea } from '../../../conformance/conformance-level.ts';
import { createColors } from '../../terminal/colors.ts';
import { UsageError } from '../../terminal/usage-error.ts';

/** What `dragoman conformance selftest` is told. */
export interface SelfTestFlags {
  only: string[];
  o: 'text' | 'json';
}

/** How many broken agents are tried at once. */
const width = 6;

/** Tries every broken agent and the correct one, and tells how strong the suite is. */
export async function runSelfTestCommand({ only, o }: SelfTestFlags): Promise<void> {
  const suite = { checks: allChecks, invariants: allInvariants };
  const isWanted = (id: string): boolean =>
    only.length === 0 || only.some((each) => id === each || id.startsWith(`${each}.`));
  const rules = [...suite.checks, ...suite.invariants].filter(({ id }) => isWanted(id));
  const agents = allMutants.filter(({ violates: breaks }) => [breaks].flat().some(isWanted));
  if (rules.length === 0) throw new UsageError('there is no such rule', 'Look at --only.');
  const caught: MutantResult[] = [];
  let next = 0;
  const work = async (): Promise<void> => {
    for (let agent = agents[next++]; agent; agent = agents[next++]) {
      caught.push(await runMutant(suite, agent));
      if (process.stderr.isTTY)
        process.stderr.write(`\r\u001B[K${caught.length} of ${agents.length} broken agents`);
    }
  };
  await Promise.all(Array.from({ length: width }, work));
  if (process.stderr.isTTY) process.stderr.write('\r\u001B[K');
  // Rules that look at everything need everything to look at.
  const isPassive = suite.invariants.some(({ id }) => isWanted(id));
  const checks = isPassive ? suite.checks : suite.checks.filter(({ id }) => isWanted(id));
  const alarms = (
    await findFalsePositives({ ...suite, checks }, [{}, { requiresAuthentication: true }])
  ).filter(({ rule }) => isWanted(rule.id));
  const unproven = rules.filter(
    ({ id }) => !agents.some(({ violates: breaks }) => [breaks].flat().includes(id)),
  );
  const missed = caught.filter(({ isKilled: isCaught }) => !isCaught);
  const areas = [...new Set(rules.map(({ id }) => ruleArea(id)))].map((area) => {
    const isOf = (id: string): boolean => ruleArea(id) === area;
    const own = caught.filter(({ mutant: broken }) => isOf([broken.violates].flat()[0] ?? ''));
    return {
      area,
      rules: rules.filter(({ id }) => isOf(id)).length,
      broken: own.length,
      caught: own.filter(({ isKilled: isCaught }) => isCaught).length,
      missed: own.filter(({ isKilled: isCaught }) => !isCaught).length,
      falseAlarms: alarms.filter(({ rule }) => isOf(rule.id)).length,
    };
  });
  const ofVersion = (version: string): number =>
    agents.filter(({ versions }) => versions.some((each) => each === version)).length;
  const total = {
    area: 'all',
    rules: rules.length,
    broken: caught.length,
    caught: caught.length - missed.length,
    missed: missed.length,
    falseAlarms: alarms.length,
  };
  const told = {
    areas,
    total,
    versions: { '1.0': ofVersion('1.0'), '0.3': ofVersion('0.3'), '0.1': ofVersion('0.1') },
    missed: missed.flatMap(({ mutant: broken, missed: why }) => why.map((each) => `${broken.id}: ${each}`)),
    falseAlarms: alarms.map(
      ({ rule, version, transport, message }) =>
        `${rule.id} on ${version} ${transport ?? 'card'}: ${message}`,
    ),
    unproven: unproven.map(({ id }) => id),
  };
  process.stdout.write(o === 'json' ? `${JSON.stringify(told)}\n` : tableOf(told));
  if (missed.length > 0 || alarms.length > 0 || unproven.length > 0) process.exitCode = 1;
}

interface Row {
  readonly area: string;
  readonly rules: number;
  readonly broken: number;
  readonly caught: number;
  readonly missed: number;
  readonly falseAlarms: number;
}

function tableOf(told: {
  areas: readonly Row[];
  total: Row;
  versions: Readonly<Record<string, number>>;
  missed: readonly string[];
  falseAlarms: readonly string[];
  unproven: readonly string[];
}): string {
  const { bold, red } = createColors(process.stdout);
  const row = (cells: readonly (string | number)[]): string =>
    cells
      .map((each, column) => (column === 0 ? String(each).padEnd(14) : String(each).padStart(14)))
      .join('');
  const line = (each: Row): string =>
    row([each.area, each.rules, each.broken, each.caught, each.missed, each.falseAlarms]);
  const by = Object.entries(told.versions).map(([version, count]) => `${count} for ${version}`);
  return [
    bold(row(['area', 'rules', 'broken agents', 'caught', 'missed', 'false alarms'])),
    ...told.areas.map(line),
    bold(line(told.total)),
    `Broken agents: ${by.join(', ')}.`,
    ...told.missed.map((each) => `${red('missed')}  ${each}`),
    ...told.falseAlarms.map((each) => `${red('false alarm')}  ${each}`),
    ...told.unproven.map((each) => `${red('no broken agent for')}  ${each}`),
    '',
  ].join('\n');
}
