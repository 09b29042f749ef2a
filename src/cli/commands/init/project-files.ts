import { type ExistingManifest, extendManifest, type ManifestEntries } from './package-manifest.ts';
import { aiSdkTemplate } from './templates/ai-sdk.ts';
import { echoTemplate } from './templates/echo.ts';
import type { ProjectLanguage, ProjectTemplate } from './templates/project-template.ts';

/** The templates of `--template`. */
export const projectTemplates = { echo: echoTemplate, 'ai-sdk': aiSdkTemplate } as const;

/** What `dragoman init` creates. */
export interface ProjectPlan {
  readonly name: string;
  /** Version of this package. */
  readonly version: string;
  readonly language: ProjectLanguage;
  readonly template: keyof typeof projectTemplates;
  /** The package that gets the agent; undefined creates a package. */
  readonly existing: ExistingManifest | undefined;
}

/** The files of a project. */
export interface ProjectFiles {
  /** Files to create, by path. */
  readonly created: { readonly [path: string]: string };
  /** Files to change, by path. */
  readonly changed: { readonly [path: string]: string };
  /** Names of the package scripts. */
  readonly scripts: { readonly start: string; readonly test: string };
}

/** Returns the files of a project. */
export function buildProjectFiles(plan: ProjectPlan): ProjectFiles {
  const { name, language, existing } = plan;
  const template: ProjectTemplate = projectTemplates[plan.template];
  // In a package of CommonJS modules, the extension marks the agent as an ES module.
  const extension = existing && !existing.isModule ? `m${language}` : language;
  const agent = `agent.${extension}`;
  const prefix = existing ? 'agent:' : '';
  const names = { start: `${prefix}start`, test: `${prefix}test`, conformance: `${prefix}conformance` };
  const entries = manifestEntries(plan, template, agent, names);
  const created: { [path: string]: string } = {
    ...(!existing && { 'package.json': newManifest(plan, template, entries) }),
    [agent]: template.agent(name, extension),
    ...template.files(language, extension),
    ...(language === 'ts' && !existing && { 'tsconfig.json': tsconfigFile }),
    'scenarios/agent.yaml': template.scenarios(),
    'conformance.yaml': template.conformance,
    '.github/workflows/agent.yml': workflowFile(names),
    ...(!existing && {
      'README.md': readmeFile(plan, template, agent, extension),
      '.gitignore': 'node_modules/\nconformance/\n',
    }),
  };
  return {
    created,
    changed: existing ? { 'package.json': extendManifest(existing, entries) } : {},
    scripts: names,
  };
}

interface ScriptNames {
  readonly start: string;
  readonly test: string;
  readonly conformance: string;
}

function manifestEntries(
  { version, language, existing }: ProjectPlan,
  { dependencies }: ProjectTemplate,
  agent: string,
  names: ScriptNames,
): ManifestEntries {
  return {
    scripts: {
      [names.start]: `dragoman serve ${agent}`,
      ...(!existing && { dev: `dragoman serve ${agent} --watch` }),
      [names.test]: `dragoman test scenarios --agent ${agent}`,
      [names.conformance]:
        'dragoman conformance http://127.0.0.1:4000 --prompts conformance.yaml --report-dir conformance',
      ...(language === 'ts' && !existing && { types: 'tsc' }),
    },
    dependencies: { dragoman: `^${version}`, ...dependencies },
    devDependencies:
      language === 'ts' ? { '@types/node': '>=20.19.0', tsx: '^4.0.0', typescript: '>=5.9.0' } : {},
  };
}

function newManifest(
  { name }: ProjectPlan,
  { node }: ProjectTemplate,
  { scripts, dependencies, devDependencies }: ManifestEntries,
): string {
  const content = {
    name,
    version: '0.1.0',
    private: true,
    type: 'module',
    engines: { node },
    scripts,
    dependencies,
    ...(Object.keys(devDependencies).length > 0 && { devDependencies }),
  };
  return `${JSON.stringify(content, undefined, 2)}\n`;
}

const tsconfigFile = `{
  "compilerOptions": {
    "target": "es2022",
    "lib": ["es2023", "esnext.disposable"],
    "module": "nodenext",
    "types": ["node"],
    "strict": true,
    "erasableSyntaxOnly": true,
    "verbatimModuleSyntax": true,
    "allowImportingTsExtensions": true,
    "skipLibCheck": true,
    "noEmit": true
  }
}
`;

const workflowFile = ({ start, test, conformance }: ScriptNames): string => `name: agent
on: [push, pull_request]
permissions:
  contents: read
jobs:
  agent:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
      - uses: actions/setup-node@v4
        with: { node-version: 22 }
      - run: npm install
      - run: ${runScript(test)}
      - name: conformance
        run: |
          ${runScript(start)} -- --port 4000 &
          curl --silent --fail --retry 30 --retry-connrefused --retry-delay 1 http://127.0.0.1:4000/readyz
          npm run ${conformance}
      - uses: actions/upload-artifact@v4
        if: always()
        with: { name: conformance, path: conformance, if-no-files-found: ignore }
`;

/** Returns the command that runs a package script. */
export function runScript(name: string): string {
  return name === 'start' || name === 'test' ? `npm ${name}` : `npm run ${name}`;
}

const readmeFile = (
  { name, language }: ProjectPlan,
  { example, notes }: ProjectTemplate,
  agent: string,
  extension: string,
): string => `# ${name}

An A2A agent built with [Dragoman](https://www.npmjs.com/package/dragoman).

\`\`\`sh
npm install
npm test          # runs scenarios/ against ${agent}
npm start         # serves ${agent} at http://127.0.0.1:4000, in all A2A versions
npm run dev       # the same, and restarts when a file changes
${language === 'ts' ? 'npm run types     # checks the types\n' : ''}\`\`\`

While it runs:

\`\`\`sh
npx dragoman send -a http://127.0.0.1:4000 "${example}"
npx dragoman chat -a http://127.0.0.1:4000
npm run conformance                                # tests it for A2A conformance
\`\`\`

- \`${agent}\` is the agent.
${notes(extension)
  .map((line) => `${line}\n`)
  .join('')}- \`scenarios/\` contains the scenario tests.
- \`conformance.yaml\` contains prompts for the conformance suite.
- \`.github/workflows/agent.yml\` runs the scenarios and the conformance suite on every push.
`;
