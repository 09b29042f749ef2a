import type { LogSink } from '../../primitives/log.ts';
import type { Redactor } from '../../primitives/redaction/redaction.ts';
import type { TrafficLog } from '../../tap/traffic-log.ts';
import type { ConsoleInfo } from '../console-api.ts';
import { KeptReports } from '../conformance/kept-reports.ts';
import { SavedPrompts } from '../conformance/saved-prompts.ts';
import { Conversations } from './conversations.ts';
import { readKeptAgents, writeKeptAgents } from './kept-agents.ts';
import { Recordings } from './recordings.ts';
import { SessionFolder } from './session-folder.ts';

/** What a console keeps between its runs: conversations, recordings, conformance reports and messages, and added agents. */
export class ConsoleSessions {
  readonly conversations: Conversations;
  readonly recordings: Recordings;
  readonly reports: KeptReports;
  readonly prompts: SavedPrompts;
  /** Agents that the user added in earlier runs. */
  readonly added: readonly { url: string }[];
  readonly #folder: SessionFolder;

  private constructor(folder: SessionFolder, trafficLog: TrafficLog, added: readonly { url: string }[]) {
    this.#folder = folder;
    this.conversations = new Conversations(folder);
    this.recordings = new Recordings(folder, trafficLog);
    this.reports = new KeptReports(folder);
    this.prompts = new SavedPrompts(folder);
    this.added = added;
  }

  /** @param root - folder of all consoles; undefined keeps nothing after the end of this one */
  static async open(
    root: string | undefined,
    trafficLog: TrafficLog,
    log?: LogSink,
  ): Promise<ConsoleSessions> {
    const folder = SessionFolder.open(root, log);
    const sessions = new ConsoleSessions(folder, trafficLog, await readKeptAgents(folder));
    await sessions.conversations.load();
    await sessions.reports.load();
    await sessions.prompts.load();
    return sessions;
  }

  get info(): Pick<ConsoleInfo, 'sessionFolder' | 'sessionNotes'> {
    const { path, notes } = this.#folder;
    return { ...(path !== undefined && { sessionFolder: path }), sessionNotes: notes };
  }

  /** Removes secrets from everything that is written. */
  get redactor(): Redactor {
    return this.#folder.redactor;
  }

  keepAgents(urls: readonly string[]): Promise<void> {
    return writeKeptAgents(this.#folder, urls);
  }

  /** Writes everything and lets other consoles use the folder. */
  async close(): Promise<void> {
    await Promise.all([this.conversations.close(), this.recordings.close(), this.reports.close()]);
    this.#folder.close();
  }
}
