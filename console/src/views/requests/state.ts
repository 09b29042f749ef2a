import { batch, computed, effect, signal } from '@preact/signals';
import type {
  AgentEndpoint,
  AgentEntry,
  ComposedRequest,
  ComposedRequestEvent,
} from '../../../../src/console/console-api.ts';
import type { OperationVariant } from '../../../../src/dialects/http/operation-request.ts';
import type { ProtocolVariant } from '../../../../src/protocol/card.ts';
import type { TrafficRecord } from '../../../../src/tap/traffic-record.ts';
import { type DisplayError, toDisplayError } from '../../components/error-note.tsx';
import { agents, selectedAgent } from '../../session/agents.ts';
import { requestJson, streamJson } from '../../session/api-client.ts';
import { FrameBatcher } from '../../session/frame-batcher.ts';
import { currentRoute, navigate, replaceRoute } from '../../session/router.ts';
import { checkDraft } from './draft/check-draft.ts';
import { restoreRequest, saveRequest } from './draft/draft-storage.ts';
import { valueInModel, withValueInModel } from './draft/form-table.ts';
import { secretHeaderNames } from './draft/without-secrets.ts';
import { draftFromRecord, findRecordedAgent } from './draft/record-draft.ts';
import {
  changeModel,
  createDraft,
  defaultModel,
  type DraftAgent,
  type EditedRequest,
  type OperationModel,
  type RequestDraft,
  readDraft,
  retargetRequest,
  supportedOperation,
} from './draft/request-draft.ts';

/** The request of the editor; undefined until the interfaces of the agent are known. */
export const edited = signal<EditedRequest | undefined>(undefined);

/** The form, or the text of the request. */
export const openTab = signal<'form' | 'text' | 'headers'>('form');

/** True if each send has another message id, because agents ignore a message that they know. */
export const hasFreshIds = signal(true);

/** False if the draft is too large to survive a reload. */
export const isStored = signal(true);

/** Interfaces by agent id. */
const endpoints = signal<Readonly<Record<string, readonly AgentEndpoint[]>>>({});

/** The agent of the editor with its interfaces; undefined until they are loaded. */
export const draftAgent = computed<DraftAgent | undefined>(() => {
  const agent = selectedAgent.value;
  const list = agent && endpoints.value[agent.id];
  return list && { id: agent.id, url: agent.url, endpoints: list };
});

/** True while the draft still belongs to the agent that was selected before: it must be neither changed nor sent. */
export const isOutdated = computed(() => edited.value?.draft.agentId !== selectedAgent.value?.id);

/** Problems of the draft, found by the codecs of its version. */
export const checked = computed(() =>
  edited.value
    ? checkDraft(edited.value.draft, { canFillIn: selectedAgent.value?.hasCredentials ?? false })
    : { problems: [] },
);

/** An exchange of the editor. */
export interface SentExchange {
  readonly records: readonly TrafficRecord[];
  /** Number of records that are not kept. */
  readonly omitted: number;
  readonly isRunning: boolean;
  readonly error?: DisplayError;
}

/** The answer to the last request. */
export const exchange = signal<SentExchange | undefined>(undefined);

/** Maximum number of displayed records of one exchange. */
const maxRecords = 1_000;

let abort: AbortController | undefined;
const sentMessageIds = new Set<string>();

async function loadEndpoints({ id }: AgentEntry): Promise<void> {
  const list = await requestJson<AgentEndpoint[]>(`agents/${encodeURIComponent(id)}/endpoints`).catch(
    () => [],
  );
  endpoints.value = { ...endpoints.peek(), [id]: list };
}

/** Keeps the draft in step with the selected agent. @returns a function that ends it */
export function startEditor(): () => void {
  const stopLoading = effect(() => {
    const agent = selectedAgent.value;
    if (agent && !Object.hasOwn(endpoints.peek(), agent.id)) void loadEndpoints(agent);
  });
  const stopFollowing = effect(() => {
    const agent = draftAgent.value;
    if (agent) follow(agent);
  });
  const stopSaving = effect(() => {
    const { requiredCredentials = [] } = selectedAgent.value ?? {};
    if (edited.value) isStored.value = saveRequest(edited.value, secretHeaderNames(requiredCredentials));
  });
  return () => {
    stopLoading();
    stopFollowing();
    stopSaving();
  };
}

/** Records that wait for the interfaces of their agent. */
let opening: { readonly record: TrafficRecord; readonly isOwn: boolean } | undefined;

function follow(agent: DraftAgent): void {
  const example = currentRoute.peek().details.get('text');
  if (example !== null) {
    const model = withValueInModel(defaultModel('send'), 'message.parts', [{ text: example }]);
    startDraft(agent, model);
    // A reload must not replace later changes.
    replaceRoute('requests', { agent: agent.id });
    return;
  }
  const record = opening;
  opening = undefined;
  const recorded = record && draftFromRecord(record.record, agent, record.isOwn);
  if (recorded) {
    edited.value = { draft: recorded, model: readDraft(recorded), losses: [] };
    return;
  }
  const former = edited.peek() ?? restoreRequest();
  if (former?.draft.agentId === agent.id) {
    if (edited.peek() !== former) edited.value = former;
    return;
  }
  if (!former) {
    startDraft(agent, defaultModel('send'));
    return;
  }
  const variant = preferredVariant(agent);
  const isOffered = agent.endpoints.some(
    ({ version, transport }) => version === former.draft.version && transport === former.draft.transport,
  );
  const target = { ...(isOffered ? former.draft : variant), operation: former.draft.operation };
  edited.value = retargetRequest(former, agent, { ...target, operation: supportedOperation(target) });
}

