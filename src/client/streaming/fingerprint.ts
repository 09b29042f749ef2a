import type { StreamEvent } from '../../protocol/event.ts';
import type { Part } from '../../protocol/part.ts';
import type { Artifact } from '../../protocol/task.ts';

/** Minimum number of base64 characters of content that is replaced by a checksum. */
const minLength = 4_096;

/**
 * Fingerprint of a part: large content is reduced to its length and a checksum. It suffices to detect known parts, and
 * bounds the memory of a stream that transfers large files.
 */
export function fingerprintPart(part: Part): Part {
  if (!('raw' in part) || part.raw.length < minLength) return part;
  return { ...part, raw: `${part.raw.length} ${checksum(part.raw)}` };
}

/** Fingerprint of an event. */
export function fingerprintEvent(event: StreamEvent): StreamEvent {
  if (event.kind === 'artifact') {
    const artifact = fingerprintArtifact(event.artifact);
    return artifact === event.artifact ? event : { ...event, artifact };
  }
  if (event.kind !== 'task' || !event.task.artifacts) return event;
  return { ...event, task: { ...event.task, artifacts: event.task.artifacts.map(fingerprintArtifact) } };
}

function fingerprintArtifact(artifact: Artifact): Artifact {
  const isLarge = artifact.parts.some((part) => 'raw' in part && part.raw.length >= minLength);
  return isLarge ? { ...artifact, parts: artifact.parts.map(fingerprintPart) } : artifact;
}

/** Two 32-bit checksums. They need not resist attacks: the agent can only confuse its own files. */
function checksum(text: string): string {
  let [one, two] = [0x81_1c_9d_c5, 0];
  for (let i = 0; i < text.length; i++) {
    one = Math.imul(one ^ text.charCodeAt(i), 0x01_00_01_93);
    two = (Math.imul(two, 31) + text.charCodeAt(i)) | 0;
  }
  return `${(one >>> 0).toString(16)}.${(two >>> 0).toString(16)}`;
}
