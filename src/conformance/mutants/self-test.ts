import type { Check } from '../check.ts';
import type { RuleResult } from '../rule-model.ts';
import { fixturePrompts } from '../prompts/prompt-catalog.ts';
import { runChecks, type RunChecksOptions } from '../run-checks.ts';
import type { Invariant } from '../observation/observation.ts';
import type { MutantAgent } from './harness/mutant-agent.ts';
import { testPrincipals, serveMutant } from './harness/serve-mutant.ts';

/** What the suite made of one broken agent. */
export interface MutantResult {
  readonly mutant: MutantAgent;
  /** True when every rule that must notice it did, on every version and transport that it is broken on. */
  readonly isKilled: boolean;
  /** Where it was not noticed, such as `send.one-of on 1.0 JSONRPC`. */
  readonly missed: readonly string[];
  /** Rules that were broken according to the suite although they should not be. */
  readonly unexpectedViolations: readonly RuleResult[];
}

/** The rules that a suite consists of. */
export interface RuleSuite {
  readonly checks: readonly Check[];
  readonly invariants: readonly Invariant[];
}

/** What a run needs to know of an agent of the fixtures. */
function fixtureRun(suite: RuleSuite, broken: Partial<MutantAgent>): RunChecksOptions {
  const headers = (token: string): Record<string, string> => ({ authorization: `Bearer ${token}` });
  return {
    ...suite,
    prompts: fixturePrompts,
    timeout: 6_000,
    ...(broken.versions ? { versions: broken.versions } : {}),
    ...(broken.transports ? { transports: broken.transports } : {}),
    ...(broken.requiresAuthentication
      ? {
          headers: headers(testPrincipals.ann),
          otherUserHeaders: headers(testPrincipals.ben),
          restrictedUserHeaders: headers(testPrincipals.cat),
        }
      : {}),
  };
}

/** Checks that bring everything over the wire that invariants look at, in little time. */
const provocations: ReadonlySet<string> = new Set([
  'send.answers',
  'send.message-context',
  'send.data',
  'get.known',
  'get.unknown',
  'stream.opens',
  'stream.message',
  'stream.chunks',
  'stream.canceled',
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

/** Runs the rules that must notice a broken agent against it. */
export async function runMutant(suite: RuleSuite, broken: MutantAgent): Promise<MutantResult> {
  const ids = [broken.violates].flat();
  const served = await serveMutant(broken);
  try {
    const isNamed = ({ id }: { id: string }): boolean => ids.includes(id);
    const checks = suite.checks.filter(isNamed);
    const isInvariant = suite.invariants.some(isNamed);
    const provoking = isInvariant ? suite.checks.filter(({ id }) => provocations.has(id)) : [];
    const outcome = await runChecks(
      served.url,
      fixtureRun({ ...suite, checks: [...new Set([...checks, ...provoking])] }, broken),
    );
    return verdictOn(broken, ids, outcome.results);
  } finally {
    await served.close();
  }
}

function verdictOn(
  broken: MutantAgent,
  ids: readonly string[],
  results: readonly RuleResult[],
): MutantResult {
  const missed: string[] = [];
  const isBroken = ({ verdict }: RuleResult): boolean => verdict === 'fail' || verdict === 'warn';
  for (const id of ids) {
    const own = results.filter(({ rule }) => rule.id === id);
    if (own.length === 0) missed.push(`${id} did not run`);
    for (const each of own)
      if (!isBroken(each))
        missed.push(
          `${id} on ${each.version} ${each.transport ?? 'the card'}: ${each.verdict} ${each.message}`,
        );
  }
  const others = results.filter((each) => isBroken(each) && !ids.includes(each.rule.id));
  return { mutant: broken, isKilled: missed.length === 0, missed, unexpectedViolations: others };
}

/** Runs the whole suite against the correct agent, open and guarded. @returns what it complains about. */
export async function findFalsePositives(
  suite: RuleSuite,
  variants: readonly Partial<MutantAgent>[],
): Promise<RuleResult[]> {
  const alarms: RuleResult[] = [];
  for (const variant of variants) {
    const served = await serveMutant(variant);
    try {
      // What is correct never lets anybody wait, so a long time costs nothing; a machine that is busy may need it.
      const run = { ...fixtureRun(suite, variant), timeout: 30_000 };
      const { results } = await runChecks(served.url, run);
      alarms.push(
        ...results.filter(({ verdict }) => verdict === 'fail' || verdict === 'warn' || verdict === 'error'),
      );
    } finally {
      await served.close();
    }
  }
  return alarms;
}
