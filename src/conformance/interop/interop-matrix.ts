import { testDelegation } from './delegation.ts';
import { commonVariants, relayAnswer } from './test-pair.ts';
import { InconclusiveError, NotApplicableError } from '../check-errors.ts';
import { openPeer, openInteropContext, type InteropPeer } from './interop-peer.ts';
import type { RunChecksOptions } from '../run-checks.ts';

/** Result of one ordered pair of agents. */
export interface InteropResult {
  /** Index of the sending agent. */
  readonly from: number;
  /** Index of the receiving agent. */
  readonly to: number;
  readonly verdict: 'pass' | 'fail';
  readonly message: string;
  /** Whether the first agent calls the second by itself; undefined if it does not declare that. */
  readonly delegation?: { readonly verdict: 'pass' | 'fail' | 'inconclusive'; readonly message: string };
  /** Variants that both declare. */
  readonly common: readonly string[];
}

/** Results of all ordered pairs of agents. */
export interface InteropMatrix {
  readonly agents: readonly { readonly name: string; readonly url: string; readonly variants: string }[];
  readonly results: readonly InteropResult[];
}

/** Tests every agent with every other and with itself, one pair after the other. */
export async function runInteropMatrix(
  urls: readonly string[],
  options: Partial<RunChecksOptions> = {},
): Promise<InteropMatrix> {
  const context = openInteropContext(options);
  try {
    const peers: InteropPeer[] = [];
    for (const url of urls) peers.push(await openPeer(url, context, options));
    const results: InteropResult[] = [];
    for (const [from, one] of peers.entries())
      for (const [to, other] of peers.entries())
        results.push({
          from,
          to,
          common: commonVariants(one, other),
          ...(await testOrderedPair(one, other)),
        });
    return { agents: peers.map(describePeer), results };
  } finally {
    context.close();
  }
}

async function testOrderedPair(
  one: InteropPeer,
  other: InteropPeer,
): Promise<Pick<InteropResult, 'verdict' | 'message' | 'delegation'>> {
  try {
    await relayAnswer(one, other);
  } catch (error) {
    return { verdict: 'fail', message: (error as Error).message };
  }
  try {
    // An agent that delegates to itself may deadlock.
    if (one === other) return { verdict: 'pass', message: '' };
    await testDelegation(one, other, undefined, 'only-if-declared');
    return { verdict: 'pass', message: '', delegation: { verdict: 'pass', message: '' } };
  } catch (error) {
    const { message } = error as Error;
    if (error instanceof NotApplicableError) return { verdict: 'pass', message: '' };
    const verdict = error instanceof InconclusiveError ? 'inconclusive' : 'fail';
    return { verdict: 'pass', message: '', delegation: { verdict, message } };
  }
}

function describePeer({ name, url, variants }: InteropPeer): InteropMatrix['agents'][number] {
  return {
    name,
    url,
    variants: variants.map(({ version, transport }) => `${version} ${transport}`).join(', '),
  };
}
