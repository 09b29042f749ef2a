import { describe, expect, it } from 'vitest';
import { connect } from '../../../src/client/connect.ts';
import { useServedProject } from '../cli/served-project.ts';
import { codeBlocksOf } from '../docs/code-blocks.ts';
import { artifactTexts, expectTask, userRequest } from '../engine/conversation.ts';

/** A folder with examples of docs/guide/llm.md. */
export interface ExampleFolder {
  readonly path: string;
  write(name: string, text: string): void;
  /** Writes the example that starts with a comment with this name. */
  writeExample(name: string): void;
  serve(name: string): Promise<{ readonly url: string }>;
  /** Serves an example. @returns its reply to a message */
  serveExample(name: string): Promise<string>;
}

/**
 * Creates a folder for each test, with `dragoman` and the packages in the given folders installed.
 *
 * @param env - environment of the served examples
 */
export function useExampleFolder(
  packages: readonly string[],
  env: { [name: string]: string } = {},
): ExampleFolder {
  const project = useServedProject(packages, env);
  return {
    get path() {
      return project.path;
    },
    write: (name, text) => project.write(name, text),
    serve: (name) => project.serve(name),
    writeExample(name) {
      const block = codeBlocksOf('docs/guide/llm.md').find(({ code }) => code.startsWith(`// ${name}\n`));
      if (!block) throw new Error(`docs/guide/llm.md has no example ${name}`);
      project.write(name, block.code);
    },
    async serveExample(name) {
      this.writeExample(name);
      const agent = connect((await this.serve(name)).url);
      try {
        return artifactTexts(expectTask(await agent.send(userRequest('A poem')))).join();
      } finally {
        await agent.close();
      }
    },
  };
}

/** Describes the example of a framework in the cache folder: it answers with the text of a mock model. */
export function describeExample(
  { packages }: { readonly packages: readonly string[] },
  name: string,
  model: string,
): void {
  describe(`example ${name} of docs/guide/llm.md`, () => {
    // Dragoman is a link, too, and must find the framework beside it.
    const folder = useExampleFolder(packages, { NODE_OPTIONS: '--preserve-symlinks' });

    it('answers with the text of its model', async () => {
      folder.write('model.js', model);
      expect(await folder.serveExample(name)).toBe('Roses are red.');
    });
  });
}
