/**
 * Tests whether an agent or a client conforms to A2A and explains how to fix violations.
 *
 * @module
 */
export { type Check, type CheckDefaults, defineChecks, type Precondition } from './check.ts';
export { allChecks } from './checks/index.ts';
export { allInvariants } from './invariants/index.ts';
export { compareReports, type ReportDiff } from './report/compare-reports.ts';
export { diagnose, type DoctorOptions, type DiagnosisStep } from './doctor/diagnose.ts';
export {
  testClientConformance,
  type TestClientConformanceOptions,
} from './clients/test-client-conformance.ts';
export { type CommandClientOptions, createCommandClient } from './clients/command-client.ts';
export {
  type ClientExit,
  type ClientInstruction,
  type ClientOperation,
  clientOperations,
  type ClientUnderTest,
} from './clients/client-under-test.ts';
export type { RunClientChecksOptions } from './clients/run-client-checks.ts';
export type { ClientCheck, ClientInvariant } from './clients/client-check.ts';
export type { DiscoveryOptions } from './discovery/discovery-options.ts';
export { testConformance, type TestConformanceOptions } from './test-conformance.ts';
export { type CheckedVariant, computeLevel, type ConformanceLevel } from './conformance-level.ts';
export { runInteropMatrix, type InteropResult, type InteropMatrix } from './interop/interop-matrix.ts';
export type {
  ClientRunSummary,
  ReportCategory,
  RequirementLevel,
  ConformanceRule,
  RuleResult,
  CheckedTransport,
  RuleVerdict,
  CheckedVersion,
  Violation,
} from './rule-model.ts';
export { RuleViolationError, type Evidence, InconclusiveError, NotApplicableError } from './check-errors.ts';
export type { Probe } from './probe.ts';
export {
  fixturePrompts,
  tckPrompts,
  type TargetOutcome,
  type OutcomePrompts,
} from './prompts/prompt-catalog.ts';
export { formatMatrixPage } from './report/matrix-page.ts';
export {
  type ReportInfo,
  type ConformanceReport,
  type ConformanceResult,
  isConformant,
  type Provenance,
  readReport,
  buildReport,
  listResults,
} from './report/build-report.ts';
export { Redactor } from '../primitives/redaction/redaction.ts';
export type { TranscriptEntry } from './report/transcript.ts';
export { type ReportFormat, reportFormats, writeReport } from './report/report-formats.ts';
export { runChecks, type RunChecksOptions, type RunChecksOutcome, UnknownSkillError } from './run-checks.ts';
export { readPrompts } from './prompts/read-prompts.ts';
export type { Advise, MissingInput } from './prompts/missing-input.ts';
export { defineInvariants, type Invariant, type Observation } from './observation/observation.ts';
export type { HttpExchange, RawFrame } from './wire/http-exchange.ts';
