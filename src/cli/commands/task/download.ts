import { lstat, mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Command } from 'commander';
import { extensionFor } from '../../../artifacts/media-types.ts';
import { safeFilename } from '../../../artifacts/stores/storage-path.ts';
import { isLocalHost } from '../../../client/http/destination-policy.ts';
import { egressPolicy } from '../../../egress/egress-policy.ts';
import { egressRequest } from '../../../egress/egress-request.ts';
import { A2AError } from '../../../protocol/errors.ts';
import { bytesOf, contentKind, type Part, type UrlPart } from '../../../protocol/part.ts';
import type { Artifact } from '../../../protocol/task.ts';
import { ClientError } from '../../client/client-error.ts';
import { type ClientSession, printWarning, withAgent } from '../../client/session.ts';

/** What `dragoman task download` is told. */
export interface DownloadFlags {
  out: string;
  artifact?: string;
  fetch?: boolean;
  force?: boolean;
}

/** A file that was saved, or why it was not. */
interface Saved {
  artifactId: string;
  part: number;
  mediaType?: string;
  path?: string;
  bytes?: number;
  /** Where it is, when it was left there. */
  url?: string;
}

/** The largest file that is fetched, in bytes. */
const most = 1_024 * 1_048_576;

/** Saves what a task made. */
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
      throw new ClientError(
        'A2ACLI_ERR_USAGE',
        `the task has no artifact ${flags.artifact}`,
        `It has ${task.artifacts?.map(({ artifactId }) => artifactId).join(', ') || 'none'}.`,
      );
    await mkdir(flags.out, { recursive: true });
    const saved = await saveAll(session, artifacts, flags);
    if (out.isJson) {
      out.json({ taskId: task.id, contextId: task.contextId, state: task.status.state, files: saved });
      return;
    }
    out.identity(task);
    for (const each of saved) {
      if (each.path === undefined) out.field('Left', `${each.url} (use --fetch to save it)`);
      else out.field('Saved', `${each.path} (${each.bytes} bytes)`);
    }
    if (saved.length === 0) printWarning('the task made nothing');
  });
}

async function saveAll(
  session: ClientSession,
  artifacts: readonly Artifact[],
  flags: DownloadFlags,
): Promise<Saved[]> {
  const saved: Saved[] = [];
  const taken = new Set<string>();
  for (const artifact of artifacts) {
    for (const [index, part] of artifact.parts.entries()) {
      const about = {
        artifactId: artifact.artifactId,
        part: index,
        ...(part.mediaType !== undefined && { mediaType: part.mediaType }),
      };
      if ('url' in part && !flags.fetch) {
        saved.push({ ...about, url: part.url });
        continue;
      }
      const bytes = 'url' in part ? await fetched(session, part) : contentsOf(part);
      const path = join(flags.out, freeName(nameFor(artifact, part, index), taken));
      await save(path, bytes, flags.force === true);
      saved.push({ ...about, path, bytes: bytes.length });
    }
  }
  return saved;
}

function contentsOf(part: Exclude<Part, UrlPart>): Uint8Array {
  if ('raw' in part) return bytesOf(part);
  return Buffer.from('text' in part ? part.text : `${JSON.stringify(part.data, undefined, 2)}\n`);
}

/** What the agent called it, made safe: a stranger does not choose where files go. */
function nameFor({ artifactId, name, parts }: Artifact, part: Part, index: number): string {
  const kind = contentKind(part);
  const extension = {
    text: 'txt',
    data: 'json',
    raw: extensionFor(part.mediaType),
    url: extensionFor(part.mediaType),
  };
  const called = part.filename ?? name ?? artifactId;
  const numbered = part.filename === undefined && parts.length > 1 ? `${called}-${index + 1}` : called;
  const isNamed = part.filename !== undefined || /\.\w{1,8}$/.test(numbered);
  const whole = isNamed ? numbered : `${numbered}.${extension[kind]}`;
  // A file that begins with a dot is hidden, and may be one that other programs obey.
  return safeFilename(whole, `artifact-${index + 1}.${extension[kind]}`).replace(/^\.+/, '_');
}

function freeName(name: string, taken: Set<string>): string {
  let free = name;
  for (let number = 2; taken.has(free.toLowerCase()); number++)
    free = name.replace(/(\.\w+)?$/, (extension) => `-${number}${extension}`);
  taken.add(free.toLowerCase());
  return free;
}

async function save(path: string, bytes: Uint8Array, force: boolean): Promise<void> {
  const there = await lstat(path).catch(() => undefined);
  if (there && !force)
    throw new ClientError(
      'A2ACLI_ERR_USAGE',
      `${path} is there already`,
      'Use --force to write over it, or --out.',
    );
  if (there?.isDirectory()) throw new ClientError('A2ACLI_ERR_USAGE', `${path} is a folder`, 'Use --out.');
  // Written aside: nobody finds half a file, and a link that is there is replaced and not followed.
  const aside = `${path}.${process.pid}.part`;
  try {
    await writeFile(aside, bytes, { flag: 'wx' });
    await rename(aside, path);
  } catch (cause) {
    await rm(aside, { force: true });
    throw new ClientError('A2ACLI_ERR_INTERNAL', `${path} cannot be written`, undefined, cause);
  }
}

/** Fetches a file that the agent points at: from where the agent is, or from the public internet. */
async function fetched({ description, call }: ClientSession, { url }: UrlPart): Promise<Uint8Array> {
  const { hostname } = new URL(description.url);
  const policy = egressPolicy({
    allow: [hostname],
    allowLoopback: isLocalHost(hostname),
    ...(isLocalHost(hostname) && { schemes: ['http', 'https'] }),
    maxBytes: most,
  });
  const hint = 'Leave --fetch out to save the rest.';
  const response = await egressRequest(policy, { url, purpose: 'file', signal: call.signal }).catch(
    (thrown: unknown) => {
      throw new ClientError('A2ACLI_ERR_UNREACHABLE', A2AError.from(thrown).message, hint);
    },
  );
  if (response.status !== 200)
    throw new ClientError('A2ACLI_ERR_UNREACHABLE', `${url} answered HTTP ${response.status}`, hint);
  return response.bytes;
}
