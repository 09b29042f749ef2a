import { commonLanes, meet, openCompany, type Partner, relay } from './interop.ts';
import type { RunOptions } from './run.ts';

/** What became of sending what one agent said to another. */
export interface Meeting {
  /** Places in the list of agents. */
  readonly from: number;
  readonly to: number;
  readonly verdict: 'pass' | 'fail';
  readonly message: string;
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

async function tryPair(one: Partner, other: Partner): Promise<Pick<Meeting, 'verdict' | 'message'>> {
  try {
    await relay(one, other);
    return { verdict: 'pass', message: '' };
  } catch (error) {
    return { verdict: 'fail', message: (error as Error).message };
  }
}

function told({ name, url, lanes }: Partner): Meetings['agents'][number] {
  return { name, url, lanes: lanes.map(({ version, transport }) => `${version} ${transport}`).join(', ') };
}
