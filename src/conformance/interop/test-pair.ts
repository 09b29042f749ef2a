import { buildRuleResult } from '../observation/invariant-monitor.ts';
import { testDelegation, testConcurrentDelegation } from './delegation.ts';
import type { RequirementLevel, ConformanceRule, RuleResult } from '../rule-model.ts';
import { RuleViolationError, InconclusiveError, NotApplicableError } from '../check-errors.ts';
import {
  askPeer,
  openPeer,
  openInteropContext,
  type InteropPeer,
  requireProbe,
  promptFor,
} from './interop-peer.ts';
import { describeResponse } from '../probe.ts';
import type { RunChecksOptions } from '../run-checks.ts';
import type { ProtocolDriver } from '../drivers/protocol-driver.ts';

function rule(what: string, level: RequirementLevel, sentence: string, remedy: string): ConformanceRule {
  const id = `interop.${what}`;
  return { id, requirements: [], section: '8.2', level, category: 'interop', sentence, remedy };
}

const rules = {
  discovers: rule(
    'discovers',
    'MUST',
    'The other agent can be found by its card, and the card names a way to speak to it.',
    'Serve the card at /.well-known/agent-card.json, with the addresses that others can reach.',
  ),
  language: rule(
    'language',
    'SHOULD',
    'Both speak the same version over the same transport.',
    'Offer the version and transport of the other agent as well, or put a gateway between the two.',
  ),
  there: rule(
    'first-to-second',
    'MUST',
    'What the first agent answers can be sent to the second, which answers it.',
    'Look at the message that was relayed: the second agent does not take it.',
  ),
  back: rule(
    'second-to-first',
    'MUST',
    'What the second agent answers can be sent to the first, which answers it.',
    'Look at the message that was relayed: the first agent does not take it.',
  ),
  thereDirectly: rule(
    'first-asks-second',
    'MUST',
    'The first agent, told the address of the second, asks it by itself and gives its answer back.',
    'Let the skill that is tagged delegation send the text to the agent at the address, wait for the end of its task, and answer with what it said; else take the tag away.',
  ),
  backDirectly: rule(
    'second-asks-first',
    'MUST',
    'The second agent, told the address of the first, asks it by itself and gives its answer back.',
    'Let the skill that is tagged delegation send the text to the agent at the address, wait for the end of its task, and answer with what it said; else take the tag away.',
  ),
  concurrentDirectly: rule(
    'concurrent-delegation',
    'MUST',
    'Tasks that are handed to the other agent at the same time each get their own answer.',
    'Keep the connection to the other agent and what it answers with the task that it is for.',
  ),
  concurrent: rule(
    'concurrent',
    'MUST',
    'Tasks that both agents work at at the same time do not get mixed up.',
    'Keep everything that belongs to a task with the task, and nothing of it in variables of the process.',
  ),
};

/** How two agents are tried together. */
export interface TestPairOptions extends Partial<RunChecksOptions> {
  /** A skill that hands work to other agents, or the words that ask for it, with `{url}` and `{text}`. */
  readonly delegate?: string;
  /** The credentials for the second agent. */
  readonly secondHeaders?: Readonly<Record<string, string>>;
}

/** Tries two agents together: each finds the other, each answers what the other said, and both at once. */
export async function testPair(
  firstUrl: string,
  secondUrl: string,
  options: TestPairOptions,
): Promise<RuleResult[]> {
  const { delegate: words, secondHeaders = {} } = options;
  const context = openInteropContext(options);
  try {
    const first = await openPeer(firstUrl, context, options);
    // Credentials are for the agent that they were given for.
    const { skills: _ofTheFirst, ...others } = options;
    const second = await openPeer(secondUrl, context, { ...others, headers: secondHeaders });
    return [
      await judge(rules.discovers, second, () => expectFound(second)),
      await judge(rules.language, second, () => expectCommon(first, second)),
      await judge(rules.there, second, () => relayAnswer(first, second)),
      await judge(rules.back, first, () => relayAnswer(second, first)),
      await judge(rules.concurrent, first, () => tryAtOnce([first, second])),
      await judge(rules.thereDirectly, first, () => testDelegation(first, second, words)),
      // Whoever names words means the agent under test; the other is only asked when its card says that it can.
      await judge(rules.backDirectly, second, () => testDelegation(second, first, words, 'only-if-declared')),
      await judge(rules.concurrentDirectly, first, () => testConcurrentDelegation(first, second, words)),
    ];
  } finally {
    context.close();
  }
}

