import { timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { A2AError, invalidField } from '../../protocol/errors.ts';

/** Which credentials a request needs before anything else is looked at. */
export interface AuthValidation {
  /** @defaultValue true */
  readonly enabled?: boolean;
  /** `bearer` looks at `Authorization: Bearer …`, `apikey` at `X-API-Key`. @defaultValue `'bearer'` */
  readonly type?: 'bearer' | 'apikey';
  /** The token or the key. */
  readonly expectedValue: string;
  /** Refuses the next request whatever it brings. @defaultValue false */
  readonly failOnce?: boolean;
}

/** An answer that is given once, instead of what the agent would say. */
export interface InjectedHttpError {
  readonly status: number;
  /** Text as it is, anything else as JSON. @defaultValue `{"error":"HTTP n"}` */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** An answer of the door itself. */
export interface InterceptedResponse {
  readonly by: 'auth-validation' | 'http-error';
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** How many errors may wait. */
const maxErrors = 1_000;

/** Stands before the agent: first it looks at credentials, then it gives the errors that wait. */
export class RequestInterceptor {
  #validation: AuthValidation | undefined = undefined;
  #hasFailed = false;
  #errors: InjectedHttpError[] = [];

  /** Sets which credentials are needed; undefined for none. */
  requireAuth(validation: AuthValidation | undefined): void {
    this.#validation = validation;
    this.#hasFailed = false;
  }

  /** Answers the next request with an error. Errors wait in line. */
  enqueueError(error: InjectedHttpError): void {
    if (!Number.isInteger(error.status) || error.status < 200 || error.status > 599)
      throw invalidField('status', 'must be an HTTP status from 200 to 599');
    if (this.#errors.length === maxErrors)
      throw new A2AError('RESOURCE_EXHAUSTED', `At most ${maxErrors} errors can wait`);
    this.#errors.push(error);
  }

  /** Forgets the errors that wait. */
  clearErrors(): void {
    this.#errors = [];
  }

  /** Forgets everything. */
  reset(): void {
    this.requireAuth(undefined);
    this.clearErrors();
  }

  /** @returns undefined when the agent may answer. */
  intercept(headers: IncomingHttpHeaders): InterceptedResponse | undefined {
    if (this.#refuses(headers)) {
      const challenge: Record<string, string> =
        this.#validation?.type === 'apikey' ? {} : { 'WWW-Authenticate': 'Bearer' };
      return {
        by: 'auth-validation',
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
      by: 'http-error',
      status,
      headers: { 'Content-Type': isText ? 'text/plain' : 'application/json', ...error.headers },
      body: isText ? body : JSON.stringify(body),
    };
  }

  #refuses(headers: IncomingHttpHeaders): boolean {
    const validation = this.#validation;
    if (!validation || validation.enabled === false) return false;
    if (validation.failOnce && !this.#hasFailed) {
      this.#hasFailed = true;
      return true;
    }
    const { type = 'bearer', expectedValue } = validation;
    const given =
      type === 'bearer' ? /^Bearer (.*)$/i.exec(headers.authorization ?? '')?.[1] : headers['x-api-key'];
    return typeof given !== 'string' || !isSame(given, expectedValue);
  }
}

function isSame(some: string, other: string): boolean {
  const [a, b] = [Buffer.from(some), Buffer.from(other)];
  return a.length === b.length && timingSafeEqual(a, b);
}
