import { bytesOf } from '../../../protocol/part.ts';
import { companionFilename, loadMetadata } from '../../../artifacts/artifact-metadata.ts';
import type { ArtifactKey } from '../../../artifacts/artifact-store.ts';
import type { ExpectationMismatch } from './compare-values.ts';
import { KeyComparison } from './key-comparison.ts';
import type { Scenario } from '../files/read-scenarios.ts';
import type { CaseFiles } from '../harness/harness-types.ts';
import type { ExpectedArtifact, ExpectedArtifactState } from '../files/scenario-schema.ts';

/** Compares stored files with their expectations. */
export async function fileMismatches(
  scenario: Scenario,
  files: CaseFiles | undefined,
): Promise<ExpectationMismatch[]> {
  const { spec } = scenario;
  const expectedStates = spec.expected_gateway_output.flatMap((output, index) =>
    (output.assert_artifact_state ?? []).map((state, stateIndex) => ({
      state,
      path: `expected_gateway_output[${index}].assert_artifact_state[${stateIndex}]`,
    })),
  );
  if (expectedStates.length + spec.expected_artifacts.length === 0) return [];
  if (!files)
    return [{ path: 'expected_artifacts', problem: 'this harness stores no files; use harness: mesh' }];
  const mismatches: ExpectationMismatch[] = [];
  for (const { state, path } of expectedStates)
    mismatches.push(...(await stateMismatches(state, { scenario, files, path })));
  for (const [index, each] of spec.expected_artifacts.entries())
    mismatches.push(
      ...(await artifactMismatches(each, { scenario, files, path: `expected_artifacts[${index}]` })),
    );
  return mismatches;
}

interface FileContext {
  scenario: Scenario;
  files: CaseFiles;
  path: string;
}

interface ExpectedFilename {
  filename?: string | undefined;
  filename_matches_regex?: string | undefined;
}

async function stateMismatches(
  expected: ExpectedArtifactState,
  context: FileContext,
): Promise<ExpectationMismatch[]> {
  const { files, path, scenario } = context;
  const scope = {
    app: files.app,
    user: expected.user_id ?? scenario.user,
    session: expected.session_id ?? scenario.session,
  };
  const key = await findKey(expected, scope, context);
  if (!isKey(key)) return [key];
  const isUserFile = expected.namespace === 'user' && !key.filename.startsWith('user:');
  const fileKey = isUserFile ? { ...key, filename: `user:${key.filename}` } : key;
  const file = await load(fileKey, expected.version, context);
  if (!isLoaded(file)) return [file];
  const comparison = new KeyComparison(expected, path)
    .equal('expected_content_text', file.text)
    .compare('expected_content_bytes_base64', file.bytes, bytesMismatch);
  // Metadata has the same version number as its file.
  const metadata = await loadMetadata(files.store, fileKey, file.version);
  const { structure } = (metadata?.schema ?? {}) as { structure?: object };
  return comparison
    .includes('expected_metadata_contains', metadata)
    .equal('assert_metadata_schema_key_count', Object.keys(structure ?? {}).length).mismatches;
}

async function artifactMismatches(
  expected: ExpectedArtifact,
  context: FileContext,
): Promise<ExpectationMismatch[]> {
  const { files, path, scenario } = context;
  const scope = { app: files.app, user: scenario.user, session: scenario.session };
  const key = await findKey(expected, scope, context);
  if (!isKey(key)) return [key];
  const file = await load(key, expected.version ?? 'latest', context);
  if (!isLoaded(file)) return [file];
  return new KeyComparison(expected, path)
    .equal('mime_type', file.mimeType)
    .contains('content_contains', file.text)
    .equal('text_exact', file.text)
    .compare('content_base64_exact', file.bytes, bytesMismatch)
    .includes('metadata_contains', await loadMetadata(files.store, key)).mismatches;
}

async function findKey(
  expected: ExpectedFilename,
  scope: Omit<ArtifactKey, 'filename'>,
  { files, path }: FileContext,
): Promise<ArtifactKey | ExpectationMismatch> {
  if (expected.filename !== undefined) return { ...scope, filename: expected.filename };
  const expression = new RegExp(expected.filename_matches_regex ?? '');
  const names = await files.store.list(scope);
  // Metadata companions do not count as files.
  const companions = new Set(names.map((filename) => companionFilename({ ...scope, filename }).filename));
  const matching = names.filter((name) => !companions.has(name) && expression.test(name));
  const [filename] = matching;
  if (matching.length === 1 && filename !== undefined) return { ...scope, filename };
  return {
    path: `${path}.filename_matches_regex`,
    problem: `${matching.length} files match, expected exactly one`,
    expected: expected.filename_matches_regex,
    actual: names,
  };
}

function isKey(mismatches: ArtifactKey | ExpectationMismatch): mismatches is ArtifactKey {
  return 'filename' in mismatches;
}

interface LoadedFile {
  version: number;
  mimeType: string;
  bytes: Uint8Array;
  text: string;
}

async function load(
  key: ArtifactKey,
  version: number | 'latest',
  { files: { store }, path, scenario: { firstVersion } }: FileContext,
): Promise<LoadedFile | ExpectationMismatch> {
  const file = await store.load(key, version === 'latest' ? undefined : version - firstVersion);
  if (file) {
    const { version: loadedVersion, mimeType } = file;
    const bytes = await file.bytes();
    return { version: loadedVersion, mimeType, bytes, text: Buffer.from(bytes).toString('utf8') };
  }
  const versions = (await store.versions(key)).map((each) => each + firstVersion);
  const { filename, user, session } = key;
  return {
    path,
    problem: versions.length === 0 ? 'file not found' : 'version not found',
    expected: { filename, version },
    actual:
      versions.length === 0 ? { files: await store.list({ app: key.app, user, session }) } : { versions },
  };
}

function isLoaded(mismatches: LoadedFile | ExpectationMismatch): mismatches is LoadedFile {
  return 'bytes' in mismatches;
}

function bytesMismatch(expected: string, bytes: unknown, path: string): ExpectationMismatch[] {
  const actual = Buffer.from(bytes as Uint8Array);
  if (actual.equals(bytesOf({ raw: expected }))) return [];
  return [{ path, problem: 'is different', expected, actual: actual.toString('base64') }];
}
