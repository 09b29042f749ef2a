import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { sampleDuration } from './duration.ts';
import type { Fault } from './fault.ts';
import { FaultyBody, removeHeaders } from './faulty-body.ts';
import { FaultyStream } from './faulty-stream.ts';
import { ResponseWriter } from './response-writer.ts';
import { type ReplacementResponse, replacementResponseFor } from './replacement-response.ts';
import type { FaultContext } from './fault-context.ts';

/** Receives the body of a response. */
interface ResponseBody {
  write(chunk: string): boolean;
  end(): void;
  /** Called when the client disconnects. */
  close(): void;
}

/** Discards the original body of a replaced response. */
const discardedBody: ResponseBody = { write: () => true, end: () => {}, close: () => {} };

/**
 * Fault injection: wraps the methods of a response, transparently for the code that writes it.
 *
 * @param faults - returns the selected faults; called once, when the head is written.
 */
export function injectResponseFaults(
  response: ServerResponse,
  faults: () => readonly Fault[],
  context: FaultContext,
): void {
  const writer = new ResponseWriter(response);
  let body: ResponseBody | undefined;

  const start = (status: number, headers: readonly string[], selected: readonly Fault[]): ResponseBody => {
    const delay = selected.find((fault) => fault.kind === 'delay');
    if (delay) {
      const release = writer.hold();
      const cancel = context.clock.after(sampleDuration(delay.duration, context.random), release);
      response.on('close', cancel);
    }
    const started = startBody(writer, selected, context, { status, headers });
    response.on('close', () => started.close());
    return started;
  };

  Object.assign(response, {
    writeHead(status: number, ...rest: unknown[]): ServerResponse {
      const selected = faults();
      if (selected.length > 0) {
        body = start(status, findHeaders(rest), selected);
        return response;
      }
      writer.detach();
      return response.writeHead(status, ...(rest as [string[]]));
    },
    write(chunk: string | Buffer): boolean {
      body ??= start(response.statusCode, [], faults());
      return body.write(String(chunk));
    },
    end(chunk?: string | Buffer): ServerResponse {
      body ??= start(response.statusCode, [], faults());
      if (chunk !== undefined && chunk.length > 0) body.write(String(chunk));
      body.end();
      return response;
    },
  });
}

interface ResponseHead {
  readonly status: number;
  readonly headers: readonly string[];
}

function startBody(
  writer: ResponseWriter,
  faults: readonly Fault[],
  context: FaultContext,
  { status, headers }: ResponseHead,
): ResponseBody {
  for (const fault of faults) {
    const replacement = replacementResponseFor(fault);
    if (replacement) {
      sendReplacement(writer, replacement);
      return discardedBody;
    }
    if (fault.kind === 'refuse' || (fault.kind === 'reset' && (fault.after ?? 0) === 0)) {
      writer.reset(() => {
        if (fault.kind === 'refuse') context.startOutage?.(fault.duration);
      });
      return discardedBody;
    }
    if (fault.kind === 'disconnect' && fault.after === 0) {
      writer.disconnect();
      return discardedBody;
    }
  }
  const isStream = contentTypeOf(headers).startsWith('text/event-stream');
  const sentHeaders = withContentType(headers, faults);
  if (!isStream) return new FaultyBody(writer, faults, status, sentHeaders);
  writer.writeHead(status, sentHeaders);
  const stream = new FaultyStream(writer, faults, context);
  stream.start();
  return stream;
}

function sendReplacement(writer: ResponseWriter, { status, headers, body }: ReplacementResponse): void {
  writer.writeHead(status, [...headers, 'Content-Length', String(Buffer.byteLength(body))]);
  writer.end(body);
}

function withContentType(headers: readonly string[], faults: readonly Fault[]): readonly string[] {
  const fault = faults.find(({ kind }) => kind === 'content-type') as { type: string } | undefined;
  return fault ? [...removeHeaders(headers, ['content-type']), 'Content-Type', fault.type] : headers;
}

function contentTypeOf(headers: readonly string[]): string {
  const at = headers.findIndex((name, index) => index % 2 === 0 && name.toLowerCase() === 'content-type');
  return at < 0 ? '' : (headers[at + 1] ?? '');
}

/** Returns the headers argument of `writeHead` as a flat list (name, value, …). */
function findHeaders(rest: readonly unknown[]): string[] {
  const argument = rest.find((each) => typeof each === 'object') as
    | OutgoingHttpHeaders
    | string[]
    | undefined;
  if (Array.isArray(argument)) return argument;
  return Object.entries(argument ?? {}).flatMap(([name, value]) =>
    [value].flat().flatMap((each) => [name, String(each)]),
  );
}
