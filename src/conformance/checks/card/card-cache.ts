import { defineChecks } from '../../check.ts';
import { InconclusiveError } from '../../check-errors.ts';
import { cardCheck, fetchCard1_0 } from './card-check.ts';

/** Caching of cards: section 8.6. */
export const cardCacheChecks = defineChecks([
  cardCheck(
    'cache.control',
    ['CACHE-001', 'CACHE-002'],
    '8.6.1',
    'SHOULD',
    'The card response has Cache-Control with max-age.',
    'Set Cache-Control with max-age.',
    async (probe) => {
      const { headers } = await fetchCard1_0(probe);
      const actual = headers['cache-control'] ?? 'none';
      probe.expect(/\bmax-age="?\d+/i.test(actual), 'Cache-Control has no max-age', {
        expected: 'Cache-Control: max-age=…',
        actual,
      });
    },
  ),
  cardCheck(
    'cache.etag',
    ['CACHE-001', 'CACHE-003'],
    '8.6.1',
    'SHOULD',
    'The card response has an ETag that is equal for equal cards.',
    'Set ETag to a hash of the card.',
    async (probe) => {
      const [one, two] = [await fetchCard1_0(probe), await fetchCard1_0(probe)];
      const tag = one.headers.etag ?? 'none';
      probe.expect(/^(W\/)?"[^"]*"$/.test(tag), 'The response has no valid ETag', {
        expected: 'ETag: "…"',
        actual: tag,
      });
      probe.expect(
        one.body !== two.body || two.headers.etag === tag,
        'The same card has another ETag in the second response',
        { expected: tag, actual: two.headers.etag ?? 'none' },
      );
    },
  ),
  cardCheck(
    'cache.revalidates',
    ['CACHE-001'],
    '8.6',
    'SHOULD',
    'The agent responds with 304 if If-None-Match equals the ETag, and with the card otherwise.',
    'Compare If-None-Match with the ETag of the card, and return 304 if they are equal.',
    async (probe) => {
      const { headers } = await fetchCard1_0(probe);
      if (headers.etag === undefined) throw new InconclusiveError('The card has no ETag for If-None-Match.');
      const same = await fetchCard1_0(probe, { 'if-none-match': headers.etag });
      probe.expect(same.status === 304, 'The response to a matching If-None-Match is not 304', {
        expected: 'HTTP 304',
        actual: `HTTP ${same.status}`,
      });
      const other = await fetchCard1_0(probe, { 'if-none-match': '"something-else"' });
      probe.expect(other.status === 200, 'The response to another If-None-Match is not the card', {
        expected: 'HTTP 200',
        actual: `HTTP ${other.status}`,
      });
    },
  ),
  cardCheck(
    'cache.last-modified',
    ['CACHE-004'],
    '8.6.1',
    'MAY',
    'Last-Modified, if present, is an HTTP date in the past.',
    'Set Last-Modified to an HTTP date, or omit it.',
    async (probe) => {
      const actual = (await fetchCard1_0(probe)).headers['last-modified'];
      if (actual === undefined) return;
      probe.expect(
        /^\w{3}, \d{2} \w{3} \d{4} [\d:]{8} GMT$/.test(actual) &&
          Date.parse(actual) < Date.now() + 86_400_000,
        'Last-Modified is not an HTTP date in the past',
        { actual },
      );
    },
  ),
  cardCheck(
    'cache.vary',
    ['CACHE-001'],
    '8.6',
    'SHOULD',
    'The card response has Vary: A2A-Version if the card depends on the version.',
    'Set Vary: A2A-Version.',
    async (probe) => {
      const card1_0 = await fetchCard1_0(probe);
      const card0_3 = await fetchCard1_0(probe, { 'a2a-version': '0.3' });
      const isSame = card1_0.body === card0_3.body || card0_3.status !== 200;
      const vary = card1_0.headers.vary ?? '';
      probe.expect(
        isSame || /\*|a2a-version/i.test(vary),
        'The card depends on A2A-Version, but Vary does not list it',
        { expected: 'Vary: A2A-Version', actual: vary || 'no Vary' },
      );
    },
  ),
]);
