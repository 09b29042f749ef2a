import type * as z from 'zod';
import { parseBoundedJson } from '../../primitives/json.ts';
import { A2AError } from '../../protocol/errors.ts';
import { agentNameFromUrl, clientName } from '../participants.ts';
import { HttpExchangeRecorder } from '../recorders/http-exchange-recorder.ts';
import { TrafficRecorder } from '../recorders/traffic-recorder.ts';
import { TrafficLog } from '../traffic-log.ts';
import type { TrafficRecord } from '../traffic-record.ts';
import { type HarEntry, harSchema } from './har-schema.ts';

/** Limits of the records of one archive; the oldest are removed first. */
const logLimits = { maxRecords: 100_000, maxCharacters: 64 * 1_024 * 1_024 };

/** Returns true for the text of an HTTP archive, which is one JSON object with the member `log`. */
export function isHar(text: string): boolean {
  return /^\uFEFF?\s*\{\s*"log"\s*:/.test(text.slice(0, 1_024));
}

/**
 * Parses an HTTP archive (HAR 1.2). Its exchanges are decoded and redacted like live traffic.
 *
 * @throws {@link A2AError} `INVALID_PARAMS` with the first invalid member.
 */
export function readHar(text: string): TrafficRecord[] {
  const { data, error } = harSchema.safeParse(parse(text));
  if (!data) {
    const { path, message } = error.issues[0] as z.core.$ZodIssue;
    throw new A2AError('INVALID_PARAMS', `Not an HTTP archive (HAR 1.2): ${path.join('.')}: ${message}`);
  }
  const log = new TrafficLog(logLimits);
  let now = 0;
  const recorder = new TrafficRecorder(log, { now: () => now });
  for (const entry of data.log.entries)
    replay(recorder, entry, (at) => {
      now = at;
    });
  // Exchanges overlap.
  return log
    .recordsAfter()
    .toSorted((a, b) => a.at - b.at)
    .map((record, index) => ({ ...record, sequence: index + 1 }));
}

function parse(text: string): unknown {
  try {
    return parseBoundedJson(text.replace(/^\uFEFF/, ''));
  } catch {
    throw new A2AError('INVALID_PARAMS', 'Not an HTTP archive (HAR 1.2): it is not JSON');
  }
}

function replay(recorder: TrafficRecorder, entry: HarEntry, setTime: (at: number) => void): void {
  const { request, response, time, timings, _exchange: recorded } = entry;
  const start = Date.parse(entry.startedDateTime);
  const headers = toHeaders(request.headers);
  const to = recorded?.to ?? agentNameFromUrl(new URL(request.url).origin);
  const from = recorded?.from ?? clientName(undefined, headers['user-agent']);
  setTime(start);
  const exchange = new HttpExchangeRecorder(
    recorder,
    { from, to: () => to },
    { method: request.method, url: request.url, headers },
    request.postData?.text ?? '',
  );
  const { mimeType, text = '', encoding } = response.content;
  const isStream = /^text\/event-stream\b/i.test(mimeType);
  const body = encoding === 'base64' ? Buffer.from(text, 'base64').toString('utf8') : text;
  setTime(start + Math.max(0, timings.send) + Math.max(0, timings.wait));
  // Status 0: there was no response.
  if (response.status > 0)
    exchange.response(response.status, toHeaders(response.headers), isStream ? '' : body, isStream);
  if (isStream)
    for (const [index, frame] of splitFrames(body).entries()) {
      setTime(start + (recorded?.frames?.[index] ?? time));
      exchange.frame(frame);
    }
  setTime(start + Math.max(0, time));
  const reason = recorded?.end ?? (response.status === 0 ? 'There was no response' : undefined);
  exchange.end(reason === undefined ? 'complete' : { reason });
  recorder.decodeQueue.drain();
}

/** Splits a stream into its events, without comments between them. */
function splitFrames(body: string): string[] {
  return body
    .replaceAll(/\r\n?/g, '\n')
    .split(/\n{2,}/)
    .map((frame) => frame.trim())
    .filter((frame) => frame.split('\n').some((line) => line !== '' && !line.startsWith(':')));
}

/** Joins headers of the same name. Pseudo headers of HTTP/2 are left out. */
function toHeaders(pairs: HarEntry['request']['headers']): Record<string, string> {
  const headers = new Map<string, string>();
  for (const { name, value } of pairs) {
    const key = name.toLowerCase();
    const before = headers.get(key);
    if (!key.startsWith(':')) headers.set(key, before === undefined ? value : `${before}, ${value}`);
  }
  return Object.fromEntries(headers);
}
