import type { AgentEndpoint } from '../../../../../src/console/console-api.ts';
import {
  definesOperation,
  dialectOfVariant,
  type OperationRequest,
  type OperationVariant,
  readOperationRequest,
  writeOperationRequest,
} from '../../../../../src/dialects/http/operation-request.ts';
import type { RequestOf } from '../../../../../src/dialects/dialect.ts';
import type { TranslationLoss } from '../../../../../src/dialects/translation-loss.ts';
import type { Operation } from '../../../../../src/protocol/agent.ts';
import { asJsonObject, parseJsonOrUndefined } from '../../../../../src/primitives/json.ts';
import { mergeJson } from './merge-json.ts';

/** A header as the user wrote it. */
export interface HeaderField {
  readonly name: string;
  readonly value: string;
}

/** A request that the user edits. Method, URL, headers and body are sent as they are. */
export interface RequestDraft extends OperationVariant {
  readonly agentId: string;
  readonly method: OperationRequest['method'];
  readonly url: string;
  readonly headers: readonly HeaderField[];
  readonly body: string;
  /** Adds the credentials that the console has for the agent. */
  readonly hasCredentials: boolean;
}

/** A request of the model. */
export type OperationModel = RequestOf[Operation];

/** An agent with its interfaces. */
export interface DraftAgent {
  readonly id: string;
  readonly url: string;
  readonly endpoints: readonly AgentEndpoint[];
}

/** Returns the interface for a variant; if the agent lists none, the most similar one. */
function findEndpoint(
  { endpoints, url }: DraftAgent,
  { version, transport }: Pick<OperationVariant, 'version' | 'transport'>,
): { readonly url: string; readonly tenant?: string } {
  return (
    endpoints.find((each) => each.transport === transport && each.version === version) ??
    endpoints.find((each) => each.transport === transport) ??
    endpoints.find((each) => each.transport !== 'GRPC') ?? { url }
  );
}

/** Returns a request with defaults. @param taskId - task that the operation refers to */
export function defaultModel(operation: Operation, taskId = ''): OperationModel {
  switch (operation) {
    case 'send':
    case 'stream':
      return { message: { messageId: crypto.randomUUID(), role: 'user', parts: [{ text: '' }] } };
    case 'getTask':
    case 'cancelTask':
    case 'subscribe':
      return { id: taskId };
    case 'createPushConfig':
      return { taskId, id: 'config-1', url: 'https://example.com/webhook' };
    case 'getPushConfig':
    case 'deletePushConfig':
      return { taskId, id: 'config-1' };
    case 'listPushConfigs':
      return { taskId };
    case 'listTasks':
    case 'extendedCard':
      return {};
  }
}

/** Creates a draft from a request of the model. */
export function createDraft(
  agent: DraftAgent,
  target: OperationVariant,
  model: OperationModel,
  losses?: TranslationLoss[],
): RequestDraft {
  const { operation, version, transport } = target;
  const written = writeOperationRequest(target, model, findEndpoint(agent, target), losses);
  return {
    agentId: agent.id,
    operation,
    version,
    transport,
    method: written.method,
    url: written.url,
    headers: Object.entries({ ...written.headers, 'user-agent': 'dragoman-console' }).map(
      ([name, value]) => ({
        name,
        value,
      }),
    ),
    body: formatBody(written.body),
    hasCredentials: true,
  };
}

/** Reads the model of a draft. @returns undefined if it is invalid */
export function readDraft(draft: RequestDraft): OperationModel | undefined {
  try {
    return readOperationRequest(draft, { ...draft, body: parseJsonOrUndefined(draft.body) });
  } catch {
    return undefined;
  }
}

/** Applies a change of the form. Members of the text that the form does not know stay. */
export function changeModel(
  draft: RequestDraft,
  agent: DraftAgent,
  { before, after }: { before: OperationModel; after: OperationModel },
): RequestDraft {
  const endpoint = findEndpoint(agent, draft);
  const [old, next] = [before, after].map((each) => asWritten(writeOperationRequest(draft, each, endpoint)));
  if (!old || !next) return draft;
  const body = mergeJson(parseJsonOrUndefined(draft.body), old.body, next.body);
  return {
    ...draft,
    method: next.method,
    // A URL that the user wrote stays while the form does not change it.
    url: old.url === next.url ? draft.url : next.url,
    body: next.body === undefined ? draft.body : formatBody(body),
  };
}

