import { resultOf } from './collect.ts';
import { findCards } from './discover.ts';
import { lanesOf, type ShownCard } from './lanes.ts';
import type { Level, Rule, RuleResult } from './model.ts';
import { Broken, Inconclusive } from './outcome.ts';
import { described, Probe } from './probe.ts';
import { Reach } from './reach.ts';
import type { RunOptions } from './run.ts';
import { Shadows, terminal } from './shadow.ts';
import type { Speech } from './speech/speech.ts';
import { isObject, listIn, type TaskView, textIn, textOfParts } from './speech/views.ts';
import { Line } from './wire/line.ts';
import { Receiver } from './wire/receiver.ts';

/** An agent that is tried together with others. */
export interface Partner {
  readonly url: string;
  readonly name: string;
  readonly shown: ShownCard | undefined;
  readonly lanes: readonly Speech[];
  /** Undefined where it names no way to be spoken to. */
  readonly probe: Probe | undefined;
}

function rule(what: string, level: Level, sentence: string, remedy: string): Rule {
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
  concurrent: rule(
    'concurrent',
    'MUST',
    'Tasks that both agents work at at the same time do not get mixed up.',
    'Keep everything that belongs to a task with the task, and nothing of it in variables of the process.',
  ),
};

/** Everything that a partner is asked with. */
export interface Company {
  readonly line: Line;
  readonly receiver: Receiver;
  readonly deadline: number;
}

/** Opens what is needed to ask several agents. */
export function openCompany({ timeout = 60_000, insecure = false }: Partial<RunOptions>): Company & {
  close: () => void;
} {
  const line = new Line({ deadline: Math.min(timeout, 30_000), insecure });
  const receiver = new Receiver();
  const close = (): void => {
    line.close();
    receiver.close();
  };
  return { line, receiver, deadline: timeout, close };
}

/** Looks an agent up. */
export async function meet(url: string, company: Company, options: Partial<RunOptions>): Promise<Partner> {
  const { headers = {}, ways = {} } = options;
  const [shown] = await findCards(company.line, url, headers);
  const lanes = shown ? lanesOf(shown) : [];
  const [speech] = lanes;
  const card = shown?.card ?? {};
  const examples = (listIn(card.skills) ?? [])
    .filter(isObject)
    .flatMap((skill) => (listIn(skill.examples) ?? []).filter((each) => typeof each === 'string'));
  const probe = speech
    ? new Probe({
        ...company,
        speech,
        headers,
        card,
        cardUrl: shown?.url ?? url,
        reach: new Reach(ways, examples),
        shadows: new Shadows(),
        others: lanes.slice(1),
        spend: () => undefined,
        see: () => undefined,
      })
    : undefined;
  return { url, name: textIn(card.name) ?? url, shown, lanes, probe };
}

/** Tries two agents together: each finds the other, each answers what the other said, and both at once. */
export async function tryTogether(
  firstUrl: string,
  secondUrl: string,
  options: Partial<RunOptions>,
): Promise<RuleResult[]> {
  const company = openCompany(options);
  try {
    const first = await meet(firstUrl, company, options);
    const second = await meet(secondUrl, company, options);
    return [
      await judge(rules.discovers, second, () => expectFound(second)),
      await judge(rules.language, second, () => expectCommon(first, second)),
      await judge(rules.there, second, () => relay(first, second)),
      await judge(rules.back, first, () => relay(second, first)),
      await judge(rules.concurrent, first, () => tryAtOnce([first, second])),
    ];
  } finally {
    company.close();
  }
}

/** Sends what one agent answers to the other, over the raw wire. @returns what the other says. */
export async function relay(from: Partner, to: Partner): Promise<string> {
  const [asker, answerer] = [speaking(from), speaking(to)];
  const said = await answerOf(asker, asker.tools.reach.any().text ?? 'hello');
  // An agent that says nothing in words still gets something to answer.
  return answerOf(answerer, said === '' ? (answerer.tools.reach.any().text ?? 'hello') : said);
}

