import { A2AError } from '../../../protocol/errors.ts';
import type { AgentHttpHandler } from '../../http/agent-http-handler.ts';
import { limitExceeded } from '../../limits/limits.ts';
import type { ServerCall } from '../server-call.ts';
import { HealthService } from './health-service.ts';
import { reflect } from './reflection-service.ts';

/** Maximum size of a message to these services, in bytes. */
export const maxServiceMessage = 4_096;

/** Calls of these services that may be open at a time. */
const maxCalls = 1_000;

type Method = (call: ServerCall) => Promise<void> | void;

/** The services of the server itself: health and reflection. Like `/readyz` and the card, they need no credentials. */
export class ServerServices {
  readonly #health: HealthService;
  readonly #methods = new Map<string, Method>();
  readonly #calls = new Set<ServerCall>();

  constructor(isReady: () => boolean, hasReflection: boolean) {
    const health = new HealthService(isReady);
    this.#health = health;
    this.#methods.set('/grpc.health.v1.Health/Check', (call) => health.check(call));
    this.#methods.set('/grpc.health.v1.Health/Watch', (call) => health.watch(call));
    if (!hasReflection) return;
    for (const version of ['v1', 'v1alpha'])
      this.#methods.set(`/grpc.reflection.${version}.ServerReflection/ServerReflectionInfo`, reflect);
  }

  has(path: string): boolean {
    return this.#methods.has(path);
  }

  /** Handles a call. Never rejects. @param handler - limits the rate of addresses */
  async run(call: ServerCall, handler: AgentHttpHandler | undefined): Promise<void> {
    this.#calls.add(call);
    call.onEnded = () => this.#calls.delete(call);
    try {
      const refusal = handler?.context.limiter.admit(call.request);
      if (refusal) throw refusal;
      if (this.#calls.size > maxCalls) throw limitExceeded('serviceCalls', 'Too many open calls', 1);
      await this.#methods.get(call.request.path)?.(call);
    } catch (thrown) {
      call.fail(A2AError.from(thrown));
    }
  }

  /** Tells clients that watch the health if it has changed. */
  readinessChanged(): void {
    this.#health.update();
  }

  /** Ends all calls, which would otherwise keep their connections open. */
  close(): void {
    for (const call of this.#calls) call.interrupt();
  }
}
