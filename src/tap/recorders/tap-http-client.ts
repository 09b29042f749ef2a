import type { HttpClient, HttpResponse } from '../../client/http/http-client.ts';
import { type ExchangeEnd, HttpExchangeRecorder } from './http-exchange-recorder.ts';
import { agentNameFromUrl } from '../participants.ts';
import { TrafficRecorder, type TrafficRecorderOptions } from './traffic-recorder.ts';
import type { TrafficLog } from '../traffic-log.ts';

/** Options of {@link tapHttpClient}. */
export interface TapHttpClientOptions extends TrafficRecorderOptions {
  /** Name of the client in the traffic log. */
  readonly from: string;
  /** Returns the name of the agent at an origin. @defaultValue host and port */
  readonly to?: (origin: string) => string;
}

/** Recorded response headers of clients that do not list the names. */
const recordedHeaders = [
  'content-type',
  'content-length',
  'a2a-version',
  'a2a-extensions',
  'x-a2a-extensions',
  'cache-control',
  'etag',
  'location',
  'retry-after',
  'server',
  'www-authenticate',
];

/** Records the requests and responses of an HTTP client. */
export function tapHttpClient(http: HttpClient, log: TrafficLog, options: TapHttpClientOptions): HttpClient {
  const recorder = new TrafficRecorder(log, options);
  const { from, to = agentNameFromUrl } = options;
  return {
    async request(request) {
      const { method, origin, path, headers, body } = request;
      const participants = { from, to: () => to(origin) };
      const exchange = new HttpExchangeRecorder(
        recorder,
        participants,
        { method, url: origin + path, headers },
        typeof body === 'object' ? { bytes: [body], length: body.length } : body,
      );
      try {
        return recordResponse(await http.request(request), exchange);
      } catch (thrown) {
        exchange.end({
          reason: request.signal?.aborted ? 'The client aborted the request' : describeError(thrown),
        });
        throw thrown;
      }
    },
    supportsHttp2: () => http.supportsHttp2?.() ?? false,
    close: () => http.close(),
  };
}

function recordResponse(response: HttpResponse, exchange: HttpExchangeRecorder): HttpResponse {
  const { status } = response;
  const names = response.headerNames?.() ?? recordedHeaders;
  const headers = headersOf(response, names);
  return {
    status,
    header: (name) => response.header(name),
    headerNames: () => names,
    trailer: (name) => response.trailer?.(name),
    async text(limit) {
      try {
        const text = await response.text(limit);
        exchange.response(status, headers, text);
        exchange.end('complete');
        return text;
      } catch (thrown) {
        exchange.response(status, headers, '');
        exchange.end({ reason: describeError(thrown) });
        throw thrown;
      }
    },
    async *chunks() {
      exchange.response(status, headers);
      let end: ExchangeEnd = { reason: 'The client disconnected' };
      try {
        for await (const bytes of response.chunks()) {
          exchange.chunk(bytes);
          yield bytes;
        }
        end = 'complete';
      } catch (thrown) {
        end = { reason: describeError(thrown) };
        throw thrown;
      } finally {
        exchange.end(end);
      }
    },
    discard() {
      exchange.response(status, headers, '');
      exchange.end('complete');
      response.discard();
    },
  };
}

/** Returns the values of headers. */
export function headersOf(
  response: Pick<HttpResponse, 'header' | 'headerNames'>,
  names: readonly string[] = response.headerNames?.() ?? [],
): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const name of names) {
    const value = response.header(name);
    if (value !== undefined) headers[name] = value;
  }
  return headers;
}

function describeError(thrown: unknown): string {
  const { message, code } = thrown as { message?: unknown; code?: unknown };
  const text = typeof message === 'string' && message !== '' ? message : 'The connection was closed';
  return typeof code === 'string' && !text.includes(code) ? `${text} (${code})` : text;
}
