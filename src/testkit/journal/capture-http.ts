import type { IncomingMessage, ServerResponse } from 'node:http';
import type { CapturedHeaders } from './journal-entry.ts';

/** Observer of a response. */
interface ResponseListener {
  head(headers: CapturedHeaders): void;
  body(chunk: unknown, encoding: unknown): void;
  /** The server destroyed the connection. */
  destroyed(): void;
}

/** An overloaded method of Node.js. */
type Method = (...args: unknown[]) => never;

/** Observes the body of a request while it is read, without starting the flow of the stream. */
export function captureRequest(request: IncomingMessage, onChunk: (chunk: unknown) => void): void {
  const emit = request.emit.bind(request) as Method;
  const tapped = (event: string, ...args: unknown[]): boolean => {
    if (event === 'data') onChunk(args[0]);
    return emit(event, ...args);
  };
  Object.assign(request, { emit: tapped });
}

/** Observes a response. Attach it before fault injection: then it sees the response that is sent, including faults. */
export function captureResponse(response: ServerResponse, listener: ResponseListener): void {
  const writeHead = response.writeHead.bind(response) as Method;
  const write = response.write.bind(response) as Method;
  const end = response.end.bind(response) as Method;
  const destroy = response.destroy.bind(response) as Method;
  Object.assign(response, {
    writeHead(...args: unknown[]): ServerResponse {
      listener.head({ ...response.getHeaders(), ...parseHeadersArgument(args.at(-1)) } as CapturedHeaders);
      return writeHead(...args);
    },
    write(...args: unknown[]): boolean {
      listener.body(args[0], args[1]);
      return write(...args);
    },
    end(...args: unknown[]): ServerResponse {
      listener.body(args[0], args[1]);
      return end(...args);
    },
    destroy(...args: unknown[]): ServerResponse {
      listener.destroyed();
      return destroy(...args);
    },
  });
}

/** Returns the headers argument of `writeHead`: object, flat array or array of pairs. */
function parseHeadersArgument(argument: unknown): Record<string, unknown> {
  if (typeof argument !== 'object' || argument === null) return {};
  const headers: Record<string, unknown> = {};
  const put = (name: unknown, value: unknown): void => {
    headers[String(name).toLowerCase()] = Array.isArray(value) ? value.map(String) : String(value);
  };
  if (!Array.isArray(argument)) for (const [name, value] of Object.entries(argument)) put(name, value);
  else if (Array.isArray(argument[0])) for (const [name, value] of argument as unknown[][]) put(name, value);
  else for (let index = 0; index + 1 < argument.length; index += 2) put(argument[index], argument[index + 1]);
  return headers;
}
