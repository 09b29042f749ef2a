import { type ConformanceReport, type ConformanceResult, variantKey, listResults } from './build-report.ts';

/** Difference between two reports. */
export interface ReportDiff {
  /** Violated now and not before, including rules that the first report does not contain. */
  readonly regressions: readonly ConformanceResult[];
  /** Violated before and passed now. */
  readonly fixed: readonly ConformanceResult[];
  /** Violated in both reports. */
  readonly unchanged: readonly ConformanceResult[];
  /** Skipped now and not before. */
  readonly nowInconclusive: readonly ConformanceResult[];
}

/** Compares two reports rule by rule, separately for each protocol variant. */
export function compareReports(before: ConformanceReport, after: ConformanceReport): ReportDiff {
  const keyOf = (result: ConformanceResult): string => `${result.test} ${variantKey(result)}`;
  const earlier = new Map(listResults(before).map((each) => [keyOf(each), each]));
  const pairs = listResults(after).map((now) => ({ now, was: earlier.get(keyOf(now)) }));
  const select = (
    isSelected: (now: ConformanceResult, was: ConformanceResult | undefined) => boolean,
  ): ConformanceResult[] => pairs.filter(({ now, was }) => isSelected(now, was)).map(({ now }) => now);
  return {
    regressions: select((now, was) => severity(now) > severity(was)),
    fixed: select((now, was) => now.status !== 'skip' && severity(now) < severity(was)),
    unchanged: select((now, was) => severity(now) > 0 && severity(now) <= severity(was)),
    nowInconclusive: select(
      (now, was) => now.status === 'skip' && was !== undefined && was.status !== 'skip',
    ),
  };
}

function severity(result: ConformanceResult | undefined): number {
  return result?.status === 'fail' ? 2 : result?.verdict === 'warn' ? 1 : 0;
}