/** Sends what one agent answers to the other, over the raw wire. */
export async function relayAnswer(from: InteropPeer, to: InteropPeer): Promise<void> {
  const { text } = await askPeer(from, promptFor(from));
  // An agent that says nothing in words still gives the other something to answer.
  await askPeer(to, text === '' ? promptFor(to) : text);
}

/** Lets every agent work at several tasks at once, each with a mark of its own, and looks for marks elsewhere. */
async function tryAtOnce(partners: readonly InteropPeer[]): Promise<void> {
  const marks = partners.flatMap((partner) =>
    Array.from({ length: 4 }, () => ({ partner, mark: `m${crypto.randomUUID().slice(0, 8)}` })),
  );
  const seen = await Promise.all(
    marks.map(async ({ partner, mark }) => {
      const probe = requireProbe(partner);
      const text = `${promptFor(partner)} ${mark}`;
      const response = await probe.call('send', { message: { text, messageId: crypto.randomUUID() } });
      if (response.error || response.decodeError !== undefined)
        throw new RuleViolationError(
          `${partner.name} did not answer while others were asked: ${describeResponse(response)}`,
          {
            exchanges: [response.exchange],
          },
        );
      const id = probe.driver.decodeTask(response.result)?.id;
      return { partner, mark, id, response, answer: JSON.stringify(response.result) };
    }),
  );
  for (const { partner, mark, answer, id, response } of seen) {
    const strange = marks.find((other) => other.mark !== mark && answer.includes(other.mark));
    const evidence = { exchanges: [response.exchange] };
    if (strange)
      throw new RuleViolationError(
        `${partner.name} answered "${mark}" with words of "${strange.mark}"`,
        evidence,
      );
    const isShared =
      seen.filter((other) => other.partner === partner && id !== undefined && other.id === id).length > 1;
    if (isShared) throw new RuleViolationError(`${partner.name} gave two tasks the id ${id}`, evidence);
  }
}

function expectFound({ url, published, variants }: InteropPeer): void {
  if (!published) throw new RuleViolationError(`There is no agent card at ${url}`);
  if (variants.length === 0)
    throw new RuleViolationError(`The card at ${published.url} names no way to speak to the agent`);
}

/** The ways in which both can be spoken to. */
export function commonVariants(first: InteropPeer, second: InteropPeer): string[] {
  const named = (each: ProtocolDriver): string => `${each.version} ${each.transport}`;
  const theirs = new Set(second.variants.map(named));
  return first.variants.map(named).filter((each) => theirs.has(each));
}

function expectCommon(first: InteropPeer, second: InteropPeer): void {
  if (commonVariants(first, second).length > 0) return;
  const named = ({ variants }: InteropPeer): string =>
    variants.map(({ version, transport }) => `${version} ${transport}`).join(', ') || 'nothing';
  throw new RuleViolationError('The two have no version and transport in common', {
    expected: named(first),
    actual: named(second),
  });
}

async function judge(rule: ConformanceRule, partner: InteropPeer, work: () => unknown): Promise<RuleResult> {
  const began = performance.now();
  const { version = '1.0', transport } = partner.variants[0] ?? {};
  const where = { version, transport };
  try {
    await work();
    return buildRuleResult(rule, where, {
      verdict: 'pass',
      message: '',
      milliseconds: performance.now() - began,
    });
  } catch (error) {
    const { message } = error as Error;
    const milliseconds = performance.now() - began;
    if (error instanceof NotApplicableError)
      return buildRuleResult(rule, where, { verdict: 'not-applicable', message, milliseconds });
    if (error instanceof InconclusiveError)
      return buildRuleResult(rule, where, { verdict: 'inconclusive', message, milliseconds });
    if (!(error instanceof RuleViolationError))
      return buildRuleResult(rule, where, { verdict: 'error', message, milliseconds });
    const { expected, actual, exchanges = [] } = error.evidence;
    const violations = [
      { message, exchanges, ...(expected ? { expected } : {}), ...(actual ? { actual } : {}) },
    ];
    return buildRuleResult(rule, where, {
      verdict: rule.level === 'MUST' ? 'fail' : 'warn',
      message,
      violations,
      milliseconds,
    });
  }
}
