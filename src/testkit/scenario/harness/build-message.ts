import type { Message } from '../../../protocol/message.ts';
import type { Metadata, Part } from '../../../protocol/part.ts';
import { A2AError } from '../../../protocol/errors.ts';
import type { Scenario } from '../files/read-scenarios.ts';
import type { ScenarioPart } from '../files/scenario-schema.ts';

/**
 * The parts that a case sends.
 *
 * @throws A2AError when it sends none, as a file does whose words are not read in the compatible mode.
 */
export function partsToSend({ parts, mode }: Scenario): Part[] {
  if (parts.length > 0) return parts.map(partOf);
  const why = mode === 'compatible' ? ' (prompt is not looked at in the compatible mode)' : '';
  throw new A2AError('INVALID_PARAMS', `gateway_input has neither a2a_parts nor parts${why}`);
}

function partOf(given: ScenarioPart): Part {
  const metadata = given.metadata ? { metadata: given.metadata } : {};
  if (given.type === 'data') return { data: given.data, ...metadata };
  if (given.type !== 'file') return { text: given.text, ...metadata };
  const labels = {
    ...(given.name === undefined ? {} : { filename: given.name }),
    ...(given.mime_type === undefined ? {} : { mediaType: given.mime_type }),
    ...metadata,
  };
  return given.uri === undefined
    ? { raw: given.bytes_base64 ?? '', ...labels }
    : { url: given.uri, ...labels };
}

/** The message that a case sends. */
export function buildScenarioMessage(scenario: Scenario, parts: Part[], more: Metadata = {}): Message {
  const { invoked_with_artifacts: files, test_event_id: event } = scenario.spec.gateway_input ?? {};
  const metadata: Metadata = { ...more };
  if (files) metadata.invoked_with_artifacts = files;
  if (event !== undefined) metadata.test_event_id = event;
  return {
    messageId: hexId(),
    role: 'user',
    contextId: scenario.session,
    parts,
    ...(Object.keys(metadata).length > 0 ? { metadata } : {}),
  };
}

/** An id without dashes, as gateways of the mesh make them. */
export function hexId(): string {
  return crypto.randomUUID().replaceAll('-', '');
}
