import { describe, expect, it } from 'vitest';
import type { Action, Bridge, JsonSchema } from '../../action-types.ts';
import { provideRequiredInput } from '../../actions/skill-actions.ts';
import { loadServerLibrary } from '../load-library.ts';
import { ToolRegistry } from './tool-registry.ts';

function action(name: string, parameters: JsonSchema, output?: JsonSchema): Action {
  return { ...provideRequiredInput, name, parameters, output };
}

async function toolboxOf(
  ...actions: Action[]
): Promise<{ toolbox: ToolRegistry; change: (next: Action[]) => void }> {
  let current: readonly Action[] = actions;
  let changed = (): void => {};
  const bridge = {
    actions: () => current,
    onChange: (listener: () => void) => {
      changed = listener;
      return () => {};
    },
  } as Partial<Bridge> as Bridge;
  const change = (next: Action[]): void => {
    current = next;
    changed();
  };
  return { toolbox: new ToolRegistry(bridge, await loadServerLibrary()), change };
}

describe('the toolbox', () => {
  it('leaves out schemas that make no sense, so that clients do not refuse the whole list', async () => {
    const { toolbox } = await toolboxOf(
      action('a/type', { type: 'object', properties: { x: { type: 'nonsense' } } }),
      action('a/ref', { type: 'object', properties: { x: { $ref: 'https://example.com/nowhere' } } }),
      action('a/list', { type: 'array' }),
      action('a/out', { type: 'object' }, { type: 'object', properties: { x: { $ref: '#/$defs/gone' } } }),
    );
    for (const name of ['a_type', 'a_ref', 'a_list']) {
      expect(toolbox.entries.get(name)?.tool.inputSchema).toEqual({ type: 'object' });
      expect(toolbox.entries.get(name)?.checkArguments({ x: 1 })).toBeUndefined();
    }
    expect(toolbox.entries.get('a_out')?.tool.outputSchema).toMatchObject({
      properties: { data: { type: 'object' } },
    });
  });

  it('does not mix up schemas of two agents that have the same id', async () => {
    const schema = (type: string): JsonSchema => ({
      $id: 'same',
      type: 'object',
      properties: { x: { type } },
    });
    const { toolbox } = await toolboxOf(action('a/s', schema('string')), action('b/s', schema('number')));
    expect(toolbox.entries.get('a_s')?.checkArguments({ x: 'text' })).toBeUndefined();
    expect(toolbox.entries.get('b_s')?.checkArguments({ x: 'text' })).toBe('x must be number');
  });

  it('follows the actions of its bridge', async () => {
    const { toolbox, change } = await toolboxOf(action('a/b', { type: 'object' }));
    expect([...toolbox.entries.keys()]).toEqual(['a_b']);
    change([action('a/c', { type: 'object' })]);
    expect([...toolbox.entries.keys()]).toEqual(['a_c']);
  });

  it('cuts what an agent says at too great length', async () => {
    const { toolbox } = await toolboxOf({
      ...action('a/b', { type: 'object' }),
      description: 'x'.repeat(10_000),
    });
    expect(toolbox.entries.get('a_b')?.tool.description?.length).toBeLessThan(4_100);
  });
});
