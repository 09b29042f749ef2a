import { writeYaml } from '../../documents/write-yaml.ts';
import { A2AError } from '../../protocol/errors.ts';
import type { Part } from '../../protocol/part.ts';
import type { SendRequest } from '../../protocol/requests.ts';
import { redactedPlaceholder } from '../../primitives/redaction.ts';
import type { TrafficRecord } from '../traffic-record.ts';
import { type RecordedOutcome, toRecordedOutcome } from './recorded-outcome.ts';

/** What was said, and everything that came of it. */
interface Talk {
  readonly request: TrafficRecord;
  readonly answers: readonly TrafficRecord[];
}

const head = `# Recorded by dragoman tap: what was said, and what came. Ids and times are not compared.
# Run it with: dragoman test FILE
`;

/**
 * Writes a scenario file that says again what callers said, to the same agents, and expects what came.
 *
 * @throws {@link A2AError} INVALID_PARAMS when there is nothing in it that can be said again.
 */
export function exportScenario(passages: readonly TrafficRecord[]): string {
  const talks = talksOf(passages);
  const names = new Set<string>();
  const sessions = new Map<string, string>();
  let cases = 0;
  let text = head;
  for (const talk of talks) {
    const came = toRecordedOutcome(talk.request, talk.answers);
    if (typeof came === 'string') {
      text += `\n# Left out: "${oneLine(talk.request.decoded?.summary ?? '')}", because ${came}.\n`;
      continue;
    }
    cases++;
    const session = sessionOf(came, sessions);
    const written = caseOf(talk, came, { passages, session, name: nameFor(talk, names) });
    text += `\n${wantsCredentials(talk)}${writeYaml([written])}`;
  }
  if (cases > 0) return text;
  throw new A2AError(
    'INVALID_PARAMS',
    'Nothing in it can be said again: there is no message with its whole answer',
    {
      hint: 'Record until the task has ended, and choose everything that belongs to it.',
    },
  );
}

/** The talks that callers began; what somebody in between said in their name comes again by itself. */
function talksOf(passages: readonly TrafficRecord[]): Talk[] {
  const byTrip = new Map<string, TrafficRecord[]>();
  for (const each of passages) {
    const trip = byTrip.get(each.exchangeId);
    if (trip) trip.push(each);
    else byTrip.set(each.exchangeId, [each]);
  }
  const talks: Talk[] = [];
  for (const [request, ...answers] of byTrip.values()) {
    const { operation, model } = request?.decoded ?? {};
    const isSaying = operation === 'send' || operation === 'stream';
    if (
      request &&
      isSaying &&
      model !== undefined &&
      (request.kind === 'request' || request.kind === 'message')
    )
      talks.push({ request, answers });
  }
  const asked = new Set(talks.map(({ request }) => request.to));
  const first = talks.filter(({ request }) => !asked.has(request.from));
  return first.length > 0 ? first : talks;
}

function caseOf(
  { request }: Talk,
  came: RecordedOutcome,
  { passages, session, name }: { passages: readonly TrafficRecord[]; session: string; name: string },
): object {
  const { decoded: meaning, to } = request;
  const said = meaning?.model as SendRequest | undefined;
  const url = addressOf(request, passages);
  const cancel = cancelOf(request, came, passages);
  return {
    test_case_id: name,
    description: oneLine(meaning?.summary ?? ''),
    ...(url !== undefined && {
      gateway: 'direct',
      downstream: { version: meaning?.version, transport: meaning?.binding },
      proxy_config_override: { agent_name: to, url },
    }),
    gateway_input: {
      target_agent_name: to,
      parts: said?.message.parts.map(writtenPart),
      is_streaming: meaning?.operation === 'stream',
      external_context: { a2a_session_id: session },
    },
    ...(cancel !== undefined && {
      gateway_actions_after_input: [{ type: 'cancel_task', delay_seconds: cancel }],
    }),
    expected_completion_timeout_seconds: Math.max(10, Math.ceil((came.milliseconds * 3) / 1_000)),
    expected_gateway_output: came.outputs,
  };
}

function writtenPart(part: Part): object {
  const { filename, mediaType, metadata } = part;
  const labels = {
    ...(filename !== undefined && { name: filename }),
    ...(mediaType !== undefined && { mime_type: mediaType }),
  };
  const more = metadata ? { metadata } : {};
  if ('text' in part) return { type: 'text', text: part.text, ...more };
  if ('data' in part) return { type: 'data', data: part.data, ...more };
  if ('url' in part) return { type: 'file', uri: part.url, ...labels, ...more };
  return { type: 'file', bytes_base64: part.raw, ...labels, ...more };
}

/** Where the agent is, as far as its card and the request tell; undefined on a mesh. */
function addressOf({ to, http }: TrafficRecord, passages: readonly TrafficRecord[]): string | undefined {
  if (!http) return undefined;
  const { origin } = new URL(http.url);
  const card = passages.find(
    (each) =>
      each.kind === 'request' &&
      each.to === to &&
      each.decoded?.operation === 'card' &&
      each.http?.url.startsWith(origin),
  );
  const url = (card?.http ?? http).url.split(/[?#]/, 1)[0] ?? origin;
  return url
    .replace(/\/(?:\.well-known\/.*|(?:v1\/)?message:(?:send|stream)|agent\/authenticatedExtendedCard)$/, '')
    .replace(/\/+$/, '');
}

/** After how many seconds the caller asked for an end to the task. */
function cancelOf(
  { at }: TrafficRecord,
  { taskId }: RecordedOutcome,
  passages: readonly TrafficRecord[],
): number | undefined {
  const asking = passages.find(
    ({ kind, decoded: meaning }) =>
      (kind === 'request' || kind === 'message') &&
      meaning?.operation === 'cancelTask' &&
      taskId !== undefined &&
      meaning.taskId === taskId,
  );
  return asking && Math.max(0.1, Math.round((asking.at - at) / 100) / 10);
}

/** Messages of one conversation stay together, under a name of their own. */
function sessionOf({ contextId }: RecordedOutcome, sessions: Map<string, string>): string {
  const key = contextId ?? `none ${sessions.size}`;
  let session = sessions.get(key);
  if (session === undefined) sessions.set(key, (session = `recorded-${sessions.size + 1}`));
  return session;
}

function nameFor({ request }: Talk, names: Set<string>): string {
  const said = request.decoded?.summary.replace(/^\w+: /, '') ?? '';
  const words = `${request.to} ${said}`.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? ['case'];
  const name = words.slice(0, 8).join('-').slice(0, 60);
  let unique = name;
  for (let count = 2; names.has(unique); count++) unique = `${name}-${count}`;
  names.add(unique);
  return unique;
}

function wantsCredentials({ request }: Talk): string {
  if (!Object.values(request.http?.headers ?? {}).includes(redactedPlaceholder)) return '';
  return '# It was asked with credentials, which are not kept: say them with proxy_auth_config.\n';
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim();
}
