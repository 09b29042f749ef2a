import * as z from 'zod';
import { taskStates } from '../protocol/task.ts';
import { A2AError } from '../protocol/errors.ts';
import type { TrafficRecord } from './traffic-record.ts';
import { parseBoundedJson } from '../primitives/json.ts';

/** First line of a traffic file. */
const header = JSON.stringify({ format: 'dragoman-tap', version: 1 });

const stringMap = z.record(z.string(), z.string());

const decodedContentSchema = z.looseObject({
  version: z.enum(['0.1', '0.2', '0.3', '1.0']).optional(),
  transport: z.enum(['JSONRPC', 'HTTP+JSON', 'GRPC', 'mesh']).optional(),
  operation: z.string().optional(),
  taskId: z.string().optional(),
  contextId: z.string().optional(),
  state: z.enum(taskStates).optional(),
  summary: z.string(),
  losses: z.array(z.looseObject({ path: z.string(), kind: z.string(), note: z.string() })).optional(),
  findings: z.array(z.looseObject({ rule: z.string(), level: z.string(), message: z.string() })).optional(),
  isError: z.boolean().optional(),
});

const trafficRecordSchema = z.looseObject({
  at: z.number(),
  exchangeId: z.string(),
  kind: z.enum(['request', 'response', 'frame', 'end', 'message', 'loss']),
  from: z.string(),
  to: z.string(),
  http: z
    .looseObject({ method: z.string(), url: z.string(), status: z.number().optional(), headers: stringMap })
    .optional(),
  mesh: z.looseObject({ topic: z.string(), properties: z.record(z.string(), z.unknown()) }).optional(),
  text: z.string(),
  truncatedBy: z.number().optional(),
  elapsed: z.number().optional(),
  decoded: decodedContentSchema.optional(),
});

/** Serializes traffic records as a traffic file: a header line, then one JSON record per line. */
export function writeTrafficFile(records: Iterable<TrafficRecord>): string {
  let text = trafficFileHeader;
  for (const record of records) text += formatTrafficFileLine(record);
  return text;
}

/** Header of a traffic file, including the line break. */
export const trafficFileHeader: string = `${header}\n`;

/** Serializes one record as a line of a traffic file. */
export function formatTrafficFileLine(record: TrafficRecord): string {
  return `${JSON.stringify(record)}\n`;
}

/**
 * Parses a traffic file. Appended runs are renumbered consecutively, and an incomplete last line is ignored.
 *
 * @throws {@link A2AError} `INVALID_PARAMS` with the number of the first invalid line.
 */
export function readTrafficFile(text: string): TrafficRecord[] {
  const lines = text.split('\n');
  // The writing process may have been stopped in the middle of a line.
  const unfinished = lines.pop();
  if (lines.length === 0) lines.push(unfinished ?? '');
  const records: TrafficRecord[] = [];
  if (lines[0]?.trim() === '') throw invalidLine(0, notATrafficFile);
  for (const [index, line] of lines.entries()) {
    if (line.trim() === '') continue;
    const value = parseLine(line, index);
    const { format, version } = (value ?? {}) as { format?: unknown; version?: unknown };
    if (format === 'dragoman-tap') {
      if (version !== 1) throw invalidLine(index, `has unsupported file version ${String(version)}`);
    } else if (index === 0) throw invalidLine(0, notATrafficFile);
    else records.push(parseRecord(value, index, records.length + 1));
  }
  return records;
}

const notATrafficFile = 'is not the header of a traffic file';

function parseRecord(value: unknown, index: number, sequence: number): TrafficRecord {
  const { data, error } = trafficRecordSchema.safeParse(value);
  if (data) return { ...(data as unknown as TrafficRecord), sequence };
  const { path, message } = error.issues[0] as z.core.$ZodIssue;
  throw invalidLine(index, `is not a traffic record: ${path.join('.')}: ${message}`);
}

function parseLine(line: string, index: number): unknown {
  try {
    return parseBoundedJson(line);
  } catch {
    throw invalidLine(index, index === 0 ? notATrafficFile : 'is not JSON');
  }
}

function invalidLine(index: number, what: string): A2AError {
  return new A2AError('INVALID_PARAMS', `Line ${index + 1} ${what}`);
}
