import type { GatewaySettings } from '../gateway/gateway-settings.ts';
import type { ExclusiveVersion } from '../server/server-options.ts';

/** Port of a server. */
export interface PortSetting {
  readonly port: number;
  /** True if the port is a default, so that another may be used when it is taken. */
  readonly mayMove: boolean;
}

/** Settings of an agent that runs in this process, with its own port. */
export interface HostedSettings {
  readonly name: string;
  readonly kind: 'module' | 'script';
  readonly file: string;
  readonly port: number;
  /** The only protocol version that the agent supports; undefined for all. */
  readonly onlyVersion: ExclusiveVersion | undefined;
}

/** Settings of `dragoman up`, with defaults applied. */
export interface UpSettings {
  readonly file: string;
  /** True for the sample configuration of the package. */
  readonly isSample: boolean;
  /** The gateway. Hosted agents have the source kind `module` until they are started and have a URL. */
  readonly gateway: GatewaySettings;
  readonly gatewayPort: PortSetting;
  readonly hosted: readonly HostedSettings[];
  readonly mcp: PortSetting | undefined;
  readonly console: PortSetting | undefined;
}
