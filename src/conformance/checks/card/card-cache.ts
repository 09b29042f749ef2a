import { may, should } from '../../rule-model.ts';
import { defineChecks } from '../../check.ts';
import { InconclusiveError } from '../../check-errors.ts';
import { fetchCard1_0 } from './card-check.ts';

/** Caching of cards: section 8.6. */
export const cardCacheChecks = defineChecks({ category: 'agent-card', versions: ['1.0'], about: 'card' }, [
  {
    id: 'cache.control',
    ...should('8.6.1', 'CACHE-001', 'CACHE-002'),
    sentence: 'The card response has Cache-Control with max-age.',
    remedy: 'Set Cache-Control with max-age.',
    async run(probe) {
      const { headers } = await fetchCard1_0(probe);
      const actual = headers['cache-control'] ?? 'none';
      probe.expect(/\bmax-age="?\d+/i.test(actual), 'Cache-Control has no max-age', { actual });
    },
  },
  {
    id: 'cache.etag',
    ...should('8.6.1', 'CACHE-001', 'CACHE-003'),
    sentence: 'The card response has an ETag that is equal for equal cards.',
    remedy: 'Set ETag to a hash of the card.',
    async run(probe) {
      const [one, two] = [await fetchCard1_0(probe), await fetchCard1_0(probe)];
      const tag = one.headers.etag ?? 'none';
      probe.expect(/^(W\/)?"[^"]*"$/.test(tag), 'The response has no valid ETag', { actual: tag });
      if (one.body === two.body)
        probe.expectEqual(two.headers.etag, tag, 'The same card has another ETag in the second response');
    },
  },
  {
    id: 'cache.revalidates',
    ...should('8.6', 'CACHE-001'),
    sentence: 'The agent responds with 304 if If-None-Match equals the ETag, and with the card otherwise.',
    remedy: 'Compare If-None-Match with the ETag of the card, and return 304 if they are equal.',
    async run(probe) {
      const { headers } = await fetchCard1_0(probe);
      if (headers.etag === undefined) throw new InconclusiveError('The card has no ETag for If-None-Match.');
      const same = await fetchCard1_0(probe, { 'if-none-match': headers.etag });
      probe.expectEqual(same.status, 304, 'The response to a matching If-None-Match is not 304');
      const other = await fetchCard1_0(probe, { 'if-none-match': '"something-else"' });
      probe.expectEqual(other.status, 200, 'The response to another If-None-Match is not the card');
    },
  },
  {
    id: 'cache.last-modified',
    ...may('8.6.1', 'CACHE-004'),
    sentence: 'Last-Modified, if present, is an HTTP date in the past.',
    remedy: 'Set Last-Modified to an HTTP date, or omit it.',
    async run(probe) {
      const actual = (await fetchCard1_0(probe)).headers['last-modified'];
      if (actual === undefined) return;
      const isDate = /^\w{3}, \d{2} \w{3} \d{4} [\d:]{8} GMT$/.test(actual);
      const isPast = Date.parse(actual) < Date.now() + 86_400_000;
      probe.expect(isDate && isPast, 'Last-Modified is not an HTTP date in the past', { actual });
    },
  },
  {
    id: 'cache.vary',
    ...should('8.6', 'CACHE-001'),
    sentence: 'The card response has Vary: A2A-Version if the card depends on the version.',
    remedy: 'Set Vary: A2A-Version.',
    async run(probe) {
      const card1_0 = await fetchCard1_0(probe);
      const card0_3 = await fetchCard1_0(probe, { 'a2a-version': '0.3' });
      const isSame = card1_0.body === card0_3.body || card0_3.status !== 200;
      const { vary } = card1_0.headers;
      const isListed = isSame || /\*|a2a-version/i.test(vary ?? '');
      probe.expect(isListed, 'The card depends on A2A-Version, but Vary does not list it', { actual: vary });
    },
  },
]);
