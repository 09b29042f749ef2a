import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { assignToolNames } from './tool-names.ts';

const names = (...actions: string[]): string[] => [...assignToolNames(actions).values()];

describe('assignToolNames', () => {
  it('replaces characters that hosts do not accept', () => {
    expect(names('weather/forecast', 'My Agent/do.it', 'provide_required_input')).toEqual([
      'weather_forecast',
      'My_Agent_do_it',
      'provide_required_input',
    ]);
  });

  it('adds a hash to colliding names, independent of the order', () => {
    const one = assignToolNames(['a/b_c', 'a_b/c', 'x/y']);
    const other = assignToolNames(['x/y', 'a_b/c', 'a/b_c']);
    expect(one.get('a/b_c')).toMatch(/^a_b_c_[0-9a-f]{8}$/);
    expect(one.get('a_b/c')).not.toBe(one.get('a/b_c'));
    expect(Object.fromEntries(other)).toEqual(Object.fromEntries(one));
  });

  it('reserves provide_required_input even if a skill has the same name', () => {
    const [first, second] = names('provide/required_input', 'provide_required_input');
    expect(first).toMatch(/^provide_required_input_[0-9a-f]{8}$/);
    expect(second).toBe('provide_required_input');
  });

  it('returns short, valid, unique and stable names for any actions', () => {
    const actions = fc.uniqueArray(fc.string({ unit: 'grapheme', maxLength: 100 }), { maxLength: 30 });
    fc.assert(
      fc.property(actions, (actionNames) => {
        const toolNames = names(...actionNames);
        expect(new Set(toolNames).size).toBe(actionNames.length);
        for (const name of toolNames) expect(name).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
        expect(names(...actionNames)).toEqual(toolNames);
      }),
    );
  });
});
