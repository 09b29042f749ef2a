import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { drawDuration } from './duration.ts';
import type { Fault } from './fault.ts';
import { FaultyBody, removeHeaders } from './faulty-body.ts';
import { FaultyStream } from './faulty-stream.ts';
import { ResponseWriter } from './response-writer.ts';
import { type ReplacementResponse, replacementResponseFor } from './replacement-response.ts';
import type { FaultContext } from './fault-context.ts';

/** What takes the body of an answer. */
interface Body {
  write(chunk: string): boolean;
  end(): void;
  /** The reader is gone. */
  close(): void;
}

/** The rest of an answer that nobody gets. */
const nobody: Body = { write: () => true, end: () => {}, close: () => {} };

/**
 * Lets an answer go wrong on its way out. Whoever answers notices nothing.
 *
 * @param faults - gives the faults that strike; it is asked once, when the head is written.
 */
export function injectResponseFaults(
  response: ServerResponse,
  faults: () => readonly Fault[],
  tools: FaultContext,
): void {
  const line = new ResponseWriter(response);
  let body: Body | undefined;

  const begin = (status: number, headers: readonly string[], struck: readonly Fault[]): Body => {
    const hold = struck.find((fault) => fault.kind === 'delay');
    if (hold) {
      const release = line.hold();
      const cancel = tools.clock.after(drawDuration(hold.duration, tools.random), release);
      response.on('close', cancel);
    }
    const begun = beginBody(line, struck, tools, { status, headers });
    response.on('close', () => begun.close());
    return begun;
  };

  Object.assign(response, {
    writeHead(status: number, ...rest: unknown[]): ServerResponse {
      const struck = faults();
      if (struck.length > 0) {
        body = begin(status, headersOf(rest), struck);
        return response;
      }
      line.disarm();
      return response.writeHead(status, ...(rest as [string[]]));
    },
    write(chunk: string | Buffer): boolean {
      body ??= begin(response.statusCode, [], faults());
      return body.write(String(chunk));
    },
    end(chunk?: string | Buffer): ServerResponse {
      body ??= begin(response.statusCode, [], faults());
      if (chunk !== undefined && chunk.length > 0) body.write(String(chunk));
      body.end();
      return response;
    },
  });
}

interface Head {
  readonly status: number;
  readonly headers: readonly string[];
}

function beginBody(
  line: ResponseWriter,
  faults: readonly Fault[],
  tools: FaultContext,
  { status, headers }: Head,
): Body {
  for (const fault of faults) {
    const replacement = replacementResponseFor(fault);
    if (replacement) {
      replace(line, replacement);
      return nobody;
    }
    if (fault.kind === 'refuse' || (fault.kind === 'reset' && (fault.after ?? 0) === 0)) {
      line.reset(() => {
        if (fault.kind === 'refuse') tools.refuse?.(fault.duration);
      });
      return nobody;
    }
    if (fault.kind === 'cut' && fault.after === 0) {
      line.cut();
      return nobody;
    }
  }
  const isStream = typeOf(headers).startsWith('text/event-stream');
  const told = retyped(headers, faults);
  if (!isStream) return new FaultyBody(line, faults, status, told);
  line.head(status, told);
  const stream = new FaultyStream(line, faults, tools);
  stream.begin();
  return stream;
}

function replace(line: ResponseWriter, { status, headers, body }: ReplacementResponse): void {
  line.head(status, [...headers, 'Content-Length', String(Buffer.byteLength(body))]);
  line.end(body);
}

function retyped(headers: readonly string[], faults: readonly Fault[]): readonly string[] {
  const fault = faults.find(({ kind }) => kind === 'content-type') as { type: string } | undefined;
  return fault ? [...removeHeaders(headers, ['content-type']), 'Content-Type', fault.type] : headers;
}

function typeOf(headers: readonly string[]): string {
  const at = headers.findIndex((name, index) => index % 2 === 0 && name.toLowerCase() === 'content-type');
  return at < 0 ? '' : (headers[at + 1] ?? '');
}

/** The headers among what `writeHead` is called with, as name, value, name, value. */
function headersOf(rest: readonly unknown[]): string[] {
  const given = rest.find((each) => typeof each === 'object') as OutgoingHttpHeaders | string[] | undefined;
  if (Array.isArray(given)) return given;
  return Object.entries(given ?? {}).flatMap(([name, value]) =>
    [value].flat().flatMap((each) => [name, String(each)]),
  );
}
