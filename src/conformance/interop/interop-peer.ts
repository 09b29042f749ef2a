import { findCards } from '../discovery/find-cards.ts';
import { cardVariants, type PublishedCard } from '../discovery/card-variants.ts';
import { RuleViolationError, InconclusiveError } from '../check-errors.ts';
import { describeResponse, Probe } from '../probe.ts';
import { cardExamples, PromptCatalog } from '../prompts/prompt-catalog.ts';
import type { RunChecksOptions } from '../run-checks.ts';
import { TaskTracker, terminalStates } from '../observation/task-tracker.ts';
import type { ProtocolDriver } from '../drivers/protocol-driver.ts';
import { type TaskStateName, type NormalizedTask, asText, partsToText } from '../drivers/normalized-views.ts';
import type { HttpExchange } from '../wire/http-exchange.ts';
import { RawHttpClient } from '../wire/raw-http-client.ts';
import { WebhookReceiver } from '../wire/webhook-receiver.ts';

/** An agent that is tried together with others. */
export interface InteropPeer {
  readonly url: string;
  readonly name: string;
  readonly published: PublishedCard | undefined;
  readonly variants: readonly ProtocolDriver[];
  /** Undefined where it names no way to be spoken to. */
  readonly probe: Probe | undefined;
}

/** Everything that a partner is asked with. */
export interface InteropContext {
  readonly http: RawHttpClient;
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
  const http = new RawHttpClient({ deadline: Math.min(timeout, 30_000), insecure });
  const receiver = new WebhookReceiver();
  const close = (): void => {
    http.close();
    receiver.close();
  };
  return { http, receiver, deadline: timeout, close };
}

/** Looks an agent up. */
export async function openPeer(
  url: string,
  context: InteropContext,
  options: Partial<RunChecksOptions>,
): Promise<InteropPeer> {
  const { headers = {}, prompts: ways = {}, skills } = options;
  const [published] = await findCards(context.http, url, headers);
  const variants = published ? cardVariants(published) : [];
  const [driver] = variants;
  const card = published?.card ?? {};
  const probe = driver
    ? new Probe({
        ...context,
        driver,
        headers,
        card,
        cardUrl: published?.url ?? url,
        prompts: new PromptCatalog(ways, cardExamples(card, skills)),
        taskTracker: new TaskTracker(),
        siblings: variants.slice(1),
        countMessage: () => undefined,
        observe: () => undefined,
      })
    : undefined;
  return { url, name: asText(card.name) ?? url, published, variants, probe };
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
  const response = await probe.call('send', { message: { text, messageId: crypto.randomUUID() } });
  const message = probe.driver.decodeMessage(response.result);
  if (message) return { text: partsToText(message.parts), state: undefined, exchanges };
  const task = probe.driver.decodeTask(response.result);
  if (!task?.id)
    throw new RuleViolationError(`${partner.name} did not answer: ${describeResponse(response)}`, {
      exchanges,
    });
  const rested = terminalStates.has(task.state) ? task : await probe.waitUntilTerminalOrInterrupted(task.id);
  return { text: textOfTask(rested), state: rested.state, exchanges };
}

/** What an agent says that it understands. */
export function promptFor(partner: InteropPeer): string {
  return requireProbe(partner).context.prompts.anyPrompt().text ?? 'hello';
}

function textOfTask({ artifacts = [], statusParts: said = [] }: NormalizedTask): string {
  const words = artifacts.map(({ parts }) => partsToText(parts)).filter((each) => each !== '');
  // Some agents answer in their last status and give nothing else.
  return words.length > 0 ? words.join('\n') : partsToText(said);
}

/** What an agent is asked with. @throws Inconclusive where its card names no way. */
export function requireProbe({ url, probe }: InteropPeer): Probe {
  if (!probe) throw new InconclusiveError(`${url} names no way to speak to it, so this could not be tried.`);
  return probe;
}
