import { Fifo } from '../fifo.ts';
import type { MeshMessage } from '../broker-connection.ts';

/** A message of a shared queue, and the member that processes it. */
export interface QueueJob {
  readonly id: string;
  readonly message: MeshMessage;
  member: string | undefined;
  redelivered: boolean;
  finish(): void;
}

/** A subscriber of a shared queue. */
interface Member {
  readonly peer: string;
  readonly capacity: number;
  readonly jobs: Set<QueueJob>;
  isLeaving: boolean;
  deliver(job: QueueJob): void;
}

/** Maximum number of members of a queue. */
const maxMembers = 1_000;

/**
 * Distributes the messages of a shared queue to its members. With shared subscriptions of MQTT, the messages of a crashed
 * subscriber are lost or stuck, and some brokers deliver without acknowledgement. One subscriber therefore coordinates
 * the queue, and acknowledges a message to the broker when the member has finished it.
 */
export class QueueCoordinator {
  readonly #members = new Map<string, Member>();
  readonly #jobs = new Map<string, QueueJob>();
  readonly #waiting = new Fifo<QueueJob>();
  /** Ids that the coordinator assigns differ from those of other coordinators. */
  readonly #id = crypto.randomUUID();
  #numbers = 0;
  #isClosing = false;
  #onIdle: (() => void) | undefined;

  /** Handles a message of the queue. Resolves when a member has finished it. */
  handle(message: MeshMessage, id: string | undefined): Promise<void> {
    return new Promise((finish) => {
      const job: QueueJob = {
        id: id ?? `${this.#id}-${++this.#numbers}`,
        message,
        member: undefined,
        redelivered: message.redelivered,
        finish,
      };
      this.#jobs.set(job.id, job);
      this.#waiting.push(job);
      this.#distribute();
    });
  }

  /** Adds a member. An existing member receives its jobs again, which may have been lost. @returns its rank. */
  join(id: string, peer: string, capacity: number, deliver: (job: QueueJob) => void): number {
    const known = this.#members.get(id);
    if (known) for (const job of known.jobs) known.deliver(job);
    else if (this.#members.size < maxMembers)
      this.#members.set(id, { peer, capacity, jobs: new Set(), isLeaving: false, deliver });
    this.#distribute();
    return [...this.#members.keys()].indexOf(id);
  }

  /** Sends no more jobs to a member, which finishes those that it has. */
  leave(id: string): void {
    const member = this.#members.get(id);
    if (!member) return;
    member.isLeaving = true;
    if (member.jobs.size === 0) this.#members.delete(id);
  }

  /** Removes the members of a crashed process; their jobs are redelivered. */
  removePeer(peer: string): void {
    for (const [id, member] of this.#members) {
      if (member.peer !== peer) continue;
      this.#members.delete(id);
      for (const job of member.jobs) {
        job.member = undefined;
        job.redelivered = true;
      }
      this.#waiting.unshift([...member.jobs]);
    }
    this.#distribute();
    this.#checkIdle();
  }

  finish(id: string, jobId: string): void {
    const job = this.#jobs.get(jobId);
    const member = this.#members.get(id);
    if (!job || !member?.jobs.delete(job)) return;
    this.#jobs.delete(jobId);
    if (member.isLeaving && member.jobs.size === 0) this.#members.delete(id);
    job.finish();
    this.#distribute();
    this.#checkIdle();
  }

  /** Delivers all jobs again after a reconnect, because responses may have been lost. */
  redeliver(): void {
    for (const member of this.#members.values()) for (const job of member.jobs) member.deliver(job);
  }

  /** Processes of the members, in the order in which they joined. */
  get peers(): string[] {
    return [...this.#members.values()].map(({ peer }) => peer);
  }

  /** Distributes no more jobs, and waits for those in progress. The broker retains the rest. */
  close(): Promise<void> {
    this.#isClosing = true;
    return new Promise((idle) => {
      this.#onIdle = idle;
      this.#checkIdle();
    });
  }

  #checkIdle(): void {
    if (this.#onIdle && [...this.#members.values()].every(({ jobs }) => jobs.size === 0)) this.#onIdle();
  }

  #distribute(): void {
    while (!this.#isClosing && this.#waiting.size > 0) {
      const next = this.#leastLoadedMember();
      const job = next && this.#waiting.shift();
      if (!job) return;
      const [id, member] = next;
      job.member = id;
      member.jobs.add(job);
      member.deliver(job);
    }
  }

  #leastLoadedMember(): [string, Member] | undefined {
    let best: [string, Member] | undefined;
    let minLoad = 1;
    for (const entry of this.#members) {
      const [, { jobs, capacity, isLeaving }] = entry;
      if (isLeaving || jobs.size / capacity >= minLoad) continue;
      best = entry;
      minLoad = jobs.size / capacity;
    }
    return best;
  }
}
