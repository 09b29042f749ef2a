// Formats declarations from their source text, or from the type checker if they have no annotation.
import ts from 'typescript';
import { flat } from './text.mjs';

/** The declaration without its members, which are listed in a table. */
export function headOf(name, symbol, checker) {
  const kind = kindOf(symbol);
  const declarations = symbol.declarations ?? [];
  if (kind === 'function') {
    const functions = declarations.filter(
      (each) => ts.isFunctionDeclaration(each) && (each.body === undefined || declarations.length === 1),
    );
    return functions.map((each) => `function ${name}${signatureOf(each, '\n', checker)}`).join('\n');
  }
  if (kind === 'class' || kind === 'interface') {
    const [declaration] = declarations.filter(
      (each) => ts.isClassDeclaration(each) || ts.isInterfaceDeclaration(each),
    );
    const heritage = (declaration.heritageClauses ?? []).map((each) => ` ${flat(each.getText())}`).join('');
    const head = `${kind} ${name}${typeParametersOf(declaration)}${heritage}`;
    const constructor = kind === 'class' && declaration.members.find(ts.isConstructorDeclaration);
    const isPrivate = constructor && hides(constructor);
    return constructor && !isPrivate
      ? `${head}\nnew ${name}${parametersOf(constructor, '\n', checker)}`
      : head;
  }
  if (kind === 'type') {
    const declaration = declarations.find(ts.isTypeAliasDeclaration);
    return `type ${name}${typeParametersOf(declaration)} = ${bare(declaration.type)}`;
  }
  const declaration = declarations.find(ts.isVariableDeclaration);
  const type = declaration?.type
    ? bare(declaration.type)
    : typeText(symbol, declaration ?? declarations[0], checker);
  return `const ${name}: ${type}`;
}

/** The public members of a class, interface or type. */
export function membersOf(symbol) {
  const declaration = (symbol.declarations ?? []).find(
    (each) =>
      ts.isClassDeclaration(each) ||
      ts.isInterfaceDeclaration(each) ||
      (ts.isTypeAliasDeclaration(each) && ts.isTypeLiteralNode(each.type)),
  );
  if (!declaration) return [];
  const members = ts.isTypeAliasDeclaration(declaration) ? declaration.type.members : declaration.members;
  return [...members].filter(
    (each) =>
      each.name && !ts.isPrivateIdentifier(each.name) && !hides(each) && !isOverloadBody(each, members),
  );
}

/** The declaration of a member or function on one line. */
export function signatureOf(declaration, space, checker) {
  const type = declaration.type
    ? flat(declaration.type.getText())
    : checker.typeToString(
        checker.getReturnTypeOfSignature(checker.getSignatureFromDeclaration(declaration)),
        declaration,
        ts.TypeFormatFlags.NoTruncation,
      );
  return `${typeParametersOf(declaration)}${parametersOf(declaration, space, checker)}: ${type}`;
}

function parametersOf(declaration, space, checker) {
  const parameters = declaration.parameters.map((parameter) => {
    // A destructured parameter is one value for the caller.
    const name = ts.isIdentifier(parameter.name) ? parameter.name.text : 'options';
    const allowAnonymous = parameter.questionToken || parameter.initializer;
    const rest = parameter.dotDotDotToken ? '...' : '';
    const type = parameter.type
      ? flat(withoutComments(parameter.type.getText()))
      : checker.typeToString(checker.getTypeAtLocation(parameter), parameter);
    return `${rest}${name}${allowAnonymous ? '?' : ''}: ${type}`;
  });
  const line = `(${parameters.join(', ')})`;
  return space === '\n' && line.length > 70 ? `(\n  ${parameters.join(',\n  ')},\n)` : line;
}

function typeParametersOf(declaration) {
  const list = declaration?.typeParameters;
  return list ? `<${list.map((each) => flat(each.getText())).join(', ')}>` : '';
}

/** The inferred type; for a large object, its member names. */
export function typeText(symbol, node, checker) {
  const type = checker.getTypeOfSymbolAtLocation(symbol, node);
  const text = flat(checker.typeToString(type, node)).replaceAll(/import\("[^"]*"\)\./g, '');
  if (text.length <= 160) return text;
  return `{ ${type
    .getProperties()
    .map(({ name }) => name)
    .join(', ')} }`.replaceAll(/(.{60,90}?) (?=\S)/g, '$1\n  ');
}

/** The source text of a type without comments. */
function bare(node) {
  const text = withoutComments(node.getText());
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  return lines.map((line) => line.replace(/\s+$/, '')).join('\n');
}

/** The source text of a node without comments. */
export function withoutComments(text) {
  return text.replaceAll(/\/\*[^]*?\*\//g, '').replaceAll(/(^|\s)\/\/.*$/gm, '$1');
}

/** The kind of a symbol. */
export function kindOf(symbol) {
  const { flags } = symbol;
  if (flags & ts.SymbolFlags.Function) return 'function';
  if (flags & ts.SymbolFlags.Class) return 'class';
  if (flags & ts.SymbolFlags.Variable) return 'constant';
  if (flags & ts.SymbolFlags.Interface) return 'interface';
  return 'type';
}

function hides(member) {
  const isPrivate =
    ts.getCombinedModifierFlags(member) & (ts.ModifierFlags.Private | ts.ModifierFlags.Protected);
  return isPrivate !== 0 || ts.getJSDocTags(member).some(({ tagName }) => tagName.text === 'internal');
}

function isOverloadBody(member, members) {
  if (ts.isConstructorDeclaration(member) || ts.isSetAccessor(member)) return true;
  return (
    ts.isMethodDeclaration(member) &&
    member.body !== undefined &&
    members.some(
      (each) =>
        each !== member &&
        ts.isMethodDeclaration(each) &&
        !each.body &&
        each.name?.getText() === member.name.getText(),
    )
  );
}
