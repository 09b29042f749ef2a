import { describe, expect, it } from 'vitest';
import { toSendRequest, userMessage } from './user-message.ts';

describe('userMessage', () => {
  it('creates a message with a new id from a text', () => {
    const message = userMessage('hello');
    expect(message).toEqual({ messageId: expect.any(String), role: 'user', parts: [{ text: 'hello' }] });
    expect(userMessage('hello').messageId).not.toBe(message.messageId);
  });

  it('converts text, data, files and parts in this order', () => {
    const message = userMessage({
      text: 'Compare',
      data: null,
      files: [
        { bytes: new TextEncoder().encode('hi'), filename: 'a.txt', mediaType: 'text/plain' },
        { url: new URL('https://files.example/b') },
      ],
      parts: [{ text: 'end' }],
      contextId: 'c',
      messageId: 'm',
    });
    expect(message).toEqual({
      messageId: 'm',
      role: 'user',
      contextId: 'c',
      parts: [
        { text: 'Compare' },
        { data: null },
        { raw: 'aGk=', filename: 'a.txt', mediaType: 'text/plain' },
        { url: 'https://files.example/b' },
        { text: 'end' },
      ],
    });
  });

  it.each([
    ['nothing', {}, 'message must have text, data, files or parts'],
    ['a misspelled member', { txt: 'x' }, 'txt is unknown'],
    ['a number', 1, 'message must be a text'],
    ['null', null, 'message must be a text'],
    ['an array', [{ text: 'x' }], 'message must be a text'],
  ])('rejects %s and tells what to pass', (_name, input, text) => {
    expect(() => userMessage(input as never)).toThrow(text);
    expect(() => toSendRequest(input as never)).toThrow(text);
  });

  it.each([
    ['a text', 'hi'],
    ['nothing', undefined],
    ['an object without parts', { role: 'user' }],
  ])('rejects %s as message of a complete request', (_name, message) => {
    expect(() => toSendRequest({ message } as never)).toThrow('userMessage(text) creates one');
  });
});

describe('toSendRequest', () => {
  it('returns a complete request unchanged', () => {
    const request = { message: userMessage('x'), metadata: { a: 1 } };
    expect(toSendRequest(request)).toBe(request);
  });
});
