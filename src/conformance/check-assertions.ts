import { RuleViolationError, type Evidence } from './check-errors.ts';
import { describeResponse } from './drivers/describe-response.ts';
import type { DecodedResponse } from './drivers/protocol-driver.ts';
import type { HttpExchange } from './wire/http-exchange.ts';

/** Assertions of a check. The last exchange is the evidence of a violation, unless others are named. */
export class CheckAssertions {
  /** The exchanges of this check, used as evidence. */
  readonly exchanges: HttpExchange[];
  /** Violations after which the check continued. */
  readonly warnings: { message: string; evidence: Evidence }[] = [];

  constructor(exchanges: HttpExchange[] = []) {
    this.exchanges = exchanges;
  }

  /** @throws RuleViolationError unless `holds` is truthy. */
  expect(holds: unknown, message: string, evidence: Evidence = {}): void {
    if (!holds) throw new RuleViolationError(message, { exchanges: this.exchanges.slice(-1), ...evidence });
  }

  /** @throws RuleViolationError with both values as evidence unless they are identical. */
  expectEqual(actual: unknown, expected: unknown, message: string, evidence: Evidence = {}): void {
    this.expect(actual === expected, message, { expected, actual, ...evidence });
  }

  /** @throws RuleViolationError with the items as evidence unless there are none. */
  expectEmpty(items: readonly unknown[], message: string, evidence: Evidence = {}): void {
    this.expect(items.length === 0, message, { actual: items, ...evidence });
  }

  /** @throws RuleViolationError with the items as evidence if one occurs twice. */
  expectUnique(items: readonly unknown[], message: string): void {
    this.expect(new Set(items).size === items.length, message, { actual: items });
  }

  /** @throws RuleViolationError unless both lists contain the same strings, in any order. */
  expectSameItems(actual: readonly string[], expected: readonly string[], message: string): void {
    const [found, wanted] = [actual.toSorted(), expected.toSorted()];
    this.expect(found.join() === wanted.join(), message, { expected: wanted, actual: found });
  }

  /** @throws RuleViolationError if the request failed. */
  expectSuccess(response: DecodedResponse, message: string): void {
    const { error, decodeError, exchange } = response;
    const evidence = { expected: 'a result', actual: describeResponse(response), exchanges: [exchange] };
    this.expect(!error && decodeError === undefined, message, evidence);
  }

  /** @throws RuleViolationError unless the agent returned an error. */
  expectFailure(response: DecodedResponse, message: string): void {
    this.expect(response.error, message, { expected: 'an error', actual: describeResponse(response) });
  }

  /** Records a violation and lets the check continue. */
  warn(message: string, evidence: Evidence = {}): void {
    this.warnings.push({ message, evidence: { exchanges: this.exchanges.slice(-1), ...evidence } });
  }
}
