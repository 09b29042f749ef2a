import type { ConformanceRule } from '../rule-model.ts';

/** A line of the catalogue of what the specification asks for. */
export interface Requirement {
  readonly id: string;
  readonly section: string;
  readonly level: string;
  readonly transport: string;
  readonly subject: string;
  readonly summary: string;
  /** True when it can be found out from outside. */
  readonly auto: boolean;
}

/** Who looks after a requirement, or why nobody does. */
interface Covered {
  readonly requirement: Requirement;
  readonly rules: readonly string[];
  readonly waiver: string | undefined;
}

/** What the rules cover of the catalogue. */
export interface Coverage {
  readonly covered: readonly Covered[];
  /** Requirements that nobody looks after and nobody excuses. */
  readonly missing: readonly string[];
  /** Excuses for what is covered, or is no requirement. */
  readonly stale: readonly string[];
  /** Ids that rules name and the catalogue does not have. */
  readonly unknown: readonly string[];
}

/** Compares the rules with every requirement on agents and cards that can be found out from outside. */
export function computeCoverage(
  requirements: readonly Requirement[],
  rules: readonly Pick<ConformanceRule, 'id' | 'requirements'>[],
  waivers: Readonly<Record<string, string>>,
): Coverage {
  const wanted = requirements.filter(
    ({ auto, subject }) => auto && (subject === 'server' || subject === 'card'),
  );
  const covered = wanted.map(
    (requirement): Covered => ({
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
    // Rules of versions before the catalogue name their own, such as `0.3/transports`.
    unknown: [...new Set(rules.flatMap((rule) => rule.requirements))].filter(
      (id) => !known.has(id) && !id.includes('/'),
    ),
  };
}

/** The coverage as a page. */
export function formatCoveragePage({ covered }: Coverage): string {
  const looked = covered.filter(({ rules }) => rules.length > 0).length;
  const rows = covered.map(({ requirement, rules, waiver }) => {
    const { id, section, level, summary } = requirement;
    const by =
      rules.length > 0 ? rules.map((each) => `\`${each}\``).join(', ') : `not looked at: ${waiver ?? ''}`;
    return `| ${id} | ${section} | ${level} | ${summary.replaceAll('|', String.raw`\|`)} | ${by} |`;
  });
  return [
    '# What conformance covers',
    '',
    `Of the ${covered.length} requirements of A2A 1.0.1 on agents and cards that can be found out from outside, ${looked} are looked at by \`dragoman conformance\`. For the others, the reason is in the last column.`,
    '',
    '| Requirement | Section | Level | What | Rules |',
    '|---|---|---|---|---|',
    ...rows,
    '',
  ].join('\n');
}
