import type { GatewaySettings } from '../gateway/gateway-settings.ts';
import type { ExclusiveVersion } from '../server/server-options.ts';

/** A port that something is to listen on. */
export interface PortSetting {
  readonly port: number;
  /** True where nobody asked for this very port, so that another will do. */
  readonly mayMove: boolean;
}

/** An agent that runs here, on a port of its own. */
export interface HostedSettings {
  readonly name: string;
  readonly kind: 'module' | 'script';
  readonly file: string;
  readonly port: number;
  /** The only version that it speaks; undefined for every one. */
  readonly speaks: ExclusiveVersion | undefined;
}

/** Everything that `dragoman up` runs. */
export interface UpSettings {
  readonly file: string;
  /** True for the samples that come with the package. */
  readonly isSample: boolean;
  /** The gateway; those of its agents that run here are of kind `module` until they have an address. */
  readonly gateway: GatewaySettings;
  readonly gatewayPort: PortSetting;
  readonly hosted: readonly HostedSettings[];
  readonly mcp: PortSetting | undefined;
  readonly console: PortSetting | undefined;
}
