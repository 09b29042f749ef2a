/**
 * Test agents that do what a test says, and what is needed to look at what happened.
 *
 * @module
 */
export { TestAgentServer } from './test-agent-server.ts';
export type { TestAgentOptions } from './test-agent-options.ts';
export type { CardDraft } from './agent/card-draft.ts';
export type { AuthValidation, HttpError } from './http/request-interceptor.ts';
export type { PrimeOptions } from './agent/primed-responses.ts';
export { Journal, type JournalOptions, type WaitOptions } from './journal/journal.ts';
export type {
  AnsweredBy,
  CapturedAnswer,
  CapturedCall,
  CapturedHeaders,
  CapturedRequest,
  EndReason,
  JournalEntry,
  JournalFilter,
} from './journal/journal-entry.ts';
export type { AdminAccess } from './admin/admin-access.ts';
export type {
  Director,
  Incoming,
  Moment,
  NearMiss,
  Plan,
  PlayedEvent,
  Step,
  Unmatched,
} from './agent/response-plan.ts';
export type { Duration, Fault } from './faults/fault.ts';
export { systemTestClock, type TestClock } from './clock/test-clock.ts';
export { VirtualClock, type VirtualClockOptions } from './clock/virtual-clock.ts';
export { readScenarios, type Scenario, type ScenarioMode } from './scenario/files/read-scenarios.ts';
export type { Capture, GatewayEvent, Rig } from './scenario/harness/harness-types.ts';
export { openRig, type RigName, type RigOptions } from './scenario/harness/open-harness.ts';
export { type RunOptions, runScenarios, type ScenarioResult } from './scenario/run-scenarios.ts';
export { failureText, jsonReport, type Summary, summaryOf } from './scenario/reports/report.ts';
export { junitReport } from './scenario/reports/junit.ts';
export type { Difference } from './scenario/expectations/compare-values.ts';
export { withTestAgent } from './with-test-agent.ts';
export {
  assertCanceled,
  assertLegalStream,
  assertProducedArtifact,
  assertReceivedMessage,
  assertStreamed,
} from './matchers/assertions.ts';
export { matchers } from './matchers/matchers.ts';
export type { TestkitMatchers } from './matchers/matcher-types.ts';
export type { ExpectedContent } from './matchers/match-artifact.ts';
export type { ExpectedMessage } from './matchers/match-received-message.ts';
export type { EventGist } from './matchers/match-stream.ts';
export type { Verdict } from './matchers/matcher-result.ts';
