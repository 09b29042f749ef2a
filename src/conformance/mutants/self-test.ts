import type { Check } from '../check.ts';
import { checkedTransports, jsonTransports, type RuleResult } from '../rule-model.ts';
import { fixturePrompts } from '../prompts/prompt-catalog.ts';
import { runChecks, type RunChecksOptions } from '../run-checks.ts';
import type { Invariant } from '../observation/observation.ts';
import type { MutantAgent } from './harness/mutant-agent.ts';
import { testPrincipals, serveMutant } from './harness/serve-mutant.ts';

/** Result of the suite for one mutant. */
export interface MutantResult {
  readonly mutant: MutantAgent;
  /** True if every rule in `violates` detected the mutant in all its versions and transports. */
  readonly isKilled: boolean;
  /** Rules that did not detect the mutant, such as `send.one-of on 1.0 JSONRPC: pass`. */
  readonly missed: readonly string[];
  /** Violations of rules that the mutant is not expected to violate. */
  readonly unexpectedViolations: readonly RuleResult[];
}

/** Rules of a suite. */
export interface RuleSuite {
  readonly checks: readonly Check[];
  readonly invariants: readonly Invariant[];
}

function runOptions(suite: RuleSuite, mutant: Partial<MutantAgent>, timeout: number): RunChecksOptions {
  const headers = (token: string): Record<string, string> => ({ authorization: `Bearer ${token}` });
  return {
    ...suite,
    prompts: fixturePrompts,
    timeout,
    ...(mutant.versions ? { versions: mutant.versions } : {}),
    transports: mutant.transports ?? jsonTransports,
    ...(mutant.requiresAuthentication
      ? {
          headers: headers(testPrincipals.ann),
          otherUserHeaders: headers(testPrincipals.ben),
          restrictedUserHeaders: headers(testPrincipals.cat),
        }
      : {}),
  };
}

/** Fast checks that together produce all kinds of traffic that invariants evaluate. */
const trafficChecks: ReadonlySet<string> = new Set([
  'send.answers',
  'send.message-context',
  'send.data',
  'get.known',
  'get.unknown',
  'stream.opens',
  'stream.message',
  'stream.chunks',
  'stream.canceled',
  'stream.unicode',
  'turn.goes-on',
  'history.newest',
  'context.kept',
  'cancel.running',
  'cancel.completed',
  'list.finds',
  'list.last-page',
  'list.page-size',
  'push.delivers',
  'push.list',
  'push-before.create',
]);

/** Milliseconds for a response of a mutant. Some never respond, so that the suite waits this long for them. */
const shortTimeout = 6_000;
const longTimeout = 60_000;

/**
 * Runs the rules that must detect a mutant against it. On a busy machine a response may take longer than the suite waits: a
 * mutant that was missed is tested again with more time.
 */
export async function runMutant(suite: RuleSuite, mutant: MutantAgent): Promise<MutantResult> {
  const result = await testMutant(suite, mutant, shortTimeout);
  return result.isKilled ? result : testMutant(suite, mutant, longTimeout);
}

async function testMutant(suite: RuleSuite, mutant: MutantAgent, timeout: number): Promise<MutantResult> {
  const ids = [mutant.violates].flat();
  const served = await serveMutant(mutant);
  try {
    const isViolated = ({ id }: { id: string }): boolean => ids.includes(id);
    const checks = suite.checks.filter(isViolated);
    const isInvariant = suite.invariants.some(isViolated);
    const traffic = isInvariant ? suite.checks.filter(({ id }) => trafficChecks.has(id)) : [];
    const outcome = await runChecks(
      served.url,
      runOptions({ ...suite, checks: [...new Set([...checks, ...traffic])] }, mutant, timeout),
    );
    return judge(mutant, ids, outcome.results);
  } finally {
    await served.close();
  }
}

function judge(mutant: MutantAgent, ids: readonly string[], results: readonly RuleResult[]): MutantResult {
  const missed: string[] = [];
  const isViolation = ({ verdict }: RuleResult): boolean => verdict === 'fail' || verdict === 'warn';
  for (const id of ids) {
    const own = results.filter(({ rule }) => rule.id === id);
    if (own.length === 0) missed.push(`${id} did not run`);
    for (const each of own)
      if (!isViolation(each))
        missed.push(
          `${id} on ${each.version} ${each.transport ?? 'the card'}: ${each.verdict} ${each.message}`,
        );
  }
  const others = results.filter((each) => isViolation(each) && !ids.includes(each.rule.id));
  return { mutant: mutant, isKilled: missed.length === 0, missed, unexpectedViolations: others };
}

/** Runs the suite against correct agents. @returns violations and errors, which are all false positives */
export async function findFalsePositives(
  suite: RuleSuite,
  variants: readonly Partial<MutantAgent>[],
): Promise<RuleResult[]> {
  const falsePositives: RuleResult[] = [];
  for (const each of variants) {
    const variant = { transports: checkedTransports, ...each };
    const served = await serveMutant(variant);
    try {
      // A correct agent never runs into the timeout; a long one avoids errors on busy machines.
      const { results } = await runChecks(served.url, runOptions(suite, variant, longTimeout));
      falsePositives.push(
        ...results.filter(({ verdict }) => verdict === 'fail' || verdict === 'warn' || verdict === 'error'),
      );
    } finally {
      await served.close();
    }
  }
  return falsePositives;
}
