import { serve } from '../../../src/server/node/serve.ts';
import { type RunningTap, runTap, type RunTapOptions } from '../../../src/tap/proxy/run-tap.ts';
import { TrafficLog } from '../../../src/tap/traffic-log.ts';
import { sampleAgent } from '../../interop/sample-agent.ts';

type Closing = { close(): Promise<unknown> }[];

/** Starts the sample agent. @returns its URL */
export async function startSampleAgent(
  open: Closing,
  options: Parameters<typeof serve>[1] = {},
): Promise<string> {
  const server = await serve(sampleAgent(), options);
  open.push({ close: () => server.stop(0) });
  return server.url;
}

/** Starts a tap with a traffic log of its own. */
export async function startTapTo(
  open: Closing,
  to: string,
  options: Partial<RunTapOptions> = {},
): Promise<{ log: TrafficLog; tap: RunningTap; url: string }> {
  const log = new TrafficLog();
  const tap = await runTap({ to, trafficLog: log, ...options });
  open.push({ close: () => tap.stop(0) });
  return { log, tap, url: tap.url };
}
