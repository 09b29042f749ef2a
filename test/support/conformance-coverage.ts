import type { CheckedTransport, ConformanceRule } from '../../src/conformance/rule-model.ts';

/** An entry of the requirement catalog. */
export interface Requirement {
  readonly id: string;
  readonly section: string;
  readonly level: string;
  readonly transport: string;
  readonly subject: string;
  readonly summary: string;
  /** True if it can be tested from outside. */
  readonly auto: boolean;
}

/** A requirement with the rules that cover it, or the reason why none does. */
interface CoveredRequirement {
  readonly requirement: Requirement;
  readonly rules: readonly string[];
  readonly waiver: string | undefined;
}

/** Coverage of the requirement catalog by rules. */
export interface Coverage {
  readonly covered: readonly CoveredRequirement[];
  /** Requirements with neither a rule nor a waiver. */
  readonly missing: readonly string[];
  /** Waivers for requirements that are covered or do not exist. */
  readonly stale: readonly string[];
  /** Requirement ids of rules that the catalog does not contain. */
  readonly unknown: readonly string[];
  /** Rules that apply to some transports only, by these transports. */
  readonly restricted: ReadonlyMap<string, readonly string[]>;
}

/** A rule, with its transports unless it applies to all. */
type CoveringRule = Pick<ConformanceRule, 'id' | 'requirements'> & {
  readonly transports?: readonly CheckedTransport[];
};

/** Compares the rules with all requirements on the given subjects that can be tested from outside. */
export function computeCoverage(
  requirements: readonly Requirement[],
  rules: readonly CoveringRule[],
  waivers: Readonly<Record<string, string>>,
  subjects: readonly string[] = ['server', 'card'],
): Coverage {
  const testable = requirements.filter(({ auto, subject }) => auto && subjects.includes(subject));
  const covered = testable.map(
    (requirement): CoveredRequirement => ({
      requirement,
      rules: rules.filter((rule) => rule.requirements.includes(requirement.id)).map(({ id }) => id),
      waiver: waivers[requirement.id],
    }),
  );
  const known = new Set(requirements.map(({ id }) => id));
  const uncovered = new Set(
    covered.filter((each) => each.rules.length === 0).map((each) => each.requirement.id),
  );
  return {
    covered,
    missing: [...uncovered].filter((id) => waivers[id] === undefined),
    stale: Object.keys(waivers).filter((id) => !uncovered.has(id)),
    // Requirements of versions before 1.0 are not in the catalog; their ids contain a slash, as in `0.3/transports`.
    unknown: [...new Set(rules.flatMap((rule) => rule.requirements))].filter(
      (id) => !known.has(id) && !id.includes('/'),
    ),
    restricted: groupByTransports(rules),
  };
}

function groupByTransports(rules: readonly CoveringRule[]): Map<string, string[]> {
  const groups = new Map<string, string[]>();
  for (const { id, transports } of rules) {
    if (!transports) continue;
    const name = transports.join(' and ');
    groups.set(name, [...(groups.get(name) ?? []), id]);
  }
  return groups;
}

/** Returns the coverage as a Markdown page. */
export function formatCoveragePage({ covered, restricted }: Coverage, clients: Coverage): string {
  return [
    '# Conformance coverage',
    '',
    `A2A 1.0.1 has ${covered.length} requirements on agents and cards that can be tested from outside. \`dragoman conformance\` checks ${countChecked(covered)} of them. The last column lists the rules, or the reason why the requirement is not checked.`,
    '',
    ...formatRequirements(covered),
    '',
    '## Rules of some transports',
    '',
    'All other rules apply to every transport. Rules about HTTP and JSON do not apply to gRPC.',
    '',
    ...formatTransports(restricted),
    '',
    '## Clients',
    '',
    `A2A 1.0.1 has ${clients.covered.length} requirements on clients that can be tested from outside. \`dragoman conformance client\` checks ${countChecked(clients.covered)} of them.`,
    '',
    ...formatRequirements(clients.covered),
    '',
    ...formatTransports(clients.restricted),
    '',
  ].join('\n');
}

function countChecked(covered: readonly CoveredRequirement[]): number {
  return covered.filter(({ rules }) => rules.length > 0).length;
}

function formatRequirements(covered: readonly CoveredRequirement[]): string[] {
  const rows = covered.map(({ requirement, rules, waiver }) => {
    const { id, section, level, summary } = requirement;
    const checkedBy =
      rules.length > 0 ? rules.map((each) => `\`${each}\``).join(', ') : `not checked: ${waiver ?? ''}`;
    return `| ${id} | ${section} | ${level} | ${summary.replaceAll('|', String.raw`\|`)} | ${checkedBy} |`;
  });
  return ['| Requirement | Section | Level | Requirement text | Rules |', '|---|---|---|---|---|', ...rows];
}

function formatTransports(restricted: ReadonlyMap<string, readonly string[]>): string[] {
  return [
    '| Transports | Rules |',
    '|---|---|',
    ...[...restricted].map(([name, ids]) => `| ${name} | ${ids.map((id) => `\`${id}\``).join(', ')} |`),
  ];
}
