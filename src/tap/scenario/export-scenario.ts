import { writeYaml } from '../../documents/write-yaml.ts';
import { A2AError } from '../../protocol/errors.ts';
import type { Part } from '../../protocol/part.ts';
import type { SendRequest } from '../../protocol/requests.ts';
import { redactedPlaceholder } from '../../primitives/redaction.ts';
import type { TrafficRecord } from '../traffic-record.ts';
import { type RecordedOutcome, toRecordedOutcome } from './recorded-outcome.ts';
import { stripTrailing } from '../../primitives/text.ts';

/** A recorded send or stream request with everything that followed. */
interface RecordedCall {
  readonly request: TrafficRecord;
  readonly responses: readonly TrafficRecord[];
}

const header = `# Recorded by dragoman tap: sent messages and expected responses. Ids and timestamps are not compared.
# Run it with: dragoman test FILE
`;

/**
 * Converts recorded traffic to a scenario file that repeats the messages and expects the recorded responses.
 *
 * @throws {@link A2AError} `INVALID_PARAMS` if no message with a complete response was recorded.
 */
export function exportScenario(records: readonly TrafficRecord[]): string {
  const names = new Set<string>();
  const sessions = new Map<string, string>();
  let cases = 0;
  let text = header;
  for (const call of findClientCalls(records)) {
    const outcome = toRecordedOutcome(call.request, call.responses);
    if (typeof outcome === 'string') {
      text += `\n# Left out: "${toSingleLine(call.request.decoded?.summary ?? '')}", because ${outcome}.\n`;
      continue;
    }
    cases++;
    const session = assignSession(outcome, sessions);
    const testCase = buildCase(call, outcome, { records, session, name: uniqueCaseName(call, names) });
    text += `\n${credentialsComment(call)}${writeYaml([testCase])}`;
  }
  if (cases > 0) return text;
  throw new A2AError('INVALID_PARAMS', 'No message with a complete response was recorded', {
    hint: 'Record until the task has ended, and select all records of the task.',
  });
}

/** Returns the calls of clients. Calls that an intermediary made on their behalf are repeated by it. */
function findClientCalls(records: readonly TrafficRecord[]): RecordedCall[] {
  const byExchange = new Map<string, TrafficRecord[]>();
  for (const each of records) {
    const exchange = byExchange.get(each.exchangeId);
    if (exchange) exchange.push(each);
    else byExchange.set(each.exchangeId, [each]);
  }
  const calls: RecordedCall[] = [];
  for (const [request, ...responses] of byExchange.values()) {
    const { operation, model } = request?.decoded ?? {};
    const isSend = operation === 'send' || operation === 'stream';
    const isRequest = request?.kind === 'request' || request?.kind === 'message';
    if (isRequest && isSend && model !== undefined) calls.push({ request, responses });
  }
  const receivers = new Set(calls.map(({ request }) => request.to));
  const clientCalls = calls.filter(({ request }) => !receivers.has(request.from));
  return clientCalls.length > 0 ? clientCalls : calls;
}

function buildCase(
  { request }: RecordedCall,
  outcome: RecordedOutcome,
  { records, session, name }: { records: readonly TrafficRecord[]; session: string; name: string },
): object {
  const { decoded, to } = request;
  const sent = decoded?.model as SendRequest | undefined;
  const url = findAgentUrl(request, records);
  const cancelDelay = findCancelDelay(request, outcome, records);
  return {
    test_case_id: name,
    description: toSingleLine(decoded?.summary ?? ''),
    ...(url !== undefined && {
      harness: 'direct',
      downstream: { version: decoded?.version, transport: decoded?.transport },
      proxy_config_override: { agent_name: to, url },
    }),
    gateway_input: {
      target_agent_name: to,
      parts: sent?.message.parts.map(toScenarioPart),
      is_streaming: decoded?.operation === 'stream',
      external_context: { a2a_session_id: session },
    },
    ...(cancelDelay !== undefined && {
      gateway_actions_after_input: [{ type: 'cancel_task', delay_seconds: cancelDelay }],
    }),
    expected_completion_timeout_seconds: Math.max(10, Math.ceil((outcome.milliseconds * 3) / 1_000)),
    expected_gateway_output: outcome.outputs,
  };
}

function toScenarioPart(part: Part): object {
  const { filename: name, mediaType: mime_type, metadata } = part;
  if ('text' in part) return { type: 'text', text: part.text, metadata };
  if ('data' in part) return { type: 'data', data: part.data, metadata };
  const content = 'url' in part ? { uri: part.url } : { bytes_base64: part.raw };
  return { type: 'file', ...content, name, mime_type, metadata };
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

/** Returns the seconds between the request and the cancellation of its task. */
function findCancelDelay(
  { at }: TrafficRecord,
  { taskId }: RecordedOutcome,
  records: readonly TrafficRecord[],
): number | undefined {
  const cancellation = records.find(
    ({ kind, decoded }) =>
      (kind === 'request' || kind === 'message') &&
      decoded?.operation === 'cancelTask' &&
      taskId !== undefined &&
      decoded.taskId === taskId,
  );
  return cancellation && Math.max(0.1, Math.round((cancellation.at - at) / 100) / 10);
}

/** Messages of one context share a session. */
function assignSession({ contextId }: RecordedOutcome, sessions: Map<string, string>): string {
  const key = contextId ?? `none ${sessions.size}`;
  let session = sessions.get(key);
  if (session === undefined) sessions.set(key, (session = `recorded-${sessions.size + 1}`));
  return session;
}

function uniqueCaseName({ request }: RecordedCall, names: Set<string>): string {
  const summary = request.decoded?.summary.replace(/^\w+: /, '') ?? '';
  const words = `${request.to} ${summary}`.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? ['case'];
  const name = words.slice(0, 8).join('-').slice(0, 60);
  let unique = name;
  for (let count = 2; names.has(unique); count++) unique = `${name}-${count}`;
  names.add(unique);
  return unique;
}

function credentialsComment({ request }: RecordedCall): string {
  if (!Object.values(request.http?.headers ?? {}).includes(redactedPlaceholder)) return '';
  return '# The recorded request had credentials, which are not stored: pass them with proxy_auth_config.\n';
}

function toSingleLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim();
}
