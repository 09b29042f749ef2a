const fieldStart = /(?:^|[?&\s"])([\w-]+)=/g;
const value = /[^&\s"]+/y;

/**
 * Replaces values of fields of forms, queries and command lines, such as `token=…`. Looks at the names of all fields, because
 * an expression with all secret names is slow.
 */
export function replaceFormFields(
  text: string,
  isSecret: (name: string) => boolean,
  replacement: string,
): string {
  let kept = '';
  let from = 0;
  for (const { 0: start, 1: name = '', index } of text.matchAll(fieldStart)) {
    value.lastIndex = index + start.length;
    // A field within the value of another one is replaced with it.
    if (index < from || !isSecret(name) || !value.test(text)) continue;
    kept += text.slice(from, index + start.length) + replacement;
    from = value.lastIndex;
  }
  return from === 0 ? text : kept + text.slice(from);
}
