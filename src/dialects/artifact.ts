import type { Part } from '../protocol/part.ts';
import type { Artifact } from '../protocol/task.ts';
import { readMetadata, readName, readObject, readStrings, readText, under } from './field-readers.ts';
import type { Reading } from './translation-loss.ts';

/** Reads an artifact as every version since 0.2 has it; only its parts differ between them. */
export function readArtifactWith(
  readParts: (value: unknown, at: string, reading: Reading) => Part[],
  value: unknown,
  at: string,
  reading: Reading,
): Artifact {
  const wire = readObject(value, at);
  const artifact: Artifact = {
    artifactId: readName(wire.artifactId ?? wire.artifact_id, under(at, 'artifactId')),
    parts: readParts(wire.parts, under(at, 'parts'), reading),
  };
  const name = readText(wire.name, under(at, 'name'));
  if (name !== undefined) artifact.name = name;
  const description = readText(wire.description, under(at, 'description'));
  if (description !== undefined) artifact.description = description;
  const extensions = readStrings(wire.extensions, under(at, 'extensions'));
  if (extensions !== undefined) artifact.extensions = extensions;
  const metadata = readMetadata(wire.metadata, under(at, 'metadata'));
  if (metadata !== undefined) artifact.metadata = metadata;
  return artifact;
}
