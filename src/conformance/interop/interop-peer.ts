import { findCards } from '../discovery/find-cards.ts';
import { lanesOf, type ShownCard } from '../discovery/card-variants.ts';
import { Broken, Inconclusive } from '../check-errors.ts';
import { described, Probe } from '../probe.ts';
import { examplesIn, Reach } from '../prompts/prompt-catalog.ts';
import type { RunOptions } from '../run-checks.ts';
import { Shadows, terminal } from '../observation/task-tracker.ts';
import type { Speech } from '../drivers/protocol-driver.ts';
import { type State, type TaskView, textIn, textOfParts } from '../drivers/normalized-views.ts';
import type { Exchange } from '../wire/http-exchange.ts';
import { Line } from '../wire/raw-http-client.ts';
import { Receiver } from '../wire/webhook-receiver.ts';

/** An agent that is tried together with others. */
export interface Partner {
  readonly url: string;
  readonly name: string;
  readonly shown: ShownCard | undefined;
  readonly lanes: readonly Speech[];
  /** Undefined where it names no way to be spoken to. */
  readonly probe: Probe | undefined;
}

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
  const { headers = {}, ways = {}, skills } = options;
  const [shown] = await findCards(company.line, url, headers);
  const lanes = shown ? lanesOf(shown) : [];
  const [speech] = lanes;
  const card = shown?.card ?? {};
  const probe = speech
    ? new Probe({
        ...company,
        speech,
        headers,
        card,
        cardUrl: shown?.url ?? url,
        reach: new Reach(ways, examplesIn(card, skills)),
        shadows: new Shadows(),
        others: lanes.slice(1),
        spend: () => undefined,
        see: () => undefined,
      })
    : undefined;
  return { url, name: textIn(card.name) ?? url, shown, lanes, probe };
}

/** What an agent answered. */
export interface Answer {
  readonly text: string;
  /** The state in which its task came to rest; undefined where it made none. */
  readonly state: State | undefined;
  /** What was said on the wire, the newest last. */
  readonly exchanges: readonly Exchange[];
}

/** Asks, and waits for the end. */
export async function answerOf(partner: Partner, text: string): Promise<Answer> {
  // Each question has its own, so that the evidence of questions at the same time stays apart.
  const probe = new Probe(speaking(partner).tools);
  const { exchanges } = probe;
  const heard = await probe.ask('send', { message: { text, messageId: crypto.randomUUID() } });
  const message = probe.speech.messageOf(heard.result);
  if (message) return { text: textOfParts(message.parts), state: undefined, exchanges };
  const task = probe.speech.taskOf(heard.result);
  if (!task?.id) throw new Broken(`${partner.name} did not answer: ${described(heard)}`, { exchanges });
  const rested = terminal.has(task.state) ? task : await probe.rest(task.id);
  return { text: textOfTask(rested), state: rested.state, exchanges };
}

/** What an agent says that it understands. */
export function wordsFor(partner: Partner): string {
  return speaking(partner).tools.reach.any().text ?? 'hello';
}

function textOfTask({ artifacts = [], said = [] }: TaskView): string {
  const words = artifacts.map(({ parts }) => textOfParts(parts)).filter((each) => each !== '');
  // Some agents answer in their last status and give nothing else.
  return words.length > 0 ? words.join('\n') : textOfParts(said);
}

/** What an agent is asked with. @throws Inconclusive where its card names no way. */
export function speaking({ url, probe }: Partner): Probe {
  if (!probe) throw new Inconclusive(`${url} names no way to speak to it, so this could not be tried.`);
  return probe;
}
