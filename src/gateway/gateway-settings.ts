import type * as z from 'zod';
import type { ProxiedAgent } from './config/proxied-agent-schema.ts';
import type { PolicySettings } from './policy/policy-settings.ts';
import type { CorsOptions } from '../server/server-options.ts';
import type { artifactsSchema, authSchema, limitsSchema, signSchema } from './config/gateway-schema.ts';

/** Settings of one mesh: broker, namespace and artifact store. */
export interface MeshSettings {
  /** `memory:`, `mqtt://…`, `mqtts://…`, `ws(s)://…` or `nats://…`. */
  readonly url: string;
  readonly namespace: string;
  readonly username?: string;
  readonly password?: string;
  /** Milliseconds between two announcements of a card. */
  readonly cardInterval?: number;
  readonly artifacts?: z.infer<typeof artifactsSchema>;
  /** Name of the durable queue that retains requests while the gateway is offline; undefined for none. */
  readonly queue?: string;
  readonly isShared: boolean;
  /** Name of this gateway among those that share the queue, the same after a restart. */
  readonly clientId?: string;
  /** Patterns of allowed response topics; undefined for those of the namespace. */
  readonly replyTopics?: readonly string[];
}

/** Origin of an agent: a URL, a mesh or a JavaScript module. */
export type AgentSourceSettings =
  | { readonly kind: 'url'; readonly config: ProxiedAgent }
  | { readonly kind: 'mesh'; readonly name: string; readonly mesh: MeshSettings }
  | { readonly kind: 'module'; readonly file: string };

/** Settings of one agent of a gateway. */
export interface AgentSettings {
  readonly name: string;
  readonly displayName: string | undefined;
  readonly source: AgentSourceSettings;
  readonly exposeOnHttp: boolean;
  /** Mesh on which the agent is exposed; undefined for none. */
  readonly exposeOnMesh: MeshSettings | undefined;
  readonly convertProgress: boolean;
  /** Response timeout, and idle timeout of streams, in milliseconds. */
  readonly idleTimeout: number;
  readonly totalTimeout: number | undefined;
}

/** Formats the origin of an agent for its user: a URL, a name on the mesh or a file. */
export function formatUpstream({ source }: AgentSettings): string {
  if (source.kind === 'url') return source.config.url;
  return source.kind === 'mesh' ? `${source.name} on the mesh` : source.file;
}

/** TLS of the HTTP server. Paths are relative to the configuration file. */
export interface TlsSettings {
  readonly certFile: string;
  readonly keyFile: string;
  /** Authorities of client certificates; undefined if clients have none. */
  readonly clientCaFile?: string | undefined;
  readonly clientCertificates: 'optional' | 'required';
}

/** Settings of a gateway, with defaults applied. */
export interface GatewaySettings {
  readonly file: string;
  /** Undefined if no agent is exposed over HTTP. */
  readonly listen?: { readonly host: string; readonly port: number };
  /** Undefined without encryption. */
  readonly tls?: TlsSettings;
  readonly publicUrl?: string;
  readonly trustForwarded: boolean;
  readonly trustProxy?: readonly string[];
  readonly allowedHosts?: readonly string[];
  readonly cors?: CorsOptions;
  readonly fastPath?: boolean;
  readonly grpc?: boolean;
  readonly agents: readonly AgentSettings[];
  readonly auth?: z.infer<typeof authSchema>;
  /** Undefined if every call is allowed. */
  readonly policy?: PolicySettings;
  readonly limits: z.infer<typeof limitsSchema>;
  /** Where owners of tasks are kept: `memory` or `sqlite:FILE`. */
  readonly store: string;
  readonly sign?: z.infer<typeof signSchema>;
  readonly metrics: boolean;
  /** URL of an OpenTelemetry collector. The command sends traces and metrics to it. */
  readonly otlp?: string | undefined;
  /** Milliseconds between two health checks; 0 checks once. */
  readonly healthInterval: number;
  readonly breaker: { readonly failures: number; readonly openFor: number };
  /** Milliseconds for which a stopping gateway accepts requests while `/readyz` responds 503. */
  readonly notReady: number;
  /** Milliseconds that a stopping gateway waits for running requests. */
  readonly drain: number;
}
