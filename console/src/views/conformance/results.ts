import type {
  ConformanceReport,
  ConformanceResult,
} from '../../../../src/conformance/report/build-report.ts';
import type { ReportChange } from '../../../../src/conformance/report/compare-reports.ts';
import type { RequirementLevel, RuleVerdict } from '../../../../src/conformance/rule-model.ts';
import type { BadgeTone } from '../../components/badge.tsx';

/** Display names of the verdicts, worst first. */
export const verdicts: {
  readonly [verdict in RuleVerdict]: {
    readonly name: string;
    readonly sign: string;
    readonly tone: BadgeTone;
  };
} = {
  fail: { name: 'broken', sign: '✗', tone: 'red' },
  warn: { name: 'warning', sign: '!', tone: 'amber' },
  error: { name: 'suite error', sign: '⚠', tone: 'violet' },
  inconclusive: { name: 'inconclusive', sign: '?', tone: 'blue' },
  pass: { name: 'holds', sign: '✓', tone: 'green' },
  'not-applicable': { name: 'not applicable', sign: '–', tone: 'grey' },
};

/** The verdicts, worst first. */
export const verdictOrder = Object.keys(verdicts) as readonly RuleVerdict[];

/** Returns true if a text is a verdict. */
export function isVerdict(word: string | undefined): word is RuleVerdict {
  return word !== undefined && Object.hasOwn(verdicts, word);
}

/** Meaning of each conformance level. */
export const levels: {
  readonly [level in ConformanceReport['conformanceLevel']]: {
    readonly tone: BadgeTone;
    readonly means: string;
  };
} = {
  full: {
    tone: 'green',
    means: 'Every applicable MUST holds in all variants of the card.',
  },
  partial: {
    tone: 'amber',
    means: 'The core holds. A declared optional feature violates a rule, or a MUST could not be tested.',
  },
  minimal: { tone: 'amber', means: 'Card, send and get hold. Another core MUST is violated.' },
  'non-conformant': {
    tone: 'red',
    means: 'A MUST of card, send or get is violated.',
  },
};

/** A filter of results; empty members match everything. */
export interface ResultFilter {
  readonly verdict: RuleVerdict | '';
  readonly level: RequirementLevel | '';
  readonly section: string;
  /** How the verdict differs from an earlier report. */
  readonly change: ReportChange['kind'] | '';
  /** A protocol variant, or `card`. */
  readonly variant: string;
  readonly text: string;
}

/** A filter that matches everything. */
export const noFilter: ResultFilter = {
  verdict: '',
  level: '',
  section: '',
  change: '',
  variant: '',
  text: '',
};

/** The variant of a result. */
export function variantLabel({
  version,
  transport,
}: {
  readonly version: string;
  readonly transport?: string;
}): string {
  return transport === undefined ? `${version} card` : `${version} ${transport}`;
}

/** Identifies a result within a report. */
export function resultKey(result: {
  readonly test: string;
  readonly version: string;
  readonly transport?: string;
}): string {
  return `${result.test} ${variantLabel(result)}`;
}

/** Display names of differences to an earlier report. */
export const changeNames = {
  regression: 'new violation',
  fixed: 'fixed',
  changed: 'changed',
  missing: 'missing',
} as const satisfies { readonly [kind in ReportChange['kind']]: string };

/** All results of a report, worst first. */
export function sortedResults({ categories }: Pick<ConformanceReport, 'categories'>): ConformanceResult[] {
  return Object.values(categories)
    .flat()
    .toSorted((a, b) => verdictOrder.indexOf(a.verdict) - verdictOrder.indexOf(b.verdict));
}

/** Filters results. */
export function filterResults(
  results: readonly ConformanceResult[],
  filter: ResultFilter,
  changes: ReadonlyMap<string, ReportChange>,
): ConformanceResult[] {
  const wanted = filter.text.toLowerCase();
  return results.filter(
    (each) =>
      (filter.verdict === '' || each.verdict === filter.verdict) &&
      (filter.level === '' || each.level === filter.level) &&
      (filter.change === '' || changes.get(resultKey(each))?.kind === filter.change) &&
      (filter.section === '' || each.section === filter.section) &&
      (filter.variant === '' || variantLabel(each) === filter.variant) &&
      (wanted === '' ||
        [each.test, each.rule, each.message, ...each.requirements].some((text) =>
          text?.toLowerCase().includes(wanted),
        )),
  );
}

/** Distinct values in natural order. */
export function distinctValues(values: readonly string[]): string[] {
  return [...new Set(values)].toSorted((a, b) => a.localeCompare(b, 'en', { numeric: true }));
}
