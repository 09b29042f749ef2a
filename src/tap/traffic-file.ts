import * as z from 'zod';
import { taskStates } from '../protocol/task.ts';
import { A2AError } from '../protocol/errors.ts';
import type { TrafficRecord } from './traffic-record.ts';

/** The first line of a file. */
const header = JSON.stringify({ format: 'dragoman-tap', version: 1 });

const texts = z.record(z.string(), z.string());
const anything = z.record(z.string(), z.unknown());

const meaning = z.looseObject({
  version: z.enum(['0.1', '0.2', '0.3', '1.0']).optional(),
  binding: z.enum(['JSONRPC', 'HTTP+JSON', 'mesh']).optional(),
  operation: z.string().optional(),
  taskId: z.string().optional(),
  contextId: z.string().optional(),
  state: z.enum(taskStates).optional(),
  gist: z.string(),
  losses: z.array(z.looseObject({ path: z.string(), kind: z.string(), note: z.string() })).optional(),
  findings: z.array(z.looseObject({ rule: z.string(), level: z.string(), message: z.string() })).optional(),
  isError: z.boolean().optional(),
});

const passage = z.looseObject({
  at: z.number(),
  trip: z.string(),
  kind: z.enum(['request', 'response', 'frame', 'end', 'message', 'loss']),
  from: z.string(),
  to: z.string(),
  http: z
    .looseObject({ method: z.string(), url: z.string(), status: z.number().optional(), headers: texts })
    .optional(),
  mesh: z.looseObject({ topic: z.string(), properties: anything }).optional(),
  text: z.string(),
  cut: z.number().optional(),
  after: z.number().optional(),
  meaning: meaning.optional(),
});

/** Writes the file of a tap: a header, and one passage on each line. */
export function writeTrafficFile(passages: Iterable<TrafficRecord>): string {
  let text = trafficFileHeader;
  for (const each of passages) text += formatTrafficFileLine(each);
  return text;
}

/** What a file begins with. */
export const trafficFileHeader: string = `${header}\n`;

/** A passage as it stands in a file. */
export function formatTrafficFileLine(each: TrafficRecord): string {
  return `${JSON.stringify(each)}\n`;
}

/**
 * Reads the file of a tap. Runs that were appended to it are numbered on, and a last line that was not finished is left
 * out.
 *
 * @throws {@link A2AError} INVALID_PARAMS that names the line which is wrong.
 */
export function readTrafficFile(text: string): TrafficRecord[] {
  const lines = text.split('\n');
  // Whoever wrote it may have been stopped in the middle.
  const unfinished = lines.pop();
  if (lines.length === 0) lines.push(unfinished ?? '');
  const passages: TrafficRecord[] = [];
  if (lines[0]?.trim() === '') throw wrong(0, 'is not the beginning of the file of a tap');
  for (const [index, line] of lines.entries()) {
    if (line.trim() === '') continue;
    const value = parsed(line, index);
    const { format, version } = (value ?? {}) as { format?: unknown; version?: unknown };
    if (format === 'dragoman-tap') {
      if (version !== 1) throw wrong(index, `is of version ${String(version)}, which is not known here`);
    } else if (index === 0) throw wrong(0, 'is not the beginning of the file of a tap');
    else passages.push(passageOf(value, index, passages.length + 1));
  }
  return passages;
}

function passageOf(value: unknown, index: number, sequence: number): TrafficRecord {
  const { data, error } = passage.safeParse(value);
  if (data) return { ...(data as unknown as TrafficRecord), sequence };
  const { path, message } = error.issues[0] as z.core.$ZodIssue;
  throw wrong(index, `is no passage: ${path.join('.')}: ${message}`);
}

function parsed(line: string, index: number): unknown {
  try {
    return JSON.parse(line);
  } catch {
    throw wrong(index, index === 0 ? 'is not the beginning of the file of a tap' : 'is not JSON');
  }
}

function wrong(index: number, what: string): A2AError {
  return new A2AError('INVALID_PARAMS', `Line ${index + 1} ${what}`);
}
