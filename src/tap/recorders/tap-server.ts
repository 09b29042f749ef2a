import {
  type HttpServerRequest,
  singleHeader,
  type HttpServerResponse,
} from '../../server/http/http-message.ts';
import type { ServerOptions } from '../../server/server-options.ts';
import type { TrafficEnd } from '../../server/telemetry/traffic-observer.ts';
import { HttpExchangeRecorder, type ObservedHeaders } from './http-exchange-recorder.ts';
import { clientName } from '../participants.ts';
import { TrafficRecorder, type TrafficRecorderOptions } from './traffic-recorder.ts';
import type { TrafficLog } from '../traffic-log.ts';

/** Options of {@link tapServer}. */
export interface TapServerOptions extends TrafficRecorderOptions {
  /** Name of the agent in the traffic log. */
  readonly name: string;
  /** Clients that are not recorded, by their exact `User-Agent` header. @defaultValue none */
  readonly excludedUserAgents?: readonly string[];
}

/** Paths that monitoring tools poll, which are not recorded. */
const unrecordedPaths = /\/(?:healthz|readyz|metrics)$/;

const endReasons: { readonly [E in Exclude<TrafficEnd, 'complete'>]: string } = {
  failed: 'The stream was interrupted because the agent failed',
  disconnected: 'The client disconnected',
  stalled: 'The client stopped reading and was disconnected',
};

/** Returns server options that record all requests and responses of a server. */
export function tapServer(log: TrafficLog, options: TapServerOptions): Pick<ServerOptions, 'onTraffic'> {
  const recorder = new TrafficRecorder(log, options);
  const { excludedUserAgents = [] } = options;
  return {
    onTraffic(request) {
      if (unrecordedPaths.test(request.path)) return undefined;
      const userAgent = singleHeader(request.headers, 'user-agent');
      if (userAgent !== undefined && excludedUserAgents.includes(userAgent)) return undefined;
      const from = clientName(request.authentication?.principal.id, userAgent);
      const { method, headers, body } = request;
      const to = (): string => options.name;
      const exchange = new HttpExchangeRecorder(
        recorder,
        { from, to },
        { method, url: requestUrl(request), headers },
        body,
      );
      return {
        responded(response) {
          const isBuffered = typeof response.body === 'string' || response.body === undefined;
          exchange.response(
            response.status,
            groupHeaders(response),
            isBuffered ? ((response.body as string) ?? '') : undefined,
          );
          // Whether the client read all of it is unknown: rejected clients often disconnect early.
          if (isBuffered) exchange.end('complete');
        },
        frame: (text) => exchange.frame(text.trimEnd()),
        ended: (end) => exchange.end(end === 'complete' ? end : { reason: endReasons[end] }),
      };
    },
  };
}

function requestUrl({ headers, isSecure, path, query }: HttpServerRequest): string {
  const host = singleHeader(headers, 'host') ?? 'localhost';
  return `${isSecure ? 'https' : 'http'}://${host}${path}${query === '' ? '' : `?${query}`}`;
}

function groupHeaders({ headers }: HttpServerResponse): ObservedHeaders {
  const grouped: Record<string, string[]> = {};
  for (let at = 0; at < headers.length; at += 2)
    (grouped[(headers[at] ?? '').toLowerCase()] ??= []).push(headers[at + 1] ?? '');
  return grouped;
}
