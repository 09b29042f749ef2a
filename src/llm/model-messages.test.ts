import { describe, expect, it } from 'vitest';
import type { Message } from '../protocol/message.ts';
import type { Part } from '../protocol/part.ts';
import { fromModelMessages, toModelMessages } from './model-messages.ts';

const message = (role: Message['role'], ...parts: Part[]): Message => ({ messageId: 'm', role, parts });

describe('toModelMessages', () => {
  it('converts texts of users and agents', () => {
    const messages = [message('user', { text: 'a' }, { text: 'b' }), message('agent', { text: 'c' })];
    expect(toModelMessages(messages)).toEqual([
      { role: 'user', content: 'ab' },
      { role: 'assistant', content: 'c' },
    ]);
  });

  it('joins messages of one role, because some model APIs require that roles alternate', () => {
    const messages = [message('agent', { text: 'a' }), message('agent', { text: 'b' })];
    expect(toModelMessages(messages)).toEqual([{ role: 'assistant', content: 'a\n\nb' }]);
  });

  it('leaves out reports of tool calls and empty messages', () => {
    const report = { text: 'Calling search', metadata: { toolCall: { name: 'search' } } };
    const messages = [
      message('user', { text: 'a' }),
      message('agent', report),
      message('agent', { text: '' }),
    ];
    expect(toModelMessages(messages)).toEqual([{ role: 'user', content: 'a' }]);
  });

  it('passes files of users, and text files as text', () => {
    const image = { raw: 'iVBORw==', mediaType: 'image/png', filename: 'a.png' };
    const csv = { raw: btoa('x,y'), mediaType: 'text/csv' };
    expect(toModelMessages([message('user', { text: 'See ' }, csv, image)])).toEqual([
      {
        role: 'user',
        content: [
          { type: 'text', text: 'See x,y' },
          { type: 'file', data: 'iVBORw==', mediaType: 'image/png', filename: 'a.png' },
        ],
      },
    ]);
  });

  it('converts data to JSON', () => {
    expect(toModelMessages([message('user', { data: { a: 1 } })])).toEqual([
      { role: 'user', content: '{"a":1}' },
    ]);
  });

  it('passes a link of a peer as text, so that the framework does not fetch it', () => {
    const link = { url: 'http://169.254.169.254/latest', mediaType: 'image/png', filename: 'a.png' };
    expect(toModelMessages([message('user', link)])).toEqual([
      { role: 'user', content: '[file: a.png (image/png) http://169.254.169.254/latest]' },
    ]);
  });

  it('names files of agents and files without a media type', () => {
    const image = { raw: 'iVBORw==', mediaType: 'image/png' };
    expect(toModelMessages([message('agent', image), message('user', { raw: 'AA==' })])).toEqual([
      { role: 'assistant', content: '[file: (image/png)]' },
      { role: 'user', content: '[file: unnamed]' },
    ]);
  });
});

describe('fromModelMessages', () => {
  it('converts texts and files, and leaves out system and tool messages', () => {
    const converted = fromModelMessages(
      [
        { role: 'system', content: 'Be brief.' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'a' },
            { type: 'file', data: 'AA==', mediaType: 'image/png' },
          ] as never,
        },
        { role: 'assistant', content: [{ type: 'tool-call' }] },
        { role: 'tool', content: [{ type: 'tool-result' }] },
        { role: 'assistant', content: 'b' },
      ],
      () => 'id',
    );
    expect(converted).toEqual([
      { messageId: 'id', role: 'user', parts: [{ text: 'a' }, { raw: 'AA==', mediaType: 'image/png' }] },
      { messageId: 'id', role: 'agent', parts: [{ text: 'b' }] },
    ]);
  });

  it('is the inverse of toModelMessages for texts and files of users', () => {
    const messages = [
      message('user', { text: 'a' }, { raw: 'AA==', mediaType: 'image/png', filename: 'a.png' }),
      message('agent', { text: 'b' }),
    ];
    expect(fromModelMessages(toModelMessages(messages), () => 'm')).toEqual(messages);
  });
});
