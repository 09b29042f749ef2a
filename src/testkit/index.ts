/**
 * Scriptable mock agents for tests, with journal, fault injection, virtual clock, scenarios and matchers.
 *
 * @module
 */
export type { ReplayOptions } from './replay/replay-agent.ts';
export type { ReplayMatching } from './replay/compare-requests.ts';
export type { ReplayTiming } from './replay/replayed-task.ts';
export { TestAgentServer } from './test-agent-server.ts';
export type { TestAgentOptions } from './test-agent-options.ts';
export type { CardDraft } from './agent/card-draft.ts';
export type { AuthValidation, InjectedHttpError } from './http/request-interceptor.ts';
export type { PrimeOptions } from './agent/primed-responses.ts';
export { Journal, type JournalOptions, type JournalWaitOptions } from './journal/journal.ts';
export type {
  ResponseOrigin,
  CapturedResponse,
  CapturedCall,
  CapturedHeaders,
  CapturedRequest,
  CaptureEnd,
  JournalEntry,
  JournalFilter,
} from './journal/journal-entry.ts';
export type { AdminAccess } from './admin/admin-access.ts';
export type {
  Responder,
  ReceivedMessage,
  PlaybackContext,
  NearMiss,
  ResponsePlan,
  ScriptedEvent,
  PlanStep,
  UnmatchedMessage,
} from './agent/response-plan.ts';
export type { Duration, Fault } from './faults/fault.ts';
export { systemTestClock, type TestClock } from './clock/test-clock.ts';
export { VirtualClock, type VirtualClockOptions } from './clock/virtual-clock.ts';
export { readScenarios, type Scenario, type ScenarioMode } from './scenario/files/read-scenarios.ts';
export type { ScenarioCapture, GatewayEvent, ScenarioHarness } from './scenario/harness/harness-types.ts';
export { openHarness, type HarnessKind, type HarnessOptions } from './scenario/harness/open-harness.ts';
export { type RunScenariosOptions, runScenarios, type ScenarioResult } from './scenario/run-scenarios.ts';
export {
  formatFailure,
  scenarioJsonReport,
  type ScenarioSummary,
  summarizeResults,
} from './scenario/reports/report.ts';
export { scenarioJunitReport } from './scenario/reports/junit.ts';
export type { ExpectationMismatch } from './scenario/expectations/compare-values.ts';
export { withTestAgent } from './with-test-agent.ts';
export {
  assertCanceled,
  assertValidStream,
  assertProducedArtifact,
  assertReceivedMessage,
  assertStreamed,
} from './matchers/assertions.ts';
export { matchers } from './matchers/matchers.ts';
export type { TestkitMatchers } from './matchers/matcher-types.ts';
export type { ExpectedArtifactContent } from './matchers/match-artifact.ts';
export type { ExpectedMessage } from './matchers/match-received-message.ts';
export type { ExpectedEvent } from './matchers/match-stream.ts';
export type { MatcherResult } from './matchers/matcher-result.ts';
