import type { ProtocolDriver } from '../drivers/protocol-driver.ts';
import { errorMismatch } from '../drivers/error-response.ts';
import type { CheckedVariant } from '../conformance-level.ts';
import type { RawRequest, RawHttpClient } from '../wire/raw-http-client.ts';
import { createDriver, endpointUrl } from './card-variants.ts';
import { stripTrailing } from '../../primitives/text.ts';
import { isUrl } from '../../primitives/web/parse-url.ts';

/** Variants that are tried at the URL of an agent without a usable card, the preferred one first. */
const triedVariants: readonly CheckedVariant[] = [
  { version: '1.0', transport: 'JSONRPC' },
  { version: '1.0', transport: 'HTTP+JSON' },
  { version: '1.0', transport: 'GRPC' },
  { version: '0.3', transport: 'JSONRPC' },
  { version: '0.3', transport: 'HTTP+JSON' },
  { version: '0.3', transport: 'GRPC' },
  { version: '0.1', transport: 'JSONRPC' },
];

/** Time limit of one request, in milliseconds: a server of HTTP/1.1 may not respond to gRPC at all. */
const maxDeadline = 5_000;

/** Returns the URLs at which the endpoint of an agent may be: the given one, and the root of its host. */
function endpointLocations(url: string): string[] {
  const base = url.replace(/\/\.well-known\/[\w.-]+\.json$/, '/');
  return isUrl(base) ? [...new Set([new URL(base).href, new URL('/', base).href])] : [];
}

/**
 * Finds the variants that an agent serves although its card declares none: sends a message over each unless
 * `probesByMessage` is false. If no message is accepted, a variant counts in which an unknown task is not found.
 */
export async function probeEndpoints(
  http: RawHttpClient,
  url: string,
  headers: Readonly<Record<string, string>>,
  probesByMessage: boolean,
): Promise<ProtocolDriver[]> {
  for (const location of endpointLocations(url)) {
    const drivers = triedVariants.flatMap(({ version, transport }) => {
      const endpoint = endpointUrl(transport, stripTrailing(location, '/'), location);
      return endpoint === undefined ? [] : [createDriver(version, transport, endpoint)];
    });
    for (const responds of probesByMessage ? [acceptsMessages, missesTasks] : [missesTasks]) {
      const found = await Promise.all(drivers.map((driver) => responds(http, driver, headers)));
      const served = drivers.filter((_driver, index) => found[index]);
      if (served.length > 0) return served;
    }
  }
  return [];
}

/** Returns true if the response to a message is a task or a message of the version. */
async function acceptsMessages(
  http: RawHttpClient,
  driver: ProtocolDriver,
  headers: Readonly<Record<string, string>>,
): Promise<boolean> {
  const request = driver.encode('send', { message: { text: 'hello', messageId: crypto.randomUUID() } });
  const { result } = driver.decode(await http.send(probeRequest(request, headers)));
  return (driver.decodeTask(result) ?? driver.decodeMessage(result)) !== undefined;
}

async function missesTasks(
  http: RawHttpClient,
  driver: ProtocolDriver,
  headers: Readonly<Record<string, string>>,
): Promise<boolean> {
  const request = driver.encode('get', { id: crypto.randomUUID() });
  const { error } = driver.decode(await http.send(probeRequest(request, headers)));
  if (!error || errorMismatch(error, 'TaskNotFound', driver) !== undefined) return false;
  // Every server responds 404 to some paths.
  return driver.transport === 'JSONRPC' || error.reason === 'TASK_NOT_FOUND';
}

function probeRequest(
  request: RawRequest | undefined,
  headers: Readonly<Record<string, string>>,
): RawRequest {
  return {
    method: 'GET',
    url: '',
    ...request,
    headers: { ...headers, ...request?.headers },
    deadline: maxDeadline,
  };
}
