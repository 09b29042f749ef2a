/** Language of the files of a project. */
export type ProjectLanguage = 'js' | 'ts';

/** The parts of a project that depend on what its agent does. */
export interface ProjectTemplate {
  /** Returns the module of the agent. */
  readonly agent: (name: string, extension: string) => string;
  /** Returns further modules by path. */
  readonly files: (language: ProjectLanguage, extension: string) => { readonly [path: string]: string };
  /** Returns the scenario file. */
  readonly scenarios: () => string;
  /** Content of the file with prompts for the conformance suite. */
  readonly conformance: string;
  /** A message to try. */
  readonly example: string;
  readonly dependencies: { readonly [name: string]: string };
  /** Versions of Node that its dependencies support. */
  readonly node: string;
  /** Returns lines for the README of the project. */
  readonly notes: (extension: string) => readonly string[];
}
