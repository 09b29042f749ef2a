import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { A2AError, errorTable, invalidField } from '../../protocol/errors.ts';
import { SameOriginCheck } from '../../primitives/web/same-origin-check.ts';
import { type HttpServerResponse, jsonResponse } from '../../server/http/http-message.ts';
import { withRetryAfter } from '../../server/limits/limits.ts';
import { type ExchangeLimitOptions, ExchangeLimits } from '../../server/node/exchange-limits.ts';
import { listen } from '../../server/node/listen.ts';
import { defaultGrpc } from '../../server/grpc/grpc-options.ts';
import { rejectUnread } from '../../server/node/request-body.ts';
import type { CorsOptions } from '../../server/server-options.ts';
import { agentNameFromUrl } from '../participants.ts';
import { TrafficRecorder, type TrafficRecorderOptions } from '../recorders/traffic-recorder.ts';
import type { TrafficLog } from '../traffic-log.ts';
import { type CardRewrite, rewriteCardBody } from './rewrite-card.ts';
import { GrpcProxy } from './grpc/grpc-proxy.ts';
import type { GrpcServiceVersion } from './grpc/rewrite-grpc-address.ts';
import { addApiKeysOfCard, recordCard } from '../recorders/record-card.ts';
import { prefetchCard } from './prefetch-card.ts';
import { proxyRequest } from './proxy-request.ts';
import { stripTrailing } from '../../primitives/text.ts';
import { parseUrl } from '../../primitives/web/parse-url.ts';

/** Options of {@link runTap}. */
export interface RunTapOptions
  extends TrafficRecorderOptions,
    Readonly<Pick<ExchangeLimitOptions, 'limits' | 'stallTimeout'>> {
  /** URL of the agent. */
  readonly to: string;
  readonly trafficLog: TrafficLog;
  /** @defaultValue 0, a free port */
  readonly port?: number;
  /** @defaultValue `127.0.0.1` */
  readonly host?: string;
  /** Name of the agent in the traffic log. @defaultValue the name in its card, which is fetched once at the start */
  readonly name?: string;
  /** Records the card at the start, for clients that do not fetch it. @defaultValue false */
  readonly recordsCard?: boolean;
  /** Host names that clients may use, besides local names. */
  readonly allowedHosts?: readonly string[];
  /** Web pages of other origins that may use the tap; the agent sends the CORS headers. @defaultValue only its own origin */
  readonly cors?: CorsOptions;
  /** Called once for each condition that makes the recording incomplete. */
  readonly onWarning?: (warning: string) => void;
}

/** A running tap. */
export interface RunningTap extends AsyncDisposable {
  /** URL for clients, with the path of the target. */
  readonly url: string;
  /** Name of the agent. */
  readonly name: string;
  /** Stops the tap and waits until all traffic is recorded. @param timeout - milliseconds for requests in progress. */
  stop(timeout?: number): Promise<void>;
}

/**
 * Runs a recording proxy in front of an agent. Paths stay the same; URLs of the target in cards are replaced by the tap,
 * so that clients keep using it.
 */
export async function runTap(options: RunTapOptions): Promise<RunningTap> {
  const target = parseTargetUrl(options.to);
  const recorder = new TrafficRecorder(options.trafficLog, options);
  const warned = new Set<string>();
  const warn = (warning: string): void => {
    if (warned.size > 100 || warned.has(warning)) return;
    warned.add(warning);
    options.onWarning?.(warning);
  };
  let name = options.name ?? agentNameFromUrl(target.host);
  let url = '';
  const grpcAddresses = new Map<GrpcServiceVersion, string>();
  const limits = new ExchangeLimits(options);
  const sameOrigin = new SameOriginCheck({
    allowedHosts: options.allowedHosts,
    origins: options.cors?.origins,
  });
  const context = {
    target,
    recorder,
    limits,
    name: () => name,
    url: () => url,
    onCard(card: CardRewrite) {
      if (options.name === undefined && card.name !== undefined) name = card.name.slice(0, 80);
      if (card.breaksSignature)
        warn(
          'The card is signed, and the URL of the tap invalidates the signature. Clients that verify it reject the card.',
        );
      for (const [version, origin] of card.grpc) grpcAddresses.set(version, origin);
      for (const origin of card.otherOrigins)
        warn(
          `The card also lists ${origin}, whose traffic bypasses the tap. Start another tap with --to ${origin} to record it.`,
        );
    },
  };
  const checkOrigin = (...request: Parameters<SameOriginCheck['problem']>): void => {
    const problem = sameOrigin.problem(...request);
    if (problem !== undefined) throw new A2AError('PERMISSION_DENIED', problem);
  };
  const grpc = new GrpcProxy(
    {
      ...context,
      grpcOrigin: (version) =>
        (version === undefined ? [...grpcAddresses.values()][0] : grpcAddresses.get(version)) ??
        target.origin,
      admitCall(request) {
        checkOrigin(request.headers, request);
        return limits.admitCall(request);
      },
    },
    defaultGrpc,
    options,
  );
  const open = new Set<ServerResponse>();
  const { port = 0, host = '127.0.0.1' } = options;
  const server = await listen(
    {
      listener: (request, response) => {
        try {
          checkOrigin(request.headers, request.socket);
          proxyRequest(context, request, response, limits.admit(request, response));
        } catch (thrown) {
          const error = A2AError.from(thrown);
          rejectUnread(withRetryAfter(toErrorResponse(error), error), request, response, 0);
          return;
        }
        open.add(response);
        response.on('close', () => open.delete(response));
      },
      contexts: () => [],
      metrics: undefined,
      grpc,
    },
    { ...(options.limits && { limits: options.limits }), port, host },
  );
  // The client and the agent decide how long a stream stays open.
  server.server.requestTimeout = 0;
  url = server.url;
  const card = await prefetchCard(target);
  if (card) {
    context.onCard(rewriteCardBody(card.body, undefined, { target, tap: url }));
    addApiKeysOfCard(recorder, card);
    if (options.recordsCard) {
      recordCard(recorder, { from: 'tap', to: () => name }, card);
      recorder.decodeQueue.drain();
    }
  }
  const stop = async (timeout = 1_000): Promise<void> => {
    await server.stop(timeout);
    await Promise.all([...open].map((each) => once(each, 'close')));
    await grpc.close();
    // The last chunks may still be in a decompressor.
    await new Promise((resolve) => setImmediate(resolve));
    recorder.decodeQueue.drain();
  };
  return {
    url: url + stripTrailing(target.pathname, '/'),
    get name() {
      return name;
    },
    stop,
    [Symbol.asyncDispose]: () => stop(),
  };
}

function toErrorResponse({ reason, message }: A2AError): HttpServerResponse {
  const { http: code } = errorTable[reason];
  return jsonResponse(code, JSON.stringify({ error: { code, status: reason, message } }));
}

function parseTargetUrl(to: string): URL {
  const target = parseUrl(to);
  if (!target) throw invalidField('to', `must be an absolute URL such as http://localhost:4000, not "${to}"`);
  if (target.protocol !== 'http:' && target.protocol !== 'https:')
    throw invalidField('to', 'must be an http or https URL');
  return target;
}
