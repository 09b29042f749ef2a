import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import packageJson from '../../../package.json' with { type: 'json' };
import { repositoryRoot } from '../cli/run-command.ts';

/** The project of a user who has installed the built package without its optional peers. */
export class ConsumerFolder {
  readonly path = mkdtempSync(join(tmpdir(), 'dragoman-consumer-'));

  /** @param libraries - further packages that the user has installed. */
  constructor(libraries: readonly string[] = []) {
    const own = join(this.path, 'node_modules', 'dragoman');
    mkdirSync(own, { recursive: true });
    for (const each of ['package.json', 'dist'])
      cpSync(join(repositoryRoot, each), join(own, each), { recursive: true });
    for (const each of [...Object.keys(packageJson.dependencies), ...libraries]) {
      const link = join(this.path, 'node_modules', each);
      mkdirSync(dirname(link), { recursive: true });
      symlinkSync(join(repositoryRoot, 'node_modules', each), link);
    }
    this.write('package.json', '{ "type": "module" }');
  }

  write(file: string, text: string): void {
    mkdirSync(dirname(join(this.path, file)), { recursive: true });
    writeFileSync(join(this.path, file), text);
  }

  remove(): void {
    rmSync(this.path, { recursive: true, force: true });
  }
}