/** As on the wire, so that members that are undefined do not count. */
function asWritten(request: OperationRequest): OperationRequest {
  const { body } = request;
  return { ...request, body: body === undefined ? undefined : (JSON.parse(JSON.stringify(body)) as unknown) };
}

/** Headers that each version and transport sets to other values. */
const variantHeaders = new Set(['accept', 'content-type', 'a2a-version', 'te']);

/** A draft with its content in terms of the model. */
export interface EditedRequest {
  readonly draft: RequestDraft;
  /** What the form shows; undefined if the text cannot be read. */
  readonly model: OperationModel | undefined;
  /** What the version of the draft cannot express, after a translation. */
  readonly losses: readonly TranslationLoss[];
}

/** Writes a request for another agent, operation, version or transport. Headers of the user stay. */
export function retargetRequest(
  { draft, model: former }: Pick<EditedRequest, 'draft' | 'model'>,
  agent: DraftAgent,
  target: OperationVariant,
): EditedRequest {
  const losses: TranslationLoss[] = [];
  const model = convertModel(former, draft.operation, target.operation);
  const next = createDraft(agent, target, model, losses);
  const [from, to] = [draft, target].map((each) => dialectOfVariant(each)?.extensionsHeader);
  const kept = draft.headers
    .filter(({ name }) => !variantHeaders.has(name.toLowerCase()) && name.toLowerCase() !== 'user-agent')
    .map((each) =>
      from !== undefined && to !== undefined && each.name.toLowerCase() === from
        ? { ...each, name: to }
        : each,
    );
  const userAgent = draft.headers.filter(({ name }) => name.toLowerCase() === 'user-agent');
  const own = next.headers.filter(({ name }) => variantHeaders.has(name));
  return {
    draft: { ...next, headers: [...own, ...userAgent, ...kept], hasCredentials: draft.hasCredentials },
    model,
    losses,
  };
}

const isSend = (operation: Operation): boolean => operation === 'send' || operation === 'stream';

function convertModel(model: OperationModel | undefined, from: Operation, to: Operation): OperationModel {
  if (model && (from === to || (isSend(from) && isSend(to)))) return model;
  return defaultModel(to, model && taskIdOf(model));
}

/** Returns the task that a request refers to. */
function taskIdOf(model: OperationModel): string | undefined {
  const { message, taskId, id, clientTaskId } = model as {
    message?: { taskId?: string };
    taskId?: string;
    id?: string;
    clientTaskId?: string;
  };
  return message?.taskId ?? clientTaskId ?? taskId ?? id;
}

/** Returns the first operation of the variant, if the given one does not exist in it. */
export function supportedOperation(target: OperationVariant): Operation {
  return definesOperation(target) ? target.operation : 'send';
}

/** Sets or removes a header. */
export function withHeader(draft: RequestDraft, name: string, value: string): RequestDraft {
  const others = draft.headers.filter((each) => each.name.toLowerCase() !== name);
  return { ...draft, headers: value === '' ? others : [...others, { name, value }] };
}

/** Returns the value of a header; empty if it is missing. */
export function headerOf({ headers }: Pick<RequestDraft, 'headers'>, name: string): string {
  return headers.find((each) => each.name.toLowerCase() === name)?.value ?? '';
}

/** Formats a JSON body for the editor. */
export function formatBody(body: unknown): string {
  return body === undefined ? '' : JSON.stringify(body, undefined, 2);
}

/** Returns the parameters within the body: `params` of JSON-RPC, else the body. */
export function paramsOfBody({ transport }: Pick<RequestDraft, 'transport'>, body: unknown): unknown {
  return transport === 'JSONRPC' ? asJsonObject(body)?.params : body;
}
