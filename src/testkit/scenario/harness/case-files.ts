import { memoryArtifactStore } from '../../../artifacts/stores/memory.ts';
import { companionFilename, saveWithMetadata } from '../../../artifacts/artifact-metadata.ts';
import { readArtifactUri, writeArtifactUri } from '../../../artifacts/artifact-uri.ts';
import { bytesOf, type Part, rawPart } from '../../../protocol/part.ts';
import type { Scenario } from '../files/read-scenarios.ts';
import type { CaseFiles } from './harness-types.ts';

/** Application name of stored files. All agents of a namespace share it. */
export const sharedApp = 'test_namespace';

/** Creates the artifact store of a case with its `setup_artifacts`. */
export async function createCaseFiles({ spec, user, session }: Scenario): Promise<CaseFiles> {
  const store = memoryArtifactStore();
  for (const each of spec.setup_artifacts) {
    const key = { app: sharedApp, user, session, filename: each.filename };
    const bytes =
      each.content_base64 === undefined
        ? Buffer.from(each.content ?? '')
        : bytesOf({ raw: each.content_base64 });
    await store.save(key, bytes, each.mime_type);
    if (each.metadata)
      await store.save(
        companionFilename(key),
        Buffer.from(JSON.stringify(each.metadata)),
        'application/json',
      );
  }
  return { store, app: sharedApp };
}

/** Stores raw parts as user uploads and replaces them by artifact links. */
export async function uploadRawParts(
  parts: readonly Part[],
  scenario: Scenario,
  files: CaseFiles,
): Promise<Part[]> {
  const linked: Part[] = [];
  for (const [index, part] of parts.entries()) {
    if (!('raw' in part)) {
      linked.push(part);
      continue;
    }
    const { raw, ...labels } = part;
    const filename = part.filename ?? `upload-${index}`;
    const { user, session, spec } = scenario;
    const key = { user, session, filename };
    const saved = await saveWithMetadata(files.store, { ...key, app: files.app }, bytesOf({ raw }), {
      ...(part.mediaType === undefined ? {} : { mimeType: part.mediaType }),
      tags: ['__user_uploaded'],
    });
    const app = spec.gateway_input?.target_agent_name ?? files.app;
    linked.push({ ...labels, url: writeArtifactUri({ ...key, app, version: saved.version }) });
  }
  return linked;
}

/** Replaces links to files of the case store by their bytes. Other links are unchanged. */
export async function downloadLinkedParts(
  parts: readonly Part[],
  { store, app }: CaseFiles,
): Promise<Part[]> {
  return Promise.all(
    parts.map(async (part) => {
      const uri = 'url' in part ? readArtifactUri(part.url) : undefined;
      const file = uri && (await store.load({ ...uri, app }, uri.version));
      if (!file || !('url' in part)) return part;
      const { url: _link, ...labels } = part;
      return rawPart(await file.bytes(), labels);
    }),
  );
}
