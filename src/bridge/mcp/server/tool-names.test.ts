import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { assignToolNames } from './tool-names.ts';

const names = (...actions: string[]): string[] => [...assignToolNames(actions).values()];

describe('the names of tools', () => {
  it('are those of the actions, in letters that every host takes', () => {
    expect(names('weather/forecast', 'My Agent/do.it', 'provide_required_input')).toEqual([
      'weather_forecast',
      'My_Agent_do_it',
      'provide_required_input',
    ]);
  });

  it('carry a piece of their hash where two would be the same, whatever the order', () => {
    const one = assignToolNames(['a/b_c', 'a_b/c', 'x/y']);
    const other = assignToolNames(['x/y', 'a_b/c', 'a/b_c']);
    expect(one.get('a/b_c')).toMatch(/^a_b_c_[0-9a-f]{8}$/);
    expect(one.get('a_b/c')).not.toBe(one.get('a/b_c'));
    expect(Object.fromEntries(other)).toEqual(Object.fromEntries(one));
  });

  it('leave the one for answers to itself, though a skill may be called the same', () => {
    const [first, second] = names('provide/required_input', 'provide_required_input');
    expect(first).toMatch(/^provide_required_input_[0-9a-f]{8}$/);
    expect(second).toBe('provide_required_input');
  });

  it('are short, plain, unique and always the same', () => {
    const actions = fc.uniqueArray(fc.string({ unit: 'grapheme', maxLength: 100 }), { maxLength: 30 });
    fc.assert(
      fc.property(actions, (given) => {
        const made = names(...given);
        expect(new Set(made).size).toBe(given.length);
        for (const name of made) expect(name).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
        expect(names(...given)).toEqual(made);
      }),
    );
  });
});
