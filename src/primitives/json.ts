/** A JSON object with arbitrary members. */
export interface JsonObject {
  [member: string]: unknown;
}

/** Returns true for objects that are neither `null` nor an array. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns the value if it is a JSON object, else undefined. */
export function asJsonObject(value: unknown): JsonObject | undefined {
  return isJsonObject(value) ? value : undefined;
}

/** Parses JSON. @returns undefined if the text is malformed */
export function parseJsonOrUndefined(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
