import type { IncomingMessage, ServerResponse } from 'node:http';
import type { CapturedHeaders } from './journal-entry.ts';

/** Who hears what passes. */
interface Hearing {
  /** The head of the answer. */
  head(headers: CapturedHeaders): void;
  /** A piece of the answer. */
  body(chunk: unknown, encoding: unknown): void;
  /** The connection is broken from this side. */
  destroyed(): void;
}

/** A method of Node, whatever forms it takes. */
type Method = (...args: unknown[]) => never;

/** Hears the body of a request when somebody reads it, and does not make it flow. */
export function captureRequest(request: IncomingMessage, take: (chunk: unknown) => void): void {
  const emit = request.emit.bind(request) as Method;
  const tapped = (event: string, ...args: unknown[]): boolean => {
    if (event === 'data') take(args[0]);
    return emit(event, ...args);
  };
  Object.assign(request, { emit: tapped });
}

/** Hears an answer as it goes out. Put on first it is closest to the wire, and hears what faults make of the answer. */
export function captureResponse(response: ServerResponse, hearing: Hearing): void {
  const writeHead = response.writeHead.bind(response) as Method;
  const write = response.write.bind(response) as Method;
  const end = response.end.bind(response) as Method;
  const destroy = response.destroy.bind(response) as Method;
  Object.assign(response, {
    writeHead(...args: unknown[]): ServerResponse {
      hearing.head({ ...response.getHeaders(), ...headersOf(args.at(-1)) } as CapturedHeaders);
      return writeHead(...args);
    },
    write(...args: unknown[]): boolean {
      hearing.body(args[0], args[1]);
      return write(...args);
    },
    end(...args: unknown[]): ServerResponse {
      hearing.body(args[0], args[1]);
      return end(...args);
    },
    destroy(...args: unknown[]): ServerResponse {
      hearing.destroyed();
      return destroy(...args);
    },
  });
}

/** The headers that `writeHead` was given, in any of the forms it takes. */
function headersOf(given: unknown): Record<string, unknown> {
  if (typeof given !== 'object' || given === null) return {};
  const headers: Record<string, unknown> = {};
  const put = (name: unknown, value: unknown): void => {
    headers[String(name).toLowerCase()] = Array.isArray(value) ? value.map(String) : String(value);
  };
  if (!Array.isArray(given)) for (const [name, value] of Object.entries(given)) put(name, value);
  else if (Array.isArray(given[0])) for (const [name, value] of given as unknown[][]) put(name, value);
  else for (let at = 0; at + 1 < given.length; at += 2) put(given[at], given[at + 1]);
  return headers;
}
