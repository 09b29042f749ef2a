import * as z from 'zod';

/** What comes out of the environment is text, though a number or a yes or no is meant. */
function fromText(value: unknown): unknown {
  if (typeof value !== 'string') return value;
  if (value === 'true') return true;
  if (value === 'false') return false;
  return value.trim() !== '' && Number.isFinite(Number(value)) ? Number(value) : value;
}

/** A number of seconds. */
export const secondsFieldSchema = z.preprocess(fromText, z.number().positive('must be more than 0 seconds'));

/** A number of seconds, where 0 or less means never. */
export const secondsOrNeverFieldSchema = z.preprocess(fromText, z.number());

/** A count. */
export const countFieldSchema = z.preprocess(fromText, z.int().positive('must be at least 1'));

/** A port. */
export const portFieldSchema = z.preprocess(fromText, z.int().min(0).max(65_535));

/** Yes or no. */
export const booleanFieldSchema = z.preprocess(fromText, z.boolean());

/** Text that may not be left empty, as a name of the environment that is not set leaves it. */
export const textFieldSchema = z.string().min(1, 'must not be empty');
