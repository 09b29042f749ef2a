/** Products that say nothing of who uses them. */
const plumbing =
  /^(?:node|undici|node-fetch|axios|got|python-requests|python-urllib3?|go-http-client|java|okhttp)$/i;

/** Gives a caller a name: who it proved to be, or what it calls its product. */
export function clientName(principal: string | undefined, userAgent: string | undefined): string {
  if (principal !== undefined && principal !== '') return principal.slice(0, 80);
  const [, product = ''] = /^\s*([\w.-]{1,60})/.exec(userAgent ?? '') ?? [];
  if (product.toLowerCase() === 'mozilla') return 'browser';
  // Our own parts are known by what they are.
  const [, part] = /^dragoman-(.+)$/.exec(product) ?? [];
  if (part !== undefined) return part;
  return product === '' || plumbing.test(product) ? 'caller' : product;
}

/** What the console calls itself where it looks, unasked, whether agents are there. */
export const consoleProbeProduct = 'dragoman-scout';

/** Names an agent after its address, until anybody knows better. */
export function agentNameFromUrl(origin: string): string {
  return origin.replace(/^[a-z]+:\/\//i, '').replace(/\/.*$/, '');
}
