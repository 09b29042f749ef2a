import type { IncomingMessage, ServerResponse } from 'node:http';
import { SseParser } from '../../primitives/formats/sse.ts';
import { isJsonObject, parseJsonOrUndefined } from '../../primitives/json.ts';
import type { CapturedExchange, ExchangeCapture } from './exchange-capture.ts';
import type { Journal } from './journal.ts';
import type { CapturedHeaders } from './journal-entry.ts';

/** Starts to capture a request of HTTP and its response. */
export function captureHttp(
  journal: Journal,
  request: IncomingMessage,
  response: ServerResponse,
): ExchangeCapture {
  const capture = journal.startCapture({
    method: request.method ?? 'GET',
    url: request.url ?? '/',
    headers: { ...request.headers },
    ...httpContent,
    endResponse() {
      if (response.writableEnded) return;
      // A stream without events still needs a response head.
      if (!response.headersSent) response.writeHead(200, { 'Content-Type': 'text/event-stream' });
      response.end();
    },
  });
  captureRequest(request, (chunk) => capture.requestReceived(chunk));
  let isDestroyedByServer = false;
  captureResponse(response, {
    head: (headers) => capture.headSent(headers),
    body: (chunk, encoding) => capture.bodySent(chunk, encoding),
    destroyed: () => {
      isDestroyedByServer = true;
    },
  });
  response.once('close', () => {
    const isAborted = isDestroyedByServer || capture.isFaulty;
    const end = response.writableFinished ? 'finished' : isAborted ? 'aborted' : 'client-disconnected';
    capture.close(response.statusCode, end);
  });
  return capture;
}

/** Reads JSON and server-sent events. */
const httpContent: Pick<CapturedExchange, 'readRequest' | 'readResponse' | 'transportOf'> = {
  readRequest(bytes) {
    const body = bytes.toString('utf8');
    return { body, json: parseJsonOrUndefined(body) };
  },
  readResponse(bytes, headers) {
    const isStream = /^text\/event-stream/i.test(String(headers['content-type']));
    return isStream
      ? { body: '', frames: parseFrames(bytes) }
      : { body: bytes.toString('utf8'), frames: undefined };
  },
  transportOf: ({ json }) => (isJsonObject(json) && 'method' in json ? 'JSONRPC' : 'HTTP+JSON'),
};

function parseFrames(bytes: Buffer): unknown[] {
  const frames: unknown[] = [];
  const parser = new SseParser({ event: ({ data }) => frames.push(parseJsonOrUndefined(data) ?? data) });
  parser.push(bytes);
  return frames;
}

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
function captureRequest(request: IncomingMessage, onChunk: (chunk: unknown) => void): void {
  const emit = request.emit.bind(request) as Method;
  const tapped = (event: string, ...args: unknown[]): boolean => {
    if (event === 'data') onChunk(args[0]);
    return emit(event, ...args);
  };
  Object.assign(request, { emit: tapped });
}

/** Observes a response. Attach it before fault injection: then it sees the response that is sent, including faults. */
function captureResponse(response: ServerResponse, listener: ResponseListener): void {
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
