import { type ConformanceReport, type ConformanceResult, variantKey, listResults } from './build-report.ts';

/** How two reports differ. */
export interface ReportDiff {
  /** What is broken now and was not before, a rule that nobody had looked at included. */
  readonly regressions: readonly ConformanceResult[];
  /** What was broken and holds now. */
  readonly fixed: readonly ConformanceResult[];
  /** What is broken as it was. */
  readonly unchanged: readonly ConformanceResult[];
  /** What was learned before and could not be learned now. */
  readonly nowInconclusive: readonly ConformanceResult[];
}

/** What changed from one report to the next. */
export function compareReports(before: ConformanceReport, after: ConformanceReport): ReportDiff {
  const keyOf = (each: ConformanceResult): string => `${each.test} ${variantKey(each)}`;
  const old = new Map(listResults(before).map((each) => [keyOf(each), each]));
  const now = listResults(after);
  const rank = (each: ConformanceResult | undefined): number =>
    each?.status === 'fail' ? 2 : each?.verdict === 'warn' ? 1 : 0;
  const was = (each: ConformanceResult): ConformanceResult | undefined => old.get(keyOf(each));
  return {
    regressions: now.filter((each) => rank(each) > rank(was(each))),
    fixed: now.filter((each) => each.status === 'pass' && rank(each) < rank(was(each))),
    unchanged: now.filter((each) => rank(each) > 0 && rank(each) <= rank(was(each))),
    nowInconclusive: now.filter(
      (each) => each.status === 'skip' && was(each) !== undefined && was(each)?.status !== 'skip',
    ),
  };
}
