/**
 * Test agents that do what a test says, and what is needed to look at what happened.
 *
 * @module
 */
export { TestAgentServer } from './test-agent-server.ts';
export type { TestAgentOptions } from './test-agent-options.ts';
export type { CardDraft } from './card-draft.ts';
export type { AuthValidation, HttpError } from './door.ts';
export type { PrimeOptions } from './primed-queue.ts';
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
} from './journal/entry.ts';
export type { AdminAccess } from './admin/access.ts';
export type {
  Director,
  Incoming,
  Moment,
  NearMiss,
  Plan,
  PlayedEvent,
  Step,
  Unmatched,
} from './plan.ts';
export type { Duration, Fault } from './faults/fault.ts';
export { systemTestClock, type TestClock } from './clock/test-clock.ts';
export { VirtualClock, type VirtualClockOptions } from './clock/virtual-clock.ts';
export { readScenarios, type Scenario, type ScenarioMode } from './scenario/read.ts';
export type { Capture, GatewayEvent, Rig } from './scenario/rig.ts';
export { openRig, type RigName, type RigOptions } from './scenario/rigs.ts';
export { type RunOptions, runScenarios, type ScenarioResult } from './scenario/run.ts';
export { failureText, jsonReport, type Summary, summaryOf } from './scenario/report.ts';
export { junitReport } from './scenario/junit.ts';
export type { Difference } from './scenario/match.ts';
export { withTestAgent } from './fixtures.ts';
export {
  assertCanceled,
  assertLegalStream,
  assertProducedArtifact,
  assertReceivedMessage,
  assertStreamed,
} from './matchers/assertions.ts';
export { matchers } from './matchers/matchers.ts';
export type { TestkitMatchers } from './matchers/matcher-types.ts';
export type { ExpectedContent } from './matchers/produced-artifact.ts';
export type { ExpectedMessage } from './matchers/received-message.ts';
export type { EventGist } from './matchers/streamed.ts';
export type { Verdict } from './matchers/verdict.ts';
