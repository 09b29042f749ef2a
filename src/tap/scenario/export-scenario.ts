import { writeYaml } from '../../documents/write-yaml.ts';
import { A2AError } from '../../protocol/errors.ts';
import { redactedPlaceholder } from '../../primitives/redaction/redaction.ts';
import { stripTrailing } from '../../primitives/text.ts';
import { findClientExchanges, groupExchanges } from '../exchanges.ts';
import { toRecordedAnswer } from '../recording.ts';
import type { TrafficRecord } from '../traffic-record.ts';
import { ConversationSteps, type RecordedCall } from './conversation-steps.ts';
import { endOfAnswer } from './expected-answer.ts';

const header = `# Recorded by dragoman tap: sent messages and expected responses. Ids and timestamps are not compared.
# Run it with: dragoman test FILE
`;

/** Operations that become steps. */
const stepOperations = new Set(['send', 'stream', 'getTask', 'cancelTask', 'subscribe']);

/** The calls of one conversation with an agent. */
interface RecordedConversation {
  readonly calls: RecordedCall[];
  /** Calls that cannot be repeated, with the reason. */
  readonly leftOut: string[];
}

/**
 * Converts recorded traffic to a scenario file that repeats the messages and expects the recorded responses. Each
 * conversation becomes one scenario with all its turns.
 *
 * @throws {@link A2AError} `INVALID_PARAMS` if no message with a complete response was recorded.
 */
export function exportScenario(records: readonly TrafficRecord[]): string {
  const names = new Set<string>();
  let isEmpty = true;
  let text = header;
  for (const { calls, leftOut } of findConversations(records)) {
    const writer = new ConversationSteps(calls);
    for (const call of calls) {
      const reason = writer.add(call);
      if (reason !== undefined) leftOut.push(describeLeftOut(call.request, reason));
    }
    const [first] = calls;
    for (const each of leftOut) text += `\n${each}`;
    if (!first || writer.steps.length === 0) continue;
    isEmpty = false;
    const scenario = toScenario(calls, writer.steps, { records, name: uniqueName(first, names) });
    text += `\n${credentialsComment(first)}${writeYaml([scenario])}`;
  }
  if (!isEmpty) return text;
  throw new A2AError('INVALID_PARAMS', 'No message with a complete response was recorded', {
    hint: 'Record until the task has ended, and select all records of the task.',
  });
}

/** Groups the calls of clients by agent and context. Calls of an intermediary are repeated by it. */
function findConversations(records: readonly TrafficRecord[]): RecordedConversation[] {
  const conversations = new Map<string, RecordedConversation>();
  /** Contexts of tasks that requests name by their id only. */
  const contexts = new Map<string, string>();
  const exchanges = groupExchanges(records).filter(([{ decoded }]) => {
    const { operation = '', model } = decoded ?? {};
    return stepOperations.has(operation) && model !== undefined;
  });
  for (const exchange of findClientExchanges(exchanges)) {
    const [request] = exchange;
    const { taskId, contextId } = request.decoded ?? {};
    const answer = toRecordedAnswer(exchange);
    const end = typeof answer === 'string' ? undefined : endOfAnswer(answer);
    const id = end?.task?.id ?? taskId;
    const answered = end?.task?.contextId ?? end?.message?.contextId ?? contextId ?? '';
    const context = contexts.get(id ?? '') ?? (answered === '' ? request.exchangeId : answered);
    if (id !== undefined) contexts.set(id, context);
    const key = JSON.stringify([request.to, context]);
    let conversation = conversations.get(key);
    if (!conversation) conversations.set(key, (conversation = { calls: [], leftOut: [] }));
    const { calls, leftOut } = conversation;
    if (typeof answer === 'string') leftOut.push(describeLeftOut(request, answer));
    else if (answer.events?.length === 0 && !answer.error)
      leftOut.push(describeLeftOut(request, 'no event was recorded'));
    else calls.push({ request, answer });
  }
  return [...conversations.values()];
}

function toScenario(
  calls: readonly RecordedCall[],
  steps: readonly object[],
  { records, name }: { records: readonly TrafficRecord[]; name: string },
): object {
  const { request } = calls[0] as RecordedCall;
  const { decoded } = request;
  const agent = findAgentUrl(request, records);
  const end = Math.max(...calls.map(({ answer }) => answer.at));
  return {
    scenario: name,
    description: toSingleLine(decoded?.summary ?? ''),
    ...(agent !== undefined && {
      agent,
      version: decoded?.version,
      ...(decoded?.transport !== 'mesh' && { transport: decoded?.transport }),
    }),
    timeout: `${Math.max(10, Math.ceil(((end - request.at) * 3) / 1_000))}s`,
    steps,
  };
}

/** Returns the base URL of the agent according to its card request or the request; undefined on a mesh. */
function findAgentUrl({ to, http }: TrafficRecord, records: readonly TrafficRecord[]): string | undefined {
  if (!http) return undefined;
  const { origin } = new URL(http.url);
  const card = records.find(
    (each) =>
      each.kind === 'request' &&
      each.to === to &&
      each.decoded?.operation === 'card' &&
      each.http?.url.startsWith(origin),
  );
  const url = (card?.http ?? http).url.split(/[?#]/, 1)[0] ?? origin;
  const base = url.replace(
    /\/(?:\.well-known\/[^]*|(?:v1\/)?message:(?:send|stream)|agent\/authenticatedExtendedCard|[\w.]+\.A2AService\/\w+)$/,
    '',
  );
  return stripTrailing(base, '/');
}

function uniqueName({ request }: RecordedCall, names: Set<string>): string {
  const summary = request.decoded?.summary.replace(/^\w+: /, '') ?? '';
  const words = `${request.to} ${summary}`.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? ['case'];
  const name = words.slice(0, 8).join('-').slice(0, 60);
  let unique = name;
  for (let count = 2; names.has(unique); count++) unique = `${name}-${count}`;
  names.add(unique);
  return unique;
}

function describeLeftOut({ decoded }: TrafficRecord, reason: string): string {
  return `# Left out: "${toSingleLine(decoded?.summary ?? '')}", because ${reason}.\n`;
}

function credentialsComment({ request }: RecordedCall): string {
  if (!Object.values(request.http?.headers ?? {}).includes(redactedPlaceholder)) return '';
  return '# The recorded request had credentials, which are not stored: pass them with headers.\n';
}

function toSingleLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim();
}
