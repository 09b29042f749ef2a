import type { X509Certificate } from 'node:crypto';
import type { Principal } from '../../protocol/agent.ts';
import type { SseStream } from './sse-stream.ts';
import type { RequestTelemetry } from '../telemetry/request-telemetry.ts';

/** Headers by lower-case name, as Node has them. */
export type RequestHeaders = Readonly<Record<string, string | string[] | undefined>>;

/** Who sent a request, and the security schemes that it was proved with. */
export interface AuthenticationResult {
  readonly principal: Principal;
  readonly schemes: readonly string[];
}

/** One HTTP request, whoever received it. */
export interface HttpServerRequest {
  readonly method: string;
  /** The path as it came, still percent-encoded, without the query. */
  readonly path: string;
  /** The query without its question mark. */
  readonly query: string;
  readonly headers: RequestHeaders;
  /** The body as text; empty when there is none. */
  readonly body: string;
  /** True when the connection is encrypted. */
  readonly isSecure: boolean;
  /** The certificate that the caller showed and that an authority we trust has signed. */
  readonly certificate?: X509Certificate;
  /** Who sent it, once that is known. */
  readonly authentication?: AuthenticationResult;
  /** The address that it came from, if there is one. */
  readonly remoteAddress?: string;
  /** What is noted about it, if anybody watches. */
  telemetry?: RequestTelemetry;
  /** Calls back when the caller is gone before it has its answer. */
  onDisconnect(callback: () => void): void;
}

/** One HTTP response. */
export interface HttpServerResponse {
  status: number;
  /** Name, value, name, value: the form that costs Node the least. */
  headers: string[];
  /** The whole body, or the events to send. */
  body: string | SseStream | undefined;
  /** How many bytes the body has, where somebody knows already. */
  length?: number;
}

/** A header that comes once, or undefined. */
export function singleHeader(headers: RequestHeaders, name: string): string | undefined {
  const value = headers[name];
  return typeof value === 'string' ? value : value?.[0];
}

/** A reply with a JSON body. */
export function jsonResponse(status: number, text: string, type = 'application/json'): HttpServerResponse {
  return { status, headers: ['Content-Type', type], body: text };
}
