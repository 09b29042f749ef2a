import { connect, type RemoteAgent } from '../client/connect.ts';
import { bearer } from '../client/credentials.ts';
import type { ConnectOptions } from '../client/connect-options.ts';
import type { BridgeAgentConfig } from './bridge-config.ts';
import type { SuperviseOptions } from './supervisor/supervise-options.ts';
import { type Supervised, supervise } from './supervisor/supervise.ts';
import { supervisedAgent } from './supervisor/supervised-agent.ts';

/** What the configuration of an agent does not say. */
export interface OpenAgentOptions {
  /** How its process is looked after. */
  supervise?: Omit<SuperviseOptions, 'url' | 'command'>;
  /** How it is spoken to. */
  connect?: ConnectOptions;
}

/** An agent that was started, or waited for, and how to bridge to it. */
export interface OpenedAgent extends AsyncDisposable {
  readonly supervised: Supervised;
  /** For `bridge`, beside options of your own. */
  readonly bridge: {
    readonly agentName: string;
    readonly agent: RemoteAgent;
    readonly inputRequiredTtl: number;
  };
  /** Ends the connection and the process. */
  close(): Promise<void>;
}

/**
 * Starts the agent of a configuration, or waits for it, and connects to it. Calls wait until it is ready.
 *
 * @example
 * ```ts
 * const [config] = readBridgeConfig(text, 'bridge.yaml', process.env);
 * const opened = openAgent(config);
 * const actions = await bridge({ ...opened.bridge });
 * ```
 */
export function openAgent(config: BridgeAgentConfig, options: OpenAgentOptions = {}): OpenedAgent {
  const { agentName, url, bearerToken, inputRequiredTtl, command, ...process } = config;
  const auth = bearerToken === undefined ? undefined : bearer(bearerToken);
  const supervised = supervise({ ...process, auth, ...options.supervise, url, command });
  const remote = connect(url, { auth, ...options.connect });
  const close = async () => {
    await remote.close();
    await supervised.stop();
  };
  return {
    supervised,
    bridge: {
      agentName,
      agent: supervisedAgent(supervised, remote, { restartTimeout: config.startupTimeout }),
      inputRequiredTtl,
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}
