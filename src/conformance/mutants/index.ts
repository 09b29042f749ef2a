/**
 * Mutant agents and clients: each violates one rule of the conformance suite on purpose. The self-test runs the suite against them to
 * prove that every rule detects its violation.
 *
 * @module
 */
export { allMutants } from './all-mutants.ts';
export { type ClientMutant, clientMutants } from './clients/client-mutants.ts';
export { findClientFalseAlarms, runClientMutant } from './clients/client-self-test.ts';
export { createReferenceClient } from './clients/reference-client.ts';
export type { ClientFlaw } from './clients/client-flaws.ts';
export { correctVariants } from './correct-variants.ts';
export {
  mutant,
  type MutantAgent,
  type MutantSetup,
  type WireMutation,
  type WireNotification,
  type WireRequest,
  type WireResponse,
} from './harness/mutant-agent.ts';
export { type ServedAgent, serveMutant } from './harness/serve-mutant.ts';
export { findFalsePositives, type MutantResult, runMutant, type RuleSuite } from './self-test.ts';
