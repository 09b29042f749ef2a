import { streamOpenContext } from '../../client/transports/stream-open-context.ts';
import type { EventReader } from '../../dialects/dialect.ts';
import type { TranslationLoss } from '../../dialects/translation-loss.ts';
import { readMeshCard } from '../../mesh/mesh-card.ts';
import { A2AError } from '../../protocol/errors.ts';
import { parseJsonOrUndefined } from '../../primitives/json.ts';
import type { SendRequest } from '../../protocol/requests.ts';
import type { DecodedContent } from '../traffic-record.ts';
import { findTaskReference, nonEmptyLosses } from './task-reference.ts';
import { type IdentifiedOperation, identifyRpcOperation } from './identify-operation.ts';
import {
  summarizeCard,
  summarizeError,
  summarizeEvent,
  summarizeRequest,
  summarizeResult,
  truncateSummary,
} from './summarize.ts';

/** Tells what the messages of one request on a mesh mean, each in the light of what came before. */
export class MeshDecoder {
  #asked: IdentifiedOperation | undefined;
  #request: unknown;
  #reader: EventReader | undefined;

  request(payload: string): DecodedContent {
    this.#asked = identifyRpcOperation(parseJsonOrUndefined(payload), undefined);
    const asked = this.#asked;
    if (!asked) return undecodableContent(payload);
    const losses: TranslationLoss[] = [];
    try {
      const { dialect, operation, params, id = null } = asked;
      const model = dialect.requests[operation].read(params, { lenient: true, losses, requestId: id });
      this.#request = model;
      const about = findTaskReference(model);
      // The id of a request is the id of its task where the request names none.
      const taskId = about.taskId ?? (typeof id === 'string' ? id : undefined);
      const summary = summarizeRequest(operation, model);
      return {
        ...this.#known(),
        ...about,
        ...(taskId && { taskId }),
        summary,
        model,
        ...nonEmptyLosses(losses),
      };
    } catch (thrown) {
      return { ...this.#known(), summary: notReadable(summarizeRequest(asked.operation), thrown) };
    }
  }

  /** An update, or the one answer. */
  answer(payload: string, isUpdate: boolean): DecodedContent {
    const body = parseJsonOrUndefined(payload) as { result?: unknown; error?: unknown } | undefined;
    const asked = this.#asked ?? identifyRpcOperation({ method: 'message/stream' }, undefined);
    if (!asked || typeof body !== 'object' || body === null) return undecodableContent(payload);
    const losses: TranslationLoss[] = [];
    const { dialect, operation } = asked;
    try {
      if (body.error !== undefined) {
        const error = dialect.rpcError.read(body.error);
        const { reason, message } = error;
        return {
          ...this.#known(),
          summary: summarizeError(error),
          model: { reason, message },
          isError: true,
        };
      }
      if (isUpdate) {
        const request = this.#request as SendRequest | undefined;
        this.#reader ??= dialect.eventReader(request?.message ? streamOpenContext('stream', request) : {});
        const events = this.#reader.read(body.result, { lenient: true, losses });
        const last = events.at(-1);
        const summary = last ? summarizeEvent(last) : 'an update that says nothing';
        const model = events.length === 1 ? last : events;
        return { ...this.#known(), ...findTaskReference(last), summary, model, ...nonEmptyLosses(losses) };
      }
      const asking = operation === 'stream' || operation === 'subscribe' ? 'send' : operation;
      const model = dialect.results[asking].read(body.result, { lenient: true, losses });
      return {
        ...this.#known(),
        ...findTaskReference(model),
        summary: summarizeResult(asking, model),
        model,
        ...nonEmptyLosses(losses),
      };
    } catch (thrown) {
      return { ...this.#known(), summary: notReadable(isUpdate ? 'an update' : 'an answer', thrown) };
    }
  }

  #known(): Omit<DecodedContent, 'summary'> {
    if (!this.#asked) return { binding: 'mesh' };
    const { version, operation } = this.#asked;
    return { version, binding: 'mesh', operation };
  }
}

/** What an announcement on a mesh means. */
export function decodeAnnouncement(payload: string): DecodedContent {
  try {
    const { card, dialect } = readMeshCard(parseJsonOrUndefined(payload));
    const { version } = dialect;
    return {
      version,
      binding: 'mesh',
      operation: 'card',
      summary: `announces the ${summarizeCard(card)}`,
      model: card,
    };
  } catch {
    return undecodableContent(payload);
  }
}

/** What a message means that nobody can read. */
export function undecodableContent(payload: string): DecodedContent {
  return { binding: 'mesh', summary: truncateSummary(payload.replaceAll(/\s+/g, ' ').trim(), 80) };
}

function notReadable(what: string, thrown: unknown): string {
  return truncateSummary(`${what}, not readable: ${A2AError.from(thrown).message}`, 160);
}
