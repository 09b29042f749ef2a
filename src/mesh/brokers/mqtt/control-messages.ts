import type { IPublishPacket } from 'mqtt';

/** The code of a broker that says that nobody subscribes. */
export const noSubscribersCode = 0x10;

/** The property with the id of a message: who published it, and its number there. */
export const messageIdProperty = 'dragoman-id';

/** The property with the topic of a message that is sent again to one queue alone. */
export const originalTopicProperty = 'dragoman-topic';

/**
 * What a queue tells everybody, as a retained message: that it is there and what it is for. Whoever publishes keeps
 * what goes to it until the queue says that it is done, because a broker drops what it has no room for and says nothing.
 */
export interface QueueAnnouncement {
  readonly key: string;
  readonly patterns: readonly string[];
  /** Another one each time the subscriber is back: what may have been lost meanwhile is asked for. */
  readonly epoch: string;
  /** After how many seconds without a word the queue is no more. */
  readonly expiry: number;
}

/** What is said to a publisher. */
export type PeerMessage =
  /** From itself: everything that was sent before has arrived. */
  | { readonly type: 'ready'; readonly mark: string }
  /** From a queue: these numbers are done. */
  | { readonly type: 'done'; readonly key: string; readonly numbers: readonly number[] }
  /** From a queue that was asked: these are done, and these never came. */
  | {
      readonly type: 'answer';
      readonly key: string;
      readonly question: number;
      readonly done: readonly number[];
      readonly lost: readonly number[];
    }
  /** From whoever subscribes to a queue alone. */
  | { readonly type: 'held'; readonly key: string }
  /** From whoever has a shared queue: one of yours takes a share, and so many came before. */
  | {
      readonly type: 'joined';
      readonly key: string;
      readonly member: string;
      readonly rank: number;
      readonly holder: string;
    }
  /** From whoever had a shared queue and has it no more. */
  | { readonly type: 'resigned'; readonly key: string };

/** What a publisher asks a queue, behind all it has sent: what became of these. */
export interface DeliveryQuery {
  readonly peer: string;
  readonly question: number;
  readonly numbers: readonly number[];
}

/** The topics that links use among themselves. */
export class ControlTopics {
  readonly root: string;

  constructor(root: string) {
    this.root = root;
  }

  /** Where queues say that they are there. */
  get queues(): string {
    return `${this.root}/queue/+`;
  }
  queue(key: string): string {
    return `${this.root}/queue/${key}`;
  }
  /** What is for one queue alone. */
  inbox(key: string): string {
    return `${this.root}/inbox/${key}`;
  }
  /** What is for one publisher. */
  peer(id: string): string {
    return `${this.root}/peer/${id}`;
  }
  /** Where one asks whether somebody subscribes to a queue. */
  holder(key: string): string {
    return `${this.root}/holder/${key}`;
  }
  /** What is for one of those who share a queue. */
  member(id: string): string {
    return `${this.root}/member/${id}`;
  }
  /** Where the broker says that a publisher is gone. */
  gone(id: string): string {
    return `${this.root}/gone/${id}`;
  }
  isOne(topic: string): boolean {
    return topic.startsWith(`${this.root}/`);
  }
}

/** Reads an id of a message; undefined for one that none of us gave. */
export function parseMessageId(id: string): { peer: string; number: number } | undefined {
  const found = /^([\w-]{1,64}):(\d{1,15})$/.exec(id);
  return found?.[1] && found[2] ? { peer: found[1], number: Number(found[2]) } : undefined;
}

/** Reads what a link told another. Whoever speaks nonsense is not heard. */
export function parsePeerMessage<T>(payload: string, has: readonly (keyof T)[]): T | undefined {
  try {
    const note: unknown = JSON.parse(payload);
    if (typeof note !== 'object' || note === null) return undefined;
    return has.every((name) => name in note) ? (note as T) : undefined;
  } catch {
    return undefined;
  }
}

/** Reads what a queue says of itself. */
export function parseQueueAnnouncement(payload: string): QueueAnnouncement | undefined {
  const entry = parsePeerMessage<QueueAnnouncement>(payload, ['key', 'patterns', 'epoch', 'expiry']);
  if (!entry || !Array.isArray(entry.patterns) || typeof entry.expiry !== 'number') return undefined;
  return entry.patterns.every((pattern) => typeof pattern === 'string') ? entry : undefined;
}

/** The whole numbers of a list that somebody sent. */
export function parseNumbers(list: unknown): readonly number[] {
  return Array.isArray(list) ? list.filter((number) => Number.isSafeInteger(number)) : [];
}

/** The user properties of a message; of a name that comes twice both are there, and the last one counts. */
export function userProperties({ properties }: IPublishPacket): [string, string][] {
  return Object.entries(properties?.userProperties ?? {}).flatMap(([name, value]) =>
    typeof value === 'string'
      ? [[name, value] as [string, string]]
      : value.map((text): [string, string] => [name, text]),
  );
}
