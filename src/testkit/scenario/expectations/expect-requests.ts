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
    if (!request)
      return [
        {
          path: `${path}.request_index`,
          problem: 'request not received',
          expected: each.request_index,
          actual: `${requests.length} requests`,
        },
      ];
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
  const mismatches: ExpectationMismatch[] = [];
  const { exact, starts_with: start, contains } = expected;
  // The empty string means that the header is missing.
  if (exact !== undefined) mismatches.push(...equalityMismatch(exact, actual ?? '', `${path}.exact`));
  if (start !== undefined && actual?.startsWith(start) !== true)
    mismatches.push({
      path: `${path}.starts_with`,
      problem: 'does not start with the value',
      expected: start,
      actual,
    });
  if (contains !== undefined)
    mismatches.push(...containmentMismatches(contains, actual ?? '', `${path}.contains`));
  return mismatches;
}

function tokenRequestMismatches(
  expected: ScenarioCase['assert_oauth_token_requests'],
  { tokenRequests }: ScenarioCapture,
): ExpectationMismatch[] {
  return expected.flatMap((each, index) => {
    const path = `assert_oauth_token_requests[${index}]`;
    const requests = tokenRequests.filter(({ url }) => url === each.token_url);
    const mismatches: ExpectationMismatch[] = [];
    if (each.call_count !== undefined)
      mismatches.push(...equalityMismatch(each.call_count, requests.length, `${path}.call_count`));
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
  expected: ScenarioCase['assert_cancellation_sent'],
  { cancellation: { sent, received } }: ScenarioCapture,
): ExpectationMismatch[] {
  const path = 'assert_cancellation_sent';
  const mismatches: ExpectationMismatch[] = [];
  if (expected?.gateway_sent !== undefined)
    mismatches.push(...equalityMismatch(expected.gateway_sent, sent, `${path}.gateway_sent`));
  const { downstream_received: isReceived, downstream_task_id: id } = expected ?? {};
  if (isReceived !== undefined)
    mismatches.push(...equalityMismatch(isReceived, received.length > 0, `${path}.downstream_received`));
  if (id !== undefined && !received.includes(id))
    mismatches.push({
      path: `${path}.downstream_task_id`,
      problem: 'was not canceled',
      expected: id,
      actual: received,
    });
  return mismatches;
}
