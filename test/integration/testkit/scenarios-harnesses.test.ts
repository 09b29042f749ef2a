import { describe, expect, it } from 'vitest';
import { type Scenario } from '../../../src/testkit/scenario/files/read-scenarios.ts';
import { openHarness } from '../../../src/testkit/scenario/harness/open-harness.ts';
import { runScenarios } from '../../../src/testkit/scenario/run-scenarios.ts';
import { mosquitto, natsServer, startMosquitto, startNats } from '../../support/mesh/broker.ts';
import {
  workingUpdate,
  completedTask,
  expectCompleted,
  buildScenario,
  expectPassed,
  failingPaths,
} from '../../support/testkit/scenario-case.ts';

describe('harnesses http and direct', () => {
  const words = {
    downstream_a2a_agent_responses: [workingUpdate('one'), completedTask('Done.')],
    expected_gateway_output: [
      { type: 'status_update', content_parts: [{ type: 'text', text_exact: 'one' }] },
      expectCompleted('Done.'),
    ],
  };

  it.each(['direct', 'http'] as const)('are selected by the option: %s', async (kind) => {
    await expectPassed(
      { ...words, assert_downstream_request: [{ params: { message: { parts: [{ text: 'hello' }] } } }] },
      { kind },
    );
    await expectPassed(
      { ...words, input: { is_streaming: false }, expected_gateway_output: [expectCompleted('Done.')] },
      { kind },
    );
    await expectPassed({ ...words, harness: kind });
  });

  it.each(['direct', 'http'] as const)('report errors and cancel: %s', async (harness) => {
    await expectPassed({
      harness,
      downstream_http_error: { status_code: 503 },
      expected_gateway_output: [{ type: 'error', error_code: -32603 }],
    });
    await expectPassed({
      harness,
      downstream_script: { rules: [{ then: [{ say: 'Wait' }, { wait: '1h' }, { complete: 'late' }] }] },
      skip_intermediate_events: true,
      gateway_actions_after_input: [{ type: 'cancel_task', delay_seconds: 0.1 }],
      assert_cancellation_sent: { gateway_sent: true, downstream_received: true },
      expected_gateway_output: [{ type: 'final_response', task_state: 'canceled' }],
    });
  });

  it('store files with http and none with direct', async () => {
    const file = { kind: 'file', file: { name: 'r.csv', mimeType: 'text/csv', bytes: 'YSxi' } };
    const made = {
      downstream_a2a_agent_responses: [
        {
          kind: 'artifact-update',
          artifact: { artifactId: 'x', name: 'r.csv', parts: [file] },
          lastChunk: true,
        },
        completedTask('Done.'),
      ],
      skip_intermediate_events: true,
      expected_gateway_output: [
        { type: 'artifact_update', assert_part_is_uri_reference: true },
        expectCompleted('Done.'),
      ],
      expected_artifacts: [{ filename: 'r.csv', text_exact: 'a,b' }],
    };
    await expectPassed({ ...made, harness: 'http' });
    expect(await failingPaths({ ...made, harness: 'direct' })).toEqual([
      'expected_gateway_output[0].assert_part_is_uri_reference',
      'expected_artifacts',
    ]);
  });
});

describe('parallel cases', () => {
  /** Cases that differ in everything, some of which must fail. */
  function manyCases(size: number): Scenario[] {
    return Array.from({ length: size }, (_, index) =>
      buildScenario({
        input: { parts: [{ type: 'text', text: `question ${index}` }], user_identity: `user-${index}` },
        downstream_a2a_agent_responses: [
          workingUpdate(`working on ${index}`),
          completedTask(`answer ${index}`),
        ],
        expected_gateway_output: [
          { type: 'status_update', content_parts: [{ type: 'text', text_exact: `working on ${index}` }] },
          expectCompleted(index % 50 === 49 ? 'another answer' : `answer ${index}`),
        ],
        assert_downstream_request: [{ params: { message: { parts: [{}, { text: `question ${index}` }] } } }],
      }),
    );
  }

  it('are isolated', async () => {
    const cases = manyCases(200);
    const results = await runScenarios(cases, { openHarness: () => openHarness() });
    expect(results.map(({ scenario }) => scenario.id)).toEqual(cases.map(({ id }) => id));
    const failed = results.flatMap(({ outcome }, index) => (outcome === 'passed' ? [] : [index]));
    expect(failed).toEqual([49, 99, 149, 199]);
    expect(results.every(({ capture }) => capture?.requests.length === 1)).toBe(true);
  });

  it('stop when aborted', async () => {
    const stop = new AbortController();
    const results = await runScenarios(manyCases(20), {
      openHarness: () => openHarness(),
      parallel: 1,
      signal: stop.signal,
      onResult: () => stop.abort(),
    });
    expect(results.filter(({ outcome }) => outcome === 'skipped')).toHaveLength(19);
  });

  it('open no harness for skipped cases', async () => {
    const scenario = { ...buildScenario({}), skipReason: 'because' };
    const results = await runScenarios([scenario], {
      openHarness: () => {
        throw new Error('opened');
      },
    });
    expect(results).toMatchObject([{ outcome: 'skipped', reason: 'because' }]);
  });
});

describe.each([
  ['MQTT', mosquitto, startMosquitto],
  ['NATS', natsServer, startNats],
] as const)('cases over %s', (_name, program, start) => {
  it.skipIf(program === undefined)(
    'have the same results as in memory',
    async () => {
      const broker = await start();
      try {
        const cases = Array.from({ length: 12 }, (_, index) =>
          buildScenario({
            downstream_a2a_agent_responses: [
              workingUpdate(`working on ${index}`),
              completedTask(`answer ${index}`),
            ],
            expected_gateway_output: [
              { type: 'status_update' },
              expectCompleted(index === 7 ? 'wrong' : `answer ${index}`),
            ],
          }),
        );
        const results = await runScenarios(cases, {
          openHarness: () => openHarness({ broker: broker.url }),
          parallel: 3,
        });
        expect(results.flatMap(({ outcome }, index) => (outcome === 'passed' ? [] : [index]))).toEqual([7]);
      } finally {
        await broker.remove();
      }
    },
    60_000,
  );
});
