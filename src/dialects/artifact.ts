import type { Part } from '../protocol/part.ts';
import type { Artifact } from '../protocol/task.ts';
import {
  readMetadata,
  readNonEmptyString,
  readObject,
  readStrings,
  readOptionalText,
  fieldPath,
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
    artifactId: readNonEmptyString(wire.artifactId ?? wire.artifact_id, fieldPath(at, 'artifactId')),
    parts: readParts(wire.parts, fieldPath(at, 'parts'), mode),
  };
  const name = readOptionalText(wire.name, fieldPath(at, 'name'));
  if (name !== undefined) artifact.name = name;
  const description = readOptionalText(wire.description, fieldPath(at, 'description'));
  if (description !== undefined) artifact.description = description;
  const extensions = readStrings(wire.extensions, fieldPath(at, 'extensions'));
  if (extensions !== undefined) artifact.extensions = extensions;
  const metadata = readMetadata(wire.metadata, fieldPath(at, 'metadata'));
  if (metadata !== undefined) artifact.metadata = metadata;
  return artifact;
}
