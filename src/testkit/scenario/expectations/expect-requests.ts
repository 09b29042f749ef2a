import { compareValues, type ExpectationMismatch } from './compare-values.ts';
import { KeyComparison } from './key-comparison.ts';
import type { Scenario } from '../files/read-scenarios.ts';
import type { ScenarioCapture } from '../harness/harness-types.ts';
import type { ScenarioCase } from '../files/scenario-schema.ts';

type ExpectedHeader = NonNullable<ScenarioCase['assert_downstream_auth'][number]['api_key_header']>;

/** Compares requests to the test agent and the token endpoint with their expectations. */
export function requestMismatches(
  { spec }: Pick<Scenario, 'spec'>,
  capture: ScenarioCapture,
): ExpectationMismatch[] {
  return [
    ...bodyMismatches(spec.assert_downstream_request, capture),
    ...authMismatches(spec.assert_downstream_auth, capture),
    ...tokenRequestMismatches(spec.assert_oauth_token_requests, capture),
    ...cancellationMismatches(spec.assert_cancellation_sent, capture),
  ];
}

function bodyMismatches(
  expected: ScenarioCase['assert_downstream_request'],
  { requests }: ScenarioCapture,
): ExpectationMismatch[] {
  const bodies = requests.flatMap(({ body }) => (body === undefined ? [] : [body]));
  return expected.flatMap((each, index) => {
    const path = `assert_downstream_request[${index}]`;
    if (index < bodies.length) return compareValues(each, bodies[index], path);
    return [{ path, problem: 'request not received', expected: each }];
  });
}

function authMismatches(
  expected: ScenarioCase['assert_downstream_auth'],
  { requests }: ScenarioCapture,
): ExpectationMismatch[] {
  return expected.flatMap((each, index) => {
    const path = `assert_downstream_auth[${index}]`;
    const request = requests[each.request_index];
    if (!request) {
      const actual = `${requests.length} requests`;
      return new KeyComparison(each, path).report('request_index', 'request not received', actual).mismatches;
    }
    return [
      ...headerMismatches(each.authorization_header, request.authorization, `${path}.authorization_header`),
      ...headerMismatches(each.api_key_header, request.apiKey, `${path}.api_key_header`),
    ];
  });
}

function headerMismatches(
  expected: ExpectedHeader | undefined,
  actual: string | undefined,
  path: string,
): ExpectationMismatch[] {
  if (!expected) return [];
  // The empty string means that the header is missing.
  const comparison = new KeyComparison(expected, path).equal('exact', actual ?? '');
  if (expected.starts_with !== undefined && actual?.startsWith(expected.starts_with) !== true)
    comparison.report('starts_with', 'does not start with the value', actual);
  return comparison.contains('contains', actual ?? '').mismatches;
}

function tokenRequestMismatches(
  expected: ScenarioCase['assert_oauth_token_requests'],
  { tokenRequests }: ScenarioCapture,
): ExpectationMismatch[] {
  return expected.flatMap((each, index) => {
    const path = `assert_oauth_token_requests[${index}]`;
    const requests = tokenRequests.filter(({ url }) => url === each.token_url);
    const { mismatches } = new KeyComparison(each, path).equal('call_count', requests.length);
    for (const [key, value] of Object.entries(each.request_body_contains ?? {})) {
      const field = `${key}=${value}`;
      if (requests.length === 0 || requests.some(({ body }) => !body.includes(field)))
        mismatches.push({
          path: `${path}.request_body_contains.${key}`,
          problem: 'does not contain the value',
          expected: field,
          actual: requests.map(({ body }) => body),
        });
    }
    return mismatches;
  });
}

function cancellationMismatches(
  expected: NonNullable<ScenarioCase['assert_cancellation_sent']> | undefined,
  { cancellation: { sent, received } }: ScenarioCapture,
): ExpectationMismatch[] {
  if (!expected) return [];
  const comparison = new KeyComparison(expected, 'assert_cancellation_sent')
    .equal('gateway_sent', sent)
    .equal('downstream_received', received.length > 0);
  const { downstream_task_id: id } = expected;
  if (id !== undefined && !received.includes(id))
    comparison.report('downstream_task_id', 'was not canceled', received);
  return comparison.mismatches;
}
