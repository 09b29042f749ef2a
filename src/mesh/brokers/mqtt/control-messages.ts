import { asJsonObject, parseJsonOrUndefined } from '../../../primitives/json.ts';
import type { IPublishPacket } from 'mqtt';

/** MQTT reason code "no matching subscribers". */
export const noSubscribersCode = 0x10;

/** User property with the message id: publisher and number. */
export const messageIdProperty = 'dragoman-id';

/** User property with the topic of a message that is redelivered to one queue. */
export const originalTopicProperty = 'dragoman-topic';

/**
 * Retained announcement of a queue. Publishers store messages for it until the queue reports them as finished, because
 * brokers silently drop messages that exceed their limits.
 */
export interface QueueAnnouncement {
  readonly key: string;
  readonly patterns: readonly string[];
  /** Changes whenever the subscriber reconnects; publishers then query which messages were lost. */
  readonly epoch: string;
  /** Seconds without a new announcement after which the queue expires. */
  readonly expiry: number;
}

/** Control message to a publisher. */
export type PeerMessage =
  /** From itself: all earlier messages have arrived. */
  | { readonly type: 'ready'; readonly mark: string }
  /** From a queue: these messages are finished. */
  | { readonly type: 'done'; readonly key: string; readonly numbers: readonly number[] }
  /** From a queue, in response to a query: finished and lost messages. */
  | {
      readonly type: 'answer';
      readonly key: string;
      readonly question: number;
      readonly done: readonly number[];
      readonly lost: readonly number[];
    }
  /** From the subscriber of an exclusive queue. */
  | { readonly type: 'held'; readonly key: string }
  /** From the coordinator of a shared queue: a member has joined with this rank. */
  | {
      readonly type: 'joined';
      readonly key: string;
      readonly member: string;
      readonly rank: number;
      readonly holder: string;
    }
  /** From a former coordinator of a shared queue. */
  | { readonly type: 'resigned'; readonly key: string };

/** Query of a publisher about the state of messages. It is sent after them, so that it arrives after them. */
export interface DeliveryQuery {
  readonly peer: string;
  readonly question: number;
  readonly numbers: readonly number[];
}

/** Topics of control messages between Dragoman processes. */
export class ControlTopics {
  readonly root: string;

  constructor(root: string) {
    this.root = root;
  }

  /** Pattern of queue announcements. */
  get queues(): string {
    return `${this.root}/queue/+`;
  }
  queue(key: string): string {
    return `${this.root}/queue/${key}`;
  }
  /** Topic of messages to one queue. */
  inbox(key: string): string {
    return `${this.root}/inbox/${key}`;
  }
  /** Topic of messages to one publisher. */
  peer(id: string): string {
    return `${this.root}/peer/${id}`;
  }
  /** Topic of queries whether a queue has a subscriber. */
  holder(key: string): string {
    return `${this.root}/holder/${key}`;
  }
  /** Topic of messages to one member of a shared queue. */
  member(id: string): string {
    return `${this.root}/member/${id}`;
  }
  /** Topic of the will of a publisher. */
  gone(id: string): string {
    return `${this.root}/gone/${id}`;
  }
  includes(topic: string): boolean {
    return topic.startsWith(`${this.root}/`);
  }
}

/** Parses a message id; returns undefined for ids of other senders. */
export function parseMessageId(id: string): { peer: string; number: number } | undefined {
  const match = /^([\w-]{1,64}):(\d{1,15})$/.exec(id);
  return match?.[1] && match[2] ? { peer: match[1], number: Number(match[2]) } : undefined;
}

/** Parses a control message; returns undefined if it is invalid or lacks a required member. */
export function parsePeerMessage<T>(payload: string, required: readonly (keyof T)[]): T | undefined {
  const message = asJsonObject(parseJsonOrUndefined(payload));
  return message && required.every((name) => name in message) ? (message as T) : undefined;
}

/** Parses a queue announcement; returns undefined if it is invalid. */
export function parseQueueAnnouncement(payload: string): QueueAnnouncement | undefined {
  const announcement = parsePeerMessage<QueueAnnouncement>(payload, ['key', 'patterns', 'epoch', 'expiry']);
  if (!announcement || !Array.isArray(announcement.patterns) || typeof announcement.expiry !== 'number')
    return undefined;
  return announcement.patterns.every((pattern) => typeof pattern === 'string') ? announcement : undefined;
}

/** Returns the integers of an untrusted list. */
export function parseNumbers(list: unknown): readonly number[] {
  return Array.isArray(list) ? list.filter((number) => Number.isSafeInteger(number)) : [];
}

/** Returns the user properties of a packet. Repeated names are returned repeatedly; the last one is used. */
export function userProperties({ properties }: IPublishPacket): [string, string][] {
  return Object.entries(properties?.userProperties ?? {}).flatMap(([name, value]) =>
    typeof value === 'string'
      ? [[name, value] as [string, string]]
      : value.map((text): [string, string] => [name, text]),
  );
}