/** Asks, waits for the end, and gives what was answered as text. */
async function answerOf(probe: Probe, text: string): Promise<string> {
  const heard = await probe.ask('send', { message: { text, messageId: crypto.randomUUID() } });
  const message = probe.speech.messageOf(heard.result);
  if (message) return textOfParts(message.parts);
  const task = probe.speech.taskOf(heard.result);
  if (!task?.id)
    throw new Broken(`It was not answered: ${described(heard)}`, { exchanges: [heard.exchange] });
  const rested = terminal.has(task.state) ? task : await probe.rest(task.id);
  return textOfTask(rested);
}

function textOfTask(task: TaskView): string {
  return (task.artifacts ?? []).map(({ parts }) => textOfParts(parts)).join('\n');
}

/** Lets every agent work at several tasks at once, each with a mark of its own, and looks for marks elsewhere. */
async function tryAtOnce(partners: readonly Partner[]): Promise<void> {
  const marks = partners.flatMap((partner) =>
    Array.from({ length: 4 }, () => ({ partner, mark: `m${crypto.randomUUID().slice(0, 8)}` })),
  );
  const seen = await Promise.all(
    marks.map(async ({ partner, mark }) => {
      const probe = speaking(partner);
      const text = `${probe.tools.reach.any().text ?? 'hello'} ${mark}`;
      const heard = await probe.ask('send', { message: { text, messageId: crypto.randomUUID() } });
      if (heard.fault || heard.problem !== undefined)
        throw new Broken(`${partner.name} did not answer while others were asked: ${described(heard)}`, {
          exchanges: [heard.exchange],
        });
      const id = probe.speech.taskOf(heard.result)?.id;
      return { partner, mark, id, heard, answer: JSON.stringify(heard.result) };
    }),
  );
  for (const { partner, mark, answer, id, heard } of seen) {
    const strange = marks.find((other) => other.mark !== mark && answer.includes(other.mark));
    const evidence = { exchanges: [heard.exchange] };
    if (strange)
      throw new Broken(`${partner.name} answered "${mark}" with words of "${strange.mark}"`, evidence);
    const isShared =
      seen.filter((other) => other.partner === partner && id !== undefined && other.id === id).length > 1;
    if (isShared) throw new Broken(`${partner.name} gave two tasks the id ${id}`, evidence);
  }
}

function expectFound({ url, shown, lanes }: Partner): void {
  if (!shown) throw new Broken(`There is no agent card at ${url}`);
  if (lanes.length === 0) throw new Broken(`The card at ${shown.url} names no way to speak to the agent`);
}

/** The ways in which both can be spoken to. */
export function commonLanes(first: Partner, second: Partner): string[] {
  const named = (each: Speech): string => `${each.version} ${each.transport}`;
  const theirs = new Set(second.lanes.map(named));
  return first.lanes.map(named).filter((each) => theirs.has(each));
}

function expectCommon(first: Partner, second: Partner): void {
  if (commonLanes(first, second).length > 0) return;
  const named = ({ lanes }: Partner): string =>
    lanes.map(({ version, transport }) => `${version} ${transport}`).join(', ') || 'nothing';
  throw new Broken('The two have no version and transport in common', {
    expected: named(first),
    actual: named(second),
  });
}

function speaking({ url, probe }: Partner): Probe {
  if (!probe) throw new Inconclusive(`${url} names no way to speak to it, so this could not be tried.`);
  return probe;
}

async function judge(rule: Rule, partner: Partner, work: () => unknown): Promise<RuleResult> {
  const began = performance.now();
  const { version = '1.0', transport } = partner.lanes[0] ?? {};
  const where = { version, transport };
  try {
    await work();
    return resultOf(rule, where, { verdict: 'pass', message: '', milliseconds: performance.now() - began });
  } catch (error) {
    const { message } = error as Error;
    const milliseconds = performance.now() - began;
    if (error instanceof Inconclusive)
      return resultOf(rule, where, { verdict: 'inconclusive', message, milliseconds });
    if (!(error instanceof Broken)) return resultOf(rule, where, { verdict: 'error', message, milliseconds });
    const { expected, actual, exchanges = [] } = error.evidence;
    const violations = [
      { message, exchanges, ...(expected ? { expected } : {}), ...(actual ? { actual } : {}) },
    ];
    return resultOf(rule, where, {
      verdict: rule.level === 'MUST' ? 'fail' : 'warn',
      message,
      violations,
      milliseconds,
    });
  }
}
