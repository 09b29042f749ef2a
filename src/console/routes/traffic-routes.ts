import { randomUUID } from 'node:crypto';
import { invalidField } from '../../protocol/errors.ts';
import { formatHar } from '../../tap/har/write-har.ts';
import { readTraffic } from '../../tap/har/read-traffic.ts';
import { readTrafficFile, writeTrafficFile } from '../../tap/traffic-file.ts';
import type { TrafficRecord } from '../../tap/traffic-record.ts';
import { exportScenario } from '../../tap/scenario/export-scenario.ts';
import type { TrafficLog } from '../../tap/traffic-log.ts';
import type { TrafficEvent } from '../console-api.ts';
import { trafficSelectionSchema, parseRequestBody } from './request-schemas.ts';
import type { JsonEventStream } from '../json-event-stream.ts';
import type { Recordings } from '../sessions/recordings.ts';
import { emptyResponse, type ApiRoutes } from '../api-routes.ts';

/** Maximum number of records per write. */
const batchSize = 250;
/** Milliseconds for which new records are collected into one write. */
const batchDelay = 20;

/** Routes of the traffic view. */
export function trafficRoutes(trafficLog: TrafficLog, recordings: Recordings): ApiRoutes {
  /** Records up to this sequence number were cleared by the user and are not reported as a gap. */
  let clearedSequence = 0;
  const logId = randomUUID();
  return {
    'GET traffic': ({ query }) => {
      const after = query.get('after') ?? '0';
      if (!/^\d{1,15}$/.test(after)) throw invalidField('after', 'must be a sequence number');
      // A sequence number of another log, from before a restart, has no meaning here.
      const cursor = (query.get('log') ?? logId) === logId ? Number(after) : 0;
      return {
        stream: async (stream) => {
          await stream.send({ kind: 'log', id: logId } satisfies TrafficEvent);
          await sendRecords(trafficLog, cursor, stream, () => clearedSequence);
        },
      };
    },
    'DELETE traffic': () => {
      clearedSequence = trafficLog.lastSequence;
      trafficLog.clear();
      recordings.startAnother();
      return emptyResponse;
    },
    'GET traffic/file': () => ({
      file: writeTrafficFile(trafficLog.recordsAfter()),
      name: 'traffic.tap.jsonl',
      type: 'application/x-ndjson',
    }),
    'POST traffic/file': async ({ body, query }) => {
      const records = readTraffic(body);
      const name = query.get('name')?.trim().slice(0, 200) ?? '';
      if (name !== '') await recordings.keep(name, records);
      return { json: { records } };
    },
    'POST traffic/har': ({ body }) => ({
      file: formatHar(parseSelection(body)),
      name: 'traffic.har',
      type: 'application/json',
    }),
    'POST traffic/scenario': ({ body }) => ({ json: { yaml: exportScenario(parseSelection(body)) } }),
  };
}

/** The records selected on the page, validated like those of a file. */
function parseSelection(body: string): TrafficRecord[] {
  const { records } = parseRequestBody(trafficSelectionSchema, body);
  return readTrafficFile(writeTrafficFile(records as unknown as TrafficRecord[]));
}

/** Sends stored records, then new ones. The traffic log is the only buffer: a slow client gets a `gap` event. */
async function sendRecords(
  trafficLog: TrafficLog,
  after: number,
  stream: JsonEventStream,
  clearedSequence: () => number,
): Promise<void> {
  let cursor = after;
  while (!stream.signal.aborted) {
    const records = trafficLog.recordsAfter(cursor);
    const [oldest] = records;
    if (!oldest) {
      await waitForRecords(trafficLog, stream);
      continue;
    }
    const events: TrafficEvent[] = records.slice(0, batchSize).map((record) => ({ kind: 'record', record }));
    const missed = oldest.sequence - 1 - Math.max(cursor, clearedSequence());
    if (missed > 0) events.unshift({ kind: 'gap', missed });
    cursor = oldest.sequence - 1 + Math.min(records.length, batchSize);
    await stream.send(...events);
  }
}

/** Waits for a new record, and a short time longer to batch several. */
function waitForRecords(trafficLog: TrafficLog, stream: JsonEventStream): Promise<void> {
  return stream.waitFor((done) => {
    let timer: NodeJS.Timeout | undefined;
    const unsubscribe = trafficLog.subscribe(() => {
      timer ??= setTimeout(done, batchDelay);
    });
    return () => {
      clearTimeout(timer);
      unsubscribe();
    };
  });
}
