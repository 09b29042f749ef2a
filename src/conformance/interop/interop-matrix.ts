import { delegate } from './delegation.ts';
import { commonLanes, relay } from './test-pair.ts';
import { Inconclusive, NotApplicable } from '../check-errors.ts';
import { meet, openCompany, type Partner } from './interop-peer.ts';
import type { RunOptions } from '../run-checks.ts';

/** What became of sending what one agent said to another. */
export interface Meeting {
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
export interface Meetings {
  readonly agents: readonly { readonly name: string; readonly url: string; readonly lanes: string }[];
  readonly meetings: readonly Meeting[];
}

/** Lets every agent speak to every other and to itself, one after the other. */
export async function meetAll(urls: readonly string[], options: Partial<RunOptions> = {}): Promise<Meetings> {
  const company = openCompany(options);
  try {
    const partners: Partner[] = [];
    for (const url of urls) partners.push(await meet(url, company, options));
    const meetings: Meeting[] = [];
    for (const [from, one] of partners.entries())
      for (const [to, other] of partners.entries())
        meetings.push({ from, to, common: commonLanes(one, other), ...(await tryPair(one, other)) });
    return { agents: partners.map(told), meetings };
  } finally {
    company.close();
  }
}

async function tryPair(
  one: Partner,
  other: Partner,
): Promise<Pick<Meeting, 'verdict' | 'message' | 'direct'>> {
  try {
    await relay(one, other);
  } catch (error) {
    return { verdict: 'fail', message: (error as Error).message };
  }
  try {
    // An agent that asks itself may wait for itself for ever.
    if (one === other) return { verdict: 'pass', message: '' };
    await delegate(one, other, undefined, 'only-if-declared');
    return { verdict: 'pass', message: '', direct: { verdict: 'pass', message: '' } };
  } catch (error) {
    const { message } = error as Error;
    if (error instanceof NotApplicable) return { verdict: 'pass', message: '' };
    const verdict = error instanceof Inconclusive ? 'open' : 'fail';
    return { verdict: 'pass', message: '', direct: { verdict, message } };
  }
}

function told({ name, url, lanes }: Partner): Meetings['agents'][number] {
  return { name, url, lanes: lanes.map(({ version, transport }) => `${version} ${transport}`).join(', ') };
}
