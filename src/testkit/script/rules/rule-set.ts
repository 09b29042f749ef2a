import { type Diagnostic, DocumentError } from '../../../documents/diagnostic.ts';
import { Document } from '../../../documents/document.ts';
import type { DocumentPath } from '../../../documents/schema-issues.ts';
import { AttachmentError, readAttachment } from '../read-attachment.ts';
import type { CompileContext } from '../compile-context.ts';
import { type RuleSpec, ruleSchema } from '../schema/script-schema.ts';
import { ScriptRule } from './script-rule.ts';

/** Collects the diagnostics of a document and reads its attachments. */
export class DocumentCompiler {
  readonly #document: Document;
  readonly #diagnostics: Diagnostic[] = [];
  readonly context: Omit<CompileContext, 'hasMatch'>;

  /** @param folder - folder of attachments; undefined if they are not allowed. */
  constructor(document: Document, folder: string | undefined, maxBytes: number) {
    this.#document = document;
    const report = (path: DocumentPath, message: string): void => {
      this.#diagnostics.push(document.diagnostic(path, message));
    };
    const attach = (file: string, path: DocumentPath): string => {
      try {
        return readAttachment(folder, file, maxBytes);
      } catch (thrown) {
        if (!(thrown instanceof AttachmentError)) throw thrown;
        report(path, thrown.message);
        return '';
      }
    };
    this.context = { report, attach };
  }

  /** Returns a location such as `travel.yaml:12`. */
  location(path: DocumentPath): string {
    return `${this.#document.file}:${this.#document.locate(path).line}`;
  }

  /** @throws DocumentError if there are diagnostics. */
  finish(): void {
    if (this.#diagnostics.length > 0) throw new DocumentError(this.#document.file, this.#diagnostics);
  }
}

/** The rules of a script; they can change at run time. */
export class RuleSet {
  #rules: readonly ScriptRule[] = [];
  #lastNumber = 0;
  readonly #maxRules: number;

  constructor(maxRules: number) {
    this.#maxRules = maxRules;
  }

  /** In order of evaluation. */
  get rules(): readonly ScriptRule[] {
    return this.#rules;
  }

  /** Compiles the rules of a file. */
  load(specs: readonly RuleSpec[], compiler: DocumentCompiler): void {
    if (specs.length > this.#maxRules) compiler.context.report(['rules'], tooManyRules(this.#maxRules));
    for (const [index, spec] of specs.entries())
      this.#rules = [...this.#rules, this.#compile(spec, ['rules', index], compiler)];
  }

  /** Adds a rule before another or at the end. @returns the name of the rule */
  add(text: string, before?: string, defaultName?: string): string {
    const at = before === undefined ? this.#rules.length : this.#indexOf(before);
    if (at < 0) throw ruleError(`unknown rule ${before}`);
    if (this.#rules.length >= this.#maxRules) throw ruleError(tooManyRules(this.#maxRules));
    const rule = this.#compileText(text, { defaultName });
    this.#rules = this.#rules.toSpliced(at, 0, rule);
    return rule.name;
  }

  /** @returns false if the name is unknown */
  replace(name: string, text: string): boolean {
    const at = this.#indexOf(name);
    if (at < 0) return false;
    const rule = this.#compileText(text, { defaultName: name, replaced: name });
    this.#rules = this.#rules.with(at, rule);
    return true;
  }

  /** @returns false if the name is unknown */
  remove(name: string): boolean {
    const rest = this.#rules.filter((rule) => rule.name !== name);
    const isRemoved = rest.length < this.#rules.length;
    this.#rules = rest;
    return isRemoved;
  }

  #indexOf(name: string): number {
    return this.#rules.findIndex((rule) => rule.name === name);
  }

  /** Compiles a rule that is added at run time. It cannot have attachments. */
  #compileText(
    text: string,
    { defaultName, replaced }: { defaultName?: string; replaced?: string },
  ): ScriptRule {
    const document = Document.parse(text, 'rule');
    const compiler = new DocumentCompiler(document, undefined, 0);
    const spec = document.check(ruleSchema);
    const rule = this.#compile({ ...spec, name: spec.name ?? defaultName }, [], compiler, replaced);
    compiler.finish();
    return rule;
  }

  #compile(spec: RuleSpec, path: DocumentPath, compiler: DocumentCompiler, replaced?: string): ScriptRule {
    const name = spec.name ?? this.#nextName();
    if (name !== replaced && this.#indexOf(name) >= 0)
      compiler.context.report([...path, 'name'], `duplicate rule name ${name}`);
    return new ScriptRule(spec, name, compiler.location(path), path, compiler.context);
  }

  #nextName(): string {
    let name: string;
    do name = `${++this.#lastNumber}`;
    while (this.#indexOf(name) >= 0);
    return name;
  }
}

function tooManyRules(maxRules: number): string {
  return `a script can have at most ${maxRules} rules`;
}

function ruleError(message: string): DocumentError {
  return new DocumentError('rule', [{ message, path: '', line: 1, column: 1 }]);
}
