import type { Probe } from '../probe.ts';
import { describeError } from '../drivers/describe-response.ts';
import type { HttpExchange } from '../wire/http-exchange.ts';
import { checkHttp2, type Http2CheckOptions } from './check-http2.ts';
import type { ConnectionProblem } from './check-tls.ts';

/** Options of {@link checkGrpc}. */
export interface GrpcCheckOptions extends Omit<Http2CheckOptions, 'origin'> {
  /** Origin at which the card was found, where gRPC may be served instead. */
  readonly cardOrigin: string;
}

/** Result of {@link checkGrpc}. */
export interface GrpcCheckResult {
  readonly state: 'ok' | 'error';
  readonly finding: string;
  readonly fix?: string;
}

/** Opens a connection of HTTP/2 to the gRPC interface of a probe and sends a call. Explains why one of them fails. */
export async function checkGrpc(probe: Probe, options: GrpcCheckOptions): Promise<GrpcCheckResult> {
  const { url, version } = probe.driver;
  const { cardOrigin } = options;
  const problem = await checkHttp2({ ...options, origin: url });
  if (problem) {
    const [finding, fix] = problem;
    const isElsewhere = cardOrigin !== url && !(await checkHttp2({ ...options, origin: cardOrigin }));
    const { host } = new URL(cardOrigin);
    const hint = `The port of the card accepts HTTP/2: publish ${host} if it serves gRPC.`;
    return failed([finding, isElsewhere ? `${fix} ${hint}` : fix]);
  }
  const { exchange, error } = await probe.call('get', { id: crypto.randomUUID() });
  const refusal = callProblem(exchange, new URL(url).host);
  if (refusal) return failed(refusal);
  const name = exchange.grpc?.status.name;
  if (name === 'UNIMPLEMENTED')
    return failed([
      `the server does not know ${new URL(exchange.url).pathname}`,
      `Register A2AService of ${version}, or publish the version that is served.`,
    ]);
  if (name === 'UNAVAILABLE')
    return failed([
      `UNAVAILABLE: ${error?.message ?? ''}`,
      'A proxy cannot reach the agent; check its log and the address of the agent.',
    ]);
  const encryption = url.startsWith('https:') ? 'TLS' : 'clear text';
  const answer = error ? describeError(error) : name;
  return { state: 'ok', finding: `HTTP/2 over ${encryption} at ${new URL(url).host}, ${version}: ${answer}` };
}

function failed([finding, fix]: ConnectionProblem): GrpcCheckResult {
  return { state: 'error', finding, fix };
}

/** Explains a response that is not a response of gRPC. */
function callProblem(
  { status, headers, grpc, transportError, end }: HttpExchange,
  host: string,
): ConnectionProblem | undefined {
  const type = headers['content-type'] ?? 'no content type';
  const server = headers.server === undefined ? '' : ` from ${headers.server}`;
  if (status === 0)
    return [
      `the call failed: ${transportError ?? end}`,
      'Check the log of the server or proxy; it accepts the connection but not the call.',
    ];
  if (status === 421)
    return [
      `the server does not serve the authority ${host} (HTTP 421${server})`,
      'Publish the host name for which the server or proxy is configured.',
    ];
  if (status >= 502 && status <= 504)
    return [
      `a proxy cannot reach the agent over HTTP/2 (HTTP ${status}${server})`,
      'Let the proxy use HTTP/2 towards the agent: `grpc_pass` in nginx, `proto h2` in HAProxy.',
    ];
  if (status !== 200 || !type.startsWith('application/grpc'))
    return [
      `HTTP ${status} with ${type}${server} instead of application/grpc`,
      'A proxy forwards calls as HTTP/1.1 or to another server: use `grpc_pass` in nginx, `proto h2` in HAProxy.',
    ];
  if (grpc?.status.name === undefined)
    return [
      'the response has no trailers with grpc-status',
      'A proxy removes trailers: forward HTTP/2 to the agent, and disable buffering and compression.',
    ];
  return undefined;
}
