import { findCards } from '../discovery/find-cards.ts';
import { cardVariants, type PublishedCard } from '../discovery/card-variants.ts';
import { RuleViolationError, InconclusiveError } from '../check-errors.ts';
import { describeResponse } from '../drivers/describe-response.ts';
import { Probe } from '../probe.ts';
import { CrashMonitor } from '../crash-monitor.ts';
import { cardExamples, ExampleResponses } from '../prompts/example-responses.ts';
import { PromptCatalog } from '../prompts/prompt-catalog.ts';
import type { RunChecksOptions } from '../run-checks.ts';
import { TaskTracker, terminalStates } from '../observation/task-tracker.ts';
import type { ProtocolDriver } from '../drivers/protocol-driver.ts';
import { type TaskStateName, type NormalizedTask, asText, partsToText } from '../drivers/normalized-views.ts';
import type { HttpExchange } from '../wire/http-exchange.ts';
import { RawHttpClient } from '../wire/raw-http-client.ts';
import { adviseForCommand } from '../prompts/missing-input.ts';
import { WebhookAccess } from '../webhook-access.ts';
import { WebhookReceiver } from '../wire/webhook-receiver.ts';

/** An agent in an interoperability test. */
export interface InteropPeer {
  readonly url: string;
  readonly name: string;
  readonly published: PublishedCard | undefined;
  readonly variants: readonly ProtocolDriver[];
  /** Undefined if the card declares no supported interface. */
  readonly probe: Probe | undefined;
}

/** Collaborators shared by the peers. */
export interface InteropContext {
  readonly http: RawHttpClient;
  readonly receiver: WebhookReceiver;
  readonly deadline: number;
}

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

/** Fetches the card of an agent and creates its probe. */
export async function openPeer(
  url: string,
  context: InteropContext,
  options: Partial<RunChecksOptions>,
): Promise<InteropPeer> {
  const { headers = {}, prompts = {}, skills } = options;
  const [published] = await findCards(context.http, url, headers);
  const { transports } = options;
  const variants = (published ? cardVariants(published) : []).filter(
    ({ transport }) => transports?.includes(transport) ?? true,
  );
  const [driver] = variants;
  const card = published?.card ?? {};
  const examples = cardExamples(card, skills);
  const probe = driver
    ? new Probe({
        ...context,
        driver,
        headers,
        card,
        hasCard: published !== undefined,
        cardUrl: published?.url ?? url,
        cardVersion: published?.version ?? driver.version,
        prompts: PromptCatalog.create(prompts, examples),
        examples: new ExampleResponses(examples),
        crashMonitor: new CrashMonitor(0),
        webhookAccess: new WebhookAccess(),
        taskTracker: new TaskTracker(),
        siblings: variants.slice(1),
        advise: adviseForCommand,
        countMessage: () => undefined,
        observe: () => undefined,
      })
    : undefined;
  return { url, name: asText(card.name) ?? url, published, variants, probe };
}

/** Final response of a peer. */
export interface PeerAnswer {
  readonly text: string;
  /** Final state of the task; undefined for a direct message. */
  readonly state: TaskStateName | undefined;
  /** Newest last. */
  readonly exchanges: readonly HttpExchange[];
}

/** Sends a text and waits until the task is terminal or interrupted. */
export async function askPeer(peer: InteropPeer, text: string): Promise<PeerAnswer> {
  // A probe of its own keeps the evidence of concurrent requests separate.
  const probe = new Probe(requireProbe(peer).context);
  const { exchanges } = probe;
  const response = await probe.call('send', { message: { text, messageId: crypto.randomUUID() } });
  const message = probe.driver.decodeMessage(response.result);
  if (message) return { text: partsToText(message.parts), state: undefined, exchanges };
  const task = probe.driver.decodeTask(response.result);
  if (!task?.id)
    throw new RuleViolationError(
      `${peer.name} returned neither a task nor a message: ${describeResponse(response)}`,
      { exchanges },
    );
  const stopped = terminalStates.has(task.state) ? task : await probe.waitUntilTerminalOrInterrupted(task.id);
  return { text: taskText(stopped), state: stopped.state, exchanges };
}

/** Returns a text that the agent claims to understand. */
export function promptFor(peer: InteropPeer): string {
  return requireProbe(peer).context.prompts.anyPrompt().text ?? 'hello';
}

function taskText({ artifacts = [], statusParts = [] }: NormalizedTask): string {
  const texts = artifacts.map(({ parts }) => partsToText(parts)).filter((each) => each !== '');
  // Some agents return their result only in the status message.
  return texts.length > 0 ? texts.join('\n') : partsToText(statusParts);
}

/** @throws InconclusiveError if the card declares no supported interface. */
export function requireProbe({ url, probe }: InteropPeer): Probe {
  if (!probe) throw new InconclusiveError(`The card of ${url} declares no supported interface.`);
  return probe;
}
