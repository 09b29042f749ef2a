import { expect, it } from 'vitest';
import { InconclusiveError, NotApplicableError } from '../check-errors.ts';
import { createDriver } from '../discovery/card-variants.ts';
import { allInvariants } from '../invariants/index.ts';
import { findUnmetPrecondition } from '../preconditions.ts';
import { InvariantMonitor } from './invariant-monitor.ts';

const driver = createDriver('1.0', 'JSONRPC', 'http://127.0.0.1:1/');

/** Returns the verdicts of the rules about streams and push notifications without any traffic. */
function verdicts(capabilities: object, hasCard = true): Set<string> {
  const invariants = allInvariants.filter(({ id }) => /^(stream|push)\./.test(id));
  const results = new InvariantMonitor(invariants).results(driver, ({ preconditions = [] }) =>
    findUnmetPrecondition(
      preconditions,
      { card: { capabilities }, hasCard, driver },
      { checks: [], invariants },
    ),
  );
  expect(results.length).toBeGreaterThan(10);
  return new Set(results.map(({ verdict }) => verdict));
}

it('returns not-applicable without observations if the card does not declare the feature', () => {
  expect(verdicts({})).toEqual(new Set(['not-applicable']));
  expect(verdicts({ streaming: true, pushNotifications: true })).toEqual(new Set(['inconclusive']));
});

it('returns inconclusive without observations if there is no card', () => {
  expect(verdicts({}, false)).toEqual(new Set(['inconclusive']));
});

it('repeats the reason why an invariant does not apply', () => {
  const [rule] = allInvariants;
  const monitor = new InvariantMonitor(rule ? [rule] : []);
  const [absent] = monitor.results(driver, () => new NotApplicableError('Not declared.'));
  expect(absent).toMatchObject({ verdict: 'not-applicable', message: 'Not declared.' });
  const [unknown] = monitor.results(driver, () => new InconclusiveError('Unknown.'));
  expect(unknown).toMatchObject({ verdict: 'inconclusive', message: 'Unknown.' });
});
