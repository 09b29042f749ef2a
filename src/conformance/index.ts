/**
 * Proves whether an agent speaks A2A, and says how to mend it.
 *
 * @module
 */
export { type Check, defineChecks, type Need } from './check.ts';
export { allChecks } from './checks/index.ts';
export { allInvariants } from './invariants/index.ts';
export { compareReports, type Difference } from './report/compare-reports.ts';
export { diagnose, type DoctorOptions, type Step } from './doctor/diagnose.ts';
export { examine, type ExamineOptions } from './test-conformance.ts';
export { type Lane, levelOf, type ConformanceLevel } from './conformance-level.ts';
export { meetAll, type Meeting, type Meetings } from './interop/interop-matrix.ts';
export type {
  Category,
  Level,
  Rule,
  RuleResult,
  Transport,
  Verdict,
  Version,
  Violation,
} from './rule-model.ts';
export { Broken, type Evidence, Inconclusive, NotApplicable } from './check-errors.ts';
export type { Probe } from './probe.ts';
export { fxWays, tckWays, type Wanted, type Ways } from './prompts/prompt-catalog.ts';
export { matrixPage } from './report/matrix-page.ts';
export {
  type About,
  type ConformanceReport,
  type ConformanceResult,
  isConformant,
  type Provenance,
  readReport,
  reportOf,
  resultsOf,
} from './report/build-report.ts';
export { Secrets } from '../primitives/redaction.ts';
export type { Turn } from './report/transcript.ts';
export { type Form, forms, writeReport } from './report/report-formats.ts';
export { runConformance, type RunOptions, type RunOutcome } from './run-checks.ts';
export { readWays } from './prompts/read-prompts.ts';
export { defineInvariants, type Invariant, type Sighting } from './observation/observation.ts';
export type { Exchange, Frame } from './wire/http-exchange.ts';
