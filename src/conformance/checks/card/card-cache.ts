import { defineChecks } from '../../check.ts';
import { InconclusiveError } from '../../check-errors.ts';
import { cardCheck, fetchCard1_0 } from './card-check.ts';

/** How cards are kept: section 8.6. */
export const cardCacheChecks = defineChecks([
  cardCheck(
    'cache.control',
    ['CACHE-001', 'CACHE-002'],
    '8.6.1',
    'SHOULD',
    'The answer with the card says for how long it may be kept.',
    'Send Cache-Control with max-age.',
    async (probe) => {
      const { headers } = await fetchCard1_0(probe);
      const said = headers['cache-control'] ?? 'none';
      probe.expect(/\bmax-age="?\d+/i.test(said), 'Cache-Control has no max-age', {
        expected: 'Cache-Control: max-age=…',
        actual: said,
      });
    },
  ),
  cardCheck(
    'cache.etag',
    ['CACHE-001', 'CACHE-003'],
    '8.6.1',
    'SHOULD',
    'The answer with the card has an ETag, the same for the same card.',
    'Send ETag: "hash of the card".',
    async (probe) => {
      const [one, two] = [await fetchCard1_0(probe), await fetchCard1_0(probe)];
      const tag = one.headers.etag ?? 'none';
      probe.expect(/^(W\/)?"[^"]*"$/.test(tag), 'There is no ETag', { expected: 'ETag: "…"', actual: tag });
      probe.expect(
        one.body !== two.body || two.headers.etag === tag,
        'The same card has another ETag the next time',
        { expected: tag, actual: two.headers.etag ?? 'none' },
      );
    },
  ),
  cardCheck(
    'cache.revalidates',
    ['CACHE-001'],
    '8.6',
    'SHOULD',
    'Whoever has the card already is told so, and gets it when it is another one.',
    'Answer If-None-Match with 304 where the ETag is the one of the card, and with the card elsewhere.',
    async (probe) => {
      const { headers } = await fetchCard1_0(probe);
      if (headers.etag === undefined) throw new InconclusiveError('The card has no ETag to ask with.');
      const same = await fetchCard1_0(probe, { 'if-none-match': headers.etag });
      probe.expect(same.status === 304, 'A card that is known was sent again', {
        expected: 'HTTP 304',
        actual: `HTTP ${same.status}`,
      });
      const other = await fetchCard1_0(probe, { 'if-none-match': '"something-else"' });
      probe.expect(other.status === 200, 'A card that is not known was not sent', {
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
    'Last-Modified, where it is sent, is a moment that has been.',
    'Send a date of HTTP, or nothing.',
    async (probe) => {
      const said = (await fetchCard1_0(probe)).headers['last-modified'];
      if (said === undefined) return;
      const moment = Date.parse(said);
      probe.expect(
        /^\w{3}, \d{2} \w{3} \d{4} [\d:]{8} GMT$/.test(said) && moment < Date.now() + 86_400_000,
        'Last-Modified is no date of HTTP in the past',
        { actual: said },
      );
    },
  ),
  cardCheck(
    'cache.vary',
    ['CACHE-001'],
    '8.6',
    'SHOULD',
    'A card that depends on the version that is asked for says so to caches.',
    'Send Vary: A2A-Version.',
    async (probe) => {
      const newer = await fetchCard1_0(probe);
      const older = await fetchCard1_0(probe, { 'a2a-version': '0.3' });
      const isSame = newer.body === older.body || older.status !== 200;
      const varies = newer.headers.vary ?? '';
      probe.expect(
        isSame || /\*|a2a-version/i.test(varies),
        'The card differs by A2A-Version, and Vary does not say so',
        { expected: 'Vary: A2A-Version', actual: varies || 'no Vary' },
      );
    },
  ),
]);
