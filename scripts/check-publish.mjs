// Runs before `npm publish`. Provenance names the repository, so the registry rejects a package without `repository.url`.
import { readFileSync } from 'node:fs';

const { repository, publishConfig } = JSON.parse(readFileSync('package.json', 'utf8'));
const url = typeof repository === 'string' ? repository : repository?.url;

if (publishConfig?.provenance && !url) {
  console.error('error: package.json has no repository.url, which provenance requires');
  console.error('hint: npm pkg set repository.type=git repository.url=git+https://HOST/OWNER/NAME.git');
  process.exitCode = 1;
}
