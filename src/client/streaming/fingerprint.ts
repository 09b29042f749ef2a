import type { StreamEvent } from '../../protocol/event.ts';
import type { Part } from '../../protocol/part.ts';
import type { Artifact } from '../../protocol/task.ts';

/** From how many characters on bytes are not kept. */
const large = 4_096;

/**
 * A part as a follower remembers it: of many bytes only how many there were, and a checksum. That is enough to see
 * whether it was seen before, and a file of any size can pass.
 */
export function fingerprintPart(part: Part): Part {
  if (!('raw' in part) || part.raw.length < large) return part;
  return { ...part, raw: `${part.raw.length} ${checksum(part.raw)}` };
}

/** An event as a follower remembers it. */
export function fingerprintEvent(event: StreamEvent): StreamEvent {
  if (event.kind === 'artifact') {
    const artifact = imprintOfArtifact(event.artifact);
    return artifact === event.artifact ? event : { ...event, artifact };
  }
  if (event.kind !== 'task' || !event.task.artifacts) return event;
  return { ...event, task: { ...event.task, artifacts: event.task.artifacts.map(imprintOfArtifact) } };
}

function imprintOfArtifact(artifact: Artifact): Artifact {
  const isLarge = artifact.parts.some((part) => 'raw' in part && part.raw.length >= large);
  return isLarge ? { ...artifact, parts: artifact.parts.map(fingerprintPart) } : artifact;
}

/** Two sums of 32 bits. Nobody gains anything by making them meet: it is the agent's own file. */
function checksum(text: string): string {
  let [one, two] = [0x81_1c_9d_c5, 0];
  for (let i = 0; i < text.length; i++) {
    one = Math.imul(one ^ text.charCodeAt(i), 0x01_00_01_93);
    two = (Math.imul(two, 31) + text.charCodeAt(i)) | 0;
  }
  return `${(one >>> 0).toString(16)}.${(two >>> 0).toString(16)}`;
}
