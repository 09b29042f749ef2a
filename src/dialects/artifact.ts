import type { Part } from '../protocol/part.ts';
import type { Artifact } from '../protocol/task.ts';
import {
  readMetadata,
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
  const description = readOptionalText(wire.description, fieldPath(at, 'description'));
  if (description !== undefined) artifact.description = description;
  const extensions = readNames(wire.extensions, fieldPath(at, 'extensions'), mode);
  if (extensions !== undefined) artifact.extensions = extensions;
  const metadata = readMetadata(wire.metadata, fieldPath(at, 'metadata'));
  if (metadata !== undefined) artifact.metadata = metadata;
  return artifact;
}
