import { truncate } from '../../primitives/text.ts';
import { streamOpenContext } from '../../client/transports/stream-open-context.ts';
import type { EventReader } from '../../dialects/dialect.ts';
import type { TranslationLoss } from '../../dialects/translation-loss.ts';
import { readMeshCard } from '../../mesh/mesh-card.ts';
import { parseJsonOrUndefined } from '../../primitives/json.ts';
import type { SendRequest } from '../../protocol/requests.ts';
import type { DecodedContent } from '../traffic-record.ts';
import { findTaskReference, nonEmptyLosses, notReadable } from './task-reference.ts';
import { type IdentifiedOperation, identifyRpcOperation } from './identify-operation.ts';
import {
  summarizeCard,
  summarizeError,
  summarizeEvent,
  summarizeRequest,
  summarizeResult,
} from './summarize.ts';

/** Decodes the messages of one mesh request: the request, then updates and the response. */
export class MeshDecoder {
  #operation: IdentifiedOperation | undefined;
  #request: unknown;
  #reader: EventReader | undefined;

  request(payload: string): DecodedContent {
    this.#operation = identifyRpcOperation(parseJsonOrUndefined(payload), undefined);
    const identified = this.#operation;
    if (!identified) return undecodableContent(payload);
    const losses: TranslationLoss[] = [];
    try {
      const { dialect, operation, params, id = null } = identified;
      const model = dialect.requests[operation].read(params, { lenient: true, losses });
      this.#request = model;
      const reference = findTaskReference(model);
      // A request without a task id uses its request id as task id.
      const task = typeof id === 'string' && id !== '' ? { taskId: id, ...reference } : reference;
      const summary = summarizeRequest(operation, model);
      return { ...this.#common(), ...task, summary, model, ...nonEmptyLosses(losses) };
    } catch (thrown) {
      return { ...this.#common(), summary: notReadable(summarizeRequest(identified.operation), thrown) };
    }
  }

  /** Decodes a status update or the response. */
  response(payload: string, isUpdate: boolean): DecodedContent {
    const body = parseJsonOrUndefined(payload) as { result?: unknown; error?: unknown } | undefined;
    const identified = this.#operation ?? identifyRpcOperation({ method: 'message/stream' }, undefined);
    if (!identified || typeof body !== 'object' || body === null) return undecodableContent(payload);
    const losses: TranslationLoss[] = [];
    const { dialect, operation } = identified;
    try {
      if (body.error !== undefined) {
        const error = dialect.rpcError.read(body.error);
        const model = { reason: error.reason, message: error.message };
        return { ...this.#common(), summary: summarizeError(error), model, isError: true };
      }
      if (isUpdate) {
        const request = this.#request as SendRequest | undefined;
        this.#reader ??= dialect.eventReader(request?.message ? streamOpenContext('stream', request) : {});
        const events = this.#reader.read(body.result, { lenient: true, losses });
        const last = events.at(-1);
        const summary = last ? summarizeEvent(last) : 'update without content';
        const model = events.length === 1 ? last : events;
        return { ...this.#common(), ...findTaskReference(last), summary, model, ...nonEmptyLosses(losses) };
      }
      const unaryOperation = operation === 'stream' || operation === 'subscribe' ? 'send' : operation;
      const model = dialect.results[unaryOperation].read(body.result, { lenient: true, losses });
      const summary = summarizeResult(unaryOperation, model);
      return { ...this.#common(), ...findTaskReference(model), summary, model, ...nonEmptyLosses(losses) };
    } catch (thrown) {
      return { ...this.#common(), summary: notReadable(isUpdate ? 'update' : 'response', thrown) };
    }
  }

  #common(): Omit<DecodedContent, 'summary'> {
    if (!this.#operation) return { transport: 'mesh' };
    const { version, operation } = this.#operation;
    return { version, transport: 'mesh', operation };
  }
}

/** Decodes a discovery announcement. */
export function decodeAnnouncement(payload: string): DecodedContent {
  try {
    const { card, dialect } = readMeshCard(parseJsonOrUndefined(payload));
    const summary = `announces the ${summarizeCard(card)}`;
    return { version: dialect.version, transport: 'mesh', operation: 'card', summary, model: card };
  } catch {
    return undecodableContent(payload);
  }
}

/** Summarizes a message that cannot be decoded. */
export function undecodableContent(payload: string): DecodedContent {
  return { transport: 'mesh', summary: truncate(payload.replaceAll(/\s+/g, ' ').trim(), 80) };
}
