import type { Dialect } from '../../dialects/dialect.ts';
import { lenientMode } from '../../dialects/translation-loss.ts';
import { v0_1 } from '../../dialects/v0_1/index.ts';
import { v0_3 } from '../../dialects/v0_3/index.ts';
import { v1_0 } from '../../dialects/v1_0/index.ts';
import type { ProtocolVersion } from '../../protocol/card.ts';
import { A2AError } from '../../protocol/errors.ts';
import type { StreamEvent } from '../../protocol/event.ts';
import { parseBoundedJson } from '../../primitives/json.ts';

/** A 1.0 notification has one of these keys. */
const v1Keys = ['task', 'message', 'statusUpdate', 'artifactUpdate', 'status_update', 'artifact_update'];

/**
 * Parses the body of a notification and detects its version.
 *
 * @throws {@link A2AError} `PARSE_ERROR` or `INVALID_PARAMS`.
 */
export function readNotification(text: string): { event: StreamEvent; version: ProtocolVersion } {
  let wire: unknown;
  try {
    wire = parseBoundedJson(text);
  } catch (cause) {
    throw new A2AError('PARSE_ERROR', undefined, { cause });
  }
  const dialect = detectDialect(wire);
  return { event: dialect.notification.read(wire, lenientMode()), version: dialect.version };
}

function detectDialect(wire: unknown): Dialect {
  if (typeof wire !== 'object' || wire === null) return v1_0;
  if ('kind' in wire) return v0_3;
  return v1Keys.some((key) => key in wire) ? v1_0 : v0_1;
}
