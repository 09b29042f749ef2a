import { testDelegation } from './delegation.ts';
import { commonVariants, relayAnswer } from './test-pair.ts';
import { InconclusiveError, NotApplicableError } from '../check-errors.ts';
import { openPeer, openInteropContext, type InteropPeer } from './interop-peer.ts';
import type { RunChecksOptions } from '../run-checks.ts';

/** What became of sending what one agent said to another. */
export interface InteropResult {
  /** Places in the list of agents. */
  readonly from: number;
  readonly to: number;
  readonly verdict: 'pass' | 'fail';
  readonly message: string;
  /** Whether the one asks the other by itself: `open` where that could not be learned, undefined where it cannot. */
  readonly direct?: { readonly verdict: 'pass' | 'fail' | 'open'; readonly message: string };
  /** The versions and transports that both speak. */
  readonly common: readonly string[];
}

/** Who got on with whom. */
export interface InteropMatrix {
  readonly agents: readonly { readonly name: string; readonly url: string; readonly variants: string }[];
  readonly meetings: readonly InteropResult[];
}

/** Lets every agent speak to every other and to itself, one after the other. */
export async function runInteropMatrix(
  urls: readonly string[],
  options: Partial<RunChecksOptions> = {},
): Promise<InteropMatrix> {
  const context = openInteropContext(options);
  try {
    const partners: InteropPeer[] = [];
    for (const url of urls) partners.push(await openPeer(url, context, options));
    const meetings: InteropResult[] = [];
    for (const [from, one] of partners.entries())
      for (const [to, other] of partners.entries())
        meetings.push({ from, to, common: commonVariants(one, other), ...(await tryPair(one, other)) });
    return { agents: partners.map(told), meetings };
  } finally {
    context.close();
  }
}

async function tryPair(
  one: InteropPeer,
  other: InteropPeer,
): Promise<Pick<InteropResult, 'verdict' | 'message' | 'direct'>> {
  try {
    await relayAnswer(one, other);
  } catch (error) {
    return { verdict: 'fail', message: (error as Error).message };
  }
  try {
    // An agent that asks itself may wait for itself for ever.
    if (one === other) return { verdict: 'pass', message: '' };
    await testDelegation(one, other, undefined, 'only-if-declared');
    return { verdict: 'pass', message: '', direct: { verdict: 'pass', message: '' } };
  } catch (error) {
    const { message } = error as Error;
    if (error instanceof NotApplicableError) return { verdict: 'pass', message: '' };
    const verdict = error instanceof InconclusiveError ? 'open' : 'fail';
    return { verdict: 'pass', message: '', direct: { verdict, message } };
  }
}

function told({ name, url, variants }: InteropPeer): InteropMatrix['agents'][number] {
  return {
    name,
    url,
    variants: variants.map(({ version, transport }) => `${version} ${transport}`).join(', '),
  };
}
