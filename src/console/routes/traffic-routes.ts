import { randomUUID } from 'node:crypto';
import { invalidField } from '../../protocol/errors.ts';
import { readTrafficFile, writeTrafficFile } from '../../tap/traffic-file.ts';
import type { TrafficRecord } from '../../tap/traffic-record.ts';
import { exportScenario } from '../../tap/scenario/export-scenario.ts';
import type { TrafficLog } from '../../tap/traffic-log.ts';
import type { TrafficEvent } from '../console-api.ts';
import { trafficSelectionSchema, parseRequestBody } from './request-schemas.ts';
import type { JsonEventStream } from '../json-event-stream.ts';
import { emptyResponse, type ApiRoutes } from '../api-routes.ts';

/** How many passages go out at once. */
const batch = 250;
/** Milliseconds for which passages are gathered before they go out. */
const gathering = 20;

/** Shows what is seen on the wire. */
export function trafficRoutes(tape: TrafficLog): ApiRoutes {
  /** What was forgotten because somebody said so is no gap. */
  let cleared = 0;
  const id = randomUUID();
  return {
    'GET wire': ({ query }) => {
      const after = query.get('after') ?? '0';
      if (!/^\d{1,15}$/.test(after)) throw invalidField('after', 'must be the number of a passage');
      // A place on the tape of a console that is gone is none on this one.
      const place = (query.get('tape') ?? id) === id ? Number(after) : 0;
      return {
        stream: async (stream) => {
          await stream.send({ kind: 'tape', id } satisfies TrafficEvent);
          await play(tape, place, stream, () => cleared);
        },
      };
    },
    'DELETE wire': () => {
      cleared = tape.lastSequence;
      tape.clear();
      return emptyResponse;
    },
    'GET wire/file': () => ({
      file: writeTrafficFile(tape.recordsAfter()),
      name: 'wire.tap.jsonl',
      type: 'application/x-ndjson',
    }),
    'POST wire/file': ({ body }) => ({ json: { passages: readTrafficFile(body) } }),
    'POST wire/scenario': ({ body }) => ({ json: { yaml: exportScenario(passagesIn(body)) } }),
  };
}

/** The passages that the page chose, which are checked as those of a file are. */
function passagesIn(body: string): TrafficRecord[] {
  const { passages } = parseRequestBody(trafficSelectionSchema, body);
  return readTrafficFile(writeTrafficFile(passages as unknown as TrafficRecord[]));
}

/**
 * Plays what is kept, then what comes. Nothing is kept for the reader but its place: the tape is the only buffer, and
 * whoever is so slow that the tape has forgotten is told how much.
 */
async function play(
  tape: TrafficLog,
  after: number,
  stream: JsonEventStream,
  cleared: () => number,
): Promise<void> {
  let seen = after;
  while (!stream.signal.aborted) {
    const found = tape.recordsAfter(seen);
    const [oldest] = found;
    if (!oldest) {
      await news(tape, stream.signal);
      continue;
    }
    const events: TrafficEvent[] = found.slice(0, batch).map((passage) => ({ kind: 'passage', passage }));
    const missed = oldest.sequence - 1 - Math.max(seen, cleared());
    if (missed > 0) events.unshift({ kind: 'gap', missed });
    seen = oldest.sequence - 1 + Math.min(found.length, batch);
    await stream.send(...events);
  }
}

/** Waits for something new, and a moment longer, so that much at once is one piece. */
function news(tape: TrafficLog, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    let timer: NodeJS.Timeout | undefined;
    const done = (): void => {
      clearTimeout(timer);
      ignore();
      signal.removeEventListener('abort', done);
      resolve();
    };
    const ignore = tape.subscribe(() => {
      timer ??= setTimeout(done, gathering);
    });
    signal.addEventListener('abort', done);
  });
}
