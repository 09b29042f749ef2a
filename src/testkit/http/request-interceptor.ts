import type { IncomingHttpHeaders } from 'node:http';
import { constantTimeEqual } from '../../primitives/node/constant-time-equal.ts';
import { A2AError, invalidField } from '../../protocol/errors.ts';

/** Credentials that every request needs. */
export interface AuthValidation {
  /** @defaultValue true */
  readonly enabled?: boolean;
  /** `bearer` checks `Authorization: Bearer …`, `apikey` checks `X-API-Key`. @defaultValue `'bearer'` */
  readonly type?: 'bearer' | 'apikey';
  /** The token or API key. */
  readonly expectedValue: string;
  /** Rejects the next request even with valid credentials. @defaultValue false */
  readonly failOnce?: boolean;
}

/** HTTP response that replaces the response of the agent once. */
export interface InjectedHttpError {
  readonly status: number;
  /** A string is sent as it is, other values as JSON. @defaultValue `{"error":"HTTP n"}` */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Response of {@link RequestInterceptor}. */
export interface InterceptedResponse {
  readonly origin: 'auth-validation' | 'http-error';
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Maximum number of queued errors. */
const maxErrors = 1_000;

/** Intercepts requests before the agent: checks credentials, then returns queued HTTP errors. */
export class RequestInterceptor {
  #validation: AuthValidation | undefined = undefined;
  #hasFailed = false;
  #errors: InjectedHttpError[] = [];

  /** Sets the required credentials; `undefined` disables the check. */
  requireAuth(validation: AuthValidation | undefined): void {
    this.#validation = validation;
    this.#hasFailed = false;
  }

  /** Queues an error as response to a future request. */
  enqueueError(error: InjectedHttpError): void {
    if (!Number.isInteger(error.status) || error.status < 200 || error.status > 599)
      throw invalidField('status', 'must be an HTTP status from 200 to 599');
    if (this.#errors.length === maxErrors)
      throw new A2AError('RESOURCE_EXHAUSTED', `At most ${maxErrors} errors can be queued`);
    this.#errors.push(error);
  }

  clearErrors(): void {
    this.#errors = [];
  }

  reset(): void {
    this.requireAuth(undefined);
    this.clearErrors();
  }

  /** @returns undefined if the request is passed to the agent. */
  intercept(headers: IncomingHttpHeaders): InterceptedResponse | undefined {
    if (this.#isUnauthorized(headers)) {
      const challenge: Record<string, string> =
        this.#validation?.type === 'apikey' ? {} : { 'WWW-Authenticate': 'Bearer' };
      return {
        origin: 'auth-validation',
        status: 401,
        headers: { 'Content-Type': 'application/json', ...challenge },
        body: '{"error":"Unauthorized"}',
      };
    }
    const error = this.#errors.shift();
    if (!error) return undefined;
    const { status, body = { error: `HTTP ${status}` } } = error;
    const isText = typeof body === 'string';
    return {
      origin: 'http-error',
      status,
      headers: { 'Content-Type': isText ? 'text/plain' : 'application/json', ...error.headers },
      body: isText ? body : JSON.stringify(body),
    };
  }

  #isUnauthorized(headers: IncomingHttpHeaders): boolean {
    const validation = this.#validation;
    if (!validation || validation.enabled === false) return false;
    if (validation.failOnce && !this.#hasFailed) {
      this.#hasFailed = true;
      return true;
    }
    const { type = 'bearer', expectedValue } = validation;
    const credential =
      type === 'bearer' ? /^Bearer (.*)$/i.exec(headers.authorization ?? '')?.[1] : headers['x-api-key'];
    return typeof credential !== 'string' || !constantTimeEqual(credential, expectedValue);
  }
}
