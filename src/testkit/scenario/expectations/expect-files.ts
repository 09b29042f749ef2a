import { bytesOf } from '../../../protocol/part.ts';
import { companionFilename, loadMetadata } from '../../../artifacts/artifact-metadata.ts';
import type { ArtifactKey } from '../../../artifacts/artifact-store.ts';
import {
  containmentMismatches,
  type ExpectationMismatch,
  compareValues,
  equalityMismatch,
} from './compare-values.ts';
import type { Scenario } from '../files/read-scenarios.ts';
import type { CaseFiles } from '../harness/harness-types.ts';
import type { ExpectedArtifact, ExpectedArtifactState } from '../files/scenario-schema.ts';

/** Compares the files that are there with what is expected of them. */
export async function fileMismatches(
  scenario: Scenario,
  files: CaseFiles | undefined,
): Promise<ExpectationMismatch[]> {
  const { spec: words } = scenario;
  const expectedOfEvents = words.expected_gateway_output.flatMap((output, index) =>
    (output.assert_artifact_state ?? []).map((state, place) => ({
      state,
      path: `expected_gateway_output[${index}].assert_artifact_state[${place}]`,
    })),
  );
  if (expectedOfEvents.length + words.expected_artifacts.length === 0) return [];
  if (!files)
    return [{ path: 'expected_artifacts', problem: 'nothing keeps files here; use the gateway: mesh' }];
  const found: ExpectationMismatch[] = [];
  for (const { state, path } of expectedOfEvents)
    found.push(...(await stateDifferences(state, { scenario, files, path })));
  for (const [index, each] of words.expected_artifacts.entries())
    found.push(
      ...(await artifactDifferences(each, { scenario, files, path: `expected_artifacts[${index}]` })),
    );
  return found;
}

interface Place {
  scenario: Scenario;
  files: CaseFiles;
  path: string;
}

interface Named {
  filename?: string | undefined;
  filename_matches_regex?: string | undefined;
}

async function stateDifferences(
  expected: ExpectedArtifactState,
  place: Place,
): Promise<ExpectationMismatch[]> {
  const { files, path, scenario } = place;
  const scope = {
    app: files.app,
    user: expected.user_id ?? scenario.user,
    session: expected.session_id ?? scenario.session,
  };
  const key = await keyOf(expected, scope, place);
  if (!isKey(key)) return [key];
  const inside = expected.namespace === 'user' && !key.filename.startsWith('user:');
  const wanted = inside ? { ...key, filename: `user:${key.filename}` } : key;
  const file = await load(wanted, expected.version, place);
  if (!isLoaded(file)) return [file];
  const found: ExpectationMismatch[] = [];
  if (expected.expected_content_text !== undefined)
    found.push(
      ...equalityMismatch(expected.expected_content_text, file.text, `${path}.expected_content_text`),
    );
  if (expected.expected_content_bytes_base64 !== undefined)
    found.push(
      ...sameBytes(
        expected.expected_content_bytes_base64,
        file.bytes,
        `${path}.expected_content_bytes_base64`,
      ),
    );
  const { expected_metadata_contains: known, assert_metadata_schema_key_count: count } = expected;
  if (known === undefined && count === undefined) return found;
  // What is known about a version has its number.
  const metadata = await loadMetadata(files.store, wanted, file.version);
  if (known !== undefined)
    found.push(...compareValues(known, metadata, `${path}.expected_metadata_contains`));
  if (count !== undefined) {
    const keys = Object.keys((metadata?.schema as { structure?: object } | undefined)?.structure ?? {});
    found.push(...equalityMismatch(count, keys.length, `${path}.assert_metadata_schema_key_count`));
  }
  return found;
}

async function artifactDifferences(expected: ExpectedArtifact, place: Place): Promise<ExpectationMismatch[]> {
  const { files, path, scenario } = place;
  const scope = { app: files.app, user: scenario.user, session: scenario.session };
  const key = await keyOf(expected, scope, place);
  if (!isKey(key)) return [key];
  const file = await load(key, expected.version ?? 'latest', place);
  if (!isLoaded(file)) return [file];
  const found: ExpectationMismatch[] = [];
  if (expected.mime_type !== undefined)
    found.push(...equalityMismatch(expected.mime_type, file.mimeType, `${path}.mime_type`));
  if (expected.content_contains !== undefined)
    found.push(...containmentMismatches(expected.content_contains, file.text, `${path}.content_contains`));
  if (expected.text_exact !== undefined)
    found.push(...equalityMismatch(expected.text_exact, file.text, `${path}.text_exact`));
  if (expected.content_base64_exact !== undefined)
    found.push(...sameBytes(expected.content_base64_exact, file.bytes, `${path}.content_base64_exact`));
  if (expected.metadata_contains !== undefined)
    found.push(
      ...compareValues(
        expected.metadata_contains,
        await loadMetadata(files.store, key),
        `${path}.metadata_contains`,
      ),
    );
  return found;
}

async function keyOf(
  named: Named,
  scope: Omit<ArtifactKey, 'filename'>,
  { files, path }: Place,
): Promise<ArtifactKey | ExpectationMismatch> {
  if (named.filename !== undefined) return { ...scope, filename: named.filename };
  const expression = new RegExp(named.filename_matches_regex ?? '');
  const names = await files.store.list(scope);
  // The companion of a file is none of its own.
  const companions = new Set(names.map((filename) => companionFilename({ ...scope, filename }).filename));
  const matching = names.filter((name) => !companions.has(name) && expression.test(name));
  const [filename] = matching;
  if (matching.length === 1 && filename !== undefined) return { ...scope, filename };
  return {
    path: `${path}.filename_matches_regex`,
    problem: `${matching.length} files match, where one should`,
    expected: named.filename_matches_regex,
    actual: names,
  };
}

function isKey(found: ArtifactKey | ExpectationMismatch): found is ArtifactKey {
  return 'filename' in found;
}

interface Loaded {
  version: number;
  mimeType: string;
  bytes: Uint8Array;
  text: string;
}

async function load(
  key: ArtifactKey,
  version: number | 'latest',
  { files: { store }, path, scenario: { versionsFrom } }: Place,
): Promise<Loaded | ExpectationMismatch> {
  const file = await store.load(key, version === 'latest' ? undefined : version - versionsFrom);
  if (file) {
    const bytes = await file.bytes();
    return {
      version: file.version,
      mimeType: file.mimeType,
      bytes,
      text: Buffer.from(bytes).toString('utf8'),
    };
  }
  const versions = (await store.versions(key)).map((each) => each + versionsFrom);
  const { filename, user, session } = key;
  return {
    path,
    problem: versions.length === 0 ? 'there is no such file' : 'there is no such version',
    expected: { filename, version },
    actual:
      versions.length === 0 ? { files: await store.list({ app: key.app, user, session }) } : { versions },
  };
}

function isLoaded(found: Loaded | ExpectationMismatch): found is Loaded {
  return 'bytes' in found;
}

function sameBytes(expected: string, actual: Uint8Array, path: string): ExpectationMismatch[] {
  const isEqual = Buffer.from(bytesOf({ raw: expected })).equals(actual);
  return isEqual
    ? []
    : [{ path, problem: 'is not the same', expected, actual: Buffer.from(actual).toString('base64') }];
}
