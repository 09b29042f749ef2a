import type * as z from 'zod';
import type { ProxiedAgent } from './config/proxied-agent-schema.ts';
import type { artifactsSchema, authSchema, limitsSchema, signSchema } from './config/gateway-schema.ts';

/** Where a broker is and what is said there. */
export interface MeshSettings {
  /** `memory:`, `mqtt://…`, `mqtts://…`, `ws(s)://…` or `nats://…`. */
  readonly url: string;
  readonly namespace: string;
  readonly username: string | undefined;
  readonly password: string | undefined;
  /** Milliseconds between two announcements of a card. */
  readonly cardInterval: number | undefined;
  readonly artifacts: z.infer<typeof artifactsSchema> | undefined;
  /** Whether requests wait in a queue while the gateway is away. */
  readonly queue: string | undefined;
  readonly isShared: boolean;
}

/** What an agent is made of. */
export type AgentSourceSettings =
  | { readonly kind: 'url'; readonly config: ProxiedAgent }
  | { readonly kind: 'mesh'; readonly name: string; readonly mesh: MeshSettings }
  | { readonly kind: 'module'; readonly file: string };

/** One agent of a gateway. */
export interface AgentSettings {
  readonly name: string;
  readonly displayName: string | undefined;
  readonly source: AgentSourceSettings;
  readonly exposeOnHttp: boolean;
  /** The broker where it is shown, if anywhere. */
  readonly exposeOnMesh: MeshSettings | undefined;
  readonly convertProgress: boolean;
  /** Milliseconds of silence. */
  readonly idleTimeout: number;
  readonly totalTimeout: number | undefined;
}

/** Everything that a file says, with defaults filled in. */
export interface GatewaySettings {
  readonly file: string;
  /** Undefined where nothing is shown over HTTP. */
  readonly listen: { readonly host: string; readonly port: number } | undefined;
  readonly publicUrl: string | undefined;
  readonly trustForwarded: boolean;
  readonly agents: readonly AgentSettings[];
  readonly auth: z.infer<typeof authSchema> | undefined;
  readonly limits: z.infer<typeof limitsSchema>;
  readonly sign: z.infer<typeof signSchema> | undefined;
  readonly metrics: boolean;
  /** Milliseconds between two looks at a card; 0 looks once. */
  readonly healthInterval: number;
  readonly breaker: { readonly failures: number; readonly openFor: number };
  /** Milliseconds for running requests when the gateway stops. */
  readonly drain: number;
}
