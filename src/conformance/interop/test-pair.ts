import { buildRuleResult } from '../observation/invariant-monitor.ts';
import { testDelegation, testConcurrentDelegation } from './delegation.ts';
import {
  type RequirementLevel,
  type ConformanceRule,
  type RuleResult,
  type RuleVerdict,
  verdictForLevel,
} from '../rule-model.ts';
import { RuleViolationError, InconclusiveError, NotApplicableError, toViolation } from '../check-errors.ts';
import {
  askPeer,
  openPeer,
  openInteropContext,
  type InteropPeer,
  requireProbe,
  promptFor,
} from './interop-peer.ts';
import { describeResponse } from '../drivers/describe-response.ts';
import type { RunChecksOptions } from '../run-checks.ts';
import type { ProtocolDriver } from '../drivers/protocol-driver.ts';

function defineRule(
  name: string,
  level: RequirementLevel,
  sentence: string,
  remedy: string,
): ConformanceRule {
  const id = `interop.${name}`;
  return { id, requirements: [], section: '8.2', level, category: 'interop', sentence, remedy };
}

const rules = {
  discovers: defineRule(
    'discovers',
    'MUST',
    'The peer publishes a card with a supported interface.',
    'Serve the card at /.well-known/agent-card.json, with URLs that other machines can reach.',
  ),
  language: defineRule(
    'language',
    'SHOULD',
    'Both agents support a common version and transport.',
    'Support the version and transport of the peer as well, or put a gateway between the agents.',
  ),
  firstToSecond: defineRule(
    'first-to-second',
    'MUST',
    'The second agent responds to a message with the output of the first agent.',
    'Inspect the relayed message in the evidence and make the second agent accept it.',
  ),
  secondToFirst: defineRule(
    'second-to-first',
    'MUST',
    'The first agent responds to a message with the output of the second agent.',
    'Inspect the relayed message in the evidence and make the first agent accept it.',
  ),
  firstCallsSecond: defineRule(
    'first-asks-second',
    'MUST',
    'The first agent, given the URL of the second, calls it and returns its response.',
    'Make the skill tagged delegation send the text to the agent at the URL, wait until its task ends, and return its output; otherwise remove the tag.',
  ),
  secondCallsFirst: defineRule(
    'second-asks-first',
    'MUST',
    'The second agent, given the URL of the first, calls it and returns its response.',
    'Make the skill tagged delegation send the text to the agent at the URL, wait until its task ends, and return its output; otherwise remove the tag.',
  ),
  concurrentDelegation: defineRule(
    'concurrent-delegation',
    'MUST',
    'Concurrently delegated tasks each receive their own response.',
    'Store the connection to the other agent and its response per task.',
  ),
  concurrent: defineRule(
    'concurrent',
    'MUST',
    'The agents keep concurrent tasks separate.',
    'Store the state of a task per task, not in global variables.',
  ),
};

/** Options of {@link testPair}. All options are optional. */
export interface TestPairOptions extends Partial<RunChecksOptions> {
  /** Id of the skill that delegates to other agents, or a prompt template with `{url}` and `{text}`. */
  readonly delegate?: string;
  /** Sent with every request to the peer, for credentials. */
  readonly peerHeaders?: Readonly<Record<string, string>>;
}

/** Tests the interoperability of two agents: discovery, relayed messages, concurrency and delegation. */
export async function testPair(
  firstUrl: string,
  secondUrl: string,
  options: TestPairOptions,
): Promise<RuleResult[]> {
  const { delegate, peerHeaders = {} } = options;
  const context = openInteropContext(options);
  try {
    const first = await openPeer(firstUrl, context, options);
    // Credentials of the first agent must not be sent to the second.
    const { skills: _unused, ...others } = options;
    const second = await openPeer(secondUrl, context, { ...others, headers: peerHeaders });
    return [
      await runRule(rules.discovers, second, () => expectFound(second)),
      await runRule(rules.language, second, () => expectCommon(first, second)),
      await runRule(rules.firstToSecond, second, () => relayAnswer(first, second)),
      await runRule(rules.secondToFirst, first, () => relayAnswer(second, first)),
      await runRule(rules.concurrent, first, () => testConcurrency([first, second])),
      await runRule(rules.firstCallsSecond, first, () => testDelegation(first, second, delegate)),
      // A configured template is meant for the agent under test; the peer must declare delegation in its card.
      await runRule(rules.secondCallsFirst, second, () =>
        testDelegation(second, first, delegate, 'only-if-declared'),
      ),
      await runRule(rules.concurrentDelegation, first, () =>
        testConcurrentDelegation(first, second, delegate),
      ),
    ];
  } finally {
    context.close();
  }
}

