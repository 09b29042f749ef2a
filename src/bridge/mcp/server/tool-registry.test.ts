import { describe, expect, it } from 'vitest';
import type { Action, Bridge, JsonSchema } from '../../action-types.ts';
import { provideRequiredInput } from '../../actions/skill-actions.ts';
import { loadServerLibrary } from '../load-mcp-library.ts';
import { ToolRegistry } from './tool-registry.ts';

function action(name: string, parameters: JsonSchema, output?: JsonSchema): Action {
  return { ...provideRequiredInput, name, parameters, output };
}

async function createRegistry(
  ...actions: Action[]
): Promise<{ registry: ToolRegistry; change: (next: Action[]) => void }> {
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
  return { registry: new ToolRegistry(bridge, await loadServerLibrary()), change };
}

describe('ToolRegistry', () => {
  it('replaces invalid schemas, so that clients do not reject the whole list', async () => {
    const { registry } = await createRegistry(
      action('a/type', { type: 'object', properties: { x: { type: 'nonsense' } } }),
      action('a/ref', { type: 'object', properties: { x: { $ref: 'https://example.com/nowhere' } } }),
      action('a/list', { type: 'array' }),
      action('a/out', { type: 'object' }, { type: 'object', properties: { x: { $ref: '#/$defs/gone' } } }),
    );
    for (const name of ['a_type', 'a_ref', 'a_list']) {
      expect(registry.entries.get(name)?.tool.inputSchema).toEqual({ type: 'object' });
      expect(registry.entries.get(name)?.checkArguments({ x: 1 })).toBeUndefined();
    }
    expect(registry.entries.get('a_out')?.tool.outputSchema).toMatchObject({
      properties: { data: { type: 'object' } },
    });
  });

  it('keeps schemas of two agents with the same $id apart', async () => {
    const schema = (type: string): JsonSchema => ({
      $id: 'same',
      type: 'object',
      properties: { x: { type } },
    });
    const { registry } = await createRegistry(
      action('a/s', schema('string')),
      action('b/s', schema('number')),
    );
    expect(registry.entries.get('a_s')?.checkArguments({ x: 'text' })).toBeUndefined();
    expect(registry.entries.get('b_s')?.checkArguments({ x: 'text' })).toBe('x must be number');
  });

  it('updates the tools when the actions of the bridge change', async () => {
    const { registry, change } = await createRegistry(action('a/b', { type: 'object' }));
    expect([...registry.entries.keys()]).toEqual(['a_b']);
    change([action('a/c', { type: 'object' })]);
    expect([...registry.entries.keys()]).toEqual(['a_c']);
  });

  it('truncates long descriptions', async () => {
    const { registry } = await createRegistry({
      ...action('a/b', { type: 'object' }),
      description: 'x'.repeat(10_000),
    });
    expect(registry.entries.get('a_b')?.tool.description?.length).toBe(4_000);
  });
});
