import { findCards } from '../discovery/find-cards.ts';
import { cardVariants, type PublishedCard } from '../discovery/card-variants.ts';
import { RuleViolationError, InconclusiveError } from '../check-errors.ts';
import { describeResponse, Probe } from '../probe.ts';
import { cardExamples, PromptCatalog } from '../prompts/prompt-catalog.ts';
import type { RunChecksOptions } from '../run-checks.ts';
import { TaskTracker, terminalStates } from '../observation/task-tracker.ts';
import type { ProtocolDriver } from '../drivers/protocol-driver.ts';
import { type TaskStateName, type NormalizedTask, asText, textOfParts } from '../drivers/normalized-views.ts';
import type { HttpExchange } from '../wire/http-exchange.ts';
import { RawHttpClient } from '../wire/raw-http-client.ts';
import { WebhookReceiver } from '../wire/webhook-receiver.ts';

/** An agent that is tried together with others. */
export interface InteropPeer {
  readonly url: string;
  readonly name: string;
  readonly shown: PublishedCard | undefined;
  readonly lanes: readonly ProtocolDriver[];
  /** Undefined where it names no way to be spoken to. */
  readonly probe: Probe | undefined;
}

/** Everything that a partner is asked with. */
export interface InteropContext {
  readonly line: RawHttpClient;
  readonly receiver: WebhookReceiver;
  readonly deadline: number;
}

/** Opens what is needed to ask several agents. */
export function openInteropContext({
  timeout = 60_000,
  insecure = false,
}: Partial<RunChecksOptions>): InteropContext & {
  close: () => void;
} {
  const line = new RawHttpClient({ deadline: Math.min(timeout, 30_000), insecure });
  const receiver = new WebhookReceiver();
  const close = (): void => {
    line.close();
    receiver.close();
  };
  return { line, receiver, deadline: timeout, close };
}

/** Looks an agent up. */
export async function openPeer(
  url: string,
  company: InteropContext,
  options: Partial<RunChecksOptions>,
): Promise<InteropPeer> {
  const { headers = {}, prompts: ways = {}, skills } = options;
  const [shown] = await findCards(company.line, url, headers);
  const lanes = shown ? cardVariants(shown) : [];
  const [speech] = lanes;
  const card = shown?.card ?? {};
  const probe = speech
    ? new Probe({
        ...company,
        speech,
        headers,
        card,
        cardUrl: shown?.url ?? url,
        reach: new PromptCatalog(ways, cardExamples(card, skills)),
        shadows: new TaskTracker(),
        others: lanes.slice(1),
        spend: () => undefined,
        see: () => undefined,
      })
    : undefined;
  return { url, name: asText(card.name) ?? url, shown, lanes, probe };
}

/** What an agent answered. */
export interface PeerAnswer {
  readonly text: string;
  /** The state in which its task came to rest; undefined where it made none. */
  readonly state: TaskStateName | undefined;
  /** What was said on the wire, the newest last. */
  readonly exchanges: readonly HttpExchange[];
}

/** Asks, and waits for the end. */
export async function askPeer(partner: InteropPeer, text: string): Promise<PeerAnswer> {
  // Each question has its own, so that the evidence of questions at the same time stays apart.
  const probe = new Probe(requireProbe(partner).context);
  const { exchanges } = probe;
  const heard = await probe.ask('send', { message: { text, messageId: crypto.randomUUID() } });
  const message = probe.driver.messageOf(heard.result);
  if (message) return { text: textOfParts(message.parts), state: undefined, exchanges };
  const task = probe.driver.taskOf(heard.result);
  if (!task?.id)
    throw new RuleViolationError(`${partner.name} did not answer: ${describeResponse(heard)}`, { exchanges });
  const rested = terminalStates.has(task.state) ? task : await probe.rest(task.id);
  return { text: textOfTask(rested), state: rested.state, exchanges };
}

/** What an agent says that it understands. */
export function promptFor(partner: InteropPeer): string {
  return requireProbe(partner).context.reach.anyPrompt().text ?? 'hello';
}

function textOfTask({ artifacts = [], said = [] }: NormalizedTask): string {
  const words = artifacts.map(({ parts }) => textOfParts(parts)).filter((each) => each !== '');
  // Some agents answer in their last status and give nothing else.
  return words.length > 0 ? words.join('\n') : textOfParts(said);
}

/** What an agent is asked with. @throws Inconclusive where its card names no way. */
export function requireProbe({ url, probe }: InteropPeer): Probe {
  if (!probe) throw new InconclusiveError(`${url} names no way to speak to it, so this could not be tried.`);
  return probe;
}
