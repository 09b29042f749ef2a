import {
  containmentMismatches,
  type ExpectationMismatch,
  compareValues,
  equalityMismatch,
} from './compare-values.ts';
import type { Scenario } from '../files/read-scenarios.ts';
import type { ScenarioCapture } from '../harness/harness-types.ts';
import type { ScenarioCase } from '../files/scenario-schema.ts';

type ExpectedHeader = NonNullable<ScenarioCase['assert_downstream_auth'][number]['api_key_header']>;

/** Compares what the test agent and the token endpoint were asked with what is expected. */
export function requestMismatches(
  { spec: words }: Pick<Scenario, 'spec'>,
  capture: ScenarioCapture,
): ExpectationMismatch[] {
  return [
    ...bodyDifferences(words.assert_downstream_request, capture),
    ...headerDifferences(words.assert_downstream_auth, capture),
    ...tokenDifferences(words.assert_oauth_token_requests, capture),
    ...cancellationDifferences(words.assert_cancellation_sent, capture),
  ];
}

function bodyDifferences(
  expected: ScenarioCase['assert_downstream_request'],
  { requests }: ScenarioCapture,
): ExpectationMismatch[] {
  const bodies = requests.flatMap(({ body }) => (body === undefined ? [] : [body]));
  return expected.flatMap((each, index) => {
    const path = `assert_downstream_request[${index}]`;
    if (index < bodies.length) return compareValues(each, bodies[index], path);
    return [{ path, problem: 'there was no such request', expected: each }];
  });
}

function headerDifferences(
  expected: ScenarioCase['assert_downstream_auth'],
  { requests }: ScenarioCapture,
): ExpectationMismatch[] {
  return expected.flatMap((each, index) => {
    const path = `assert_downstream_auth[${index}]`;
    const request = requests[each.request_index];
    if (!request)
      return [
        {
          path: `${path}.request_index`,
          problem: 'there was no such request',
          expected: each.request_index,
          actual: `${requests.length} requests`,
        },
      ];
    return [
      ...headerDifference(each.authorization_header, request.authorization, `${path}.authorization_header`),
      ...headerDifference(each.api_key_header, request.apiKey, `${path}.api_key_header`),
    ];
  });
}

function headerDifference(
  expected: ExpectedHeader | undefined,
  actual: string | undefined,
  path: string,
): ExpectationMismatch[] {
  if (!expected) return [];
  const found: ExpectationMismatch[] = [];
  const { exact, starts_with: start, contains } = expected;
  // The empty text stands for a header that is not there.
  if (exact !== undefined) found.push(...equalityMismatch(exact, actual ?? '', `${path}.exact`));
  if (start !== undefined && actual?.startsWith(start) !== true)
    found.push({ path: `${path}.starts_with`, problem: 'begins otherwise', expected: start, actual });
  if (contains !== undefined)
    found.push(...containmentMismatches(contains, actual ?? '', `${path}.contains`));
  return found;
}

function tokenDifferences(
  expected: ScenarioCase['assert_oauth_token_requests'],
  { tokenRequests }: ScenarioCapture,
): ExpectationMismatch[] {
  return expected.flatMap((each, index) => {
    const path = `assert_oauth_token_requests[${index}]`;
    const there = tokenRequests.filter(({ url }) => url === each.token_url);
    const found: ExpectationMismatch[] = [];
    if (each.call_count !== undefined)
      found.push(...equalityMismatch(each.call_count, there.length, `${path}.call_count`));
    for (const [key, value] of Object.entries(each.request_body_contains ?? {})) {
      const field = `${key}=${value}`;
      if (there.length === 0 || there.some(({ body }) => !body.includes(field)))
        found.push({
          path: `${path}.request_body_contains.${key}`,
          problem: 'does not contain it',
          expected: field,
          actual: there.map(({ body }) => body),
        });
    }
    return found;
  });
}

function cancellationDifferences(
  expected: ScenarioCase['assert_cancellation_sent'],
  { cancellation: { sent, received } }: ScenarioCapture,
): ExpectationMismatch[] {
  const path = 'assert_cancellation_sent';
  const found: ExpectationMismatch[] = [];
  if (expected?.gateway_sent !== undefined)
    found.push(...equalityMismatch(expected.gateway_sent, sent, `${path}.gateway_sent`));
  const { downstream_received: wanted, downstream_task_id: id } = expected ?? {};
  if (wanted !== undefined)
    found.push(...equalityMismatch(wanted, received.length > 0, `${path}.downstream_received`));
  if (id !== undefined && !received.includes(id))
    found.push({
      path: `${path}.downstream_task_id`,
      problem: 'was not asked for',
      expected: id,
      actual: received,
    });
  return found;
}
