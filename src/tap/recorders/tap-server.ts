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

/** How a server is recorded. */
export interface TapServerOptions extends TrafficRecorderOptions {
  /** What the agent is called on the tape. */
  readonly name: string;
  /** Callers that are not recorded, by what they call themselves. @defaultValue none */
  readonly except?: readonly string[];
}

/** What is asked by machines all the time and says nothing. */
const silent = /\/(?:healthz|readyz|metrics)$/;

const reasons: { readonly [E in Exclude<TrafficEnd, 'whole'>]: string } = {
  failed: 'The stream broke off because the agent failed',
  gone: 'The caller hung up',
  stalled: 'The caller did not read any more and was cut off',
};

/** Records what a server is asked and what it answers; goes into the options of the server. */
export function tapServer(tape: TrafficLog, options: TapServerOptions): Pick<ServerOptions, 'onTraffic'> {
  const recorder = new TrafficRecorder(tape, options);
  const { except = [] } = options;
  return {
    onTraffic(exchange) {
      if (silent.test(exchange.path)) return undefined;
      const userAgent = singleHeader(exchange.headers, 'user-agent');
      if (userAgent !== undefined && except.includes(userAgent)) return undefined;
      const from = clientName(exchange.authentication?.principal.id, userAgent);
      const { method, headers, body } = exchange;
      const to = (): string => options.name;
      const trip = new HttpExchangeRecorder(
        recorder,
        { from, to },
        { method, url: urlOf(exchange), headers },
        body,
      );
      return {
        replied(reply) {
          const isWhole = typeof reply.body === 'string' || reply.body === undefined;
          trip.response(reply.status, headersOf(reply), isWhole ? ((reply.body as string) ?? '') : undefined);
          // Whether all of it was read is not told: who is refused often hangs up.
          if (isWhole) trip.end('whole');
        },
        frame: (text) => trip.frame(text.trimEnd()),
        ended: (end) => trip.end(end === 'whole' ? end : { why: reasons[end] }),
      };
    },
  };
}

function urlOf({ headers, isSecure, path, query }: HttpServerRequest): string {
  const host = singleHeader(headers, 'host') ?? 'localhost';
  return `${isSecure ? 'https' : 'http'}://${host}${path}${query === '' ? '' : `?${query}`}`;
}

function headersOf({ headers }: HttpServerResponse): ObservedHeaders {
  const named: Record<string, string[]> = {};
  for (let at = 0; at < headers.length; at += 2)
    (named[(headers[at] ?? '').toLowerCase()] ??= []).push(headers[at + 1] ?? '');
  return named;
}
