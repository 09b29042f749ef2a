import type { HttpClient, HttpRequest, HttpResponse } from '../../client/http/http-client.ts';
import {
  type ExchangeEnd,
  type ExchangeParticipants,
  HttpExchangeRecorder,
} from './http-exchange-recorder.ts';
import { agentNameFromUrl } from '../participants.ts';
import { tapGrpcCall } from './tap-grpc-call.ts';
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

/** Records one exchange of a client. Nothing is recorded after its end. */
export interface ClientExchange {
  /** Records the start of the response. Without `body`, the body follows in chunks. */
  response(status: number, headers: Record<string, string>, body?: string): void;
  chunk(bytes: Uint8Array): void;
  /** @param response - its trailers; undefined if the body was not read to its end. */
  end(end: ExchangeEnd, response?: HttpResponse): void;
}

/** Records the requests and responses of an HTTP client. */
export function tapHttpClient(http: HttpClient, log: TrafficLog, options: TapHttpClientOptions): HttpClient {
  const recorder = new TrafficRecorder(log, options);
  const { from, to = agentNameFromUrl } = options;
  return {
    async request(request) {
      const participants = { from, to: () => to(request.origin) };
      const exchange = request.http2
        ? tapGrpcCall(recorder, participants, request)
        : tapHttpExchange(recorder, participants, request);
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

function tapHttpExchange(
  recorder: TrafficRecorder,
  participants: ExchangeParticipants,
  { method, origin, path, headers, body }: HttpRequest,
): ClientExchange {
  return new HttpExchangeRecorder(
    recorder,
    participants,
    { method, url: origin + path, headers },
    typeof body === 'object' ? { bytes: [body], length: body.length } : body,
  );
}

function recordResponse(response: HttpResponse, exchange: ClientExchange): HttpResponse {
  const { status } = response;
  const names = response.headerNames?.() ?? recordedHeaders;
  const headers = headersOf(response, names);
  let isOver = false;
  const end = (how: ExchangeEnd, complete?: HttpResponse): void => {
    if (isOver) return;
    isOver = true;
    exchange.end(how, complete);
  };
  return {
    status,
    header: (name) => response.header(name),
    headerNames: () => names,
    trailer: (name) => response.trailer?.(name),
    async text(limit) {
      try {
        const text = await response.text(limit);
        exchange.response(status, headers, text);
        end('complete', response);
        return text;
      } catch (thrown) {
        exchange.response(status, headers, '');
        end({ reason: describeError(thrown) });
        throw thrown;
      }
    },
    async *chunks() {
      exchange.response(status, headers);
      try {
        for await (const bytes of response.chunks()) {
          exchange.chunk(bytes);
          yield bytes;
        }
        end('complete', response);
      } catch (thrown) {
        end({ reason: describeError(thrown) });
        throw thrown;
      } finally {
        end({ reason: 'The client disconnected' });
      }
    },
    discard() {
      exchange.response(status, headers, '');
      end('complete');
      response.discard();
    },
  };
}

/** Returns the values of headers. */
function headersOf(response: HttpResponse, names: readonly string[]): Record<string, string> {
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