/** Starts a message in the variant that the agent prefers. */
function startDraft(agent: DraftAgent, model: OperationModel): void {
  const target = { ...preferredVariant(agent), operation: 'send' } as const;
  edited.value = { draft: createDraft(agent, target, model), model, losses: [] };
}

function preferredVariant({ endpoints: [first] }: DraftAgent): ProtocolVariant {
  return { version: first?.version ?? '1.0', transport: first?.transport ?? 'JSONRPC' };
}

/** Writes the request for another operation, version or transport. */
export function retarget(change: Partial<OperationVariant>): void {
  const [former, agent] = [edited.peek(), draftAgent.peek()];
  if (!former || !agent) return;
  const { operation, version, transport } = { ...former.draft, ...change };
  const target = { operation, version, transport };
  edited.value = retargetRequest(former, agent, { ...target, operation: supportedOperation(target) });
}

/** Changes URL, headers or credentials. */
export function changeDraft(change: Partial<RequestDraft>): void {
  const former = edited.peek();
  if (!former) return;
  const draft = { ...former.draft, ...change };
  const isReadAgain = change.body !== undefined || change.url !== undefined || change.method !== undefined;
  edited.value = { ...former, draft, model: isReadAgain ? readDraft(draft) : former.model };
}

/** Changes a value of the form. */
export function changeValue(path: string, value: unknown): void {
  const model = edited.peek()?.model;
  if (model) replaceModel(withValueInModel(model, path, value));
}

/** Replaces the content of the form. */
function replaceModel(after: OperationModel): void {
  const [former, agent] = [edited.peek(), draftAgent.peek()];
  if (!former?.model || !agent) return;
  const draft = changeModel(former.draft, agent, { before: former.model, after });
  edited.value = { ...former, draft, model: after };
}

/** Starts again with the defaults of the operation. */
export function resetDraft(): void {
  const [former, agent] = [edited.peek(), draftAgent.peek()];
  if (!former || !agent) return;
  const model = defaultModel(former.draft.operation);
  edited.value = { draft: createDraft(agent, former.draft, model), model, losses: [] };
}

/** Opens a recorded request in the editor. */
export function editRecord(record: TrafficRecord): void {
  const owner = findRecordedAgent(record.http?.url ?? '', agents.peek() ?? []);
  opening = { record, isOwn: owner !== undefined };
  const { messageId } =
    (record.decoded?.model as { message?: { messageId?: string } } | undefined)?.message ?? {};
  if (messageId !== undefined) sentMessageIds.add(messageId);
  batch(() => {
    exchange.value = undefined;
    openTab.value = 'text';
    navigate('requests', { agent: (owner ?? selectedAgent.peek())?.id });
  });
}

/** Sends the draft as it is written. */
export async function sendDraft(): Promise<void> {
  if (isOutdated.peek()) return;
  stopSending();
  const messageId = edited.peek()?.model && valueInModel(edited.peek()?.model ?? {}, 'message.messageId');
  if (hasFreshIds.peek() && typeof messageId === 'string' && sentMessageIds.has(messageId))
    changeValue('message.messageId', crypto.randomUUID());
  const draft = edited.peek()?.draft;
  if (!draft) return;
  const sentId = edited.peek()?.model && valueInModel(edited.peek()?.model ?? {}, 'message.messageId');
  if (typeof sentId === 'string') sentMessageIds.add(sentId);
  const own = new AbortController();
  abort = own;
  exchange.value = { records: [], omitted: 0, isRunning: true };
  const batcher = new FrameBatcher<TrafficRecord>((records) => {
    if (abort === own) addRecords(records);
  });
  const finish = (error?: DisplayError): void => {
    batcher.flush();
    if (abort === own && exchange.peek())
      exchange.value = { ...(exchange.peek() as SentExchange), isRunning: false, ...(error && { error }) };
  };
  try {
    const path = `agents/${encodeURIComponent(draft.agentId)}/requests`;
    const body = toComposedRequest(draft);
    for await (const event of streamJson<ComposedRequestEvent>(path, {
      method: 'POST',
      body,
      signal: own.signal,
    }))
      if (event.kind === 'record') batcher.add(event.record);
      else if (event.kind === 'error') return finish(event);
      else return finish();
    finish({ reason: 'INTERRUPTED', message: 'The answer ended without a final event.' });
  } catch (thrown) {
    finish(own.signal.aborted ? undefined : toDisplayError(thrown));
  }
}

function toComposedRequest({
  method,
  url,
  headers,
  body,
  transport,
  hasCredentials,
}: RequestDraft): ComposedRequest {
  return {
    method,
    url,
    headers: headers.filter(({ name }) => name !== ''),
    ...(method === 'POST' && { body }),
    ...(transport === 'GRPC' && { isGrpc: true }),
    hasCredentials,
  };
}

function addRecords(arrived: readonly TrafficRecord[]): void {
  const former = exchange.peek();
  if (!former) return;
  const records = [...former.records, ...arrived];
  // The first ones are request and response.
  const surplus = Math.max(0, records.length - maxRecords);
  records.splice(2, surplus);
  exchange.value = { ...former, records, omitted: former.omitted + surplus };
}

/** Aborts the request. The task of the agent continues. */
export function stopSending(): void {
  abort?.abort();
}
