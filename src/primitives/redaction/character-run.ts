/** Finds the bounds of a run of characters of one kind. */
export interface CharacterRun {
  /** Returns the end of the run that starts here; the same position if there is none. */
  endOf(text: string, from: number): number;
  /** Returns the start of the run that ends here, at or after a position. */
  startOf(text: string, end: number, after: number): number;
}

/** Creates a finder of runs, for texts of any length. @param kind - an expression for one character */
export function characterRun(kind: RegExp): CharacterRun {
  const isAsciiPart = Array.from({ length: 128 }, (_, code) => kind.test(String.fromCharCode(code)));
  const isPart = (text: string, at: number): boolean =>
    isAsciiPart[text.charCodeAt(at)] ?? kind.test(text.charAt(at));
  return {
    endOf(text, from) {
      let at = from;
      while (at < text.length && isPart(text, at)) at++;
      return at;
    },
    startOf(text, end, after) {
      let at = end;
      while (at > after && isPart(text, at - 1)) at--;
      return at;
    },
  };
}
