import { openingOf } from '../../client/transports/stream-open-context.ts';
import type { EventReader } from '../../dialects/dialect.ts';
import type { Loss } from '../../dialects/translation-loss.ts';
import { readMeshCard } from '../../mesh/mesh-card.ts';
import { A2AError } from '../../protocol/errors.ts';
import { readJson } from '../../primitives/json.ts';
import type { SendRequest } from '../../protocol/requests.ts';
import type { Meaning } from '../traffic-record.ts';
import { aboutOf, lost } from './task-reference.ts';
import { type Asked, askedByRpc } from './identify-operation.ts';
import { gistOfCard, gistOfError, gistOfEvent, gistOfRequest, gistOfResult, short } from './summarize.ts';

/** Tells what the messages of one request on a mesh mean, each in the light of what came before. */
export class MeshMeaning {
  #asked: Asked | undefined;
  #request: unknown;
  #reader: EventReader | undefined;

  request(payload: string): Meaning {
    this.#asked = askedByRpc(readJson(payload), undefined);
    const asked = this.#asked;
    if (!asked) return unreadable(payload);
    const losses: Loss[] = [];
    try {
      const { dialect, operation, params, id = null } = asked;
      const model = dialect.requests[operation].read(params, { lenient: true, losses, requestId: id });
      this.#request = model;
      const about = aboutOf(model);
      // The id of a request is the id of its task where the request names none.
      const taskId = about.taskId ?? (typeof id === 'string' ? id : undefined);
      const gist = gistOfRequest(operation, model);
      return { ...this.#known(), ...about, ...(taskId && { taskId }), gist, model, ...lost(losses) };
    } catch (thrown) {
      return { ...this.#known(), gist: notReadable(gistOfRequest(asked.operation), thrown) };
    }
  }

  /** An update, or the one answer. */
  answer(payload: string, isUpdate: boolean): Meaning {
    const body = readJson(payload) as { result?: unknown; error?: unknown } | undefined;
    const asked = this.#asked ?? askedByRpc({ method: 'message/stream' }, undefined);
    if (!asked || typeof body !== 'object' || body === null) return unreadable(payload);
    const losses: Loss[] = [];
    const { dialect, operation } = asked;
    try {
      if (body.error !== undefined) {
        const error = dialect.rpcError.read(body.error);
        const { reason, message } = error;
        return { ...this.#known(), gist: gistOfError(error), model: { reason, message }, isError: true };
      }
      if (isUpdate) {
        const request = this.#request as SendRequest | undefined;
        this.#reader ??= dialect.eventReader(request?.message ? openingOf('stream', request) : {});
        const events = this.#reader.read(body.result, { lenient: true, losses });
        const last = events.at(-1);
        const gist = last ? gistOfEvent(last) : 'an update that says nothing';
        const model = events.length === 1 ? last : events;
        return { ...this.#known(), ...aboutOf(last), gist, model, ...lost(losses) };
      }
      const asking = operation === 'stream' || operation === 'subscribe' ? 'send' : operation;
      const model = dialect.results[asking].read(body.result, { lenient: true, losses });
      return {
        ...this.#known(),
        ...aboutOf(model),
        gist: gistOfResult(asking, model),
        model,
        ...lost(losses),
      };
    } catch (thrown) {
      return { ...this.#known(), gist: notReadable(isUpdate ? 'an update' : 'an answer', thrown) };
    }
  }

  #known(): Omit<Meaning, 'gist'> {
    if (!this.#asked) return { binding: 'mesh' };
    const { version, operation } = this.#asked;
    return { version, binding: 'mesh', operation };
  }
}

/** What an announcement on a mesh means. */
export function meaningOfAnnouncement(payload: string): Meaning {
  try {
    const { card, dialect } = readMeshCard(readJson(payload));
    const { version } = dialect;
    return {
      version,
      binding: 'mesh',
      operation: 'card',
      gist: `announces the ${gistOfCard(card)}`,
      model: card,
    };
  } catch {
    return unreadable(payload);
  }
}

/** What a message means that nobody can read. */
export function unreadable(payload: string): Meaning {
  return { binding: 'mesh', gist: short(payload.replaceAll(/\s+/g, ' ').trim(), 80) };
}

function notReadable(what: string, thrown: unknown): string {
  return short(`${what}, not readable: ${A2AError.from(thrown).message}`, 160);
}
