import { lstat, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createFolder } from '../../../primitives/node/create-folder.ts';
import type { Command } from 'commander';
import { extensionFor } from '../../../artifacts/media-types.ts';
import { safeFilename } from '../../../artifacts/stores/storage-path.ts';
import { isLocalHost } from '../../../primitives/loopback.ts';
import { egressPolicy } from '../../../egress/egress-policy.ts';
import { egressRequest } from '../../../egress/egress-request.ts';
import { A2AError } from '../../../protocol/errors.ts';
import { bytesOf, contentKind, type Part, type UrlPart } from '../../../protocol/part.ts';
import type { Artifact } from '../../../protocol/task.ts';
import { ClientError } from '../../client/client-error.ts';
import { type ClientSession, withAgent } from '../../client/session.ts';
import { printWarning } from '../../terminal/print-error.ts';
import { UsageError } from '../../terminal/usage-error.ts';

/** Flags of `dragoman task download`. */
export interface DownloadFlags {
  dir: string;
  artifact?: string;
  fetch?: boolean;
  force?: boolean;
}

/** Result for one part: a saved file, or the URL of a file that was not fetched. */
interface DownloadedPart {
  artifactId: string;
  part: number;
  mediaType?: string;
  path?: string;
  bytes?: number;
  url?: string;
}

/** Maximum size of a fetched file, in bytes. */
const maxFileBytes = 1_024 * 1_048_576;

/** Runs `dragoman task download`. */
export async function runTaskDownloadCommand(
  command: Command,
  id: string,
  flags: DownloadFlags,
): Promise<void> {
  await withAgent(command, async (session) => {
    const { agent, call, out } = session;
    session.taskId = id;
    const task = await agent.getTask({ id }, call);
    const artifacts = (task.artifacts ?? []).filter(
      ({ artifactId }) => flags.artifact === undefined || artifactId === flags.artifact,
    );
    if (flags.artifact !== undefined && artifacts.length === 0)
      throw new UsageError(
        `Artifact not found: ${flags.artifact}`,
        `The task has ${task.artifacts?.map(({ artifactId }) => artifactId).join(', ') || 'no artifacts'}.`,
      );
    createFolder(flags.dir);
    const saved = await saveAll(session, artifacts, flags);
    if (out.isJson) {
      out.json({ taskId: task.id, contextId: task.contextId, state: task.status.state, files: saved });
      return;
    }
    out.identity(task);
    for (const each of saved) {
      if (each.path === undefined) out.field('Not fetched', `${each.url} (use --fetch to save it)`);
      else out.field('Saved', `${each.path} (${each.bytes} bytes)`);
    }
    if (saved.length === 0) printWarning('The task has no artifacts');
  });
}

async function saveAll(
  session: ClientSession,
  artifacts: readonly Artifact[],
  flags: DownloadFlags,
): Promise<DownloadedPart[]> {
  const saved: DownloadedPart[] = [];
  const taken = new Set<string>();
  for (const artifact of artifacts) {
    for (const [index, part] of artifact.parts.entries()) {
      const source = {
        artifactId: artifact.artifactId,
        part: index,
        ...(part.mediaType !== undefined && { mediaType: part.mediaType }),
      };
      if ('url' in part && !flags.fetch) {
        saved.push({ ...source, url: part.url });
        continue;
      }
      const bytes = 'url' in part ? await fetchFile(session, part) : encodePart(part);
      const path = join(flags.dir, uniqueName(chooseFilename(artifact, part, index), taken));
      await save(path, bytes, flags.force === true);
      saved.push({ ...source, path, bytes: bytes.length });
    }
  }
  return saved;
}

function encodePart(part: Exclude<Part, UrlPart>): Uint8Array {
  if ('raw' in part) return bytesOf(part);
  return Buffer.from('text' in part ? part.text : `${JSON.stringify(part.data, undefined, 2)}\n`);
}

/** Returns a safe file name based on the name that the agent gave; it cannot leave the directory. */
function chooseFilename({ artifactId, name, parts }: Artifact, part: Part, index: number): string {
  const kind = contentKind(part);
  const extension = {
    text: 'txt',
    data: 'json',
    raw: extensionFor(part.mediaType),
    url: extensionFor(part.mediaType),
  };
  const base = part.filename ?? name ?? artifactId;
  const numbered = part.filename === undefined && parts.length > 1 ? `${base}-${index + 1}` : base;
  const hasExtension = part.filename !== undefined || /\.\w{1,8}$/.test(numbered);
  const filename = hasExtension ? numbered : `${numbered}.${extension[kind]}`;
  // A name with a leading dot is hidden and may be a configuration file of another program.
  return safeFilename(filename, `artifact-${index + 1}.${extension[kind]}`).replace(/^\.+/, '_');
}

function uniqueName(name: string, taken: Set<string>): string {
  let unique = name;
  for (let number = 2; taken.has(unique.toLowerCase()); number++)
    unique = name.replace(/(\.\w+)?$/, (extension) => `-${number}${extension}`);
  taken.add(unique.toLowerCase());
  return unique;
}

async function save(path: string, bytes: Uint8Array, force: boolean): Promise<void> {
  const existing = await lstat(path).catch(() => undefined);
  if (existing && !force)
    throw new UsageError(
      `${path} already exists`,
      'Use --force to overwrite it, or choose another directory with --dir.',
    );
  if (existing?.isDirectory())
    throw new UsageError(`${path} is a directory`, 'Choose another directory with --dir.');
  // A temporary file and a rename are atomic, and replace a symbolic link instead of following it.
  const temporary = `${path}.${process.pid}.part`;
  try {
    await writeFile(temporary, bytes, { flag: 'wx' });
    await rename(temporary, path);
  } catch (cause) {
    await rm(temporary, { force: true });
    throw new ClientError('A2ACLI_ERR_INTERNAL', `Cannot write ${path}`, undefined, cause);
  }
}

/** Fetches a file part given by a URL: only from the host of the agent or from public addresses (SSRF protection). */
async function fetchFile({ description, call }: ClientSession, { url }: UrlPart): Promise<Uint8Array> {
  const { hostname } = new URL(description.url);
  const policy = egressPolicy({
    allow: [hostname],
    allowLoopback: isLocalHost(hostname),
    ...(isLocalHost(hostname) && { schemes: ['http', 'https'] }),
    maxBytes: maxFileBytes,
  });
  const hint = 'Omit --fetch to save the other parts.';
  const response = await egressRequest(policy, { url, purpose: 'file', signal: call.signal }).catch(
    (thrown: unknown) => {
      throw new ClientError('A2ACLI_ERR_UNREACHABLE', A2AError.from(thrown).message, hint);
    },
  );
  if (response.status !== 200)
    throw new ClientError(
      'A2ACLI_ERR_UNREACHABLE',
      `Unexpected response from ${url}: HTTP ${response.status}`,
      hint,
    );
  return response.bytes;
}
