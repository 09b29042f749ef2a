import type { Dialect } from '../../dialects/dialect.ts';
import { lenientMode } from '../../dialects/translation-loss.ts';
import { v0_1 } from '../../dialects/v0_1/index.ts';
import { v0_3 } from '../../dialects/v0_3/index.ts';
import { v1_0 } from '../../dialects/v1_0/index.ts';
import type { ProtocolVersion } from '../../protocol/card.ts';
import { A2AError } from '../../protocol/errors.ts';
import type { StreamEvent } from '../../protocol/event.ts';

/** The keys of which a notification of 1.0 has one. */
const wrappers = ['task', 'message', 'statusUpdate', 'artifactUpdate', 'status_update', 'artifact_update'];

/**
 * Reads the body of a notification of whichever version.
 *
 * @throws {@link A2AError} `PARSE_ERROR` or `INVALID_PARAMS`.
 */
export function readNotification(text: string): { event: StreamEvent; version: ProtocolVersion } {
  let wire: unknown;
  try {
    wire = JSON.parse(text);
  } catch (cause) {
    throw new A2AError('PARSE_ERROR', undefined, { cause });
  }
  const dialect = dialectOf(wire);
  return { event: dialect.notification.read(wire, lenientMode()), version: dialect.version };
}

function dialectOf(wire: unknown): Dialect {
  if (typeof wire !== 'object' || wire === null) return v1_0;
  if ('kind' in wire) return v0_3;
  return wrappers.some((key) => key in wire) ? v1_0 : v0_1;
}
