import { memoryArtifactStore } from '../../../artifacts/stores/memory.ts';
import { companionFilename, saveWithMetadata } from '../../../artifacts/artifact-metadata.ts';
import { readArtifactUri, writeArtifactUri } from '../../../artifacts/artifact-uri.ts';
import { bytesOf, type Part, rawPart } from '../../../protocol/part.ts';
import type { Scenario } from '../files/read-scenarios.ts';
import type { CaseFiles } from './harness-types.ts';

/** Under which application files are kept: agents of one namespace share them, whatever a link says. */
export const sharedApp = 'test_namespace';

/** A place for files of one case, with those in it that are there before. */
export async function createCaseFiles({ spec: words, user, session }: Scenario): Promise<CaseFiles> {
  const store = memoryArtifactStore();
  for (const each of words.setup_artifacts) {
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

/** The parts with links in the place of bytes, which are stored as somebody's upload. */
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
    const { user, session, spec: words } = scenario;
    const key = { user, session, filename };
    const saved = await saveWithMetadata(files.store, { ...key, app: files.app }, bytesOf({ raw }), {
      ...(part.mediaType === undefined ? {} : { mimeType: part.mediaType }),
      tags: ['__user_uploaded'],
    });
    const app = words.gateway_input?.target_agent_name ?? files.app;
    linked.push({ ...labels, url: writeArtifactUri({ ...key, app, version: saved.version }) });
  }
  return linked;
}

/** The parts with bytes in the place of links to files that we keep. Other links stay. */
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
