import { describe, expect, it } from 'vitest';
import { targetOutcomes } from '../../../../../src/conformance/prompts/prompt-catalog.ts';
import { fromDrafts, outcomes, toDrafts } from './prompt-drafts.ts';

describe('prompt drafts', () => {
  it('explain every outcome of the suite', () => {
    expect(outcomes.map(({ outcome }) => outcome)).toEqual(targetOutcomes);
  });

  it('keep messages with more than a text as JSON', () => {
    const prompts = {
      slow: { text: 'wait' },
      echo: { text: 'say', metadata: { a: 1 } },
      failed: { messageId: 'x' },
    };
    const drafts = toDrafts(prompts);
    expect(drafts.slow).toEqual({ text: 'wait', isJson: false });
    expect([drafts.echo?.isJson, drafts.failed?.isJson]).toEqual([true, true]);
    expect(fromDrafts(drafts)).toEqual(prompts);
  });

  it('leave out empty messages and reject invalid JSON', () => {
    expect(fromDrafts({ slow: { text: ' ', isJson: false } })).toEqual({});
    for (const text of ['{', '[]', 'null', '"x"'])
      expect(() => fromDrafts({ slow: { text, isJson: true } })).toThrow('The message for slow');
  });
});
