import type { Message } from '../../../protocol/message.ts';
import type { Metadata, Part } from '../../../protocol/part.ts';
import { A2AError } from '../../../protocol/errors.ts';
import type { Scenario } from '../files/read-scenarios.ts';
import type { ScenarioPart } from '../files/scenario-schema.ts';

/**
 * Returns the parts that a case sends.
 *
 * @throws A2AError `INVALID_PARAMS` if there are none.
 */
export function partsToSend({ parts, mode }: Scenario): Part[] {
  if (parts.length > 0) return parts.map(toPart);
  const note = mode === 'compatible' ? ' (prompt is ignored in the compatible mode)' : '';
  throw new A2AError('INVALID_PARAMS', `gateway_input has neither a2a_parts nor parts${note}`);
}

function toPart(spec: ScenarioPart): Part {
  const { metadata } = spec;
  if (spec.type === 'data') return { data: spec.data, metadata };
  if (spec.type !== 'file') return { text: spec.text, metadata };
  const labels = { filename: spec.name, mediaType: spec.mime_type, metadata };
  return spec.uri === undefined ? { raw: spec.bytes_base64 ?? '', ...labels } : { url: spec.uri, ...labels };
}

/** Builds the message that a case sends. */
export function buildScenarioMessage(
  scenario: Scenario,
  parts: Part[],
  baseMetadata: Metadata = {},
): Message {
  const { invoked_with_artifacts: files, test_event_id: event } = scenario.spec.gateway_input ?? {};
  const metadata: Metadata = { ...baseMetadata };
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

/** Generates a UUID without dashes, in the format of mesh gateways. */
export function hexId(): string {
  return crypto.randomUUID().replaceAll('-', '');
}
