import { randomBytes } from 'node:crypto';
import { asJsonObject, parseJsonOrUndefined } from '../../primitives/json.ts';
import { A2AError } from '../../protocol/errors.ts';
import { formatTrafficFileLine, readTrafficFile, trafficFileHeader } from '../../tap/traffic-file.ts';
import type { TrafficLog } from '../../tap/traffic-log.ts';
import type { TrafficRecord } from '../../tap/traffic-record.ts';
import type { RecordingEntry } from '../console-api.ts';
import type { SessionFolder } from './session-folder.ts';

/** Limits of recordings; the oldest are removed first. */
export const recordingLimits = {
  maxRecordings: 50,
  /** Size of the recording of a running console, in characters. Half of it stays when it is reached. */
  maxCharacters: 16 * 1_024 * 1_024,
  /** Size of all recordings, in bytes. */
  maxTotalBytes: 256 * 1_024 * 1_024,
};

/** Milliseconds for which new records are collected into one write. */
const writeDelay = 1_000;
const subfolder = 'recordings';
const ending = '.tap.jsonl';
/** Maximum size of a traffic file that is read, in bytes. */
const maxFileBytes = 128 * 1_024 * 1_024;

/** Traffic of this console and of earlier runs, one traffic file each. */
export class Recordings {
  readonly #folder: SessionFolder;
  readonly #limits: typeof recordingLimits;
  readonly #unsubscribe: () => void;
  /** The recording of this run; it starts with the first record. */
  #live: { id: string; name: string; characters: number } | undefined = undefined;
  #pending: string[] = [];
  #timer: NodeJS.Timeout | undefined = undefined;
  /** Writes follow each other. */
  #writing: Promise<unknown> = Promise.resolve();

  constructor(folder: SessionFolder, log: TrafficLog, limits: typeof recordingLimits = recordingLimits) {
    this.#folder = folder;
    this.#limits = limits;
    this.#unsubscribe = log.subscribe((record) => this.#add(record));
  }

  /** Returns all recordings, newest first. */
  async list(): Promise<RecordingEntry[]> {
    await this.#flush();
    const files = (await this.#folder.list(subfolder)).filter(({ path }) => path.endsWith(ending));
    const entries = await Promise.all(
      files.map(async ({ path, size, changedAt: at }) => {
        const id = path.slice(subfolder.length + 1, -ending.length);
        return { id, name: await this.#nameOf(id), at, size, isLive: id === this.#live?.id };
      }),
    );
    return entries.toReversed();
  }

  /** @throws {@link A2AError} `NOT_FOUND`, or `INVALID_PARAMS` for a damaged file */
  async read(id: string): Promise<TrafficRecord[]> {
    await this.#flush();
    return readTrafficFile(await this.#text(id));
  }

  /** Keeps the records of an imported file. */
  async keep(name: string, records: readonly TrafficRecord[]): Promise<void> {
    if (this.#folder.path === undefined) return;
    const lines = records.map((each) => formatTrafficFileLine(this.#folder.redactor.redactDeep(each)));
    await this.#folder.write(fileOf(newId()), headerWithName(name) + lines.join(''));
    await this.#evict();
  }

  /** @throws {@link A2AError} `NOT_FOUND` */
  async rename(id: string, name: string): Promise<void> {
    await this.#flush();
    const text = await this.#text(id);
    if (this.#live?.id === id) this.#live.name = name;
    await this.#folder.write(fileOf(id), headerWithName(name) + text.slice(text.indexOf('\n') + 1));
  }

  async remove(id: string): Promise<void> {
    if (this.#live?.id === id) this.startAnother();
    await this.#writing;
    await this.#folder.remove(fileOf(id));
  }

  async clear(): Promise<void> {
    this.startAnother();
    await this.#writing;
    for (const { path } of await this.#folder.list(subfolder)) await this.#folder.remove(path);
  }

  /** Ends the recording of this run: the next record starts another one. */
  startAnother(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#pending = [];
    this.#live = undefined;
  }

  async close(): Promise<void> {
    this.#unsubscribe();
    await this.#flush();
  }

  #add(record: TrafficRecord): void {
    if (this.#folder.path === undefined) return;
    this.#pending.push(formatTrafficFileLine(record));
    this.#timer ??= setTimeout(() => void this.#flush(), writeDelay);
  }

  #flush(): Promise<unknown> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#writing = this.#writing.then(() => this.#writePending());
    return this.#writing;
  }

  async #writePending(): Promise<void> {
    if (this.#pending.length === 0) return;
    const { maxCharacters } = this.#limits;
    const text = this.#pending.join('');
    this.#pending = [];
    const isNew = this.#live === undefined;
    const live = (this.#live ??= {
      id: newId(),
      name: `Traffic ${formatTime(new Date())} UTC`,
      characters: 0,
    });
    const file = fileOf(live.id);
    live.characters += text.length;
    if (live.characters <= maxCharacters) {
      await this.#folder.append(file, isNew ? headerWithName(live.name) + text : text);
    } else {
      const before = isNew ? '' : ((await this.#folder.read(file, maxFileBytes)) ?? '');
      const newest = newestLines(before + text, maxCharacters / 2);
      live.characters = newest.length;
      await this.#folder.write(file, headerWithName(live.name) + newest);
    }
    if (isNew) await this.#evict();
  }

  async #text(id: string): Promise<string> {
    const text = await this.#folder.read(fileOf(id), maxFileBytes);
    if (text === undefined) throw new A2AError('NOT_FOUND', 'Recording not found');
    return text;
  }

  async #nameOf(id: string): Promise<string> {
    const [first = ''] = (await this.#folder.readStart(fileOf(id), 2_048)).split('\n', 1);
    const { name } = asJsonObject(parseJsonOrUndefined(first)) ?? {};
    return typeof name === 'string' && name !== '' ? name.slice(0, 200) : id;
  }

  async #evict(): Promise<void> {
    const files = (await this.#folder.list(subfolder)).toReversed();
    let total = 0;
    for (const [index, { path, size }] of files.entries()) {
      total += size;
      const isOver = index >= this.#limits.maxRecordings || total > this.#limits.maxTotalBytes;
      if (index > 0 && isOver) await this.#folder.remove(path);
    }
  }
}

function fileOf(id: string): string {
  if (!/^[\w-]{1,64}$/.test(id)) throw new A2AError('NOT_FOUND', 'Recording not found');
  return `${subfolder}/${id}${ending}`;
}

/** The id of a recording starts with its time, so that files have a useful order. */
function newId(): string {
  return `${formatTime(new Date()).replaceAll(/[^\d]/g, '')}-${randomBytes(4).toString('hex')}`;
}

const formatTime = (time: Date): string => time.toISOString().slice(0, 19).replace('T', ' ');

/** A header line may have more members than readers know. */
function headerWithName(name: string): string {
  return `${JSON.stringify({ ...(JSON.parse(trafficFileHeader) as object), name })}\n`;
}

/** Returns the last complete lines up to a size. */
function newestLines(text: string, maxCharacters: number): string {
  if (text.length <= maxCharacters) return text;
  return text.slice(text.indexOf('\n', text.length - maxCharacters) + 1);
}
