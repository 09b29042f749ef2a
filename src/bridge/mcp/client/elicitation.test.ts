import { describe, expect, it } from 'vitest';
import type { Metadata, Part } from '../../../protocol/part.ts';
import { type ElicitationForm, parseElicitationAnswer, formatElicitation } from './elicitation.ts';

const parse = (form: ElicitationForm['requestedSchema'], parts: Part[], metadata?: Metadata) =>
  parseElicitationAnswer(
    { messageId: 'm', role: 'user', parts, metadata },
    { message: 'How?', requestedSchema: form },
  );

describe('formatElicitation', () => {
  it('contains the question as text and the schema as data', () => {
    const requestedSchema = {
      properties: {
        size: { type: 'string', enum: ['S', 'L'], description: 'How large' },
        gift: { type: 'boolean' },
      },
    };
    expect(formatElicitation({ message: 'How?', requestedSchema })).toEqual([
      { text: 'How?\n\n- size (S | L): How large\n- gift (boolean): gift' },
      { data: { requestedSchema }, mediaType: 'application/json' },
    ]);
  });
});

describe('parseElicitationAnswer', () => {
  it.each([
    ['string', 'red', 'red'],
    ['number', ' 1.5 ', 1.5],
    ['integer', '3', 3],
    ['boolean', 'Yes', true],
    ['boolean', 'no', false],
    ['array', 'a, b', ['a', 'b']],
  ])('converts text for a form with one %s field (%s)', (type, text, value) => {
    expect(parse({ properties: { x: { type } }, required: ['x'] }, [{ text }])).toEqual({
      action: 'accept',
      content: { x: value },
    });
  });

  it.each([
    ['integer', '1.5'],
    ['number', 'many'],
    ['boolean', 'perhaps'],
  ])('rejects text for a form with one %s field (%s)', (type, text) => {
    expect(parse({ properties: { x: { type } }, required: ['x'] }, [{ text }])).toContain('x must be');
  });

  it('accepts data or JSON text for several fields and reports missing ones', () => {
    const form = { properties: { a: { type: 'string' }, b: { type: 'number' } }, required: ['a'] };
    expect(parse(form, [{ data: { a: 'x', b: 2, other: 1 } }])).toEqual({
      action: 'accept',
      content: { a: 'x', b: 2 },
    });
    expect(parse(form, [{ text: '{"a":"x"}' }])).toEqual({ action: 'accept', content: { a: 'x' } });
    expect(parse(form, [{ text: 'something' }])).toBe('a must be string. Send data with a, b.');
    expect(parse(form, [{ data: { a: 'x', b: 'two' } }])).toContain('b must be number');
  });

  it('accepts only enum values', () => {
    const form = { properties: { x: { enum: ['S', 'L'] } }, required: ['x'] };
    expect(parse(form, [{ text: 'L' }])).toMatchObject({ content: { x: 'L' } });
    expect(parse(form, [{ text: 'M' }])).toContain('S or L');
  });

  it('returns decline and cancel from the metadata', () => {
    for (const action of ['decline', 'cancel'])
      expect(parse({ properties: {} }, [{ text: '' }], { action })).toEqual({ action });
  });
});
