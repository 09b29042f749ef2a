import { type Diagnostic, DocumentError } from '../../../documents/diagnostic.ts';
import { Document } from '../../../documents/document.ts';
import type { DocumentPath } from '../../../documents/schema-issues.ts';
import { AttachmentError, readAttachment } from '../read-attachment.ts';
import type { CompileContext } from '../compile-context.ts';
import { type RuleSpec, ruleSchema } from '../schema/script-schema.ts';
import { ScriptRule } from './script-rule.ts';

/** Collects what is wrong with a document, and reads what lies beside it. */
export class DocumentCompiler {
  readonly #document: Document;
  readonly #complaints: Diagnostic[] = [];
  readonly compiling: Omit<CompileContext, 'hasMatch'>;

  /** @param folder - where files beside the document are; undefined when there can be none. */
  constructor(document: Document, folder: string | undefined, maxBytes: number) {
    this.#document = document;
    const complain = (path: DocumentPath, message: string): void => {
      this.#complaints.push(document.diagnostic(path, message));
    };
    const attach = (file: string, path: DocumentPath): string => {
      try {
        return readAttachment(folder, file, maxBytes);
      } catch (thrown) {
        if (!(thrown instanceof AttachmentError)) throw thrown;
        complain(path, thrown.message);
        return '';
      }
    };
    this.compiling = { report: complain, attach };
  }

  /** Where something stands, such as `travel.yaml:12`. */
  place(path: DocumentPath): string {
    return `${this.#document.file}:${this.#document.locate(path).line}`;
  }

  /** @throws DocumentError with everything that is wrong. */
  finish(): void {
    if (this.#complaints.length > 0) throw new DocumentError(this.#document.file, this.#complaints);
  }
}

/** The rules of a script, which can change while it is played. */
export class RuleSet {
  #rules: readonly ScriptRule[] = [];
  #numbered = 0;
  readonly #max: number;

  constructor(max: number) {
    this.#max = max;
  }

  /** In the order in which they are asked. */
  get rules(): readonly ScriptRule[] {
    return this.#rules;
  }

  /** Puts the rules of a file in. */
  load(forms: readonly RuleSpec[], reading: DocumentCompiler): void {
    if (forms.length > this.#max) reading.compiling.report(['rules'], `a script may have ${this.#max} rules`);
    for (const [index, form] of forms.entries())
      this.#rules = [...this.#rules, this.#ruleOf(form, ['rules', index], reading)];
  }

  /** Adds a rule, before the one of that name or as the last. @returns its name: its own, else the one given. */
  add(text: string, before?: string, called?: string): string {
    const at = before === undefined ? this.#rules.length : this.#indexOf(before);
    if (at < 0) throw mistake(`there is no rule ${before}`);
    if (this.#rules.length >= this.#max) throw mistake(`a script may have ${this.#max} rules`);
    const rule = this.#read(text, { called });
    this.#rules = this.#rules.toSpliced(at, 0, rule);
    return rule.name;
  }

  /** Puts a rule in the place of another. @returns false when there is none of that name. */
  replace(name: string, text: string): boolean {
    const at = this.#indexOf(name);
    if (at < 0) return false;
    const rule = this.#read(text, { called: name, replaced: name });
    this.#rules = this.#rules.with(at, rule);
    return true;
  }

  /** @returns false when there is none of that name. */
  remove(name: string): boolean {
    const rest = this.#rules.filter((rule) => rule.name !== name);
    const isGone = rest.length < this.#rules.length;
    this.#rules = rest;
    return isGone;
  }

  #indexOf(name: string): number {
    return this.#rules.findIndex((rule) => rule.name === name);
  }

  /** Reads one rule that is told while the script is played: nothing can lie beside it. */
  #read(text: string, { called, replaced }: { called?: string; replaced?: string }): ScriptRule {
    const document = Document.parse(text, 'rule');
    const reading = new DocumentCompiler(document, undefined, 0);
    const form = document.check(ruleSchema);
    const rule = this.#ruleOf({ ...form, name: form.name ?? called }, [], reading, replaced);
    reading.finish();
    return rule;
  }

  #ruleOf(form: RuleSpec, path: DocumentPath, reading: DocumentCompiler, replaced?: string): ScriptRule {
    const name = form.name ?? this.#nextName();
    if (name !== replaced && this.#indexOf(name) >= 0)
      reading.compiling.report([...path, 'name'], `there is another rule ${name}`);
    return new ScriptRule(form, name, reading.place(path), path, reading.compiling);
  }

  #nextName(): string {
    let name: string;
    do name = `${++this.#numbered}`;
    while (this.#indexOf(name) >= 0);
    return name;
  }
}

function mistake(message: string): DocumentError {
  return new DocumentError('rule', [{ message, path: '', line: 1, column: 1 }]);
}
