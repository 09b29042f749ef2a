import type {
  ConformanceReport,
  ConformanceResult,
} from '../../../../src/conformance/report/build-report.ts';
import type { RuleVerdict } from '../../../../src/conformance/rule-model.ts';
import type { BadgeTone } from '../../components/badge.tsx';

/** The verdicts, the worst first, as people read them. */
export const verdicts: {
  readonly [verdict in RuleVerdict]: {
    readonly name: string;
    readonly sign: string;
    readonly tone: BadgeTone;
  };
} = {
  fail: { name: 'broken', sign: '✗', tone: 'red' },
  warn: { name: 'to be improved', sign: '!', tone: 'amber' },
  error: { name: 'error of the suite', sign: '⚠', tone: 'violet' },
  inconclusive: { name: 'inconclusive', sign: '?', tone: 'blue' },
  pass: { name: 'holds', sign: '✓', tone: 'green' },
  'not-applicable': { name: 'not applicable', sign: '–', tone: 'grey' },
};

/** The names of the verdicts, the worst first. */
export const verdictOrder = Object.keys(verdicts) as readonly RuleVerdict[];

/** True for a word that is a verdict. */
export function isVerdict(word: string | undefined): word is RuleVerdict {
  return word !== undefined && Object.hasOwn(verdicts, word);
}

/** What an agent of each level can be relied on for. */
export const levels: {
  readonly [level in ConformanceReport['conformanceLevel']]: {
    readonly tone: BadgeTone;
    readonly means: string;
  };
} = {
  full: {
    tone: 'green',
    means: 'Every MUST that applies holds, wherever the card says the agent can be spoken to.',
  },
  partial: {
    tone: 'amber',
    means: 'The core holds. Something optional that the card declares is broken, or could not be tried.',
  },
  minimal: { tone: 'amber', means: 'Card, sending and asking hold. Another MUST of the core is broken.' },
  'non-conformant': {
    tone: 'red',
    means: 'A MUST of the card, of sending or of asking for a task is broken.',
  },
};

/** What of the results is to be seen; what is empty asks for nothing. */
export interface ResultFilter {
  readonly verdict: RuleVerdict | '';
  readonly section: string;
  /** A version and a transport, or `card`. */
  readonly lane: string;
  readonly text: string;
}

/** A filter that asks for nothing. */
export const noFilter: ResultFilter = { verdict: '', section: '', lane: '', text: '' };

/** Where a rule was looked at. */
export function variantLabel({
  version,
  transport,
}: Pick<ConformanceResult, 'version' | 'transport'>): string {
  return transport === undefined ? `${version} card` : `${version} ${transport}`;
}

/** All results of a report, the worst first. */
export function sortedResults({ categories }: Pick<ConformanceReport, 'categories'>): ConformanceResult[] {
  return Object.values(categories)
    .flat()
    .toSorted((a, b) => verdictOrder.indexOf(a.verdict) - verdictOrder.indexOf(b.verdict));
}

/** The results that a filter lets through. */
export function filterResults(
  results: readonly ConformanceResult[],
  filter: ResultFilter,
): ConformanceResult[] {
  const wanted = filter.text.toLowerCase();
  return results.filter(
    (each) =>
      (filter.verdict === '' || each.verdict === filter.verdict) &&
      (filter.section === '' || each.section === filter.section) &&
      (filter.lane === '' || variantLabel(each) === filter.lane) &&
      (wanted === '' ||
        [each.test, each.rule, each.message, ...each.requirements].some((text) =>
          text?.toLowerCase().includes(wanted),
        )),
  );
}

/** Each value once, in the order of a dictionary that knows numbers. */
export function distinctValues(values: readonly string[]): string[] {
  return [...new Set(values)].toSorted((a, b) => a.localeCompare(b, 'en', { numeric: true }));
}
