import type { Part } from '../protocol/part.ts';
import type { Artifact } from '../protocol/task.ts';
import {
  isSet,
  readObject,
  readOptionalText,
  fieldPath,
  readId,
  readName,
  readNames,
} from './field-readers.ts';
import type { DecodeMode } from './translation-loss.ts';

/** Reads an artifact in the format of all versions since 0.2, which differ only in the parts. */
export function readArtifactWith(
  readParts: (value: unknown, at: string, mode: DecodeMode) => Part[],
  value: unknown,
  at: string,
  mode: DecodeMode,
): Artifact {
  const wire = readObject(value, at);
  const artifact: Artifact = {
    artifactId: readId(wire.artifactId ?? wire.artifact_id, fieldPath(at, 'artifactId'), mode),
    parts: readParts(wire.parts, fieldPath(at, 'parts'), mode),
  };
  const name = readName(wire.name, fieldPath(at, 'name'), mode);
  if (name !== undefined) artifact.name = name;
  // Paths of missing members are not created: an artifact of a stream has few members.
  if (isSet(wire.description)) {
    const description = readOptionalText(wire.description, fieldPath(at, 'description'));
    if (description !== undefined) artifact.description = description;
  }
  if (isSet(wire.extensions)) {
    const extensions = readNames(wire.extensions, fieldPath(at, 'extensions'), mode);
    if (extensions !== undefined) artifact.extensions = extensions;
  }
  if (isSet(wire.metadata)) artifact.metadata = readObject(wire.metadata, fieldPath(at, 'metadata'));
  return artifact;
}
