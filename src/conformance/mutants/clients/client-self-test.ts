import type { ClientUnderTest } from '../../clients/client-under-test.ts';
import { testClientConformance } from '../../clients/test-client-conformance.ts';
import type { RuleResult } from '../../rule-model.ts';
import type { ClientMutant } from './client-mutants.ts';
import { createReferenceClient } from './reference-client.ts';

/** Milliseconds for one execution of a mutant: some of them hang. */
const mutantTimeout = 30_000;
/** A correct client never reaches the time limit; a long one avoids errors on busy machines. */
const correctTimeout = 60_000;

const isViolation = ({ verdict }: RuleResult): boolean => verdict === 'fail' || verdict === 'warn';

/** Runs the rule that must detect a mutant against it. @returns why it was not detected; empty if it was */
export async function runClientMutant(mutant: ClientMutant): Promise<string[]> {
  const { flaw, violates, variants = [{ version: '1.0', transport: 'JSONRPC' }] } = mutant;
  const outcome = await testClientConformance(createReferenceClient(flaw), {
    variants,
    only: [violates],
    timeout: mutantTimeout,
  });
  const own = outcome.results.filter(({ rule }) => rule.id === violates);
  if (own.length === 0) return [`${violates} did not run: ${outcome.unreachable ?? 'no results'}`];
  return own
    .filter((each) => !isViolation(each))
    .map(
      (each) => `${violates} on ${each.version} ${each.transport ?? 'card'}: ${each.verdict} ${each.message}`,
    );
}

/** Runs all rules against a correct client. @returns violations, undecided rules and errors, which are all false alarms */
export async function findClientFalseAlarms(
  client: ClientUnderTest = createReferenceClient(),
): Promise<RuleResult[]> {
  const { results } = await testClientConformance(client, { timeout: correctTimeout });
  return results.filter(
    (each) => isViolation(each) || each.verdict === 'error' || each.verdict === 'inconclusive',
  );
}
