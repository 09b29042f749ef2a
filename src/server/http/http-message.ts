import type { X509Certificate } from 'node:crypto';
import type { Principal } from '../../protocol/agent.ts';
import type { SseStream } from './sse-stream.ts';
import type { Visit } from '../telemetry/request-telemetry.ts';

/** Headers by lower-case name, as Node has them. */
export type Headers = Readonly<Record<string, string | string[] | undefined>>;

/** Who sent a request, and the security schemes that it was proved with. */
export interface Caller {
  readonly principal: Principal;
  readonly schemes: readonly string[];
}

/** One HTTP request, whoever received it. */
export interface Exchange {
  readonly method: string;
  /** The path as it came, still percent-encoded, without the query. */
  readonly path: string;
  /** The query without its question mark. */
  readonly query: string;
  readonly headers: Headers;
  /** The body as text; empty when there is none. */
  readonly body: string;
  /** True when the connection is encrypted. */
  readonly isSecure: boolean;
  /** The certificate that the caller showed and that an authority we trust has signed. */
  readonly certificate?: X509Certificate;
  /** Who sent it, once that is known. */
  readonly caller?: Caller;
  /** The address that it came from, if there is one. */
  readonly remoteAddress?: string;
  /** What is noted about it, if anybody watches. */
  visit?: Visit;
  /** Calls back when the caller is gone before it has its answer. */
  onGone(callback: () => void): void;
}

/** One HTTP response. */
export interface Reply {
  status: number;
  /** Name, value, name, value: the form that costs Node the least. */
  headers: string[];
  /** The whole body, or the events to send. */
  body: string | SseStream | undefined;
  /** How many bytes the body has, where somebody knows already. */
  length?: number;
}

/** A header that comes once, or undefined. */
export function headerOf(headers: Headers, name: string): string | undefined {
  const value = headers[name];
  return typeof value === 'string' ? value : value?.[0];
}

/** A reply with a JSON body. */
export function jsonReply(status: number, text: string, type = 'application/json'): Reply {
  return { status, headers: ['Content-Type', type], body: text };
}