/** Sends the output of one agent to another as a message. */
export async function relayAnswer(from: InteropPeer, to: InteropPeer): Promise<void> {
  const { text } = await askPeer(from, promptFor(from));
  // The output may have no text; a prompt replaces it.
  await askPeer(to, text === '' ? promptFor(to) : text);
}

/** Sends concurrent messages with unique markers to every agent, and checks that no response contains the marker of another. */
async function testConcurrency(peers: readonly InteropPeer[]): Promise<void> {
  const requests = peers.flatMap((peer) =>
    Array.from({ length: 4 }, () => ({ peer, marker: `m${crypto.randomUUID().slice(0, 8)}` })),
  );
  const responses = await Promise.all(
    requests.map(async ({ peer, marker }) => {
      const probe = requireProbe(peer);
      const text = `${promptFor(peer)} ${marker}`;
      const response = await probe.call('send', { message: { text, messageId: crypto.randomUUID() } });
      if (response.error || response.decodeError !== undefined)
        throw new RuleViolationError(
          `${peer.name} failed under concurrent requests: ${describeResponse(response)}`,
          { exchanges: [response.exchange] },
        );
      const id = probe.driver.decodeTask(response.result)?.id;
      return { peer, marker, id, response, json: JSON.stringify(response.result) };
    }),
  );
  for (const { peer, marker, json, id, response } of responses) {
    const foreign = requests.find((other) => other.marker !== marker && json.includes(other.marker));
    const evidence = { exchanges: [response.exchange] };
    if (foreign)
      throw new RuleViolationError(
        `${peer.name} responded to "${marker}" with the marker "${foreign.marker}"`,
        evidence,
      );
    const isShared =
      responses.filter((other) => other.peer === peer && id !== undefined && other.id === id).length > 1;
    if (isShared) throw new RuleViolationError(`${peer.name} assigned the id ${id} to two tasks`, evidence);
  }
}

function expectFound({ url, published, variants }: InteropPeer): void {
  if (!published) throw new RuleViolationError(`No agent card found at ${url}`);
  if (variants.length === 0)
    throw new RuleViolationError(`The card at ${published.url} declares no supported interface`);
}

/** Returns the variants that both agents declare. */
export function commonVariants(first: InteropPeer, second: InteropPeer): string[] {
  const ofSecond = new Set(second.variants.map(formatVariant));
  return first.variants.map(formatVariant).filter((each) => ofSecond.has(each));
}

function formatVariant({ version, transport }: ProtocolDriver): string {
  return `${version} ${transport}`;
}

function expectCommon(first: InteropPeer, second: InteropPeer): void {
  if (commonVariants(first, second).length > 0) return;
  const list = ({ variants }: InteropPeer): string => variants.map(formatVariant).join(', ') || 'none';
  throw new RuleViolationError('The agents have no version and transport in common', {
    expected: list(first),
    actual: list(second),
  });
}

async function runRule(
  rule: ConformanceRule,
  peer: InteropPeer,
  work: () => Promise<void> | void,
): Promise<RuleResult> {
  const startedAt = performance.now();
  const { version = '1.0', transport } = peer.variants[0] ?? {};
  const result = (
    verdict: RuleVerdict,
    message: string,
    violations: RuleResult['violations'] = [],
  ): RuleResult => {
    const milliseconds = performance.now() - startedAt;
    return buildRuleResult(rule, { version, transport }, { verdict, message, violations, milliseconds });
  };
  try {
    await work();
    return result('pass', '');
  } catch (error) {
    const { message } = error as Error;
    if (error instanceof NotApplicableError) return result('not-applicable', message);
    if (error instanceof InconclusiveError) return result('inconclusive', message);
    if (!(error instanceof RuleViolationError)) return result('error', message);
    return result(verdictForLevel(rule.level), message, [toViolation(message, error.evidence)]);
  }
}
