/**
 * Proves whether an agent speaks A2A, and says how to mend it.
 *
 * @module
 */
export { type Check, defineChecks, type Need } from './check.ts';
export { allChecks } from './checks/index.ts';
export { allInvariants } from './invariants/index.ts';
export { compareReports, type Difference } from './baseline.ts';
export { diagnose, type DoctorOptions, type Step } from './doctor.ts';
export { examine, type ExamineOptions } from './examine.ts';
export { type Lane, levelOf, type ConformanceLevel } from './level.ts';
export { meetAll, type Meeting, type Meetings } from './meetings.ts';
export type {
  Category,
  Level,
  Rule,
  RuleResult,
  Transport,
  Verdict,
  Version,
  Violation,
} from './model.ts';
export { Broken, type Evidence, Inconclusive, NotApplicable } from './outcome.ts';
export type { Probe } from './probe.ts';
export { fxWays, tckWays, type Wanted, type Ways } from './reach.ts';
export { matrixPage } from './report/matrix.ts';
export {
  type About,
  type ConformanceReport,
  type ConformanceResult,
  isConformant,
  type Provenance,
  readReport,
  reportOf,
  resultsOf,
} from './report/report.ts';
export { Secrets } from '../protocol/secrets.ts';
export type { Turn } from './report/transcript.ts';
export { type Form, forms, writeReport } from './report/write.ts';
export { runConformance, type RunOptions, type RunOutcome } from './run.ts';
export { readWays } from './scenario.ts';
export { defineInvariants, type Invariant, type Sighting } from './sighting.ts';
export type { Exchange, Frame } from './wire/exchange.ts';
