/** Sets a member of an object, also if its name is `__proto__`. */
export function setOwn(object: object, name: string, value: unknown): void {
  if (name === '__proto__')
    Object.defineProperty(object, name, { value, configurable: true, enumerable: true, writable: true });
  else (object as { [name: string]: unknown })[name] = value;
}
