import type { HttpClient, HttpRequest, HttpResponse } from '../../client/http/http-client.ts';
import { HttpExchangeRecorder } from './http-exchange-recorder.ts';
import { agentNameFromUrl } from '../participants.ts';
import { TrafficRecorder, type TrafficRecorderOptions } from './traffic-recorder.ts';
import type { TrafficLog } from '../traffic-log.ts';

/** How the requests of a client are recorded. */
export interface TapHttpClientOptions extends TrafficRecorderOptions {
  /** What the client is called on the tape. */
  readonly from: string;
  /** What the agent at an origin is called. @defaultValue its host and port */
  readonly to?: (origin: string) => string;
}

/** The headers of answers that say something; a client gives them by name only. */
const shown = [
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

/** Records what a client asks and what it is answered. */
export function tapHttpClient(http: HttpClient, tape: TrafficLog, options: TapHttpClientOptions): HttpClient {
  const recorder = new TrafficRecorder(tape, options);
  const { from, to = agentNameFromUrl } = options;
  return {
    async request(request) {
      const trip = tripOf(recorder, request, { from, to: () => to(request.origin) });
      try {
        return tapped(await http.request(request), trip);
      } catch (thrown) {
        trip.end({ why: request.signal?.aborted ? 'The caller did not wait' : reasonOf(thrown) });
        throw thrown;
      }
    },
    close: () => http.close(),
  };
}

function tripOf(
  recorder: TrafficRecorder,
  { method, origin, path, headers, body }: HttpRequest,
  parties: { from: string; to: () => string },
): HttpExchangeRecorder {
  return new HttpExchangeRecorder(recorder, parties, { method, url: origin + path, headers }, body);
}

function tapped(response: HttpResponse, trip: HttpExchangeRecorder): HttpResponse {
  const { status } = response;
  const headers: Record<string, string> = {};
  for (const name of shown) {
    const value = response.header(name);
    if (value !== undefined) headers[name] = value;
  }
  return {
    status,
    header: (name) => response.header(name),
    async text(limit) {
      try {
        const text = await response.text(limit);
        trip.response(status, headers, text);
        trip.end('whole');
        return text;
      } catch (thrown) {
        trip.response(status, headers, '');
        trip.end({ why: reasonOf(thrown) });
        throw thrown;
      }
    },
    async *chunks() {
      trip.response(status, headers);
      let end: Parameters<HttpExchangeRecorder['end']>[0] = { why: 'The caller hung up' };
      try {
        for await (const bytes of response.chunks()) {
          trip.chunk(bytes);
          yield bytes;
        }
        end = 'whole';
      } catch (thrown) {
        end = { why: reasonOf(thrown) };
        throw thrown;
      } finally {
        trip.end(end);
      }
    },
    discard() {
      trip.response(status, headers, '');
      trip.end('whole');
      response.discard();
    },
  };
}

function reasonOf(thrown: unknown): string {
  const { message, code } = thrown as { message?: unknown; code?: unknown };
  const said = typeof message === 'string' && message !== '' ? message : 'The connection broke off';
  return typeof code === 'string' && !said.includes(code) ? `${said} (${code})` : said;
}
