/** Returns true if a version such as `2.10.27` is at least `major.minor`. */
export function isVersionAtLeast(version: string | undefined, major: number, minor: number): boolean {
  const [has = 0, hasMinor = 0] = (version ?? '').split('.').map(Number);
  return has > major || (has === major && hasMinor >= minor);
}
