import { connect, type RemoteAgent } from '../client/connect.ts';
import { bearer, bearerIfListed } from '../client/credentials.ts';
import type { ConnectOptions } from '../client/connect-options.ts';
import type { BridgeAgentConfig } from './bridge-config.ts';
import type { SuperviseOptions } from './supervisor/supervise-options.ts';
import { type Supervised, supervise } from './supervisor/supervise.ts';
import { supervisedAgent } from './supervisor/supervised-agent.ts';

/** Options of {@link openAgent}. */
export interface OpenAgentOptions {
  /** Options of the process supervisor. */
  supervise?: Omit<SuperviseOptions, 'url' | 'command'>;
  /** Options of the client. */
  connect?: ConnectOptions;
}

/** A supervised agent and the arguments of {@link bridge}. */
export interface OpenedAgent extends AsyncDisposable {
  readonly supervised: Supervised;
  /** Arguments of `bridge()`; combine them with other options. */
  readonly bridge: {
    readonly agentName: string;
    readonly agent: RemoteAgent;
    readonly inputRequiredTtl: number;
  };
  /** Closes the connection and stops the process. */
  close(): Promise<void>;
}

/**
 * Starts the configured agent, or checks once that it is running, and connects to it. Calls wait until it is ready. The
 * token is sent only if the card lists a scheme for it, unless `bearerAlways` is set.
 *
 * @example
 * ```ts
 * const [config] = readBridgeConfig(text, 'bridge.yaml', process.env);
 * const opened = openAgent(config);
 * const actions = await bridge({ ...opened.bridge });
 * ```
 */
export function openAgent(config: BridgeAgentConfig, options: OpenAgentOptions = {}): OpenedAgent {
  const { agentName, url, bearerToken, bearerAlways, inputRequiredTtl, command, ...process } = config;
  const onWithheld = () =>
    options.supervise?.log?.({
      level: 'warn',
      message: `The token of ${agentName} is not sent: its card lists no bearer, OAuth 2 or OpenID Connect scheme. Set a2a_bearer_always to send it anyway.`,
    });
  const auth =
    bearerToken === undefined
      ? undefined
      : bearerAlways
        ? bearer(bearerToken)
        : bearerIfListed(bearerToken, onWithheld);
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
