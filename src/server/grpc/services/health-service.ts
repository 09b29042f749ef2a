import { decodeMessage } from '../../../dialects/protobuf/decode-message.ts';
import { encodeFrameText } from '../../../dialects/protobuf/encode-message.ts';
import { grpcServices } from '../../../dialects/protobuf/grpc-service.ts';
import { A2AError } from '../../../protocol/errors.ts';
import type { ServerCall } from '../server-call.ts';
import { readMessage, toA2AError } from '../read-message.ts';
import { healthMessages, type ServingStatus } from './health-messages.ts';

/** Milliseconds between two looks at the readiness while clients watch it. */
const watchInterval = 1_000;

interface Watcher {
  readonly call: ServerCall;
  readonly service: string;
  sent: ServingStatus | undefined;
}

/** The service `grpc.health.v1.Health`: tells whether the server accepts calls. */
export class HealthService {
  readonly #isReady: () => boolean;
  readonly #watchers = new Set<Watcher>();
  #timer: NodeJS.Timeout | undefined = undefined;

  /** @param isReady - true while `/readyz` responds 200 */
  constructor(isReady: () => boolean) {
    this.#isReady = isReady;
  }

  /** Responds with the state of a service. */
  async check(call: ServerCall): Promise<void> {
    const status = this.#statusOf(await readService(call));
    if (status === 'SERVICE_UNKNOWN') throw new A2AError('NOT_FOUND', 'There is no such service');
    call.open();
    call.end(statusFrame(status));
  }

  /** Responds with the state of a service, and again whenever it changes. */
  async watch(call: ServerCall): Promise<void> {
    const watcher: Watcher = { call, service: await readService(call), sent: undefined };
    if (call.isOver) return;
    call.open();
    this.#watchers.add(watcher);
    this.#timer ??= setInterval(() => this.update(), watchInterval).unref();
    this.#tell(watcher);
  }

  /** Tells all clients that watch a service if its state has changed. */
  update(): void {
    for (const watcher of this.#watchers) this.#tell(watcher);
    if (this.#watchers.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #tell(watcher: Watcher): void {
    const { call, service, sent } = watcher;
    const status = this.#statusOf(service);
    if (call.isOver) this.#watchers.delete(watcher);
    // A client that does not read gets the newest state only.
    else if (status !== sent && call.stream.waitingBytes === 0) {
      watcher.sent = status;
      call.write(statusFrame(status));
    }
  }

  #statusOf(service: string): ServingStatus {
    if (service !== '' && !grpcServices.some(({ name }) => name === service)) return 'SERVICE_UNKNOWN';
    return this.#isReady() ? 'SERVING' : 'NOT_SERVING';
  }
}

async function readService(call: ServerCall): Promise<string> {
  const message = await readMessage(call);
  try {
    const { service = '' } = decodeMessage(healthMessages.HealthCheckRequest, message);
    return service as string;
  } catch (thrown) {
    throw toA2AError(thrown, message.length);
  }
}

function statusFrame(status: ServingStatus): string {
  return encodeFrameText(healthMessages.HealthCheckResponse, { status });
}
