/** User agents of HTTP libraries, which do not identify the client. */
const httpLibraries =
  /^(?:node|undici|node-fetch|axios|got|python-requests|python-urllib3?|go-http-client|java|okhttp)$/i;

/** Names a client after its principal or the product in its `User-Agent` header. */
export function clientName(principal: string | undefined, userAgent: string | undefined): string {
  if (principal !== undefined && principal !== '') return principal.slice(0, 80);
  const [, product = ''] = /^\s*([\w.-]{1,60})/.exec(userAgent ?? '') ?? [];
  if (product.toLowerCase() === 'mozilla') return 'browser';
  // Dragoman components are named by their role.
  const [, part] = /^dragoman-(.+)$/.exec(product) ?? [];
  if (part !== undefined) return part;
  return product === '' || httpLibraries.test(product) ? 'client' : product;
}

/** Names of the clients whose requests are tests: conformance runs and load runs. */
export const testClients: ReadonlySet<string> = new Set(['conformance', 'load']);

/** `User-Agent` of the periodic agent probes of the console. */
export const consoleProbeProduct = 'dragoman-console-probe';

/** Names an agent after the host and port of its URL. */
export function agentNameFromUrl(origin: string): string {
  return origin.replace(/^[a-z]+:\/\//i, '').split('/', 1)[0] ?? '';
}
