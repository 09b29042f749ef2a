import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { invalidField } from '../../protocol/errors.ts';
import { listen } from '../../server/node/listen.ts';
import { agentNameFromUrl } from '../participants.ts';
import { TrafficRecorder, type TrafficRecorderOptions } from '../recorders/traffic-recorder.ts';
import type { TrafficLog } from '../traffic-log.ts';
import { type CardRewrite, rewriteCardBody } from './rewrite-card.ts';
import { prefetchCard } from './prefetch-card.ts';
import { proxyRequest } from './proxy-request.ts';

/** How a tap is run. */
export interface RunTapOptions extends TrafficRecorderOptions {
  /** Where the agent is. */
  readonly to: string;
  readonly trafficLog: TrafficLog;
  /** @defaultValue 0, any free port */
  readonly port?: number;
  /** @defaultValue `127.0.0.1` */
  readonly host?: string;
  /** What the agent is called on the tape. @defaultValue what its card says, which is asked for once at the beginning */
  readonly name?: string;
  /** Hears of what may make the tape tell less than there is, once each. */
  readonly onWarning?: (warning: string) => void;
}

/** A tap that runs. */
export interface RunningTap extends AsyncDisposable {
  /** Where callers go instead, with the path of the target. */
  readonly url: string;
  /** What the agent is called. */
  readonly name: string;
  /** Ends what passes, and waits until all of it is on the tape. @param within - milliseconds for what is on its way. */
  stop(within?: number): Promise<void>;
}

const grpcWarnings = {
  some: 'The card offers gRPC too, which the tap cannot record: it is left out of the card that callers get, so that they come through the tap by another way.',
  all: 'The card offers nothing but gRPC, which the tap cannot record: it is left out of the card that callers get, and they find no way to the agent in it.',
};

/**
 * Runs a transparent recorder in front of an agent. Paths stay as they are; cards that name the target are changed so
 * that callers keep coming through the tap.
 */
export async function runTap(options: RunTapOptions): Promise<RunningTap> {
  const target = targetOf(options.to);
  const recorder = new TrafficRecorder(options.trafficLog, options);
  const warned = new Set<string>();
  const warn = (warning: string): void => {
    if (warned.size > 100 || warned.has(warning)) return;
    warned.add(warning);
    options.onWarning?.(warning);
  };
  let name = options.name ?? agentNameFromUrl(target.host);
  let url = '';
  const passing = {
    target,
    recorder,
    name: () => name,
    url: () => url,
    onCard(card: CardRewrite) {
      if (options.name === undefined && card.name !== undefined) name = card.name.slice(0, 80);
      if (card.isUnsigned)
        warn(
          'The card is signed, and the signature does not fit the address of the tap: callers that verify it refuse it.',
        );
      if (card.grpc !== 'none') warn(grpcWarnings[card.grpc]);
      for (const origin of card.elsewhere)
        warn(
          `The card sends callers to ${origin} as well; who goes there goes past the tap. Start it with --to ${origin} to see them.`,
        );
    },
  };
  const open = new Set<ServerResponse>();
  const { port = 0, host = '127.0.0.1' } = options;
  const server = await listen(
    {
      listener: (request, response) => {
        proxyRequest(passing, request, response);
        open.add(response);
        response.on('close', () => open.delete(response));
      },
      contexts: () => [],
      metrics: undefined,
    },
    { port, host },
  );
  // How long a stream may be open is the business of those who speak.
  server.server.requestTimeout = 0;
  url = server.url;
  const card = await prefetchCard(target);
  if (card) passing.onCard(rewriteCardBody(card, undefined, { target, tap: url }));
  const stop = async (within = 1_000): Promise<void> => {
    await server.stop(within);
    await Promise.all([...open].map((each) => once(each, 'close')));
    // The last of what passed may be compressed, and is still read.
    await new Promise((resolve) => setImmediate(resolve));
    recorder.backlog.drain();
  };
  return {
    url: url + target.pathname.replace(/\/+$/, ''),
    get name() {
      return name;
    },
    stop,
    [Symbol.asyncDispose]: () => stop(),
  };
}

function targetOf(to: string): URL {
  let target: URL;
  try {
    target = new URL(to);
  } catch {
    throw invalidField('to', `must be an address such as http://localhost:4000, not "${to}"`);
  }
  if (target.protocol !== 'http:' && target.protocol !== 'https:')
    throw invalidField('to', 'must be an address of http or https');
  return target;
}
