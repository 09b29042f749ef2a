import type { RuleVerdict } from '../rule-model.ts';
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
  const earlier = new Map(listResults(before).map((each) => [resultKey(each), each]));
  const pairs = listResults(after).map((now) => ({ now, was: earlier.get(resultKey(now)) }));
  const select = (
    isSelected: (now: ConformanceResult, was: ConformanceResult | undefined) => boolean,
  ): ConformanceResult[] => pairs.filter(({ now, was }) => isSelected(now, was)).map(({ now }) => now);
  return {
    regressions: select(isRegression),
    fixed: select(isFixed),
    unchanged: select((now, was) => severity(now) > 0 && severity(now) <= severity(was)),
    nowInconclusive: select(
      (now, was) => now.status === 'skip' && was !== undefined && was.status !== 'skip',
    ),
  };
}

/** How the result of a rule differs from an earlier one. */
export interface ReportChange {
  readonly test: string;
  readonly version: string;
  /** Missing for rules of the card. */
  readonly transport?: string;
  /**
   * `regression` and `fixed` as in {@link ReportDiff}; `changed` for another verdict of the same severity, such as
   * inconclusive after pass; `missing` if the later report does not contain the rule.
   */
  readonly kind: 'regression' | 'fixed' | 'changed' | 'missing';
  /** Missing if the earlier report does not contain the rule. */
  readonly before?: RuleVerdict;
  readonly after?: RuleVerdict;
}

/** The members of a result that are compared. */
export type ComparedResult = Pick<ConformanceResult, 'test' | 'version' | 'transport' | 'verdict' | 'status'>;

/** Lists the results whose verdict differs, rule by rule and separately for each protocol variant. */
export function listChanges(
  before: readonly ComparedResult[],
  after: readonly ComparedResult[],
): ReportChange[] {
  const earlier = new Map(before.map((each) => [resultKey(each), each]));
  const later = new Set(after.map(resultKey));
  const changes = after.flatMap((now): ReportChange[] => {
    const was = earlier.get(resultKey(now));
    const kind = changeKind(was, now);
    return kind ? [{ ...placeOf(now), kind, ...(was && { before: was.verdict }), after: now.verdict }] : [];
  });
  const missing = before.filter((each) => !later.has(resultKey(each)));
  return [
    ...changes,
    ...missing.map((was) => ({ ...placeOf(was), kind: 'missing' as const, before: was.verdict })),
  ];
}

function changeKind(was: ComparedResult | undefined, now: ComparedResult): ReportChange['kind'] | undefined {
  if (isRegression(now, was)) return 'regression';
  if (isFixed(now, was)) return 'fixed';
  return was && was.verdict !== now.verdict ? 'changed' : undefined;
}

function placeOf({ test, version, transport }: ComparedResult): Omit<ReportChange, 'kind'> {
  return { test, version, ...(transport === undefined ? {} : { transport }) };
}

function isRegression(now: ComparedResult, was: ComparedResult | undefined): boolean {
  return severity(now) > severity(was);
}

function isFixed(now: ComparedResult, was: ComparedResult | undefined): boolean {
  return now.status !== 'skip' && severity(now) < severity(was);
}

function resultKey(result: ComparedResult): string {
  return `${result.test} ${variantKey(result)}`;
}

function severity(result: ComparedResult | undefined): number {
  return result?.status === 'fail' ? 2 : result?.verdict === 'warn' ? 1 : 0;
}
