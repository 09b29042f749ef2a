import { Fifo } from '../fifo.ts';
import type { MeshMessage } from '../broker-connection.ts';

/** A message of a shared queue, and who works on it. */
export interface QueueJob {
  readonly id: string;
  readonly delivery: MeshMessage;
  member: string | undefined;
  isAgain: boolean;
  done(): void;
}

/** Somebody who takes a share. */
interface Member {
  readonly peer: string;
  readonly room: number;
  readonly jobs: Set<QueueJob>;
  isLeaving: boolean;
  give(job: QueueJob): void;
}

/** How many subscribers share one queue at most. */
const maxMembers = 1_000;

/**
 * Hands the messages of one queue to those who share it. MQTT has shared subscriptions of its own, but with them what
 * waits for somebody who died is lost or stuck, and some brokers deliver without acknowledgement. So one subscriber has
 * the queue and shares it out, and the broker hears that a message is done when whoever got it has finished.
 */
export class QueueCoordinator {
  readonly #members = new Map<string, Member>();
  readonly #jobs = new Map<string, QueueJob>();
  readonly #waiting = new Fifo<QueueJob>();
  #numbers = 0;
  #isClosing = false;
  #idle: (() => void) | undefined;

  /** What the queue does with a message: it is done when a member is. */
  work(delivery: MeshMessage, id: string | undefined): Promise<void> {
    return new Promise((done) => {
      const job: QueueJob = {
        id: id ?? `unnamed-${++this.#numbers}`,
        delivery,
        member: undefined,
        isAgain: delivery.redelivered,
        done,
      };
      this.#jobs.set(job.id, job);
      this.#waiting.push(job);
      this.#handOut();
    });
  }

  /** Takes somebody in; who is in already gets again what may not have arrived. @returns how many are before it. */
  join(id: string, peer: string, room: number, give: (job: QueueJob) => void): number {
    const known = this.#members.get(id);
    if (known) for (const job of known.jobs) known.give(job);
    else if (this.#members.size < maxMembers)
      this.#members.set(id, { peer, room, jobs: new Set(), isLeaving: false, give });
    this.#handOut();
    return [...this.#members.keys()].indexOf(id);
  }

  /** Somebody takes no more, but finishes what it has. */
  leave(id: string): void {
    const member = this.#members.get(id);
    if (!member) return;
    member.isLeaving = true;
    if (member.jobs.size === 0) this.#members.delete(id);
  }

  /** Everybody of a process that died; what they had is for others. */
  gone(peer: string): void {
    for (const [id, member] of this.#members) {
      if (member.peer !== peer) continue;
      this.#members.delete(id);
      for (const job of member.jobs) {
        job.member = undefined;
        job.isAgain = true;
      }
      this.#waiting.unshift([...member.jobs]);
    }
    this.#handOut();
    this.#rest();
  }

  finish(id: string, jobId: string): void {
    const job = this.#jobs.get(jobId);
    const member = this.#members.get(id);
    if (!job || !member?.jobs.delete(job)) return;
    this.#jobs.delete(jobId);
    if (member.isLeaving && member.jobs.size === 0) this.#members.delete(id);
    job.done();
    this.#handOut();
    this.#rest();
  }

  /** Gives everybody again what they have: answers may have been lost while we were away. */
  repeat(): void {
    for (const member of this.#members.values()) for (const job of member.jobs) member.give(job);
  }

  /** The processes of those who share, in the order in which they came. */
  get peers(): string[] {
    return [...this.#members.values()].map(({ peer }) => peer);
  }

  /** Hands out no more, and waits for what was. The broker keeps the rest. */
  close(): Promise<void> {
    this.#isClosing = true;
    return new Promise((idle) => {
      this.#idle = idle;
      this.#rest();
    });
  }

  #rest(): void {
    if (this.#idle && [...this.#members.values()].every(({ jobs }) => jobs.size === 0)) this.#idle();
  }

  #handOut(): void {
    while (!this.#isClosing && this.#waiting.size > 0) {
      const next = this.#idlest();
      const job = next && this.#waiting.shift();
      if (!job) return;
      const [id, member] = next;
      job.member = id;
      member.jobs.add(job);
      member.give(job);
    }
  }

  /** Whoever has the most room in proportion, so that all get some. */
  #idlest(): [string, Member] | undefined {
    let best: [string, Member] | undefined;
    let least = 1;
    for (const entry of this.#members) {
      const [, { jobs, room, isLeaving }] = entry;
      if (isLeaving || jobs.size / room >= least) continue;
      best = entry;
      least = jobs.size / room;
    }
    return best;
  }
}
